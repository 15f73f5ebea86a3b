"""Several judges as one: the majority of all of them decides a pair.

A majority is more than half of the panel, not of those who had an opinion: one voice among three that could not decide
is no majority. Who disagreed is kept with every judgement.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean

from scoring import hostile
from scoring.bundle import JudgementSet, TrialJudgements
from scoring.judges.merging import DISAGREE
from scoring.judges.rubrics import CONTRADICTS
from scoring.judges.shown import SHORTENED
from scoring.model import CandidateId, GoldenId, Judgement, PullId, ReviewerId, Verdict

DISAGREEMENT = "panel_disagrees"
FLAGS = (hostile.INSTRUCTION, hostile.HIDDEN, SHORTENED, CONTRADICTS, DISAGREE)
"""What a member noticed that stays with the panel's judgement."""
Pair = tuple[CandidateId, GoldenId]
_SHORT = 120


def panel_name(members: Sequence[str]) -> str:
    """What a panel is called; the order of its members does not matter."""
    return f"panel:{','.join(sorted(members))}"


def panel(sets: Sequence[JudgementSet]) -> JudgementSet:
    """What a panel of judges says, from what each said.

    Raises:
        ValueError: there are fewer than two judges, or two of one name.
    """
    _members([one.judge for one in sets])
    ranked = sorted(sets, key=lambda one: one.judge)
    name = panel_name([one.judge for one in ranked])
    said = {one.judge: {(trial.pull, trial.reviewer): trial for trial in one.trials} for one in ranked}
    keys = sorted({key for own in said.values() for key in own})
    trials = tuple(_trial(name, key, {judge: own.get(key) for judge, own in said.items()}) for key in keys)
    split = sum(DISAGREEMENT in one.evidence for trial in trials for one in trial.judgements)
    details = {"members": [one.judge for one in ranked], "pairs_disagreed": split, **_sums(ranked)}
    return JudgementSet(name, trials, details)


def vote(name: str, pair: Pair, said: Mapping[str, Judgement | None]) -> Judgement:
    """The verdict of a panel on one pair. A member without a judgement has a seat and no voice."""
    given = {judge: one for judge, one in said.items() if one is not None}
    counts = {verdict: sum(one.verdict is verdict for one in given.values()) for verdict in Verdict}
    winner = next((verdict for verdict in (Verdict.MATCH, Verdict.NO_MATCH) if 2 * counts[verdict] > len(said)), None)
    evidence = {f"votes_{verdict.value}": float(count) for verdict, count in counts.items()}
    evidence["votes_missing"] = float(len(said) - len(given))
    if len({one.verdict for one in given.values()}) > 1:
        evidence[DISAGREEMENT] = 1.0
    for flag in {
        flag for one in given.values() for flag, value in one.evidence.items() if value == 1.0 and "_" in flag
    }:
        evidence.setdefault(flag, 1.0)
    sure = [one.confidence for one in given.values() if one.verdict is winner and one.confidence is not None]
    reason = "; ".join(_voice(judge, said[judge]) for judge in sorted(said))
    confidence = round(mean(sure), 6) if sure and winner else None
    return Judgement(*pair, winner or Verdict.UNDECIDED, name, reason, confidence, evidence)


def _voice(judge: str, one: Judgement | None) -> str:
    if one is None:
        return f"{judge}: no judgement"
    return f"{judge}: {one.verdict.value}" + (f" ({one.reason[:_SHORT]})" if one.reason else "")


def _members(names: Sequence[str]) -> None:
    if len(names) < 2:
        raise ValueError("a panel has two judges or more")
    if len(set(names)) < len(names):
        raise ValueError(f"a judge sits on a panel once: {', '.join(sorted(names))}")


def _by_pair(judgements: Sequence[Judgement]) -> dict[Pair, Judgement]:
    return {(one.candidate, one.golden): one for one in judgements}


def _trial(name: str, key: tuple[PullId, ReviewerId], said: Mapping[str, TrialJudgements | None]) -> TrialJudgements:
    by_judge = {judge: _by_pair(one.judgements) if one else {} for judge, one in said.items()}
    pairs = sorted({pair for own in by_judge.values() for pair in own})
    judgements = tuple(vote(name, pair, {judge: own.get(pair) for judge, own in by_judge.items()}) for pair in pairs)
    there = [one for one in said.values() if one is not None]
    groups = next((one.groups for one in there if one.groups), ())
    reasons = [one.failed for one in there if one.failed]
    failed = reasons[0] if reasons and not judgements else ""
    return TrialJudgements(*key, judgements, groups, failed, _valid(there, len(said)))


def _valid(there: Sequence[TrialJudgements], seats: int) -> tuple[str, ...] | None:
    """Candidates that more than half of the panel call sound; None where nobody was asked that."""
    lists = [set(one.valid) for one in there if one.valid is not None]
    if not lists:
        return None
    named = sorted(set().union(*lists))
    return tuple(one for one in named if 2 * sum(one in own for own in lists) > seats)


def _sums(sets: Sequence[JudgementSet]) -> dict[str, float]:
    """What the panel took, where every member says what it took."""
    found = {}
    for name in ("calls", "prompt_tokens", "completion_tokens", "cost"):
        values = [one.details.get(name) for one in sets]
        numbers = [value for value in values if isinstance(value, int | float)]
        if len(numbers) == len(values):
            found[name] = sum(numbers)
    return found
