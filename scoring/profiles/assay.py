"""Our own rules: claims judged on meaning, one-to-one, every figure with its interval and its coverage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from scoring import dedup, metrics
from scoring.candidates import examine
from scoring.judges.base import Judge
from scoring.matching import settle
from scoring.model import Report, ReviewerId, ReviewerScore, SuiteRef, Trial, TrialScore

NAME = "assay"
SCHEMA = "assay.report/1"
_NO_PATTERNS: Mapping[ReviewerId, Sequence[str]] = MappingProxyType({})


def score_trial(trial: Trial, judge: Judge, *, not_findings: Sequence[str] = ()) -> TrialScore:
    """Judge and count one trial. A trial that is not complete evidence is returned unscored, with nothing counted.

    Args:
        trial: What was asked, what is there, and what the reviewer said.
        judge: Decides which candidate means which golden.
        not_findings: Patterns of this reviewer's chatter, as in `candidates.extract`.
    """
    if not metrics.scorable(trial):
        return TrialScore(trial)
    extraction = examine(trial.comments, not_findings=not_findings)
    candidates = extraction.candidates
    place = {candidate.id: at for at, candidate in enumerate(candidates)}
    rank = {golden.id: at for at, golden in enumerate(trial.goldens)}
    judgements = judge.judge(candidates, trial.goldens)
    settled = settle(candidates, trial.goldens, judgements, dedup.groups(candidates))
    return TrialScore(
        trial=trial,
        candidates=candidates,
        judgements=tuple(sorted(judgements, key=lambda one: (place[one.candidate], one.golden))),
        outcomes=tuple(sorted(settled.outcomes, key=lambda one: place[one.candidate])),
        goldens=tuple(sorted(settled.goldens, key=lambda one: rank[one.golden])),
        counts=settled.counts,
        scored=True,
        no_claims=extraction.no_claims,
    )


def score_run(
    trials: Sequence[Trial],
    judge: Judge,
    suite: SuiteRef,
    *,
    notes: Sequence[str] = (),
    not_findings: Mapping[ReviewerId, Sequence[str]] = _NO_PATTERNS,
) -> Report:
    """Score all trials of a run. The order of the trials does not matter.

    Args:
        trials: One per golden pull request and reviewer.
        judge: Decides which candidate means which golden.
        suite: Which goldens these are.
        notes: What the run wants said beside the result.
        not_findings: Patterns of chatter by reviewer.
    """
    ordered = sorted(trials, key=lambda trial: (trial.pull, trial.reviewer))
    keys = Counter(f"{trial.pull} x {trial.reviewer}" for trial in ordered)
    if twice := sorted(key for key, count in keys.items() if count > 1):
        raise ValueError(f"more than one trial for {', '.join(twice)}")
    scores = [score_trial(trial, judge, not_findings=not_findings.get(trial.reviewer, ())) for trial in ordered]
    by_reviewer: dict[ReviewerId, list[TrialScore]] = {}
    for score in scores:
        by_reviewer.setdefault(score.trial.reviewer, []).append(score)
    rows = [metrics.reviewer_score(reviewer, own) for reviewer, own in by_reviewer.items()]
    return Report(SCHEMA, NAME, suite, judge.name, tuple(sorted(rows, key=_rank)), tuple(scores), tuple(notes))


def _rank(row: ReviewerScore) -> tuple[float, float, str]:
    """Best F1 first, then the larger recall bound, then the id; a figure that is undefined comes last."""
    return (-_or_last(row.f1.value), -_or_last(row.recall_bound.value), row.reviewer)


def _or_last(value: float | None) -> float:
    return -1.0 if value is None else value
