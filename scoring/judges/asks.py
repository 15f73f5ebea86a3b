"""Judging with a language model without doing I/O: what to ask, and what an answer says. Asking is `bot`'s business.

A judge plans its asks for a trial, and reads each reply into verdicts, into another ask (the answer was malformed and
the model is told why), or into nothing that can be scored. Everything an ask holds derives from its contents, so that
the same trial gives the same ask, byte for byte, and a cache keyed by content answers it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from scoring.model import Candidate, Golden, Judgement, PullId, ReviewerId

Json = Any


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation with a model."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Question:
    """What a judge is to decide: the open candidates and goldens of one trial. Names no reviewer to the model."""

    pull: PullId
    reviewer: ReviewerId
    """For the record only; it is withheld from the model."""
    candidates: tuple[Candidate, ...]
    goldens: tuple[Golden, ...]
    context: Mapping[str, str] = field(default_factory=dict)
    """Path -> the diff around the lines in question, where it was asked for."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One call to make."""

    key: str
    """SHA-256 over everything that decides the answer: messages, schema, parameters, model."""
    model: str
    messages: tuple[Message, ...]
    schema: Mapping[str, Json]
    """The JSON Schema that the answer must fit; its enums are the ids that were offered."""
    parameters: Mapping[str, Json]
    """temperature, seed, max_tokens: what is passed on to the provider."""
    question: Question
    offered: Mapping[str, str]
    """Opaque id in the prompt -> our candidate or golden id, decoys included."""
    decoys: Mapping[str, str] = field(default_factory=dict)
    """Opaque id of a decoy -> what is known of it: `match:<opaque golden id>` or `no_match`."""
    order: Literal["forward", "backward"] = "forward"
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered, and what it took."""

    text: str
    model: str
    """As the provider names it."""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: float | None = None
    """US dollars; None where the price is not known."""
    seconds: float | None = None
    finish: str = ""
    """Why the model stopped, in the provider's word: `stop`, `length` ..."""


@dataclass(frozen=True, slots=True)
class Verdicts:
    """A reply that could be read."""

    judgements: tuple[Judgement, ...]
    """One for every candidate x golden of the question."""
    valid: tuple[str, ...] = ()
    """Candidates the judge calls sound although no golden covers them."""
    decoys_right: int = 0
    decoys_wrong: int = 0
    flags: tuple[str, ...] = ()
    candidates: tuple[str, ...] = ()
    """The candidates this is about; where the pull request is clean the judgements do not tell."""


@dataclass(frozen=True, slots=True)
class Unscored:
    """A failed measurement: it is counted and shown, and is never evidence for or against a reviewer."""

    reason: str
    """`judge_reply: ...`, `budget: ...`, `judge_out: ...`."""


Reading = Verdicts | Ask | Unscored


class AskingJudge(Protocol):
    """A judge that needs somebody to carry its questions to a model."""

    @property
    def name(self) -> str:
        """Who judges, with model and version of the prompt."""
        ...

    def plan(self, question: Question) -> tuple[Ask, ...]:
        """The calls for one trial: one, or more where orders are asked for or the prompt outgrows the model."""
        ...

    def read(self, ask: Ask, reply: Reply) -> Reading:
        """What a reply says. A malformed one gives another ask, with the error shown, until attempts are used up."""
        ...

    def merge(self, question: Question, readings: tuple[Verdicts | Unscored, ...]) -> Verdicts | Unscored:
        """One verdict per pair from all the calls of a trial; where orders disagree, the pair is undecided."""
        ...
