"""What a built-in reviewer is: a pull request in, remarks out, with what it cost and what it left unread.

The types are the barrier: nothing a reviewer is given can hold a golden, its lines or its wording.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from scoring.model import Severity


@dataclass(frozen=True, slots=True)
class Change:
    """One pull request as a reviewer sees it."""

    title: str
    body: str
    diff: str
    """Unified diff from base to head, with `a/` and `b/` paths."""
    base: Mapping[str, bytes]
    """The base tree: path -> content. May be limited to what the change touches; `whole` says so."""
    head: Mapping[str, bytes]
    whole: bool = True
    """Whether both trees hold every file of the repository."""


@dataclass(frozen=True, slots=True)
class Remark:
    """One thing a reviewer says about a change."""

    text: str
    path: str | None = None
    """A path of the head tree; None for a remark on the whole change."""
    start_line: int | None = None
    """First line in the head file, from 1."""
    end_line: int | None = None
    kind: str = ""
    """The reviewer's own word for the type of issue, or the rule's id."""
    severity: Severity | None = None
    failing_input: str = ""
    citation: str = ""
    suggestion: str = ""
    confidence: float | None = None
    """From 0 to 1."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What a review took."""

    calls: int = 0
    """Calls of a language model, those answered from the cache included."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = 0.0
    """US dollars at list price; None where a price is not known."""
    seconds: float = 0.0
    """Of waiting for answers or tools; what the cache answered counts with its first latency."""


@dataclass(frozen=True, slots=True)
class Round:
    """The state of a review after one of its rounds, so that one run scores all of them."""

    name: str
    remarks: tuple[Remark, ...]
    usage: Usage
    """Of all rounds up to this one."""


@dataclass(frozen=True, slots=True)
class Review:
    """Everything one reviewer said of one change."""

    remarks: tuple[Remark, ...]
    usage: Usage = field(default_factory=Usage)
    rounds: tuple[Round, ...] = ()
    """Empty for a reviewer without rounds; else the last one has the same remarks as the review."""
    invalid: tuple[str, ...] = ()
    """Items of an answer that could not be used, and why: counted and shown, never dropped in silence."""
    unread: tuple[str, ...] = ()
    """What of the change did not fit and was not reviewed: the trial is then not complete."""
    failed: str = ""
    """Why there is no review at all; empty if there is one. It is then an error of the trial, not a clean review."""


class Reviewer(Protocol):
    """A built-in reviewer. Calling it twice with the same change says the same, up to its model."""

    @property
    def name(self) -> str:
        """As the user wrote it, for example `single-shot:openai/gpt-4o-mini`."""
        ...

    def review(self, change: Change) -> Review:
        """Review one change. What goes wrong is said in the review, not raised."""
        ...
