from __future__ import annotations

from math import exp, log, sqrt
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.model import Estimate, Place, ReviewerId
from scoring.statistics.capture import NO_OVERLAP, NOTHING, Unseen, chao2, chapman, chapman_of, incidence, log_normal
from scoring.statistics.clusters import partition
from tests.scoring.statistics.make import A, B, C, claim, contained, score, unrun


def found(*often: int) -> list[frozenset[ReviewerId]]:
    """So many defects found by exactly one, two, ... reviewers."""
    return [
        frozenset(ReviewerId(f"r{number}") for number in range(times))
        for times, count in enumerate(often, start=1)
        for _ in range(count)
    ]


def test_chapman_of_the_turtles_is_as_published() -> None:
    # The usual example: 10 turtles marked, 15 caught later, 5 of them marked. Lincoln and Petersen say 30, Chapman
    # 11·16/6 - 1 = 28.33; Seber's variance is 11·16·5·10/(36·7) = 34.92.
    made = chapman(10, 15, 5)
    assert made.observed == 20
    assert made.total.value == pytest.approx(28.3333, abs=1e-4)
    assert made.missed.value == pytest.approx(8.3333, abs=1e-4)
    variance = 11 * 16 * 5 * 10 / (36 * 7)
    factor = exp(1.959963984540054 * sqrt(log(1 + variance / (25 / 3) ** 2)))
    assert made.total.low == pytest.approx(20 + 25 / 3 / factor)
    assert made.total.high == pytest.approx(20 + 25 / 3 * factor)


def test_chao2_by_hand_and_on_published_counts() -> None:
    # Cottontail rabbits of Edwards and Eberhardt, in Chao 1987: 43 caught once, 16 twice, then 8, 6, 0, 2, 1 on 18
    # nights, 76 in all of 135 in truth. 76 + (17/18)·43²/(2·16) = 76 + 54.57; without the factor 133.8.
    made = chao2(found(43, 16, 8, 6, 0, 2, 1), 18)
    assert made.observed == 76
    assert made.total.value == pytest.approx(76 + 17 / 18 * 43**2 / 32)
    assert made.total.low is not None and made.total.high is not None
    assert 76 < made.total.low < 135 < made.total.high


def test_the_variance_of_chao2_by_hand() -> None:
    # 4 once, 2 twice, 2 reviewers: A 1/2, r 2; unseen (1/2)·16/4 = 2; variance 2·(1 + (1/4)·8 + (1/4)·16/4) = 8.
    made = chao2(found(4, 2), 2)
    assert made.missed.value == pytest.approx(2)
    assert (made.missed.low, made.missed.high) == pytest.approx(log_normal(2, 8))


def test_less_than_one_unseen_is_still_an_estimate() -> None:
    # 1 once, 1 twice, 2 reviewers: unseen (1/2)·1/2 = 1/4; variance (1/2)·1/2 + 1/4 + 1/16 = 9/16
    made = chao2(found(1, 1), 2)
    assert made.missed == Estimate(0.25, *log_normal(0.25, 9 / 16), 2)


def test_chao2_without_anything_found_twice_uses_the_corrected_form() -> None:
    # 3 once, none twice, 1 thrice of 3 reviewers: A 2/3, unseen (2/3)·3·2/2 = 2, variance
    # 2 + (4/9)·3·25/4 - (4/9)·81/(4·6) = 2 + 8.3333 - 1.5 = 8.8333
    made = chao2(found(3, 0, 1), 3)
    assert made.total.value == pytest.approx(6)
    assert (made.missed.low, made.missed.high) == pytest.approx(log_normal(2, 2 + 25 / 3 - 1.5))


def test_no_overlap_gives_no_number() -> None:
    two, many = chapman(10, 15, 5).assumptions, chao2(found(4, 2), 3).assumptions
    apart, none = Estimate(None, None, None, 9, NO_OVERLAP), Estimate(None, None, None, 0, NOTHING)
    assert chapman(5, 4, 0) == Unseen("chapman", 9, apart, apart, two)
    assert chapman(0, 0, 0) == Unseen("chapman", 0, none, none, two)
    assert chao2([], 3) == Unseen("chao2", 0, none, none, many)


def test_the_log_normal_interval_by_hand() -> None:
    # Unseen 2, variance 8: √ln(1 + 8/4) = √1.098612 = 1.048147; times 1.644854 (90 %) 1.724048, whose e-power is
    # 5.607181.
    assert log_normal(2, 8, 0.9) == pytest.approx((2 / 5.607181, 2 * 5.607181), rel=2e-5)


def test_a_level_that_is_asked_for_is_the_level_of_the_interval() -> None:
    low, high = log_normal(2, 8, 0.9)
    made = chao2(found(4, 2), 2, 0.9)
    assert made.missed == Estimate(2.0, low, high, 6)
    assert made.total == Estimate(8.0, 6 + low, 6 + high, 6)
    assert made.method == "chao2"
    # Both found 5, acme 5 more, bolt 10 more: the turtles again.
    hits = [*[{A, B}] * 5, *[{A}] * 5, *[{B}] * 10]
    assert chapman_of(hits, A, B, 0.9) == chapman(10, 15, 5, 0.9)
    assert chapman_of([*hits, {A}, {C}], A, B, 0.9) == chapman(11, 15, 5, 0.9)
    turtles = chapman(10, 15, 5, 0.9)
    assert turtles.missed.low == pytest.approx(log_normal(25 / 3, 11 * 16 * 5 * 10 / 252, 0.9)[0])
    assert (turtles.missed.n, turtles.total.n, turtles.method) == (20, 20, "chapman")


def test_two_reviewers_are_enough_and_all_of_them_may_have_found_a_thing() -> None:
    assert chao2(found(0, 1), 2).observed == 1
    assert chapman(3, 5, 3).observed == 5


def test_everything_found_by_all_leaves_no_estimate_of_zero_width() -> None:
    for made in (chapman(7, 5, 5), chao2(found(0, 3, 4), 3), chao2(found(1, 0, 4), 3)):
        assert (made.missed.value, made.missed.low, made.missed.high) == (0, None, None)
        few = "too few were found only once to estimate how many more there are"
        n, two = made.observed, made.method == "chapman"
        total, missed = Estimate(n, None, None, n, few), Estimate(0, None, None, n, few)
        told = (chapman(10, 15, 5) if two else chao2(found(4, 2), 2)).assumptions
        assert made == Unseen("chapman" if two else "chao2", n, total, missed, told)


def test_the_assumptions_are_said_with_the_number() -> None:
    two, many = chapman(10, 15, 5), chao2(found(4, 2), 3)
    assert any("equally easy" in one for one in two.assumptions)
    assert any("lower bound" in one for one in many.assumptions)
    assert all(any("independently" in one for one in made.assumptions) for made in (two, many))


@pytest.mark.parametrize(("first", "second", "both"), [(3, 5, 4), (3, 5, -1)])
def test_counts_that_cannot_be_are_refused(first: int, second: int, both: int) -> None:
    with pytest.raises(
        ValueError, match=rf"^defects found by both lie between 0 and the fewer of 3 and 5, not {both}$"
    ):
        chapman(first, second, both)


def test_one_reviewer_or_a_defect_nobody_found_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"^how often a defect was found says nothing with 1 reviewer\(s\); it takes two or more$"
    ):
        chao2(found(2), 1)
    with pytest.raises(ValueError, match=r"^a defect was found by 0 of 3 reviewers$"):
        chao2([frozenset()], 3)
    with pytest.raises(ValueError, match="found by 4 of 3"):
        chao2(found(0, 0, 0, 1), 3)


def test_defects_are_goldens_found_and_valid_claims_at_one_place() -> None:
    near, far = Place("a.py", (10, 12)), Place("a.py", (90, 90))
    scores = [
        score("p1", A, "110", valid=2, claims=[claim(1), claim(2), claim(3, near), claim(4, far)]),
        score("p1", B, "100", valid=1, claims=[claim(1), claim(2, near)]),
        score("p2", A, "1"),
        unrun("p2", B),
    ]
    made = incidence(partition(scores), [B, A])
    assert sorted(map(sorted, made)) == [["acme"], ["acme"], ["acme", "bolt"], ["acme", "bolt"]]
    estimate = chapman_of(made, A, B)
    # acme 4, bolt 2, both 2
    assert (estimate.observed, estimate.total.value) == (4, 4.0)
    alike = incidence(partition(scores), [A, B], lambda one, other: True)
    assert sorted(map(sorted, alike)) == [["acme"], ["acme"], ["acme", "bolt"], ["acme", "bolt"]]
    apart = incidence(partition(scores), [A, B], lambda one, other: False)
    assert sorted(map(sorted, apart)) == [["acme"], ["acme"], ["acme"], ["acme", "bolt"], ["bolt"]]


def test_defects_of_several_pull_requests_are_counted_together() -> None:
    scores = [score(pull, name, marks) for pull in ("p1", "p2") for name, marks in ((A, "110"), (B, "101"))]
    made = incidence(partition(scores), [A, B])
    assert sorted(map(sorted, made)) == [["acme"], ["acme"], ["acme", "bolt"], ["acme", "bolt"], ["bolt"], ["bolt"]]


def test_capture_finds_a_known_number_of_planted_defects_that_nobody_reported() -> None:
    # 300 defects, three independent reviewers that find 40, 50 and 30 in 100: 0.6·0.5·0.7 = 21 % are found by none.
    import numpy as np

    rng = np.random.default_rng(12)
    hits = rng.random((300, 3)) < np.array([0.4, 0.5, 0.3])
    seen = [frozenset(name for name, hit in zip((A, B, C), row, strict=True) if hit) for row in hits if row.any()]
    for made in (chao2(seen, 3), chapman_of([who & {A, B} for who in seen if who & {A, B}], A, B)):
        assert made.total.low is not None and made.total.high is not None
        assert made.total.low <= 300 <= made.total.high


@given(st.lists(st.sets(st.sampled_from([A, B, C]), min_size=1), max_size=20), st.randoms(use_true_random=False))
def test_intervals_hold_the_value_never_fall_below_what_was_seen_and_know_no_order(
    sets: list[set[ReviewerId]], random: Random
) -> None:
    defects = [frozenset(one) for one in sets]
    shuffled = list(defects)
    random.shuffle(shuffled)
    for made, again in (
        (chao2(defects, 3), chao2(shuffled, 3)),
        (chapman_of(defects, A, B), chapman_of(shuffled, A, B)),
    ):
        assert made == again
        assert contained(made.total.value, made.total.low, made.total.high)
        assert made.total.value is None or made.total.value >= made.observed
        assert made.total.low is None or made.total.low >= made.observed
        assert (made.total.low is None) == (made.total.reason is not None)
