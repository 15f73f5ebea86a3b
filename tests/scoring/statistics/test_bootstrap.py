from __future__ import annotations

from itertools import product
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from scoring.metrics import f1, precision, recall
from scoring.model import Counts, Estimate, PullId
from scoring.statistics.bootstrap import (
    FEW_CLUSTERS,
    NO_SPREAD,
    SELDOM_DEFINED,
    Intervals,
    Method,
    Resampler,
    all_intervals,
    bca_levels,
    count_rows,
    f1_of,
    intervals,
    leaderboard_intervals,
)
from scoring.statistics.clusters import partition
from tests.scoring.statistics.make import A, B, contained, resampler, score, unrun

Table = dict[PullId, Counts]


def table(*rows: tuple[int, int, int]) -> Table:
    return {PullId(f"p{number:03}"): Counts(*row) for number, row in enumerate(rows)}


def estimates(made: Intervals) -> list[Estimate]:
    return [one for part in (made.micro, made.macro) for one in (part.precision, part.recall, part.f1)]


tables = st.lists(st.tuples(*[st.integers(0, 4)] * 3), max_size=12).map(lambda rows: table(*rows))


def test_the_value_is_that_of_the_plain_metrics() -> None:
    rows = table((3, 1, 2), (0, 2, 1), (2, 0, 0), (1, 1, 4), (0, 3, 0))
    made, total = intervals(rows, resampler()).micro, sum(rows.values(), Counts())
    assert made.precision.value == pytest.approx(precision(total).value)
    assert made.recall.value == pytest.approx(recall(total).value)
    assert made.f1.value == pytest.approx(f1(total).value)
    assert (made.precision.n, made.recall.n, made.f1.n) == (13, 13, 20)


def test_macro_is_the_mean_over_pull_requests_where_the_figure_is_defined() -> None:
    # recall 1/2 and 1/4 and, of the clean one, undefined: mean 3/8; precision 1, 1/3 and 0: mean 4/9;
    # F1 2/3 and 2/7: mean 10/21
    made = intervals(table((1, 0, 1), (1, 2, 3), (0, 1, 0)), resampler()).macro
    assert made.recall.value == pytest.approx(3 / 8)
    assert made.precision.value == pytest.approx(4 / 9)
    assert made.f1.value == pytest.approx(10 / 21)
    assert (made.precision.n, made.recall.n, made.f1.n) == (3, 2, 2)


def test_percentile_bounds_agree_with_the_full_enumeration_of_resamples() -> None:
    # All 4^4 = 256 equally likely resamples of four pull requests, and the 5 % and 95 % quantiles of their F1.
    rows = table((3, 1, 1), (0, 2, 2), (2, 0, 0), (1, 1, 3))
    matrix = count_rows(list(rows.values()))
    every = np.array([matrix[list(drawn)].sum(axis=0) for drawn in product(range(4), repeat=4)])
    low, high = np.quantile(f1_of(every), [0.05, 0.95])
    made = intervals(rows, resampler(draws=40_000, confidence=0.9, method=Method.PERCENTILE)).micro.f1
    assert made.low == pytest.approx(low, abs=0.01)
    assert made.high == pytest.approx(high, abs=0.01)


def test_bca_bounds_agree_with_those_of_scipy() -> None:
    rng = np.random.default_rng(5)
    rows = table(*rng.poisson((2, 1, 1), (30, 3)).tolist())
    matrix = count_rows(list(rows.values()))

    def recall_of(tp: np.ndarray, fn: np.ndarray, axis: int) -> np.ndarray:
        return np.asarray(tp.sum(axis=axis) / (tp + fn).sum(axis=axis))

    theirs = scipy_stats.bootstrap(
        (matrix[:, 0], matrix[:, 2]),
        recall_of,
        paired=True,
        n_resamples=20_000,
        method="BCa",
        rng=np.random.default_rng(1),
    ).confidence_interval
    ours = intervals(rows, resampler(draws=20_000)).micro.recall
    assert ours.low == pytest.approx(theirs.low, abs=0.006)
    assert ours.high == pytest.approx(theirs.high, abs=0.006)


def test_bca_without_bias_and_skew_is_percentile_and_moves_as_the_formula_says() -> None:
    assert bca_levels(0.5, 0.0, 1.959963984540054) == pytest.approx((0.025, 0.975))
    # Efron and Tibshirani, An Introduction to the Bootstrap, 1993, section 14.3: z0 = 0.146, a = 0.061 and a 90 %
    # interval give the quantiles 0.110 and 0.985 of the draws.
    share = scipy_stats.norm.cdf(0.146)
    assert bca_levels(float(share), 0.061, 1.645) == pytest.approx((0.110, 0.985), abs=1e-3)


def test_an_interval_of_likely_clusters_is_wider_than_one_that_takes_goldens_as_independent() -> None:
    rows = table(*[(6, 0, 0), (0, 0, 6)] * 10)
    clustered, wilson = intervals(rows, resampler()).micro.recall, recall(sum(rows.values(), Counts()))
    assert clustered.high is not None and clustered.low is not None
    assert wilson.high is not None and wilson.low is not None
    assert clustered.high - clustered.low > 2 * (wilson.high - wilson.low)


def test_one_pull_request_gives_a_value_without_bounds_and_never_one_of_zero_width() -> None:
    made = intervals(table((3, 1, 2)), resampler()).micro.recall
    assert (made.value, made.low, made.high, made.n, made.reason) == (0.6, None, None, 5, FEW_CLUSTERS)


def test_ten_clean_pull_requests_do_not_make_one_with_goldens_two_clusters() -> None:
    made = intervals(table((3, 0, 2), *[(0, 1, 0)] * 10), resampler())
    assert made.micro.recall.reason == made.micro.f1.reason == FEW_CLUSTERS
    assert made.micro.precision.low is not None
    assert made.clusters == 11


def test_perfect_on_every_pull_request_is_not_certainty() -> None:
    made = intervals(table(*[(2, 0, 0)] * 9), resampler())
    assert [(one.value, one.low, one.reason) for one in estimates(made)] == [(1.0, None, NO_SPREAD)] * 6


def test_a_figure_undefined_in_most_resamples_has_no_interval() -> None:
    # This statistic needs the first of five pull requests drawn exactly once, which 41 % of resamples do. Recall with
    # goldens on two of 40 is undefined in (38/40)^40 = 13 % of them, and keeps its interval.
    rows = np.eye(5)

    def often(sums: np.ndarray) -> np.ndarray:
        return np.where(sums[:, 0] == 1, sums[:, 1], np.nan)

    made = resampler().estimate(rows, often, rows[:, 0] >= 0, 5, "never")
    assert (made.value, made.low, made.reason) == (1.0, None, SELDOM_DEFINED)
    sparse = intervals(table((1, 0, 1), (1, 0, 0), *[(0, 1, 0)] * 38), resampler()).micro.recall
    assert sparse.low is not None


def test_nothing_scored_is_undefined_with_a_reason() -> None:
    assert all(one.value is None and one.reason for one in estimates(intervals({}, resampler())))
    silent = intervals(table((0, 0, 0), (0, 0, 0)), resampler()).micro
    assert silent.precision.value is silent.recall.value is silent.f1.value is None


def test_too_few_draws_and_impossible_levels_are_refused() -> None:
    rng = np.random.default_rng(1)
    with pytest.raises(ValueError, match="needs 100 draws or more, not 10"):
        Resampler(rng, 10)
    with pytest.raises(ValueError, match="between 0 and 1"):
        Resampler(rng, confidence=95)


@settings(max_examples=40, deadline=None)
@given(tables, st.sampled_from(Method))
def test_intervals_contain_the_value_and_lie_in_the_unit_interval(rows: Table, method: Method) -> None:
    for one in estimates(intervals(rows, resampler(draws=200, method=method))):
        assert contained(one.value, one.low, one.high)
        assert (one.reason is None) == (one.low is not None)
        assert one.low is None or (one.low >= 0 and one.high is not None and one.high <= 1)


@settings(max_examples=25, deadline=None)
@given(tables, st.randoms(use_true_random=False))
def test_the_order_of_pull_requests_changes_nothing_and_a_seed_fixes_everything(rows: Table, random: Random) -> None:
    names = list(rows)
    random.shuffle(names)
    assert intervals({name: rows[name] for name in names}, resampler(3, 200)) == intervals(rows, resampler(3, 200))


@settings(max_examples=25, deadline=None)
@given(tables, tables)
def test_another_reviewer_moves_nobodys_interval(rows: Table, others: Table) -> None:
    alone = all_intervals({A: rows}, resampler(3, 200))[A]
    assert all_intervals({B: others, A: rows}, resampler(3, 200))[A] == alone


def test_a_trial_that_did_not_run_moves_no_interval() -> None:
    scores = [score(f"p{number}", A, "10", fp=number % 3) for number in range(8)]
    before = leaderboard_intervals(partition(scores), resampler())
    assert leaderboard_intervals(partition([*scores, unrun("p9", A)]), resampler()) == before


def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    # 200 samples of 40 pull requests whose goldens are all found or all missed, with chance 0.4: 95 % intervals should
    # hold 0.4 in about 190; fewer than 178 has a chance under 1 in 1,000.
    rng = np.random.default_rng(11)
    held = 0
    for seed in range(200):
        found = rng.random(40) < 0.4
        made = intervals(table(*[(3, 0, 0) if one else (0, 0, 3) for one in found]), resampler(seed, 500)).micro.recall
        held += made.low is not None and made.high is not None and made.low <= 0.4 <= made.high
    assert held >= 178
