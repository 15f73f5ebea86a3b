from __future__ import annotations

from itertools import permutations, product
from random import Random

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau

from scoring.model import CandidateId, CandidateOutcome, Estimate, GoldenId, OutcomeKind, PullId, ReviewerId
from scoring.statistics.agreement import (
    NOTHING_SHARED,
    ONE_LABEL,
    Kappa,
    RankMoves,
    Unit,
    agreement,
    alpha,
    candidate_labels,
    cohens_kappa,
    golden_labels,
    kappa,
    rank_moves,
)
from scoring.statistics.bootstrap import FEW_CLUSTERS, Method
from scoring.stats import wilson
from tests.scoring.statistics.make import A, B, C, D, contained, resampler, score, unrun


def unit(number: int, pull: str | None = None) -> Unit:
    return PullId(pull or f"p{number}"), A, GoldenId(f"g{number}")


def labels(text: str) -> dict[Unit, str]:
    """One label a letter, `*` for none."""
    return {unit(number): mark for number, mark in enumerate(text) if mark != "*"}


def test_kappa_and_its_error_are_as_published_by_fleiss() -> None:
    # J. L. Fleiss, Statistical Methods for Rates and Proportions, 1981, table 13.1: 100 diagnoses by two raters;
    # agreement 0.89, by chance 0.66, kappa 0.68.
    made = cohens_kappa([[75, 1, 4], [5, 4, 1], [0, 0, 10]])
    assert made.value.value == pytest.approx((0.89 - 0.66) / (1 - 0.66))
    assert made.error == pytest.approx(0.087, abs=0.001)
    assert made.value.value is not None and made.error is not None
    assert made.value.low == pytest.approx(made.value.value - 1.959963984540054 * made.error)
    assert made.value.high == pytest.approx(made.value.value + 1.959963984540054 * made.error)
    assert made.value.n == 100


def test_kappa_of_fifty_grants_by_hand() -> None:
    # Two readers say yes to 20 and no to 15 together; one says yes to 5, the other to 10 alone:
    # pₒ = 35/50, pₑ = 0.5·0.6 + 0.5·0.4 = 0.5, kappa 0.4.
    # The error of Fleiss, Cohen and Everitt: √(A + B - C) / ((1 - pₑ)√n), with rows 25/25, columns 30/20:
    # A = 0.4(1 - 1.1·0.6)² + 0.3(1 - 0.9·0.6)² = 0.04624 + 0.06348 = 0.10972,
    # B = 0.6²(0.1·(0.6 + 0.5)² + 0.2·(0.4 + 0.5)²) = 0.36·0.283 = 0.10188, C = (0.4 - 0.5·0.6)² = 0.01.
    made = cohens_kappa([[20, 5], [10, 15]])
    assert made.value.value == pytest.approx(0.4)
    assert made.error == pytest.approx((0.10972 + 0.10188 - 0.01) ** 0.5 / (0.5 * 50**0.5))


def test_full_agreement_claims_no_certainty_and_one_label_no_agreement() -> None:
    full = Estimate(1.0, None, None, 10, "full agreement, so no error can be estimated")
    assert cohens_kappa([[5, 0], [0, 5]]) == Kappa(full, None)
    assert cohens_kappa([[9, 0], [0, 0]]) == Kappa(Estimate(None, None, None, 0, ONE_LABEL), None)
    assert cohens_kappa([[0, 0], [0, 0]]) == Kappa(Estimate(None, None, None, 0, NOTHING_SHARED), None)


def test_bounds_of_kappa_are_cut_where_no_kappa_can_be() -> None:
    # pₒ 4/5, pₑ (4·3 + 1·2)/25: kappa 6/11. And pₒ 0, pₑ (3·1 + 1·3)/16: kappa -3/5.
    for table, kappa_, cut in (([[3, 1], [0, 1]], 6 / 11, 1.0), ([[0, 3], [1, 0]], -3 / 5, -1.0)):
        made = cohens_kappa(table)
        assert made.value.value == pytest.approx(kappa_)
        assert made.error is not None
        free = kappa_ - cut * 1.959963984540054 * made.error
        assert (made.value.low, made.value.high) == pytest.approx(tuple(sorted((cut, max(-1.0, min(1.0, free))))))
        assert abs(kappa_) + 1.959963984540054 * made.error > 1


def test_alpha_is_as_published_for_three_coders_with_gaps() -> None:
    # The worked example of three coders and fifteen units in Krippendorff's alpha's encyclopaedia article: 0.691.
    coders = [labels("*****34121133*3"), labels("1*21334 3*******".replace(" ", "")), labels("**21344*21133*4")]
    made = alpha(coders, resampler())
    assert made.value == pytest.approx(0.691, abs=5e-4)
    assert contained(made.value, made.low, made.high)


def test_alpha_of_two_judges_by_hand() -> None:
    # aab / abb on three units: coincidences aa 2, bb 2, ab 1, ba 1, n = 6. Dₒ = 2/6, Dₑ = 2·3·3/(6·5) = 18/30,
    # alpha = 1 - (1/3)/(3/5) = 4/9.
    assert alpha([labels("aab"), labels("abb")], resampler()).value == pytest.approx(4 / 9)


def test_alpha_on_one_pull_request_has_a_value_and_no_bounds() -> None:
    together = [{unit(at, "p"): mark for at, mark in enumerate(marks)} for marks in ("aab", "abb")]
    made = alpha(together, resampler())
    assert made.value == pytest.approx(4 / 9)
    assert made == Estimate(made.value, None, None, 3, FEW_CLUSTERS)


def test_alpha_without_pairs_or_with_one_label_is_undefined() -> None:
    assert alpha([labels("a*"), labels("*b")], resampler()).reason == NOTHING_SHARED
    assert alpha([labels("aa"), labels("aa")], resampler()).reason == ONE_LABEL
    assert alpha([labels("ab")], resampler()).reason == NOTHING_SHARED


def test_bounds_of_alpha_are_quantiles_of_the_librarys_alpha_of_all_resamples() -> None:
    # Three pull requests of five units and three judges: 27 equally likely resamples, each asked of the library.
    rows = {"p0": ("aab", "aaa"), "p1": ("bbb", "abb"), "p2": ("b*a",)}
    judges: list[dict[Unit, str]] = [{}, {}, {}]
    for pull, units in rows.items():
        for number, marks in enumerate(units):
            for judge, mark in zip(judges, marks, strict=True):
                judge |= {unit(number, pull): mark} if mark != "*" else {}
    every = []
    for drawn in product(rows.values(), repeat=3):
        said = [one for units in drawn for one in units]
        data = np.array(
            [[np.nan if mark == "*" else "ab".index(mark) for mark in row] for row in zip(*said, strict=True)]
        )
        if len({mark for one in said for mark in one} - {"*"}) > 1:
            every.append(float(krippendorff.alpha(reliability_data=data, level_of_measurement="nominal")))
    low, high = np.quantile(every, [0.1, 0.9], method="inverted_cdf")
    made = alpha(judges, resampler(confidence=0.8, draws=20_000, method=Method.PERCENTILE))
    assert (made.low, made.high) == pytest.approx((low, high))
    assert made.n == 5
    assert made.value is not None
    assert low < made.value < high


def test_two_judges_that_share_nothing_or_one_label_say_so() -> None:
    apart = agreement(labels("ab**"), labels("**ab"), resampler())
    nothing = Estimate(None, None, None, 0, NOTHING_SHARED)
    assert (apart.units, apart.observed, apart.kappa, apart.alpha) == (0, nothing, nothing, nothing)
    alike = agreement(labels("aaa"), labels("aaa"), resampler())
    one = Estimate(None, None, None, 0, ONE_LABEL)
    assert (alike.units, alike.observed, alike.kappa, alike.alpha) == (3, wilson(3, 3), one, one)


def test_agreement_is_the_share_of_units_with_the_same_label_at_the_level_that_was_asked() -> None:
    made = agreement(labels("aabbb"), labels("aabba"), resampler(confidence=0.8))
    assert made.observed == wilson(4, 5, 0.8)
    assert made.kappa.n == made.alpha.n == 5


def test_units_of_one_pull_request_agree_together_so_the_interval_is_wider() -> None:
    first = {unit(number, f"p{number % 4}"): "ab"[number % 2] for number in range(80)}
    second = {key: ("ba" if key[0] == "p0" else "ab")[number % 2] for number, key in enumerate(first)}
    spread = {unit(number): label for number, label in enumerate(second.values())}
    alone = {unit(number): label for number, label in enumerate(first.values())}
    bound, free = kappa(first, second, resampler()), kappa(alone, spread, resampler())
    assert bound.value == pytest.approx(free.value)
    assert bound.low is not None and free.low is not None and bound.high is not None and free.high is not None
    assert bound.high - bound.low > 2 * (free.high - free.low)


def test_two_judges_on_what_both_settled() -> None:
    one = [score("p1", A, "110?", fp=1), score("p2", A, "1", fp=2), unrun("p3", A)]
    other = [score("p1", A, "1001", fp=1), score("p2", A, "0", fp=2)]
    made = agreement(golden_labels(one), golden_labels(other), resampler())
    assert made.units == 4
    assert made.observed.value == 0.5
    # Found/found 1, found/missed 2, missed/found 0, missed/missed 1: pₒ 1/2, pₑ 3/4·1/4 + 1/4·3/4 = 3/8, kappa 1/5
    assert made.kappa.value == pytest.approx(0.2)


def test_a_candidate_that_says_a_golden_again_is_no_disagreement() -> None:
    one = score("p1", A, "1", fp=1)
    kinds = (OutcomeKind.DUPLICATE, OutcomeKind.UNSCORED)
    again = tuple(CandidateOutcome(own.candidate, kind, "") for own, kind in zip(one.outcomes, kinds, strict=True))
    from dataclasses import replace

    first, second = candidate_labels([one]), candidate_labels([replace(one, outcomes=again)])
    assert sorted(first.values()) == ["false alarm", "golden"]
    assert second == {("p1", A, CandidateId("review_comment/0#0")): "golden"}


def test_rank_moves_by_hand() -> None:
    # 1 2 3 4 against 1 3 2 4: five pairs alike, one reversed: tau (5 - 1)/6.
    made = rank_moves({A: 0.9, B: 0.8, C: 0.7, D: 0.6}, {A: 0.5, B: 0.3, C: 0.4, D: 0.1})
    assert made.tau_b == pytest.approx(4 / 6)
    assert (made.largest_move, made.moved_most) == (1, (B, C))


def test_tau_takes_ties_out_of_both_sides() -> None:
    # First: a > b = c; second: a > b > c. Two pairs alike, none reversed, one tied in the first: 2/√(2·3).
    made = rank_moves({A: 0.9, B: 0.5, C: 0.5}, {A: 0.9, B: 0.5, C: 0.4})
    assert made.tau_b == pytest.approx(2 / 6**0.5)
    # b and c share the second place in the first, so c alone moves.
    assert (made.reviewers, made.largest_move, made.moved_most) == (3, 1, (C,))


def test_an_order_that_is_none_has_no_tau() -> None:
    few = "fewer than two reviewers have a value from both judges"
    assert rank_moves({A: 0.5}, {A: 0.5}) == RankMoves(1, None, None, (), few)
    assert rank_moves({A: 0.5, B: None}, {A: 0.5, B: 0.1}).reviewers == 1
    flat = rank_moves({A: 0.5, B: 0.5}, {A: 0.5, B: 0.1})
    assert flat == RankMoves(2, None, 1, (B,), "a judge has all reviewers equal, so there is no order")
    assert rank_moves({A: 0.5, B: 0.4}, {A: 0.2, B: 0.1}) == RankMoves(2, 1.0, 0, ())


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text("ab*c", min_size=8, max_size=8), min_size=2, max_size=4))
def test_alpha_agrees_with_the_library_and_with_its_own_sums(rows: list[str]) -> None:
    made = alpha([labels(row) for row in rows], resampler(draws=200))
    data = np.array([[np.nan if mark == "*" else "abc".index(mark) for mark in row] for row in rows])
    if made.value is not None:
        theirs = float(krippendorff.alpha(reliability_data=data, level_of_measurement="nominal"))
        assert made.value == pytest.approx(theirs)
        assert made.value <= 1 + 1e-12
    assert contained(made.value, made.low, made.high)


@settings(max_examples=40, deadline=None)
@given(st.text("abc", min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_the_order_of_judges_and_units_changes_nothing(text: str, random: Random) -> None:
    first, second = labels(text), labels("".join(random.choice("abc") for _ in text))
    keys = list(first)
    random.shuffle(keys)
    ours = agreement(first, second, resampler(1, 200))
    theirs = agreement({key: second[key] for key in keys}, {key: first[key] for key in keys}, resampler(1, 200))
    assert (ours.observed, ours.units) == (theirs.observed, theirs.units)
    for one, other in ((ours.kappa, theirs.kappa), (ours.alpha, theirs.alpha)):
        assert one.value == pytest.approx(other.value)
        assert one.low == pytest.approx(other.low)
        assert contained(one.value, one.low, one.high)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=8))
def test_tau_agrees_with_scipy_for_any_order_of_reviewers(values: list[tuple[int, int]]) -> None:
    names = [ReviewerId(f"r{number}") for number in range(len(values))]
    made = rank_moves(*({name: float(row[side]) for name, row in zip(names, values, strict=True)} for side in (0, 1)))
    theirs = kendalltau(*zip(*values, strict=True)).statistic
    assert made.tau_b == (None if np.isnan(theirs) else pytest.approx(theirs))


def test_three_judges_in_any_order_have_one_alpha() -> None:
    judges = [labels("aabbcab"), labels("abbbcaa"), labels("aabacab")]
    values = {round(alpha(list(order), resampler()).value or 0, 12) for order in permutations(judges)}
    assert len(values) == 1
