from __future__ import annotations

from scoring.judges.asks import Unscored
from scoring.judges.llm import LlmJudge
from scoring.model import Judgement, Verdict
from tests.scoring.judges import models
from tests.scoring.judges.models import Carrier, settle
from tests.scoring.judges.test_llm import ALL, TRUE, count, matches


def test_where_the_orders_disagree_the_pair_is_undecided() -> None:
    judge = LlmJudge("m", orders=2)
    found = settle(judge, ALL, lambda ask: (models.honest if ask.order == "forward" else models.lazy)(ask))
    by_pair: dict[tuple[str, str], Judgement] = {(one.candidate, one.golden): one for one in found.judgements}
    assert {pair for pair, one in by_pair.items() if one.verdict is Verdict.UNDECIDED} == TRUE
    assert all("disagree" in by_pair[pair].reason and by_pair[pair].confidence is None for pair in TRUE)
    assert by_pair["c#2", "lock"].verdict is Verdict.NO_MATCH
    assert {flag.partition(":")[0] for flag in found.flags} == {"orders_disagree"}
    assert found.valid == ("c#2",)


def test_a_call_that_failed_loses_only_its_own_pairs() -> None:
    judge = LlmJudge("m", count_tokens=count, max_prompt_tokens=280, max_attempts=1)
    asks = judge.plan(ALL)
    assert len(asks) > 1
    lost = {one.id for one in asks[0].question.candidates}
    found = settle(judge, ALL, lambda ask: (models.dying if ask.key == asks[0].key else models.honest)(ask))
    open_ = {one.candidate for one in found.judgements if one.verdict is Verdict.UNDECIDED}
    assert open_ == lost
    assert all(one.reason.startswith("judge_reply") for one in found.judgements if one.verdict is Verdict.UNDECIDED)
    assert matches(found) == {pair for pair in TRUE if pair[0] not in lost}


def test_one_order_of_two_that_failed_is_said() -> None:
    judge = LlmJudge("m", orders=2, max_attempts=1)
    found = settle(judge, ALL, lambda ask: (models.dying if ask.order == "backward" else models.honest)(ask))
    assert matches(found) == TRUE
    assert "one_order_only" in found.flags


def test_a_trial_of_which_nothing_could_be_read_is_unscored() -> None:
    judge = LlmJudge("m", orders=2, max_attempts=2)
    carrier = Carrier(models.refusing, [])
    found = carrier.settle(judge, ALL)
    assert isinstance(found, Unscored)
    assert len(carrier.asked) == 4
    assert isinstance(judge.merge(ALL, ()), Unscored)


def test_sure_that_nothing_matches_is_a_low_probability_of_a_match() -> None:
    found = settle(LlmJudge("m"), ALL)
    sure: dict[tuple[str, str], float | None] = {
        (one.candidate, one.golden): one.confidence for one in found.judgements
    }
    assert sure["c#1", "lock"] == 0.9
    assert sure["c#1", "loop"] is None
    assert sure["c#2", "lock"] == 0.1
