"""The trials of a bundle as questions, and what is known of each candidate from an earlier time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol, runtime_checkable

from bot.judging.asking import Asked, Call
from bot.ports import Replies
from scoring.bundle import Bundle
from scoring.judges.asks import Question, Verdicts
from scoring.model import Candidate, CandidateId, Golden, GoldenId, Judgement, PullId, Verdict
from scoring.profiles.base import NEVER_ASKED, claims

Json = Any
Contexts = Mapping[PullId, Mapping[str, str]]
"""Golden pull request -> path -> the diff around the lines in question."""


@runtime_checkable
class ContentKeyed(Protocol):
    """A judge that can say what decides its verdicts on one candidate."""

    def content_key(self, question: Question, candidate: Candidate) -> str:
        """A hash over all that should decide them."""
        ...


@dataclass(frozen=True, slots=True)
class Remembered:
    """What a judge said of one candidate, and the calls behind it."""

    judgements: tuple[Judgement, ...]
    valid: bool
    flags: tuple[str, ...]
    calls: tuple[Json, ...]


def questions(bundle: Bundle, contexts: Contexts | None = None) -> tuple[Question, ...]:
    """One question for every trial that was asked for. Goldens that are no truth (drafts, retired ones) are left out.

    Raises:
        ProfileError: a trial is about a golden pull request that the bundle does not hold.
    """
    return tuple(
        Question(
            trial.pull,
            trial.reviewer,
            tuple(taken),
            tuple(golden for golden in pull.goldens if golden.status.scored),
            (contexts or {}).get(trial.pull, {}),
        )
        for pull, trial, taken in claims(bundle)
        if trial.status not in NEVER_ASKED
    )


def log_row(call: Call) -> dict[str, Json]:
    """One call for the record."""
    return {
        "key": call.ask.key,
        "model": call.reply.model,
        "asked": call.ask.model,
        "order": call.ask.order,
        "attempt": call.ask.attempt,
        "parameters": dict(call.ask.parameters),
        "prompt_tokens": call.reply.prompt_tokens,
        "completion_tokens": call.reply.completion_tokens,
        "cost": call.reply.cost,
        "seconds": call.reply.seconds,
        "finish": call.reply.finish,
        "decoys_right": 0,
        "decoys_wrong": 0,
    }


def log_rows(asked: Asked) -> tuple[dict[str, Json], ...]:
    """The calls of an ask; how it did on decoys stands at the call that could be read."""
    rows = tuple(log_row(call) for call in asked.calls)
    if rows and isinstance(asked.reading, Verdicts):
        rows[-1]["decoys_right"], rows[-1]["decoys_wrong"] = asked.reading.decoys_right, asked.reading.decoys_wrong
    return rows


# --- memory


def recall(judge: object, question: Question, replies: Replies) -> dict[CandidateId, Remembered]:
    """What the judge said earlier of candidates that have not changed, about goldens that have not either."""
    if not isinstance(judge, ContentKeyed):
        return {}
    found: dict[CandidateId, Remembered] = {}
    for candidate in question.candidates:
        kept = replies.verdicts(judge.content_key(question, candidate))
        if kept is not None and set(kept["goldens"]) == {golden.id for golden in question.goldens}:
            found[candidate.id] = _remembered(candidate, question.goldens, kept)
    return found


def _remembered(candidate: Candidate, goldens: Sequence[Golden], kept: Mapping[str, Json]) -> Remembered:
    said = tuple(
        Judgement(
            candidate.id,
            golden.id,
            Verdict(kept["goldens"][golden.id]["verdict"]),
            kept["judge"],
            kept["goldens"][golden.id]["reason"],
            kept["goldens"][golden.id]["confidence"],
            kept["goldens"][golden.id]["evidence"],
        )
        for golden in goldens
    )
    return Remembered(said, kept["valid"], tuple(kept["flags"]), tuple(kept["calls"]))


def remember(judge: object, question: Question, verdicts: Verdicts, asked: Iterable[Asked], replies: Replies) -> None:
    """Keep what was said of each candidate, where every call about it could be read."""
    if not isinstance(judge, ContentKeyed):
        return
    answered = list(asked)
    by_candidate: dict[CandidateId, dict[GoldenId, Judgement]] = {}
    for one in verdicts.judgements:
        by_candidate.setdefault(one.candidate, {})[one.golden] = one
    for candidate in question.candidates:
        about = [one for one in answered if any(c.id == candidate.id for c in one.ask.question.candidates)]
        if about and all(isinstance(one.reading, Verdicts) for one in about):
            said = by_candidate.get(candidate.id, {})
            kept = _kept(candidate, said, verdicts, about)
            replies.keep_verdicts(judge.content_key(question, candidate), kept)


def _kept(
    candidate: Candidate, said: Mapping[GoldenId, Judgement], verdicts: Verdicts, about: Sequence[Asked]
) -> dict[str, Json]:
    suffix = f": {candidate.id}"
    rows = {golden: asdict(one) for golden, one in said.items()}
    return {
        "judge": next((one.judge for one in said.values()), ""),
        "goldens": {
            golden: {name: row[name] for name in ("verdict", "reason", "confidence", "evidence")}
            for golden, row in rows.items()
        },
        "valid": candidate.id in verdicts.valid,
        "flags": [flag.removesuffix(suffix) for flag in verdicts.flags if flag.endswith(suffix)],
        "calls": [row for one in about for row in log_rows(one)],
    }
