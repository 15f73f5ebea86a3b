"""Until when models may have seen code: what somebody says of each model, and what that makes of a suite.

No figure ships with the package: providers change what they say, and a wrong day is worse than none. Whoever has one
gives it, with its source, in a small YAML file or on the command line.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError

from goldens.fields import Day, Text, not_empty
from goldens.load import content_hash
from goldens.located import Document, Problem, SuiteError, read_document
from goldens.model import GoldenPull, Suite


class Cutoff(BaseModel):
    """The last day whose code a model may have been trained on."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: Text
    """As the judge or reviewer is called, for example `openai/gpt-4o`."""
    cutoff: Day
    source: Text
    """Where that is said: an address, or who says it."""


class CutoffFile(BaseModel):
    """A file of cut-offs as it is written."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    cutoffs: Annotated[tuple[Cutoff, ...], AfterValidator(not_empty)]


@dataclass(frozen=True, slots=True)
class Exposure:
    """How much of a suite a model may have seen."""

    model: str
    cutoff: str
    source: str
    pulls_before: int
    """Dated on the day of the cut-off or earlier: the model may have been trained on the code and on its fix."""
    pulls_after: int
    pulls_unknown: int
    """Without a date. They are never counted as unseen."""
    goldens_before: int
    goldens_after: int
    goldens_unknown: int

    def __str__(self) -> str:
        return (
            f"{self.model}, cut-off {self.cutoff} ({self.source}): {self.goldens_before} goldens may have been seen, "
            f"{self.goldens_after} not, {self.goldens_unknown} have no date; "
            f"pull requests {self.pulls_before}, {self.pulls_after}, {self.pulls_unknown}"
        )


def read_cutoffs(path: Path) -> tuple[Cutoff, ...]:
    """Read a file of cut-offs.

    Raises:
        SuiteError: it cannot be read or has problems; every one is told with its line.
    """
    try:
        document = read_document(path.read_bytes(), str(path))
    except OSError as error:
        raise SuiteError([Problem(str(path), 1, "", f"cannot be read: {error.strerror}")]) from None
    try:
        found = CutoffFile.model_validate(document.value).cutoffs
    except ValidationError as error:
        raise SuiteError(_explained(document, detail) for detail in error.errors()) from None
    return each_once(found, str(path))


def cutoff_of(text: str) -> Cutoff:
    """A cut-off from the command line: `model=2024-06-30`.

    Raises:
        SuiteError: it is none.
    """
    model, _, day = text.rpartition("=")
    try:
        return Cutoff(model=model, cutoff=day, source="said on the command line")
    except ValidationError as error:
        what = f"{text[:100]!r} is no model=YYYY-MM-DD: {error.errors()[0]['msg'][:120]}"
        raise SuiteError([Problem("--cutoff", 1, "", what)]) from None


def each_once(cutoffs: Sequence[Cutoff], name: str) -> tuple[Cutoff, ...]:
    """The cut-offs, if no model has two.

    Raises:
        SuiteError: one has.
    """
    names = [one.model for one in cutoffs]
    if twice := sorted({one for one in names if names.count(one) > 1}):
        raise SuiteError([Problem(name, 1, "cutoffs", f"{model!r} stands there twice") for model in twice])
    return tuple(cutoffs)


def exposures(suite: Suite, cutoffs: Iterable[Cutoff]) -> tuple[Exposure, ...]:
    """How much of a suite each model may have seen."""
    return tuple(_exposure(suite.pulls, one) for one in cutoffs)


def _exposure(pulls: Sequence[GoldenPull], one: Cutoff) -> Exposure:
    before = [pull for pull in pulls if pull.date and pull.date <= one.cutoff]
    after = [pull for pull in pulls if pull.date and pull.date > one.cutoff]
    unknown = [pull for pull in pulls if not pull.date]
    counts = [len(part) for part in (before, after, unknown)]
    counts += [sum(len(pull.goldens) for pull in part) for part in (before, after, unknown)]
    return Exposure(one.model, one.cutoff, one.source, *counts)


def later(suite: Suite, day: str) -> tuple[Suite, str]:
    """The pull requests dated after a day, as a suite with a hash of its own, and a sentence on what was left out.

    Raises:
        SuiteError: the day is none, or nothing is left.
    """
    try:
        Cutoff(model="any", cutoff=day, source="any")
    except ValidationError as error:
        what = f"{day[:40]!r}: {error.errors()[0]['msg'][:120]}"
        raise SuiteError([Problem("--after", 1, "", what)]) from None
    kept = tuple(pull for pull in suite.pulls if pull.date and pull.date > day)
    unknown = sum(not pull.date for pull in suite.pulls)
    told = f"{len(kept)} of {len(suite.pulls)} pull requests are dated after {day}; {unknown} have no date"
    if not kept:
        raise SuiteError([Problem(suite.path.name, 1, "", f"nothing is left: {told}")])
    ref = replace(suite.ref, hash=content_hash(kept))
    provenance = f"{suite.provenance.strip()} Part of hash {suite.ref.hash}: {told} and are left out."
    return replace(suite, ref=ref, pulls=kept, unconfirmed=(), provenance=provenance), told


def _explained(document: Document, detail: Any) -> Problem:
    loc = tuple(detail["loc"])
    if detail["type"] == "extra_forbidden":
        fields = tuple(CutoffFile.model_fields) if len(loc) == 1 else tuple(Cutoff.model_fields)
        return document.problem(loc, "unknown field", fields, str(loc[-1]))
    return document.problem(loc, "missing" if detail["type"] == "missing" else detail["msg"])
