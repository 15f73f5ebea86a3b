from __future__ import annotations

import pytest

from scoring.judges.asks import Unscored, Verdicts
from scoring.judges.decoys import decoys, near_miss, paraphrase
from scoring.judges.kinds import kinds_of
from scoring.judges.llm import LlmJudge, trusted
from scoring.judges.prompt import Item
from scoring.judges.shown import golden_shown
from tests.scoring.judges.test_llm import ALL, GOLDENS


def test_decoys_are_the_same_for_the_same_goldens_and_match_as_they_should() -> None:
    items = [Item("golden", one.id, golden_shown(one)) for one in GOLDENS]
    made = decoys(items)
    assert decoys(items[::-1]) == made
    assert [one.known.partition(":")[0] for one in made] == ["no_match", "match", "no_match"]
    assert decoys([]) == ()


def test_no_decoy_can_be_told_by_its_place_or_form() -> None:
    (ask,) = LlmJudge("m").plan(ALL)
    assert len(ask.decoys) == 3
    assert "decoy" not in "".join(message.content for message in ask.messages)
    assert all(known == "no_match" or known.partition(":")[2] in ask.offered for known in ask.decoys.values())


@pytest.mark.parametrize(
    "finding",
    [
        "`Pool.acquire()` returns early when the pool is empty without releasing the lock",
        "The cache key is wrong. It does not include the tenant.",
        "Missing null check in parseHeader",
        "锁在提前返回时没有释放\uff0c导致死锁。",
        "x",
        "",
        "Race",
    ],
)
def test_a_paraphrase_keeps_the_names_and_changes_the_words(finding: str) -> None:
    said = paraphrase(finding)
    assert said != finding
    for name in ("`Pool.acquire()`", "parseHeader", "tenant"):
        assert (name in said) is (name in finding)


def test_a_near_miss_is_about_the_same_code_and_another_fault() -> None:
    finding = "`Pool.acquire()` lacks a docstring and its name is hard to follow"
    for seed in range(6):
        said = near_miss(finding, [finding], seed)
        assert said is not None
        assert "Pool.acquire()" in said
        assert not kinds_of(said.replace("`Pool.acquire()`", "")) & kinds_of(finding)


def test_trust_is_a_share_over_all_calls() -> None:
    readings: list[Verdicts | Unscored] = [
        Verdicts((), decoys_right=17, decoys_wrong=1),
        Unscored("judge_out: gone"),
        Verdicts((), decoys_wrong=1),
    ]
    trust = trusted(readings)
    assert (trust.right, trust.wrong, trust.ok) == (17, 2, False)
    assert trusted(readings, bar=0.8).ok is True
