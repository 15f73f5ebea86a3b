"""The engine under the intervals: what is drawn, which quantiles are read, and when there is nothing to read."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from scoring.model import Counts, Estimate, PullId
from scoring.statistics.bootstrap import (
    FEW_CLUSTERS,
    NO_SPREAD,
    SELDOM_DEFINED,
    Drawn,
    Method,
    Resampler,
    acceleration,
    bca_levels,
    count_rows,
    f1_of,
    intervals,
    micro_intervals,
    quantile,
)
from tests.scoring.statistics.make import resampler

Z90 = 1.6448536269514722


def column(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float64)[:, None]


def first(sums: np.ndarray) -> np.ndarray:
    return np.asarray(sums[:, 0])


# --- what is drawn


def test_every_draw_has_as_many_pull_requests_as_there_are_and_there_are_as_many_draws_as_asked() -> None:
    # 3,000 pull requests are drawn in blocks of 174 draws, and multiplied in tiles of 5 of the 12 columns.
    rows = np.random.default_rng(4).integers(0, 9, (3000, 12)).astype(np.float64)
    rows[:, 11] = 1
    made = resampler(draws=500).sums(rows)
    assert made.shape == (500, 12)
    assert (made[:, 11] == 3000).all()
    for at in range(12):
        assert np.array_equal(made[:, at], resampler(draws=500).sums(rows[:, at : at + 1])[:, 0])


def test_two_hundred_seeds_give_two_hundred_different_sets_of_draws() -> None:
    rows = column(*range(50))
    assert len({resampler(seed, 100).sums(rows).tobytes() for seed in range(200)}) == 200


def test_more_draws_from_the_same_seed_begin_with_those_there_were() -> None:
    rows, few = column(1, 2, 4, 8, 16), resampler(draws=200)
    before = few.sums(rows)
    more = few.at_least(300)
    assert np.array_equal(more.sums(rows)[:200], before)
    assert (len(more.sums(rows)), len(few.sums(rows))) == (300, 200)
    assert few.at_least(200) is few


def test_draws_are_kept_for_the_next_question_while_they_fit_and_are_the_same_anyway(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # 10,000 draws of 1,000 pull requests are kept; those of 1,001 as well would be more than 2^24.
    one = resampler(draws=10_000)
    fits, not_any_more = column(*range(1000)), column(*range(1001))
    kept, drawn = one.sums(fits), one.sums(not_any_more)
    assert np.array_equal(one.sums(not_any_more), drawn)
    assert np.array_equal(resampler(draws=10_000).sums(not_any_more), drawn)

    def again(n: int) -> Iterator[np.ndarray]:
        raise LookupError(n)

    monkeypatch.setattr(one, "_weights", again)
    assert np.array_equal(one.sums(fits), kept)
    with pytest.raises(LookupError, match="1001"):
        one.sums(not_any_more)


# --- what is read from the draws


def read(method: Method, *pulls: float) -> Estimate:
    """The interval of 90 % of a sum, should its 100 draws be 1 to 100."""
    one = resampler(draws=100, confidence=0.9, method=method)
    drawn = Drawn(column(*pulls), column(*range(100, 0, -1)))
    return one.read(drawn, first, np.ones(len(pulls), dtype=np.bool_), 50, "never")


def test_percentile_bounds_are_the_plain_quantiles_of_the_draws() -> None:
    # 1 + 0.05 * 99 and 1 + 0.95 * 99
    made = read(Method.PERCENTILE, 10, 10, 30)
    assert (made.value, made.n) == (50, 50)
    assert (made.low, made.high) == pytest.approx((5.95, 95.05))


def test_bca_bounds_move_by_the_share_below_with_ties_half_and_by_the_skew_of_leaving_one_out() -> None:
    # 49 draws are below 50 and one is 50, so the share is 0.495 and the bias -0.012533; leaving one of two equal pulls
    # out is no skew: Φ(2b ± 1.644854) = 0.047468 and 0.947360 of the way from 1 to 100.
    even = read(Method.BCA, 25, 25)
    assert (even.low, even.high) == pytest.approx((1 + 99 * 0.047468, 1 + 99 * 0.947360), abs=2e-4)
    # Left out 40, 40 and 20, mean 100/3: Σd³ = 2 (-20/3)³ + (40/3)³ = 16000/9, Σd² = 800/3, a = 0.068041
    skewed = read(Method.BCA, 10, 10, 30)
    low, high = bca_levels(0.495, 0.068041, Z90)
    assert (skewed.low, skewed.high) == pytest.approx((1 + 99 * low, 1 + 99 * high), abs=2e-4)
    assert (skewed.low or 0) > (even.low or 0) + 0.5


@pytest.mark.parametrize(
    ("level", "wanted"), [(0.0, 1.0), (0.5, 3.0), (0.9, 6.8), (1.0, 8.0), (1 / 3, 2.0), (1 / 6, 1.5)]
)
def test_a_quantile_lies_between_the_two_nearest_values(level: float, wanted: float) -> None:
    assert quantile(np.array([1.0, 2.0, 4.0, 8.0]), level) == pytest.approx(wanted)


@pytest.mark.parametrize("scale", [1.0, 1e-7])
def test_acceleration_by_hand_whatever_the_unit_and_whatever_is_undefined(scale: float) -> None:
    # 1, 2 and 6: mean 3, d = 2, 1, -3, Σd³ = -18, Σd² = 14, a = -18 / (6 * 14^1.5)
    assert acceleration(scale * np.array([1.0, np.nan, 2.0, 6.0])) == pytest.approx(-3 / 14**1.5)


@pytest.mark.parametrize("left_out", [[np.nan, np.nan], [0.25, 0.25, 0.25], [0.5], [0.0, 1e-14, 3e-14]])
def test_nothing_left_out_or_nothing_but_rounding_is_no_skew(left_out: list[float]) -> None:
    assert acceleration(np.array(left_out)) == 0.0


@pytest.mark.parametrize(
    ("share", "skew", "z", "wanted"),
    [
        (0.0, 0.0, Z90, (0.0, 0.0)),  # the quantile of a millionth is -4.75, and twice that is far out
        (1.0, 0.0, Z90, (1.0, 1.0)),
        (0.5, 0.5, 2.0, (0.158655, 1.0)),  # Φ(-2 / 2); at +2 the divisor is 0
        (0.5, 2.0, 0.8, (0.379158, 1.0)),  # Φ(-0.8 / 2.6); at +0.8 the divisor is negative
        (0.5, -2.0, 0.8, (0.0, 0.620842)),
    ],
)
def test_bca_levels_stay_levels_where_the_formula_has_no_value(
    share: float, skew: float, z: float, wanted: tuple[float, float]
) -> None:
    assert bca_levels(share, skew, z) == pytest.approx(wanted, abs=1e-6)


# --- when there is nothing to read


def test_no_interval_is_given_with_the_number_of_observations_and_the_reason() -> None:
    one, two = resampler(draws=100), np.ones(2, dtype=np.bool_)
    assert one.estimate(np.empty((0, 1)), first, two[:0], 7, "nothing there") == Estimate(
        None, None, None, 0, "nothing there"
    )
    assert one.estimate(column(5), first, two[:1], 7, "never") == Estimate(5, None, None, 7, FEW_CLUSTERS)
    undefined = one.estimate(column(np.nan, 1), first, two, 7, "never was")
    assert undefined == Estimate(None, None, None, 0, "never was")
    assert one.estimate(column(2, 2), first, two, 7, "never") == Estimate(4, None, None, 7, NO_SPREAD)


def test_half_of_the_draws_are_enough_and_one_less_is_not() -> None:
    def with_defined(number: int) -> Estimate:
        draws = column(*[float(at) if at < number else np.nan for at in range(100)])
        drawn = Drawn(column(20, 5), draws)
        return resampler(draws=100).read(drawn, first, np.ones(2, dtype=np.bool_), 7, "never")

    assert with_defined(50).low is not None
    assert with_defined(49) == Estimate(25, None, None, 7, SELDOM_DEFINED)


def test_a_hundred_draws_are_enough() -> None:
    assert Resampler(np.random.default_rng(1), 100).draws == 100


def test_a_silent_pull_request_is_no_second_cluster_of_precision() -> None:
    made = intervals({PullId("p1"): Counts(3, 1, 1), PullId("p2"): Counts(0, 0, 2)}, resampler())
    assert made.micro.precision == Estimate(0.75, None, None, 4, FEW_CLUSTERS)
    assert made.micro.recall.low is not None


def test_one_golden_is_enough_for_f1_and_none_is_not() -> None:
    assert f1_of(np.array([[1.0, 0, 0], [0, 1, 1]])).tolist() == [1.0, 0.0]
    assert np.isnan(f1_of(np.array([[0.0, 3, 0]]))).all()
    assert count_rows([Counts(1, 2, 3)]).dtype == np.float64


def test_micro_figures_alone_are_those_of_the_whole() -> None:
    rows = {PullId(f"p{at}"): Counts(at % 3, at % 2, at % 4) for at in range(9, 0, -1)}
    assert micro_intervals(rows, resampler()) == intervals(rows, resampler()).micro
    assert micro_intervals({}, resampler()) == intervals({}, resampler()).micro
