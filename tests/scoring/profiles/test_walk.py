"""The order-dependent walk: its published effects, each shown on planted answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.walk import Answer, Dedup, Walked, walk
from tests.shared import case


def walked(
    goldens: Sequence[str],
    candidates: Sequence[str],
    matches: Mapping[tuple[str, str], float],
    groups: Sequence[Sequence[str]] = (),
    dedup: Dedup = Dedup.NONE,
) -> Walked:
    """Every pair is asked, goldens outside and candidates inside."""
    answers = [Answer(g, c, (g, c) in matches, matches.get((g, c), 0.9)) for g in goldens for c in candidates]
    return walk(goldens, candidates, answers, groups, dedup)


def counts(found: Walked) -> tuple[int, int, int]:
    return found.tp, found.fp, found.fn


def of_case(number: str) -> tuple[list[str], list[str], dict[tuple[str, str], float]]:
    shown = case(number)["input"]
    return shown["goldens"], shown["candidates"], {(g, c): sure for g, c, sure in shown["matches"]}


def test_the_walk_counts_one_remark_for_two_goldens_where_a_best_assignment_gives_each_its_own() -> None:
    goldens, candidates, matches = of_case("81")
    found = walked(goldens, candidates, matches)
    assert counts(found) == (2, 0, 0)
    assert found.found == {"g1": "c2", "g2": "c2"}
    assert found.beaten == ("c1",)


def test_the_same_comments_in_another_order_give_another_false_positive() -> None:
    goldens, candidates, matches = of_case("81")
    assert counts(walked(goldens, candidates[::-1], matches)) == (2, 1, 0)


def test_a_weaker_second_match_is_a_false_positive_only_if_it_comes_second() -> None:
    goldens, candidates, matches = of_case("82")
    assert counts(walked(goldens, candidates, matches)) == (1, 2, 0)
    assert counts(walked(goldens, ["c2", "c1", "c3"], matches)) == (1, 1, 0)


def test_a_match_without_confidence_never_counts_in_the_walk() -> None:
    expected = case("83")["expected"]
    verdicts = zip(expected["match"], expected["confidence"], strict=True)
    answers = [Answer("g", f"c{at}", match, sure or 0.0) for at, (match, sure) in enumerate(verdicts)]
    found = walk(["g"], [answer.candidate for answer in answers], answers)
    assert found.found == {"g": "c5"}
    assert counts(found) == (1, 6, 0)


@pytest.mark.parametrize(("later", "fp"), [(0.9, 1), (0.89, 1), (0.91, 0)])
def test_a_later_match_counts_only_if_it_is_strictly_surer(later: float, fp: int) -> None:
    found = walked(["g"], ["c1", "c2"], {("g", "c1"): 0.9, ("g", "c2"): later})
    assert counts(found) == (1, fp, 0)


def test_a_false_positive_on_one_golden_is_saved_by_another() -> None:
    matches = {("g1", "c1"): 0.9, ("g1", "c2"): 0.5, ("g2", "c2"): 0.3}
    assert counts(walked(["g1", "g2"], ["c1", "c2"], matches)) == (2, 0, 0)


def test_true_and_false_positives_may_exceed_the_candidates_and_stored_precision_may_be_one() -> None:
    matches = {("g1", "c1"): 0.9, ("g2", "c1"): 0.9}
    found = walked(["g1", "g2"], ["c1", "c2"], matches)
    assert found.tp + found.fp == 3 > found.candidates
    assert found.stored_precision == 1.0
    assert found.fp == 1


def test_identical_texts_are_one_candidate_but_two_in_the_stored_denominator() -> None:
    found = walked(["g"], ["same", "same", "other"], {("g", "same"): 0.9})
    assert counts(found) == (1, 1, 0)
    assert found.stored_precision == pytest.approx(1 / 3)


def test_identical_golden_texts_are_one_golden() -> None:
    found = walk(["same", "same"], ["c"], [Answer("same", "c", True, 0.9), Answer("same", "c", True, 0.9)])
    assert counts(found) == (1, 0, 0)
    assert found.stored_recall == 0.5


def test_an_error_is_no_match_and_is_counted() -> None:
    found = walk(["g"], ["c"], [Answer("g", "c", True, 0.9, error=True)])
    assert counts(found) == (0, 1, 1)
    assert found.errors == 1


def test_no_candidates_miss_everything_and_rates_are_zero() -> None:
    found = walk(["g1", "g2"], [], [])
    assert counts(found) == (0, 0, 2)
    assert (found.stored_precision, found.stored_recall) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("dedup", "order", "expected"),
    [
        (Dedup.NONE, ["c1", "c2", "c3", "c4"], (1, 3, 0)),
        (Dedup.PROPAGATE, ["c1", "c2", "c3", "c4"], (1, 2, 0)),
        (Dedup.MERGE, ["c1", "c2", "c3", "c4"], (1, 1, 0)),
        (Dedup.NONE, ["c2", "c1", "c3", "c4"], (1, 2, 0)),
        (Dedup.PROPAGATE, ["c2", "c1", "c3", "c4"], (1, 2, 0)),
        (Dedup.MERGE, ["c2", "c1", "c3", "c4"], (1, 1, 0)),
    ],
)
def test_the_three_ways_with_duplicates(dedup: Dedup, order: list[str], expected: tuple[int, int, int]) -> None:
    matches = {("g", "c1"): 0.9, ("g", "c2"): 0.8}
    assert counts(walked(["g"], order, matches, [["c1", "c2"], ["c3", "c4"]], dedup)) == expected


def test_propagation_protects_siblings_of_a_beaten_match_too() -> None:
    matches = {("g", "c1"): 0.5, ("g", "c2"): 0.9}
    found = walked(["g"], ["c1", "c2", "twin of c1"], matches, [["c1", "twin of c1"]], Dedup.PROPAGATE)
    assert counts(found) == (1, 0, 0)


names = st.sampled_from(["c1", "c2", "c3", "c4", "c5"])
sure = st.sampled_from([0.0, 0.3, 0.3, 0.6, 0.9])


@given(
    st.permutations(["c1", "c2", "c3", "c4", "c5"]),
    st.dictionaries(st.tuples(st.sampled_from(["g1", "g2"]), names), sure),
)
def test_order_moves_false_positives_only(order: list[str], matches: dict[tuple[str, str], float]) -> None:
    one, other = walked(["g1", "g2"], sorted(order), matches), walked(["g1", "g2"], order, matches)
    assert (one.tp, one.fn) == (other.tp, other.fn)
    assert one.tp + one.fn == 2
    for found in (one, other):
        assert len(set(found.found.values())) + found.fp + len(found.beaten) == 5


@given(st.dictionaries(st.tuples(st.sampled_from(["g1", "g2"]), names), sure))
def test_dedup_never_adds_a_false_positive(matches: dict[tuple[str, str], float]) -> None:
    order, groups = ["c1", "c2", "c3", "c4", "c5"], [["c1", "c3"], ["c4", "c5"]]
    raw = walked(["g1", "g2"], order, matches, groups, Dedup.NONE)
    spread = walked(["g1", "g2"], order, matches, groups, Dedup.PROPAGATE)
    assert (spread.tp, spread.fn) == (raw.tp, raw.fn)
    assert spread.fp <= raw.fp
