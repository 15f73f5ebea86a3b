"""Trials with given outcomes, consistent in themselves, for the tests and the bench of the statistics."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scoring.model import (
    Candidate,
    CandidateId,
    CandidateOutcome,
    Category,
    Comment,
    Counts,
    Golden,
    GoldenId,
    GoldenOutcome,
    GoldenState,
    OutcomeKind,
    Place,
    PullId,
    ReviewerId,
    Severity,
    Shape,
    Trial,
    TrialScore,
    TrialStatus,
)
from scoring.statistics.bootstrap import Method, Resampler

A, B, C, D = (ReviewerId(name) for name in ("acme", "bolt", "crow", "dove"))
STATES = {"1": GoldenState.FOUND, "0": GoldenState.MISSED, "?": GoldenState.UNSCORED}


def resampler(seed: int = 7, draws: int = 2000, confidence: float = 0.95, method: Method = Method.BCA) -> Resampler:
    return Resampler(np.random.default_rng(seed), draws, confidence, method)


def golden(number: int, severity: Severity = Severity.HIGH, category: Category = Category.CORRECTNESS) -> Golden:
    return Golden(GoldenId(f"g{number}"), "a defect", category, severity)


def claim(number: int, where: Place | None = None, severity: Severity | None = None) -> Candidate:
    comment = f"review_comment/{number}"
    return Candidate(
        CandidateId(f"{comment}#0"), comment, Shape.INLINE, "", "a claim", "a claim", where, severity=severity
    )


def score(
    pull: str,
    reviewer: str,
    found: str = "",
    fp: int = 0,
    valid: int = 0,
    goldens: Sequence[Golden] | None = None,
    claims: Sequence[Candidate] | None = None,
    bodies: Sequence[str] = (),
    language: str = "",
) -> TrialScore:
    """A scored trial: one letter of `found` for each golden (1, 0 or ?), then so many false alarms and valid claims.

    Claims are those of the goldens found, then the false alarms, then the valid ones.
    """
    known = tuple(goldens) if goldens is not None else tuple(golden(number) for number in range(len(found)))
    hits = found.count("1")
    kinds = [OutcomeKind.TP] * hits + [OutcomeKind.FP] * fp + [OutcomeKind.VALID] * valid
    said = tuple(claims) if claims is not None else tuple(claim(number) for number in range(len(kinds)))
    assert len(said) == len(kinds)
    assert len(known) == len(found)
    status = TrialStatus.REVIEWED_FINDINGS if said else TrialStatus.REVIEWED_CLEAN
    comments = tuple(
        Comment(f"review_comment/{number}", Shape.INLINE, "bot", body, "") for number, body in enumerate(bodies)
    )
    return TrialScore(
        Trial(PullId(pull), ReviewerId(reviewer), status, True, "", known, comments, language),
        said,
        outcomes=tuple(CandidateOutcome(one.id, kind, "") for one, kind in zip(said, kinds, strict=True)),
        goldens=tuple(GoldenOutcome(one.id, STATES[mark], "") for one, mark in zip(known, found, strict=True)),
        counts=Counts(hits, fp, found.count("0"), valid, goldens_unscored=found.count("?")),
        scored=True,
    )


def unrun(pull: str, reviewer: str, goldens: int = 2) -> TrialScore:
    known = tuple(golden(number) for number in range(goldens))
    return TrialScore(Trial(PullId(pull), ReviewerId(reviewer), TrialStatus.TIMEOUT, True, "it timed out", known))


def contained(value: float | None, low: float | None, high: float | None) -> bool:
    if low is None or high is None:
        return low is high
    return value is not None and low <= value <= high and low < high
