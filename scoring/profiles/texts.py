"""A bundle's trials counted by the text walk, for the profiles of the Martian family."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from scoring import stats
from scoring.model import (
    Candidate,
    CandidateId,
    CandidateOutcome,
    Counts,
    Estimate,
    Golden,
    GoldenId,
    GoldenOutcome,
    GoldenState,
    Judgement,
    OutcomeKind,
    ReviewerId,
    Verdict,
)
from scoring.prf import percent, prf, proportion
from scoring.profiles.base import Case, Json, ProfileRow, ProfileTrial, Rows, counts_of, coverage, not_scored, total
from scoring.walk import Answer, Dedup, Walked, walk

UNIT = "a distinct text among a review's candidates that no match ever flagged"
COUNTS = ("tp", "fp", "fn")
CONFIDENCE_WEIGHT = "weight"
"""Evidence that stands in for a confidence that the source gives in an unusable form or not at all."""
INFERRED = "inferred"
"""Evidence that marks a match which the source implies without storing it; its place in the order is part of it."""


@dataclass(frozen=True, slots=True)
class Review:
    """One trial walked."""

    case: Case
    walked: Walked | None
    why_not: str = ""


def review(case: Case, dedup: Dedup) -> Review:
    """Walk one trial, or say why these systems have no counts of it."""
    if not case.asked:
        return Review(case, None, f"{case.trial.status.value}: these systems have no record of it")
    if not case.pull.goldens:
        return Review(case, None, "no goldens: these systems skip clean pull requests")
    if case.judged is None and (case.candidates or case.stored is not None):
        return Review(case, None, "this judge has no evaluation of it")
    if case.judged is not None and case.judged.failed:
        return Review(case, None, case.judged.failed)
    return Review(case, _walk(case, dedup))


def _walk(case: Case, dedup: Dedup) -> Walked:
    judgements = case.judged.judgements if case.judged else ()
    texts = {candidate.id: candidate.text for candidate in case.candidates}
    findings = {golden.id: golden.finding for golden in case.pull.goldens}
    goldens = [golden.finding for golden in named_goldens(case)]
    candidates = [candidate.text for candidate in named_candidates(case)]
    answers = [
        Answer(findings[one.golden], texts[one.candidate], one.verdict is Verdict.MATCH, weight(one), _failed(one))
        for one in in_walk_order(case.pull.goldens, case.candidates, judgements)
    ]
    groups = case.judged.groups if case.judged else ()
    by_text = [tuple(texts[CandidateId(one)] for one in group if one in texts) for group in groups]
    return walk(goldens, candidates, answers, by_text, dedup)


def in_walk_order(
    goldens: Sequence[Golden], candidates: Sequence[Candidate], judgements: Sequence[Judgement]
) -> list[Judgement]:
    """Goldens outside and candidates inside, each as listed; where a match is inferred, candidates as stored."""
    row = {golden.id: at for at, golden in enumerate(goldens)}
    column = {candidate.id: at for at, candidate in enumerate(candidates)}
    usable = [one for one in judgements if one.golden in row and one.candidate in column]
    stored = any(INFERRED in one.evidence for one in usable)
    return sorted(usable, key=lambda one: (row[one.golden], 0 if stored else column[one.candidate]))


def named_goldens(case: Case) -> list[Golden]:
    """The goldens that the judge was asked about; all of them where nothing tells."""
    judgements = case.judged.judgements if case.judged else ()
    asked = case.goldens_asked or frozenset(one.golden for one in judgements)
    return [golden for golden in case.pull.goldens if not asked or golden.id in asked]


def named_candidates(case: Case) -> list[Candidate]:
    """The candidates that the judge was asked about."""
    asked = {one.candidate for one in case.judged.judgements} if case.judged else set()
    return [candidate for candidate in case.candidates if candidate.id in asked]


def weight(judgement: Judgement) -> float:
    """What a match weighs in the walk: its confidence; none counts as 0, and a match of 0 is no match here."""
    return judgement.evidence.get(CONFIDENCE_WEIGHT, judgement.confidence or 0.0)


def _failed(judgement: Judgement) -> bool:
    return judgement.verdict is Verdict.UNDECIDED


# --- the trial and the row


def trial(one: Review, *, left_out: Collection[GoldenId] = ()) -> ProfileTrial:
    """A walked trial for the result.

    Args:
        one: The trial walked.
        left_out: Goldens that count neither as found nor as missed.
    """
    case = one.case
    if case.published is not None:
        return _published(case, case.published)
    if one.walked is None:
        return not_scored(case, one.why_not)
    dropped = {golden.finding for golden in case.pull.goldens if golden.id in left_out}
    found = [golden for golden in one.walked.found if golden not in dropped]
    missed = [golden for golden in one.walked.missed if golden not in dropped]
    counts = Counts(
        tp=len(found),
        fp=one.walked.fp,
        fn=len(missed),
        duplicate=len(one.walked.beaten),
        unscored=len(case.candidates) - len(named_candidates(case)),
        goldens_unscored=len(case.pull.goldens) - len(named_goldens(case)),
    )
    return replace(
        not_scored(case, case.trial.reason),
        scored=True,
        counts=counts,
        figures=_figures(one, one.walked, found),
        outcomes=tuple(_outcomes(one, one.walked)),
        goldens=tuple(_golden_outcomes(one, one.walked, left_out)),
    )


def _figures(one: Review, walked: Walked, found: Collection[str]) -> dict[str, Json]:
    listed = _stored(one.case, "total_candidates", len(one.case.candidates))
    goldens = _stored(one.case, "total_golden", walked.goldens)
    causes = {golden.group or golden.id for golden in one.case.pull.goldens if golden.finding in found}
    return {
        "total_candidates": listed,
        "total_golden": goldens,
        "stored_precision": walked.tp / listed if listed else 0.0,
        "stored_recall": walked.tp / goldens if goldens else 0.0,
        "errors": _stored(one.case, "errors_count", walked.errors),
        "root_causes": len(causes),
    }


def _stored(case: Case, name: str, counted: int) -> int:
    """A number that the source stored; it knows what it listed twice, which an import cannot always tell."""
    said = (case.stored or {}).get(name)
    return said if type(said) is int else counted


def _published(case: Case, published: Mapping[str, Json]) -> ProfileTrial:
    if published.get("skipped"):
        return not_scored(case, "skipped by the source")
    counts = counts_of(published, COUNTS)
    if counts is None:
        return not_scored(case, "the source publishes no TP, FP and FN of it")
    figures = {key: value for key, value in published.items() if key not in counts}
    summed = Counts(tp=counts["tp"], fp=counts["fp"], fn=counts["fn"])
    blank = not_scored(case, "published counts: the source holds nothing to count them from")
    return replace(blank, scored=True, counts=summed, figures=figures)


def _outcomes(one: Review, walked: Walked) -> list[CandidateOutcome]:
    goldens = {golden.finding: golden.id for golden in reversed(one.case.pull.goldens)}
    holds: dict[str, list[GoldenId]] = {}
    for golden, text in walked.found.items():
        holds.setdefault(text, []).append(goldens[golden])
    asked = {candidate.id for candidate in named_candidates(one.case)}
    seen: dict[str, Candidate] = {}
    return [
        _outcome(candidate, seen.setdefault(candidate.text, candidate), walked, holds)
        if candidate.id in asked
        else CandidateOutcome(candidate.id, OutcomeKind.UNSCORED, "this judge was not asked about it")
        for candidate in one.case.candidates
    ]


def _outcome(
    candidate: Candidate, first: Candidate, walked: Walked, holds: Mapping[str, Sequence[GoldenId]]
) -> CandidateOutcome:
    if first.id != candidate.id:
        reason = "has the text of an earlier candidate"
        return CandidateOutcome(candidate.id, OutcomeKind.DUPLICATE, reason, same_as=first.id)
    if mine := holds.get(candidate.text):
        return CandidateOutcome(candidate.id, OutcomeKind.TP, f"holds {', '.join(mine)}", mine[0])
    if candidate.text in walked.false_positives:
        return CandidateOutcome(candidate.id, OutcomeKind.FP, "never flagged")
    return CandidateOutcome(candidate.id, OutcomeKind.DUPLICATE, "flagged, and holds nothing in the end")


def _golden_outcomes(one: Review, walked: Walked, left_out: Collection[GoldenId]) -> list[GoldenOutcome]:
    ids = {candidate.text: candidate.id for candidate in reversed(one.case.candidates)}
    asked = {golden.id for golden in named_goldens(one.case)}
    outcomes = []
    for golden in one.case.pull.goldens:
        holder = walked.found.get(golden.finding)
        if golden.id not in asked or golden.id in left_out:
            outcomes.append(GoldenOutcome(golden.id, GoldenState.UNSCORED, "not counted under these rules"))
        elif holder is None:
            outcomes.append(GoldenOutcome(golden.id, GoldenState.MISSED, "no candidate holds it"))
        else:
            outcomes.append(GoldenOutcome(golden.id, GoldenState.FOUND, "held in the end", ids[holder]))
    return outcomes


def rows(trials: Sequence[ProfileTrial], system: str) -> tuple[ProfileRow, ...]:
    """One row per reviewer, best F1 first, ties by id."""
    ordered = sorted(trials, key=lambda one: one.reviewer)
    grouped = {reviewer: list(own) for reviewer, own in groupby(ordered, key=lambda one: one.reviewer)}
    return ranked(row(reviewer, own, system) for reviewer, own in grouped.items())


def ranked(found: Iterable[ProfileRow]) -> tuple[ProfileRow, ...]:
    """Rows in the order of the leaderboard."""
    return tuple(sorted(found, key=lambda one: (-(one.f1.value or 0.0), one.reviewer)))


def row(reviewer: ReviewerId, trials: Sequence[ProfileTrial], system: str) -> ProfileRow:
    """The sums of one reviewer."""
    scored = [one for one in trials if one.scored]
    counts = total(trials)
    own = [one.figures["stored_precision"] for one in scored if "stored_precision" in one.figures]
    listed = sum(one.figures.get("total_candidates", 0) for one in scored)
    figures: dict[str, Json] = {
        "reviews": len(scored),
        "candidates": listed,
        "stored_precision_mean": sum(own) / len(own) if own else None,
        "stored_precision_of_sums": counts.tp / listed if listed else None,
        "flagged_but_holding_nothing": counts.duplicate,
        "errors": sum(one.figures.get("errors", 0) for one in scored),
        "root_causes": sum(one.figures.get("root_causes", 0) for one in scored),
    }
    return ProfileRow(reviewer, counts, *estimates(counts, system), coverage(trials), figures)


def estimates(counts: Counts, system: str) -> tuple[Estimate, Estimate, Estimate]:
    """Precision, recall and F1 of sums; 0 of 0 is 0 as these systems say."""
    precision = proportion(counts.tp, counts.tp + counts.fp, system=system, undefined="no candidate was counted")
    recall = proportion(counts.tp, counts.tp + counts.fn, system=system, undefined="no golden was counted")
    if counts.tp + counts.fn:
        return precision, recall, stats.f1(counts.tp, counts.fp, counts.fn)
    return precision, recall, Estimate(0.0, None, None, 0, f"nothing was there to find; {system} counts that as 0")


def leaderboard(found: Sequence[ProfileRow]) -> Rows:
    """The published form: counts, and percent with one decimal."""
    return tuple(
        {"reviewer": one.reviewer, **published_row(one.counts.tp, one.counts.fp, one.counts.fn)} for one in found
    )


def published_row(tp: int, fp: int, fn: int) -> dict[str, Json]:
    """One row of a published leaderboard from its counts."""
    figures = prf(tp, fp, fn, zero=0.0)
    return {
        "tp": tp,
        "fp": fp,
        "fn": fn,
        "precision_pct": percent(figures.precision),
        "recall_pct": percent(figures.recall),
        "f1_pct": percent(figures.f1),
    }
