"""Counts -> figures. Undefined is None with a reason, never 0 and never 1."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from scoring import stats
from scoring.model import (
    Counts,
    Coverage,
    Estimate,
    ReviewerId,
    ReviewerScore,
    Severity,
    Trial,
    TrialScore,
    TrialStatus,
)

WEIGHTS: Mapping[Severity, float] = MappingProxyType(
    {Severity.CRITICAL: 8, Severity.HIGH: 4, Severity.MEDIUM: 2, Severity.LOW: 1}
)
WEIGHT_UNSAID = 1.0
"""What a false alarm weighs whose severity the reviewer did not say."""


@dataclass(frozen=True, slots=True)
class Weighted:
    """Severity-weighted figures, with the weights they were made with; None where the weights in question sum to 0."""

    precision: float | None
    recall: float | None
    f1: float | None
    weights: Mapping[Severity, float]
    weight_unsaid: float


def precision(counts: Counts) -> Estimate:
    """TP / (TP + FP): the share of what was claimed that was there.

    Duplicates, sound claims without a golden, and unscored candidates are in neither term. A reviewer that claimed
    nothing has no precision: silence is neither all right nor all wrong.
    """
    return stats.wilson(counts.tp, counts.tp + counts.fp, reason="no scored candidate, so nothing was right or wrong")


def recall(counts: Counts) -> Estimate:
    """TP / (TP + FN): the share of the goldens that was found. Undefined where no golden was scored."""
    return stats.wilson(counts.tp, counts.tp + counts.fn, reason="no golden was scored, so there was nothing to find")


def f1(counts: Counts) -> Estimate:
    """The harmonic mean of precision and recall; see `stats.f1` for its interval and where it is undefined."""
    return stats.f1(counts.tp, counts.fp, counts.fn)


def usefulness(counts: Counts, valid_judged: bool) -> Estimate:
    """(TP + valid) / (TP + FP + valid): the share of what was claimed that is worth having.

    Undefined where nobody told sound claims from false ones: without a golden both look alike.
    """
    if not valid_judged:
        reason = "not judged: nobody was asked which claims are sound though no golden covers them"
        return Estimate(None, None, None, 0, reason)
    useful = counts.tp + counts.valid
    return stats.wilson(useful, useful + counts.fp, reason="no scored candidate, so nothing was useful or useless")


def recall_bound(counts: Counts, goldens_not_scored: int) -> Estimate:
    """Recall if every golden that was not scored counts as missed: those unjudged, and those of trials without a score.

    Leaving out trials that did not run would reward a reviewer that fails on the hard ones; this is the other end.
    """
    goldens = counts.tp + counts.fn + counts.goldens_unscored + goldens_not_scored
    return stats.wilson(counts.tp, goldens, reason="the suite has no golden for this reviewer")


def severity_weighted(
    found: Sequence[Severity],
    missed: Sequence[Severity],
    alarms: Sequence[Severity | None],
    weights: Mapping[Severity, float] = WEIGHTS,
    weight_unsaid: float = WEIGHT_UNSAID,
) -> Weighted:
    """Precision, recall and F1 in which a critical defect counts for more than a nitpick.

    A hit weighs what its golden weighs; a false alarm weighs what the reviewer itself called it, so that crying wolf
    costs more than a wrong nitpick. No interval: weighted observations are no proportion.

    Args:
        found: Severities of the goldens that were found.
        missed: Severities of the goldens that were missed.
        alarms: Severities the reviewer gave its false alarms; None where it gave none.
        weights: Weight by severity.
        weight_unsaid: Weight of an alarm without a severity.
    """
    hit = sum(weights[level] for level in found)
    lost = sum(weights[level] for level in missed)
    wrong = sum(weight_unsaid if level is None else weights[level] for level in alarms)
    share, caught = _share(hit, hit + wrong), _share(hit, hit + lost)
    both = None if share is None or caught is None else _share(2 * share * caught, share + caught)
    return Weighted(share, caught, both, dict(weights), weight_unsaid)


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def coverage(scores: Sequence[TrialScore]) -> Coverage:
    """How much of what was asked is behind a reviewer's figures."""
    counted = Counter(score.trial.status for score in scores)
    by_status = {status.value: counted[status] for status in TrialStatus if counted[status]}
    return Coverage(len(scores), sum(score.scored for score in scores), by_status)


def total(scores: Iterable[TrialScore]) -> Counts:
    """The sum of the counts of the trials that are scored."""
    return sum((score.counts for score in scores if score.scored), Counts())


def reviewer_score(reviewer: ReviewerId, scores: Sequence[TrialScore]) -> ReviewerScore:
    """One row of the leaderboard, from all trials of one reviewer."""
    counts = total(scores)
    clean = [score for score in scores if score.scored and not score.trial.goldens]
    judged = all(score.valid_judged for score in scores if score.scored and score.candidates)
    unrun = sum(len(score.trial.goldens) for score in scores if not score.scored)
    return ReviewerScore(
        reviewer=reviewer,
        counts=counts,
        precision=precision(counts),
        recall=recall(counts),
        f1=f1(counts),
        recall_bound=recall_bound(counts, unrun),
        clean_pulls=len(clean),
        clean_quiet=sum(not score.candidates for score in clean),
        coverage=coverage(scores),
        valid_judged=judged,
        usefulness=usefulness(counts, judged),
    )


def scorable(trial: Trial) -> bool:
    """Whether a trial is complete evidence of what the reviewer finds."""
    return trial.status.scored and trial.complete
