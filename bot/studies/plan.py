"""What a study will do: which conditions on which pull requests, and what is still to be done of it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from bot.reviewers.choose import models_of
from bot.studies.record import AUDIT_TAG, SUITE_TAG, VERDICT_TAG, Condition, Nested
from bot.studies.schema import (
    JudgeEntry,
    ReviewerEntry,
    SampleEntry,
    StudyError,
    StudyFile,
    SuiteEntry,
    parse_study,
    shipped,
    shipped_names,
    spec_of,
)
from goldens.load import load_suite
from goldens.located import Document, Loc, Problem, SuiteError, did_you_mean
from goldens.model import GoldenPull, Suite
from goldens.sampling import SampleError
from scoring.bundle import BundlePull
from scoring.model import PullId, ReviewerId
from scoring.sites import sample_rows


@dataclass(frozen=True, slots=True)
class Part:
    """The pull requests of one suite that a study takes."""

    suite: Suite
    pulls: tuple[GoldenPull, ...]


@dataclass(frozen=True, slots=True)
class Planned:
    """One review that the study wants: a pull request, and a condition it is reviewed under."""

    suite: str
    pull: GoldenPull
    condition: Condition


@dataclass(frozen=True, slots=True)
class Study:
    """A study as it will be run."""

    file: StudyFile
    hash: str
    """Of the file's bytes."""
    parts: tuple[Part, ...]
    conditions: tuple[Condition, ...]
    nested: tuple[Nested, ...]
    document: Document
    """Tells on which line of the file things are."""
    folder: Path
    """Where the file is."""

    @property
    def judges(self) -> tuple[JudgeEntry, ...]:
        """Who judges."""
        return self.file.judges

    @property
    def several(self) -> bool:
        """Whether pull requests are called by their suite too."""
        return len(self.parts) > 1

    def wrong(self, loc: Loc, what: object) -> StudyError:
        """The error for one value of the file."""
        return StudyError((self.document.problem(loc, str(what)),))

    def reviewer_at(self, condition: Condition) -> Loc:
        """Where a condition's reviewer stands in the file."""
        return "reviewers", [one.name for one in self.file.reviewers].index(condition.reviewer), "spec"

    def named(self, suite: str, pull: PullId) -> PullId:
        """What a pull request is called in the study's bundle."""
        return PullId(f"{suite}/{pull}") if self.several else pull

    def reviews(self) -> Iterator[Planned]:
        """Every review that is wanted, suite by suite, then condition by condition."""
        for part in self.parts:
            for condition in self.conditions:
                for pull in part.pulls:
                    yield Planned(part.suite.ref.id, pull, condition)


def open_study(name: str) -> Study:
    """Read a study file and everything it names.

    Args:
        name: A study file, or the name of one that comes with Assay.

    Raises:
        StudyError: listing every problem.
    """
    path = _file(name)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise StudyError((Problem(str(path), 1, "", f"cannot be read: {error.strerror}"),)) from None
    study, document = parse_study(data, str(path) if path.parent != shipped() else path.name)
    parts = _parts(study, document, path.parent)
    digest = hashlib.sha256(data).hexdigest()
    made = Study(study, digest, parts, tuple(_conditions(study)), (), document, path.parent)
    return replace(made, nested=tuple(_nested(made, document)))


def _file(name: str) -> Path:
    path = Path(name)
    if path.exists() or path.suffix in (".yaml", ".yml") or "/" in name:
        return path
    names = shipped_names()
    if name not in names:
        meant = did_you_mean(name, names)
        raise StudyError((Problem(name[:80], 1, "", "no such file, and no study of that name", names, meant),))
    return shipped() / f"{name}.yaml"


def _parts(study: StudyFile, document: Document, beside: Path) -> tuple[Part, ...]:
    found: list[Part] = []
    problems: list[Problem] = []
    for at, entry in enumerate(study.suites):
        try:
            suite = load_suite(_where(entry.suite, beside))
            found.append(Part(suite, _chosen(suite, entry)))
        except SuiteError as error:
            own = error.problems[0]
            what = own.what if len(error.problems) == 1 and own.field == "suite" else str(error)
            problems.append(
                Problem(
                    document.name,
                    document.locate(("suites", at))[0],
                    f"suites[{at}]",
                    what,
                    own.allowed if own.field == "suite" else (),
                    own.meant,
                )
            )
        except (SampleError, LookupError) as error:
            problems.append(document.problem(("suites", at), str(error.args[0])))
    ids = [part.suite.ref.id for part in found]
    problems += [
        document.problem(("suites",), f"two suites are called {one}") for one in sorted(set(ids)) if ids.count(one) > 1
    ]
    if problems:
        raise StudyError(tuple(problems))
    return tuple(found)


def _where(name: str, beside: Path) -> str | Path:
    return beside / name if "/" in name or name.endswith((".yaml", ".yml")) else name


def _chosen(suite: Suite, entry: SuiteEntry) -> tuple[GoldenPull, ...]:
    held = {str(pull.id) for pull in suite.pulls}
    for name in entry.pulls:
        if name not in held:
            meant = did_you_mean(name, held)
            hint = f"; did you mean {meant!r}?" if meant else ""
            raise LookupError(f"suite {suite.ref.id} has no pull request {name!r}{hint}")
    if entry.pulls:
        return tuple(pull for pull in suite.pulls if pull.id in set(entry.pulls))
    return tuple(suite.pulls[row] for row in _rows(len(suite.pulls), entry.sample))


def _rows(total: int, sample: SampleEntry | None) -> Sequence[int]:
    if sample is None:
        return range(total)
    if sample.count > total:
        raise SampleError(f"{sample.count} of {total} pull requests cannot be drawn; say a number from 1 to {total}")
    return sample_rows(total, sample.count, Random(sample.seed))  # nosec B311 # to be drawn again by anybody


def _conditions(study: StudyFile) -> Iterator[Condition]:
    for reviewer in study.reviewers:
        times = repeats_of(study, reviewer)
        for prompt in reviewer.prompts or ("",):
            for repeat in range(1, times + 1):
                name = reviewer.name + (f"@{prompt}" if prompt else "") + (f"#{repeat}" if times > 1 else "")
                yield Condition(ReviewerId(name), reviewer.name, spec_of(reviewer, prompt), prompt, repeat)


def repeats_of(study: StudyFile, reviewer: ReviewerEntry) -> int:
    """How often a reviewer is asked the same. What cannot answer otherwise is asked once, unless it is told to."""
    varies = bool(models_of(reviewer.spec)) or "command:" in reviewer.spec
    return reviewer.repeats or (study.repeats if varies else 1)


def _nested(study: Study, document: Document) -> Iterator[Nested]:
    ids = [part.suite.ref.id for part in study.parts]
    for at, entry in enumerate(study.file.conditions):
        for number, name in enumerate(entry.suites):
            if name not in ids:
                loc = ("conditions", at, "suites", number)
                raise StudyError((document.problem(loc, f"the study has no suite {name!r}", ids, name),))
        pulls = [
            study.named(part.suite.ref.id, pull.id)
            for part in study.parts
            if not entry.suites or part.suite.ref.id in entry.suites
            for pull in part.pulls
        ]
        try:
            rows = _rows(len(pulls), entry.sample)
        except SampleError as error:
            raise StudyError((document.problem(("conditions", at, "sample"), str(error)),)) from None
        yield Nested(entry.name, tuple(pulls[row] for row in rows))


def bundle_pull(study: Study, suite: Suite, pull: GoldenPull) -> BundlePull:
    """A golden pull request as the study's bundle has it: with its suite, and what an audit found."""
    tags = {**pull.tags, SUITE_TAG: suite.ref.id}
    if pull.audits:
        found = {audit.verdict.value for audit in pull.audits.values()}
        tags[AUDIT_TAG] = "bug" if "bug" in found else "no_bug"
        tags |= {f"{VERDICT_TAG}{golden}": audit.verdict.value for golden, audit in pull.audits.items()}
    return BundlePull(
        study.named(suite.ref.id, pull.id),
        pull.goldens,
        pull.language,
        pull.title,
        changed_lines=pull.size.lines if pull.size else None,
        origin=pull.origin.value if pull.origin else "",
        tags=tags,
    )
