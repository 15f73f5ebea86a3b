"""What a study's bundle says besides trials: which condition is which, and what every review took.

It lies in the bundle as one part, so that the tables are a function of the bundle and of nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import TypeAdapter, ValidationError

from scoring.bundle import Bundle, BundleError
from scoring.model import PullId, ReviewerId

PART = "extra/study/study.json"
SUITE_TAG = "suite"
"""The tag of a pull request that names its suite."""
AUDIT_TAG = "audit"
"""The tag of a pull request whose goldens' places were checked: `bug` if one is a defect, else `no_bug`."""
VERDICT_TAG = "audit:"
"""Before a golden's id: the tag that holds what the audit found at its place."""


@dataclass(frozen=True, slots=True)
class Condition:
    """One reviewer as it was asked: under one prompt, for the n-th time, at one of its rounds."""

    id: ReviewerId
    """Its name in the bundle: `reviewer@prompt#repeat~round`, as far as there is more than one of each."""
    reviewer: str
    """Its name in the study file."""
    spec: str
    prompt: str = ""
    """Empty where the reviewer has one way of asking only."""
    repeat: int = 1
    round: str = ""
    """A round that came before the last; empty for what the reviewer said in the end."""
    asked_with: tuple[tuple[str, str], ...] = ()
    """The prompts that ship with us and were used: name, and hash of the text."""

    @property
    def main(self) -> bool:
        """Whether it stands for its reviewer and prompt: what was said in the end, at the first time of asking."""
        return self.repeat == 1 and not self.round


@dataclass(frozen=True, slots=True)
class Took:
    """What one review took, and what of it could not be used."""

    pull: PullId
    condition: ReviewerId
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    invalid: tuple[str, ...] = ()
    """Items of answers that could not be used, and why."""
    unread: tuple[str, ...] = ()
    """What of the change was not shown to the reviewer."""


@dataclass(frozen=True, slots=True)
class Nested:
    """A named part of the study's pull requests, over which reviewers are ranked on their own."""

    name: str
    pulls: tuple[PullId, ...]


@dataclass(frozen=True, slots=True)
class Record:
    """A study as its bundle remembers it."""

    study: str
    title: str
    hash: str
    """Of the study file's contents."""
    conditions: tuple[Condition, ...]
    judges: tuple[str, ...]
    """The names of the judges' sets, the one that the tables go by first."""
    suites: tuple[str, ...]
    nested: tuple[Nested, ...]
    took: tuple[Took, ...]
    seed: int
    tolerances: tuple[int, ...]
    notes: tuple[str, ...] = ()

    def condition(self, name: ReviewerId) -> Condition:
        """The condition of that name."""
        return self.by_id[name]

    @property
    def by_id(self) -> Mapping[ReviewerId, Condition]:
        """All conditions by name."""
        return {one.id: one for one in self.conditions}


_RECORD = TypeAdapter(Record)


def written(record: Record) -> bytes:
    """As the bytes of the part."""
    return _RECORD.dump_json(record, indent=1)


def read(bundle: Bundle) -> Record:
    """The record of a study's bundle.

    Raises:
        BundleError: the bundle holds none, or one that cannot be read.
    """
    if PART not in bundle.extra:
        raise BundleError(f"{PART}: missing; this is no bundle of a study")
    try:
        return _RECORD.validate_json(bundle.extra[PART])
    except ValidationError as error:
        raise BundleError(f"{PART}: {' '.join(str(error).split())[:300]}") from None
