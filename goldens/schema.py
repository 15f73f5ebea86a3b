"""What a suite file may say. Bytes become `SuiteFile` here; every problem is told with its line and the way out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    StrictBool,
    Tag,
    ValidationError,
    model_validator,
)
from pydantic_core import ErrorDetails

from goldens.fields import (
    Count,
    Day,
    Lines,
    Number,
    Sha,
    Slug,
    Text,
    TreePath,
    Upstream,
    Version,
    Word,
    not_empty,
    safe_path,
    wrong,
)
from goldens.located import Document, Loc, Problem, SuiteError, read_document
from goldens.model import AuditVerdict, AuthoredBy, Direction, Origin, SourceSignal
from scoring.model import Category, Discoverability, GoldenStatus, Impact, Severity, Side

__all__ = [
    "GoldenEntry",
    "Pin",
    "PullEntry",
    "SizeEntry",
    "SuiteError",
    "SuiteFile",
    "json_schema",
    "parse_suite",
    "safe_path",
    "schema_text",
]

FILES = "files"


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class AuditEntry(_Entry):
    """What somebody who looked at the place found, and who looked again."""

    verdict: AuditVerdict
    drafted_by: Text
    confirmed_by: Text | None = None

    @model_validator(mode="after")
    def _two_people(self) -> AuditEntry:
        if self.confirmed_by == self.drafted_by:
            raise wrong("drafted_by and confirmed_by are the same; somebody else must look again")
        return self


class GoldenEntry(_Entry):
    """One golden as it is written."""

    id: Slug
    """Unique in the whole suite."""
    path: TreePath | None = None
    """The file in the head tree (in the base tree for side LEFT). None: the defect has no single place."""
    lines: Lines | None = None
    """First and last line, both included. None: the whole file."""
    side: Side = Side.RIGHT
    category: Category
    severity: Severity
    finding: Text
    """What is wrong and what comes of it, in one or two sentences."""
    evidence: str = ""
    """A snippet that stands on those lines, and not in the other tree's file."""
    group: Slug | None = None
    """Shared by the goldens that are one mistake seen at several places."""
    impact: Impact | None = None
    """Which quality of the product it harms (ISO/IEC 25010)."""
    discoverability: Discoverability | None = None
    """What a reviewer has to read to see it."""
    label: Word | None = None
    """What its source calls this kind of defect; finer than the category."""
    status: GoldenStatus = GoldenStatus.LIVE
    """A disputed golden is scored and named; a retired one and a draft stay on record and are not scored."""
    reason: str = ""
    """Why it is disputed or retired, or where a draft comes from; nothing for a live one."""
    fix: str = ""
    """Where it was put right (commit, pull request), or by what sign we know that it was."""
    unverified: tuple[str, ...] = ()
    """Names of the other fields that nobody has checked, or that the source does not say."""
    audit: AuditEntry | None = None
    """Whether its place holds the defect itself, where somebody has looked."""

    @model_validator(mode="after")
    def _lines_need_a_path(self) -> GoldenEntry:
        if self.path is None and (self.lines is not None or self.evidence):
            raise wrong("lines and evidence need a path")
        return self

    @model_validator(mode="after")
    def _reason_goes_with_status(self) -> GoldenEntry:
        if self.status is not GoldenStatus.LIVE and not self.reason.strip():
            told = ": where does the draft come from?" if self.status is GoldenStatus.DRAFT else ""
            raise wrong(f"status {self.status} needs a reason{told}")
        if self.status is GoldenStatus.LIVE and self.reason.strip():
            raise wrong("a reason, but the status is live; a reason says why a golden is disputed or retired")
        return self

    @property
    def scored(self) -> bool:
        """Whether it counts."""
        return self.status.scored


class Pin(_Entry):
    """Where the trees of an upstream pull request are."""

    upstream: Upstream
    number: Number
    base_sha: Sha
    """The merge base that the pull request is compared with, not the tip of the base branch."""
    head_sha: Sha

    @model_validator(mode="after")
    def _two_commits(self) -> Pin:
        if self.base_sha == self.head_sha:
            raise wrong("base_sha and head_sha are the same commit")
        return self


class SizeEntry(_Entry):
    """What the source says of the size of a pinned pull request; where trees ship with the suite it is counted."""

    files: Count
    lines: Count
    """Added and removed lines together."""


def _source_kind(value: object) -> str:
    return "git" if isinstance(value, Mapping | Pin) else FILES


Source = Annotated[
    Annotated[Literal["files"], Tag(FILES)] | Annotated[Pin, Tag("git")],
    Discriminator(_source_kind),
]


class PullEntry(_Entry):
    """One golden pull request as it is written."""

    id: Slug
    """Unique in the suite; with `source: files` also the name of the directory that holds `base/` and `head/`."""
    language: Slug
    title: Text
    body: Text
    source: Source
    clean: StrictBool = False
    """Said aloud, so that a forgotten list of goldens cannot pass for a clean pull request."""
    rejected: StrictBool = False
    """Every draft of it was rejected, and nobody looked whether it is clean. It stays on record and is in no run."""
    origin: Origin | None = None
    source_signal: SourceSignal | None = None
    """How we came to know that there is a defect."""
    authored_by: AuthoredBy | None = None
    direction: Direction = Direction.AS_PUBLISHED
    date: Day | None = None
    """The day the code became public, to tell what a model may have been trained on."""
    size: SizeEntry | None = None
    tags: dict[Word, Text] = {}
    """Further strata by name."""
    confirmed_by: tuple[Text, ...] = ()
    """Who confirmed the goldens: people, or the means."""
    unverified: tuple[str, ...] = ()
    """Names of the other fields that nobody has checked, or that the source does not say."""
    goldens: tuple[GoldenEntry, ...] = ()

    @model_validator(mode="after")
    def _clean_or_goldens(self) -> PullEntry:
        scored = [golden for golden in self.goldens if golden.scored]
        if self.clean and scored:
            raise wrong("clean: true, but there are goldens")
        if self.rejected and (self.clean or not all(golden.status is GoldenStatus.RETIRED for golden in self.goldens)):
            raise wrong("rejected: true, but it is clean or has goldens that are not retired")
        if not self.clean and not self.goldens:
            raise wrong("no goldens; write clean: true if the pull request has no known defect")
        if not self.clean and not scored and not self.unconfirmed and not self.rejected:
            raise wrong("every golden is retired; write clean: true if no defect is left, or drop the pull request")
        return self

    @property
    def left_out(self) -> bool:
        """Whether it is in no run: nothing of it is confirmed."""
        return self.unconfirmed or self.rejected

    @property
    def unconfirmed(self) -> bool:
        """Whether nothing but drafts is known of it: nobody can say yet whether it is clean."""
        drafts = any(golden.status is GoldenStatus.DRAFT for golden in self.goldens)
        return drafts and not self.clean and not any(golden.scored for golden in self.goldens)

    @model_validator(mode="after")
    def _size_is_of_a_pin(self) -> PullEntry:
        if self.size is not None and not isinstance(self.source, Pin):
            raise wrong("size is counted from the files; leave it out")
        return self


class SuiteFile(_Entry):
    """A suite file as it is written."""

    suite: Slug
    version: Version
    title: Text
    licence: Text
    """SPDX expression of the code and texts that ship with the suite."""
    provenance: Text
    """Where the pull requests and goldens come from, and who checked them."""
    pulls: Annotated[tuple[PullEntry, ...], AfterValidator(not_empty)]


_ENTRIES: dict[str, type[_Entry]] = {
    "": SuiteFile,
    "pulls": PullEntry,
    "goldens": GoldenEntry,
    "source": Pin,
    "size": SizeEntry,
    "audit": AuditEntry,
}
_ENUMS: dict[str, type[StrEnum]] = {
    "severity": Severity,
    "category": Category,
    "side": Side,
    "impact": Impact,
    "discoverability": Discoverability,
    "status": GoldenStatus,
    "origin": Origin,
    "source_signal": SourceSignal,
    "authored_by": AuthoredBy,
    "direction": Direction,
    "verdict": AuditVerdict,
}
_TAGS = (FILES, "git")
_PLAIN = {
    "string_type": "must be text; put it in quotes",
    "int_type": "must be a whole number",
    "bool_type": "must be true or false",
    "tuple_type": "must be a list",
    "model_type": "must be a mapping of fields",
    "dict_type": "must be a mapping of names to texts",
}


def parse_suite(data: bytes, name: str) -> tuple[SuiteFile, Document]:
    """Read a suite file; `name` is what problems call it. The document tells later checks on which line things are.

    Raises:
        SuiteError: listing every problem of the file.
    """
    document = read_document(data, name)
    try:
        suite = SuiteFile.model_validate(document.value)
    except ValidationError as error:
        raise SuiteError(_explain(document, detail) for detail in error.errors()) from None
    problems = [
        *_repeated(document, _pull_ids(suite)),
        *_repeated(document, _golden_ids(suite)),
        *_unknown_names(document, suite),
    ]
    if problems:
        raise SuiteError(problems)
    return suite, document


def _explain(document: Document, detail: ErrorDetails) -> Problem:
    """Our words for what pydantic found."""
    loc = tuple(part for index, part in enumerate(detail["loc"]) if not _is_tag(detail["loc"], index))
    kind, given = detail["type"], detail["input"]
    field = str(loc[-1]) if loc else ""
    if kind == "extra_forbidden":
        return document.problem(loc, "unknown field", _fields_at(loc[:-1]), field)
    if kind == "missing" and loc and not isinstance(loc[-1], int):
        return document.problem(loc, "missing")
    if field in _ENUMS and kind == "enum":
        allowed = [member.value for member in _ENUMS[field]]
        article = "an" if field[0] in "aeiou" else "a"
        return document.problem(loc, f"{_shown(given)} is not {article} {field}", allowed, str(given))
    if kind == "literal_error":
        return document.problem(
            loc, f"{_shown(given)} is not a source", (FILES, "a pin of " + ", ".join(Pin.model_fields))
        )
    if field == "lines" or (len(loc) > 1 and loc[-2] == "lines"):
        return document.problem(loc, detail["msg"] if kind == "suite" else "must be two line numbers: [first, last]")
    return document.problem(loc, _PLAIN.get(kind, detail["msg"]))


def _is_tag(loc: tuple[str | int, ...], index: int) -> bool:
    """Whether a part is pydantic's own: the name of a union branch after `source`, or the mark of a bad key."""
    return index > 0 and (loc[index] == "[key]" or (loc[index - 1] == "source" and loc[index] in _TAGS))


def _fields_at(loc: Loc) -> tuple[str, ...]:
    names = [part for part in loc if isinstance(part, str)]
    return tuple(_ENTRIES[names[-1] if names else ""].model_fields)


def _shown(value: Any) -> str:
    return repr(value)[:80]


def _pull_ids(suite: SuiteFile) -> Iterator[tuple[Loc, str]]:
    for index, pull in enumerate(suite.pulls):
        yield ("pulls", index, "id"), pull.id


def _golden_ids(suite: SuiteFile) -> Iterator[tuple[Loc, str]]:
    for index, pull in enumerate(suite.pulls):
        for number, golden in enumerate(pull.goldens):
            yield ("pulls", index, "goldens", number, "id"), golden.id


def _repeated(document: Document, ids: Iterator[tuple[Loc, str]]) -> Iterator[Problem]:
    first: dict[str, int] = {}
    for loc, name in ids:
        line, _ = document.locate(loc)
        if name in first:
            yield document.problem(loc, f"{name!r} is already used on line {first[name]}; ids are unique in a suite")
        first.setdefault(name, line)


def _unknown_names(document: Document, suite: SuiteFile) -> Iterator[Problem]:
    """Entries of `unverified` that name no other field."""
    for loc, entry in _entries(suite):
        names = tuple(name for name in type(entry).model_fields if name not in ("id", "unverified", "goldens"))
        for index, name in enumerate(entry.unverified):
            if name not in names:
                yield document.problem((*loc, "unverified", index), f"{_shown(name)} is not a field", names, name)


def _entries(suite: SuiteFile) -> Iterator[tuple[Loc, PullEntry | GoldenEntry]]:
    for index, pull in enumerate(suite.pulls):
        yield ("pulls", index), pull
        for number, golden in enumerate(pull.goldens):
            yield ("pulls", index, "goldens", number), golden


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a suite file. What one value cannot show (ids are unique, lines exist) only reading tells."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "assay/suite.schema.json",
        **SuiteFile.model_json_schema(),
    }


def schema_text() -> str:
    """The same as the bytes of `goldens/schema.json`."""
    return json.dumps(json_schema(), indent=1, ensure_ascii=True) + "\n"
