"""Small bundles for judging, and what asking takes without waiting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bot.adapters.llm import LiteLlm
from bot.adapters.replies import SqliteReplies
from bot.judging.asking import Means
from bot.judging.budget import Budget, Limits
from bot.ports import Model
from scoring.bundle import Bundle, BundlePull, BundleReviewer, BundleTrial, Card
from scoring.model import (
    Candidate,
    CandidateId,
    Category,
    Golden,
    GoldenId,
    PullId,
    ReviewerId,
    Severity,
    Shape,
    SuiteRef,
    TrialStatus,
)

FINDINGS = (
    "The `retry_delay` grows without bound because the exponent is never capped, so callers sleep for hours.",
    "Function `close_ledger` leaks the descriptor when flushing raises, since nothing releases the handle.",
    "Comparing `signature` with equality lets attackers measure timing, which reveals the secret bytewise.",
)
NOISE = "Consider renaming this variable; shorter names make reading pleasant."


def golden(number: int, text: str) -> Golden:
    return Golden(GoldenId(f"golden-{number}"), text, Category.CORRECTNESS, Severity.HIGH)


def claim(name: str, text: str) -> Candidate:
    return Candidate(CandidateId(name), f"review_comment/{name}", Shape.INLINE, "", text[:40], text)


def bundle(pulls: int = 3, extra: Sequence[str] = ()) -> Bundle:
    """Each pull request has one golden; reviewer `sharp` finds it, `loud` says something else."""
    held, trials = [], []
    for number in range(pulls):
        pull, text = PullId(f"pull-{number}"), f"{FINDINGS[number % 3]} Case alpha{'abcdefghij'[number % 10]}tail."
        held.append(BundlePull(pull, (golden(number, text),), "python"))
        said = {"sharp": [f"I believe this is wrong: {text}"], "loud": [NOISE, *extra]}
        for reviewer, texts in said.items():
            claims = tuple(claim(f"{reviewer}-{number}-{at}", one) for at, one in enumerate(texts))
            trials.append(BundleTrial(pull, ReviewerId(reviewer), TrialStatus.REVIEWED_FINDINGS, candidates=claims))
    reviewers = (BundleReviewer(ReviewerId("sharp"), "Sharp", vendor="OpenAI"),)
    suite = SuiteRef("made", "1", "0" * 64)
    return Bundle(suite, Card("made up", "the test", "claim x golden"), tuple(held), tuple(trials), (), reviewers)


def changed(held: Bundle, trial: int, text: str) -> Bundle:
    """The bundle with another first claim in one trial."""
    old = held.trials[trial]
    assert old.candidates is not None
    first = replace(old.candidates[0], text=text, title=text[:40])
    fresh = replace(old, candidates=(first, *old.candidates[1:]))
    return replace(held, trials=(*held.trials[:trial], fresh, *held.trials[trial + 1 :]))


class Time:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def means(
    folder: Path,
    base: str,
    limits: Limits | None = None,
    *,
    concurrency: int = 4,
    time: Time | None = None,
    model: Model | None = None,
) -> Means:
    time, model = time or Time(), model or LiteLlm(base, timeout=10)
    replies = SqliteReplies(folder / "judge-cache.db")
    budget = Budget(limits or Limits(), model)
    return Means(model, replies, budget, time.sleep, time.clock, concurrency)
