"""What a study file may say. Bytes become `StudyFile` here; every problem is told with its line and the way out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    ValidationError,
)
from pydantic_core import ErrorDetails

from bot.reviewers.options import split
from bot.studies.tables import TABLES
from goldens.fields import Matching, Slug, Text, not_empty
from goldens.located import Document, Loc, Problem, SuiteError, read_document

RUBRICS = ("match", "vibeops", "crbench")
MOST_REPEATS = 50
Name = Annotated[str, Matching(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,39}", "a name of letters, digits, '.', '_', '+' and '-'")]
Option = Annotated[str, Matching(r"[^&\n]{1,200}", "an option's value: one line without '&'")]
Count = Annotated[StrictInt, Field(ge=1)]
Lines = Annotated[StrictInt, Field(ge=0, le=1000)]


class StudyError(ValueError):
    """A study cannot be run. The message lists every problem, one a line; `problems` holds them as values."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        self.problems = problems
        super().__init__("\n".join(str(problem) for problem in problems))


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class SampleEntry(_Entry):
    """Pull requests drawn by rows, so that anybody draws the same."""

    count: Count
    seed: Annotated[StrictInt, Field(ge=0)] = 42


def _suite_short(value: object) -> object:
    return {"suite": value} if isinstance(value, str) else value


class SuiteEntry(_Entry):
    """A suite, or a part of one."""

    suite: Text
    """A suite that ships with Assay, by name; or a suite file or its folder, from where the study file is."""
    pulls: tuple[Slug, ...] = ()
    """Only these pull requests."""
    sample: SampleEntry | None = None
    """Only so many, drawn by rows."""


class ReviewerEntry(_Entry):
    """A reviewer, as often as it is asked."""

    name: Name
    spec: Text
    """As in `assay review`: static, single-shot:<provider/model>, reflexion:..., command:... with its options."""
    prompts: dict[Name, dict[Name, Option]] = {}
    """Ways of asking by name, each a set of the reviewer's own options, such as {A: {prompt: a}, B: {prompt: b}}."""
    repeats: Annotated[StrictInt, Field(ge=1, le=MOST_REPEATS)] | None = None
    """How often it is asked the same. None: as the study says. What asks no model and runs no command is asked once."""


class BundleEntry(_Entry):
    """Reviewers that were run elsewhere, such as bots on GitHub, on pull requests of the study's suites."""

    bundle: Text
    """The bundle of a run, its folder or archive, from where the study file is."""
    reviewers: tuple[Text, ...] = ()
    """Only these of its reviewers."""


def _judge_short(value: object) -> object:
    return {"judge": value} if isinstance(value, str) else value


class JudgeEntry(_Entry):
    """A judge, and how it is asked."""

    judge: Text
    """As in `assay judge`: lexical, deterministic, litellm:<provider/model>, panel:a,b, human:FILE."""
    rubric: Text = "match"
    """What a language model is asked: match, vibeops (half credits, grades), crbench (hit, sound, noise)."""
    orders: Annotated[StrictInt, Field(ge=1, le=2)] = 1
    canaries: StrictBool = True


class NestedEntry(_Entry):
    """A named part of the study's pull requests, over which reviewers are ranked on their own."""

    name: Name
    suites: tuple[Slug, ...] = ()
    """Of these suites; of all if none is named."""
    sample: SampleEntry | None = None


class BudgetEntry(_Entry):
    """The most that the study may take. What it is stopped by is said, and how to go on."""

    max_cost: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    """US dollars, over all runs of the study in one folder."""
    max_calls: Annotated[StrictInt, Field(ge=0)] | None = None
    """Of one run of the command."""


class PriceEntry(_Entry):
    """What a model costs, in US dollars for a million tokens, where the list of prices does not know or is wrong."""

    input: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    output: Annotated[float, Field(ge=0, allow_inf_nan=False)]


class StudyFile(_Entry):
    """A study file as it is written."""

    study: Slug
    title: Text
    notes: tuple[Text, ...] = ()
    """What a reader of the result should know; it stands in the report."""
    suites: Annotated[tuple[Annotated[SuiteEntry, BeforeValidator(_suite_short)], ...], AfterValidator(not_empty)]
    reviewers: Annotated[tuple[ReviewerEntry, ...], AfterValidator(not_empty)]
    bundles: tuple[BundleEntry, ...] = ()
    """Reviewers that were run elsewhere: they stand beside the others and are judged by the same judges."""
    repeats: Annotated[StrictInt, Field(ge=1, le=MOST_REPEATS)] = 1
    judges: Annotated[tuple[Annotated[JudgeEntry, BeforeValidator(_judge_short)], ...], AfterValidator(not_empty)]
    """The first is the one that the tables go by."""
    conditions: tuple[NestedEntry, ...] = ()
    """Nested conditions, for ranks; the suites if none is named."""
    budget: BudgetEntry = BudgetEntry()
    prices: dict[Text, PriceEntry] = {}
    """By model, as `provider/model`."""
    tolerances: Annotated[tuple[Lines, ...], AfterValidator(not_empty)] = (3, 0, 10)
    """Lines that a comment may be off, for the counts by position: the first is the study's, the others are a sweep."""
    tables: tuple[Text, ...] = ()
    """Which tables, by key; all if none is named."""
    seed: Annotated[StrictInt, Field(ge=0)] = 0
    """For resampling."""
    latency: StrictBool = False
    """Whether measured seconds go into bundle and report. Then no two runs give the same bytes; without it they are
    kept beside, in timing.json."""


_ENTRIES: dict[str, type[_Entry]] = {
    "": StudyFile,
    "suites": SuiteEntry,
    "sample": SampleEntry,
    "reviewers": ReviewerEntry,
    "bundles": BundleEntry,
    "judges": JudgeEntry,
    "conditions": NestedEntry,
    "budget": BudgetEntry,
    "prices": PriceEntry,
}
_PLAIN = {
    "string_type": "must be text; put it in quotes",
    "int_type": "must be a whole number",
    "bool_type": "must be true or false",
    "tuple_type": "must be a list",
    "model_type": "must be a mapping of fields",
    "dict_type": "must be a mapping",
    "float_parsing": "must be a number",
    "float_type": "must be a number",
    "too_short": "must not be empty",
}


def parse_study(data: bytes, name: str) -> tuple[StudyFile, Document]:
    """Read a study file; `name` is what problems call it. The document tells later checks on which line things are.

    Raises:
        StudyError: listing every problem of the file.
    """
    try:
        document = read_document(data, name)
    except SuiteError as error:
        raise StudyError(error.problems) from None
    try:
        study = StudyFile.model_validate(document.value)
    except ValidationError as error:
        raise StudyError(tuple(_explain(document, detail) for detail in error.errors())) from None
    if problems := tuple(_misfits(document, study)):
        raise StudyError(problems)
    return study, document


def _explain(document: Document, detail: ErrorDetails) -> Problem:
    """Our words for what pydantic found."""
    loc = tuple(part for part in detail["loc"] if part != "[key]")
    kind = detail["type"]
    if kind == "extra_forbidden":
        names = [part for part in loc[:-1] if isinstance(part, str) and part in _ENTRIES]
        fields = tuple(_ENTRIES[names[-1] if names else ""].model_fields)
        return document.problem(loc, "unknown field", fields, str(loc[-1]))
    if kind == "missing":
        return document.problem(loc, "missing")
    return document.problem(loc, _PLAIN.get(kind, detail["msg"]))


def _misfits(document: Document, study: StudyFile) -> Iterator[Problem]:
    """What one value alone does not show."""
    yield from _repeated(document, "reviewers", "name", [one.name for one in study.reviewers])
    yield from _repeated(document, "conditions", "name", [one.name for one in study.conditions])
    yield from _repeated(document, "suites", "suite", [one.suite for one in study.suites])
    said = [(one.judge, one.rubric, one.orders, one.canaries) for one in study.judges]
    yield from _repeated(document, "judges", "judge", said)
    for at, judge in enumerate(study.judges):
        if judge.rubric not in RUBRICS:
            yield document.problem(("judges", at, "rubric"), "no such rubric", RUBRICS, judge.rubric)
    for at, key in enumerate(study.tables):
        if key not in TABLES:
            yield document.problem(("tables", at), f"no table {key[:60]!r}", TABLES, key)
    if len(set(study.tolerances)) < len(study.tolerances):
        yield document.problem(("tolerances",), "a tolerance is there twice")
    for at, suite in enumerate(study.suites):
        if suite.pulls and suite.sample:
            yield document.problem(("suites", at, "sample"), "pulls and sample are two ways to say it; leave one out")
    for at, reviewer in enumerate(study.reviewers):
        yield from _options(document, ("reviewers", at), reviewer)


def _options(document: Document, loc: Loc, reviewer: ReviewerEntry) -> Iterator[Problem]:
    """A prompt's options that its reviewer's name gives too."""
    try:
        given = split(reviewer.spec)[2].given
    except ValueError as error:
        yield document.problem((*loc, "spec"), str(error))
        return
    for name, options in reviewer.prompts.items():
        for key in options:
            if key in given:
                yield document.problem((*loc, "prompts", name, key), f"{key} is in the spec already")


def _repeated(document: Document, field: str, inner: str, names: list[Any]) -> Iterator[Problem]:
    first: dict[Any, int] = {}
    for at, name in enumerate(names):
        line, _ = document.locate((field, at))
        if name in first:
            yield document.problem((field, at, inner), f"is there already, on line {first[name]}")
        first.setdefault(name, line)


def spec_of(reviewer: ReviewerEntry, prompt: str) -> str:
    """The reviewer's full name under one of its prompts."""
    options = "&".join(f"{key}={value}" for key, value in reviewer.prompts.get(prompt, {}).items())
    if not options:
        return reviewer.spec
    return f"{reviewer.spec}{'&' if split(reviewer.spec)[2].given else '?'}{options}"


def shipped() -> Path:
    """Where the study files that come with Assay are."""
    return Path(__file__).parent / "files"


def shipped_names() -> tuple[str, ...]:
    """Their names."""
    return tuple(sorted(path.stem for path in shipped().glob("*.yaml")))
