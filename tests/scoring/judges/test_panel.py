from __future__ import annotations

import random

import pytest

from scoring.bundle import JudgementSet, TrialJudgements
from scoring.judges.panel import DISAGREEMENT, panel
from scoring.model import Judgement, PullId, ReviewerId, Verdict
from tests.scoring.make import candidate, golden, judged

YES, NO, OPEN = Verdict.MATCH, Verdict.NO_MATCH, Verdict.UNDECIDED
CLAIMS, GOLDENS = (candidate("c#1", "one"), candidate("c#2", "two")), (golden("g"),)


def said(judge: str, *verdicts: Verdict | None, pull: str = "p", **more: object) -> JudgementSet:
    judgements = tuple(
        Judgement(one.candidate, one.golden, one.verdict, judge, one.reason, one.confidence)
        for at, verdict in enumerate(verdicts, 1)
        if verdict is not None
        for one in [judged(f"c#{at}", "g", verdict, at / 10)]
    )
    trial = TrialJudgements(PullId(pull), ReviewerId("acme"), judgements, **more)  # type: ignore[arg-type]
    return JudgementSet(judge, (trial,), {"calls": 2, "cost": 0.5})


def verdict_of(*sets: JudgementSet) -> Judgement:
    return panel(sets).trials[0].judgements[0]


@pytest.mark.parametrize(
    ("votes", "wanted"),
    [
        ((YES, YES, NO), YES),
        ((YES, NO, NO), NO),
        ((YES, NO, OPEN), OPEN),
        ((YES, OPEN, OPEN), OPEN),
        ((YES, YES, OPEN), YES),
        ((YES, NO), OPEN),
        ((YES, YES), YES),
        ((YES, YES, NO, NO), OPEN),
        ((YES, YES, YES, NO), YES),
        ((YES, YES, None), YES),
        ((YES, None, None), OPEN),
        ((OPEN, OPEN, OPEN), OPEN),
    ],
)
def test_more_than_half_of_the_whole_panel_decides(votes: tuple[Verdict | None, ...], wanted: Verdict) -> None:
    sets = [said(f"j{at}", vote, YES) for at, vote in enumerate(votes)]
    one = verdict_of(*sets)
    assert one.verdict is wanted
    assert one.evidence["votes_match"] == votes.count(YES)
    assert one.evidence["votes_no_match"] == votes.count(NO)
    assert one.evidence["votes_undecided"] == votes.count(OPEN)
    assert one.evidence["votes_missing"] == votes.count(None)
    assert (DISAGREEMENT in one.evidence) is (len(set(votes) - {None}) > 1)
    assert all(f"j{at}" in one.reason for at in range(len(votes)))


def test_the_order_of_the_members_changes_nothing() -> None:
    sets = [said("b", YES, NO), said("a", NO, NO), said("c", YES, YES)]
    wanted = panel(sets)
    assert wanted.judge == "panel:a,b,c"
    for seed in range(5):
        assert panel(random.Random(seed).sample(sets, 3)) == wanted


def test_confidence_is_that_of_those_who_won() -> None:
    sets = [said("a", YES), said("b", YES), said("c", NO)]
    assert verdict_of(*sets).confidence == 0.1
    assert verdict_of(said("a", YES), said("b", NO)).confidence is None


def test_what_the_members_took_is_added_up_and_disagreement_counted() -> None:
    made = panel([said("a", YES, NO), said("b", YES, YES)])
    assert made.details == {"members": ["a", "b"], "pairs_disagreed": 1, "calls": 4, "cost": 1.0}


def test_a_trial_that_one_member_has_no_record_of_needs_the_others() -> None:
    sets = [said("a", YES), said("b", YES), said("c", YES, pull="q")]
    made = panel(sets)
    assert [one.judgements[0].verdict for one in made.trials] == [YES, OPEN]


def test_a_trial_that_nobody_could_judge_stays_failed() -> None:
    made = panel([said("a", failed="judge_reply: x"), said("b", failed="judge_out: y")])
    assert made.trials[0].failed == "judge_reply: x"
    assert panel([said("a", failed="judge_reply: x"), said("b", YES)]).trials[0].failed == ""


def test_sound_is_what_more_than_half_call_sound() -> None:
    sets = [said("a", NO, NO, valid=("c#1", "c#2")), said("b", NO, NO, valid=("c#1",)), said("c", NO, NO, valid=())]
    assert panel(sets).trials[0].valid == ("c#1",)
    assert panel([said("a", NO), said("b", NO)]).trials[0].valid is None


def test_a_panel_has_two_members_or_more_each_once() -> None:
    with pytest.raises(ValueError, match="two judges"):
        panel([said("a", YES)])
    with pytest.raises(ValueError, match="once"):
        panel([said("a", YES), said("a", NO)])
