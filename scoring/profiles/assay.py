"""Our own rules: claims judged on meaning, one-to-one, every figure with its interval and its coverage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from scoring import dedup, metrics
from scoring.candidates import Extraction, examine
from scoring.judges.base import Judge
from scoring.matching import settle
from scoring.model import Candidate, CandidateId, Report, ReviewerId, ReviewerScore, SuiteRef, Trial, TrialScore

NAME = "assay"
SCHEMA = "assay.report/1"
UNIT = "a claim that means no golden and says nothing that another false positive says"
DEDUP = "one change would settle both: the same place and like words"
SOURCES_GROUPS = f"groups stored with the judgements; where there are none: {DEDUP}"
_NO_PATTERNS: Mapping[ReviewerId, Sequence[str]] = MappingProxyType({})


def score_trial(trial: Trial, judge: Judge, *, not_findings: Sequence[str] = ()) -> TrialScore:
    """Judge and count one trial by what its comments claim.

    Args:
        trial: What was asked, what is there, and what the reviewer said.
        judge: Decides which candidate means which golden.
        not_findings: Patterns of this reviewer's chatter, as in `candidates.extract`.
    """
    return score_claims(trial, judge, lambda: examine(trial.comments, not_findings=not_findings))


def score_claims(
    trial: Trial,
    judge: Judge,
    claims: Callable[[], Extraction],
    groups: Callable[[Sequence[Candidate]], Sequence[Sequence[CandidateId]]] = dedup.groups,
    valid: Collection[CandidateId] | None = None,
) -> TrialScore:
    """Judge and count one trial. A trial that is not complete evidence is returned unscored, with nothing counted.

    Goldens that are retired or drafts are left out: neither found nor missed, and not shown to the judge.

    Args:
        trial: What was asked and what is there.
        judge: Decides which candidate means which golden.
        claims: Gives what the reviewer claimed; asked only where the trial counts.
        groups: Says which of the claims say the same.
        valid: Claims that were found sound though no golden covers them; None: nobody was asked that.
    """
    trial = _counted(trial)
    if not metrics.scorable(trial):
        return TrialScore(trial)
    extraction = claims()
    candidates = extraction.candidates
    place = {candidate.id: at for at, candidate in enumerate(candidates)}
    rank = {golden.id: at for at, golden in enumerate(trial.goldens)}
    judgements = judge.judge(candidates, trial.goldens)
    settled = settle(candidates, trial.goldens, judgements, groups(candidates), valid or ())
    return TrialScore(
        trial=trial,
        candidates=candidates,
        judgements=tuple(sorted(judgements, key=lambda one: (place[one.candidate], one.golden))),
        outcomes=tuple(sorted(settled.outcomes, key=lambda one: place[one.candidate])),
        goldens=tuple(sorted(settled.goldens, key=lambda one: rank[one.golden])),
        counts=settled.counts,
        scored=True,
        no_claims=extraction.no_claims,
        valid_judged=valid is not None,
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
    scores = [score_trial(trial, judge, not_findings=not_findings.get(trial.reviewer, ())) for trial in trials]
    return report_of(scores, judge.name, suite, notes)


def report_of(scores: Sequence[TrialScore], judge: str, suite: SuiteRef, notes: Sequence[str] = ()) -> Report:
    """The report of trials that are counted, in an order of its own.

    Raises:
        ValueError: two trials are of one reviewer on one golden pull request.
    """
    ordered = sorted(scores, key=lambda score: (score.trial.pull, score.trial.reviewer))
    keys = Counter(f"{score.trial.pull} x {score.trial.reviewer}" for score in ordered)
    if twice := sorted(key for key, count in keys.items() if count > 1):
        raise ValueError(f"more than one trial for {', '.join(twice)}")
    by_reviewer: dict[ReviewerId, list[TrialScore]] = {}
    for score in ordered:
        by_reviewer.setdefault(score.trial.reviewer, []).append(score)
    rows = [metrics.reviewer_score(reviewer, own) for reviewer, own in by_reviewer.items()]
    return Report(SCHEMA, NAME, suite, judge, tuple(sorted(rows, key=_rank)), tuple(ordered), tuple(notes))


def _counted(trial: Trial) -> Trial:
    live = tuple(golden for golden in trial.goldens if golden.status.scored)
    return trial if live == trial.goldens else replace(trial, goldens=live)


def _rank(row: ReviewerScore) -> tuple[float, float, str]:
    """Best F1 first, then the larger recall bound, then the id; a figure that is undefined comes last."""
    return (-_or_last(row.f1.value), -_or_last(row.recall_bound.value), row.reviewer)


def _or_last(value: float | None) -> float:
    return -1.0 if value is None else value
