"""Several readings of one trial brought together: split prompts, and two orders of presentation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import mean

from scoring.judges.asks import Question, Unscored, Verdicts
from scoring.judges.rubrics import CREDIT
from scoring.model import CandidateId, GoldenId, Judgement, Verdict

ONE_ORDER = "one_order_only"
DISAGREE = "orders_disagree"
Pair = tuple[CandidateId, GoldenId]


def merge(
    question: Question, readings: Sequence[Verdicts | Unscored], judge: str, orders: int, *, asked: bool
) -> Verdicts | Unscored:
    """One judgement per pair.

    Args:
        question: The whole trial.
        readings: What every call came to.
        judge: Who judges.
        orders: In how many orders each pair was asked.
        asked: Whether there was anything to ask.
    """
    read = [one for one in readings if isinstance(one, Verdicts)]
    failed = [one for one in readings if isinstance(one, Unscored)]
    if not read and question.candidates and asked:
        return failed[0] if failed else Unscored("judge_out: nobody was asked")
    by_pair: dict[Pair, list[Judgement]] = {}
    for one in read:
        for said in one.judgements:
            by_pair.setdefault((said.candidate, said.golden), []).append(said)
    lost = failed[0].reason if failed else "no answer covers this pair"
    judgements = tuple(
        _one(
            by_pair.get((candidate.id, golden.id), ()),
            Judgement(candidate.id, golden.id, Verdict.UNDECIDED, judge, lost),
        )
        for candidate in question.candidates
        for golden in question.goldens
    )
    flags = [flag for one in read for flag in one.flags]
    if any(0 < len(said) < orders for said in by_pair.values()):
        flags.append(ONE_ORDER)
    flags += [f"{DISAGREE}: {one.candidate} x {one.golden}" for one in judgements if DISAGREE in one.evidence]
    return Verdicts(
        judgements,
        _valid(question, judgements, read),
        sum(one.decoys_right for one in read),
        sum(one.decoys_wrong for one in read),
        tuple(dict.fromkeys(flags)),
        tuple(candidate.id for candidate in question.candidates),
    )


def _one(said: Sequence[Judgement], undecided: Judgement) -> Judgement:
    """What one or two orders say of a pair."""
    if not said:
        return undecided
    evidence = _evidence([one.evidence for one in said])
    first = said[0]
    if len({(one.verdict, one.evidence.get(CREDIT)) for one in said}) > 1:
        why = "the two orders of presentation disagree: " + "; ".join(f"{one.verdict}: {one.reason}" for one in said)
        evidence = {name: value for name, value in evidence.items() if name != CREDIT} | {DISAGREE: 1.0}
        return Judgement(first.candidate, first.golden, Verdict.UNDECIDED, undecided.judge, why, None, evidence)
    sure = [one.confidence for one in said if one.confidence is not None]
    reason = "; ".join(dict.fromkeys(one.reason for one in said if one.reason))
    confidence = round(mean(sure), 6) if sure else None
    return Judgement(first.candidate, first.golden, first.verdict, undecided.judge, reason, confidence, evidence)


def _evidence(all_said: Iterable[Mapping[str, float]]) -> dict[str, float]:
    values: dict[str, list[float]] = {}
    for evidence in all_said:
        for name, value in evidence.items():
            values.setdefault(name, []).append(value)
    return {name: mean(given) for name, given in values.items()}


def _valid(question: Question, judgements: Sequence[Judgement], read: Sequence[Verdicts]) -> tuple[str, ...]:
    """Candidates that every call about them calls sound, and that match nothing.

    Who is unsure whether a claim matches cannot have called it sound apart from the goldens, so an undecided pair
    keeps a candidate out.
    """
    open_or_hit = {one.candidate for one in judgements if one.verdict is not Verdict.NO_MATCH}
    covered: dict[str, int] = {}
    for one in read:
        for candidate in one.candidates or {said.candidate for said in one.judgements}:
            covered[candidate] = covered.get(candidate, 0) + 1
    return tuple(
        candidate.id
        for candidate in question.candidates
        if candidate.id not in open_or_hit
        and covered.get(candidate.id)
        and sum(candidate.id in one.valid for one in read) == covered[candidate.id]
    )
