"""Exact tests on small counts."""

from __future__ import annotations

from math import comb, isinf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring import exact
from tests.shared import case

small = st.integers(0, 25)


def test_mcnemar_on_the_shared_pairs() -> None:
    for one in case("92")["expected"]["results"]:
        found = exact.mcnemar_exact(one["only_first"], one["only_second"])
        assert found == pytest.approx(one["p_exact"], abs=1e-12)


def test_fisher_on_the_shared_tables_with_empty_rows_and_columns() -> None:
    for one in case("93")["expected"]["results"]:
        (a, b), (c, d) = one["table"]
        assert exact.fisher_two_sided((a, b, c, d)) == pytest.approx(one["p"], abs=1e-12)
        ratio = exact.sample_odds_ratio((a, b, c, d))
        if one["odds_ratio"] == "inf":
            assert isinf(ratio or 0.0)
        else:
            assert ratio == (None if one["odds_ratio"] is None else pytest.approx(one["odds_ratio"]))


@given(small, small)
def test_mcnemar_is_the_doubled_binomial_tail(b: int, c: int) -> None:
    tail = sum(comb(b + c, i) for i in range(min(b, c) + 1)) / 2 ** (b + c)
    assert exact.mcnemar_exact(b, c) == pytest.approx(min(1.0, 2 * tail), abs=1e-12)


@given(small, small, small, small)
def test_fisher_is_the_sum_of_tables_that_are_no_likelier(a: int, b: int, c: int, d: int) -> None:
    n, row, column = a + b + c + d, a + b, a + c
    chances = [
        comb(row, k) * comb(n - row, column - k) for k in range(max(0, column - (n - row)), min(row, column) + 1)
    ]
    seen = comb(row, a) * comb(n - row, column - a)
    wanted = sum(one for one in chances if one <= seen * (1 + 1e-7)) / comb(n, column)
    assert exact.fisher_two_sided((a, b, c, d)) == pytest.approx(wanted, abs=1e-9)


@given(small, small, small, small)
def test_the_odds_ratio_is_corrected_only_where_a_cell_is_empty(a: int, b: int, c: int, d: int) -> None:
    found = exact.odds_ratio((a, b, c, d))
    assert found.corrected is (0 in (a, b, c, d))
    assert 0 < found.low <= found.value <= found.high
    if not found.corrected:
        assert found.value == pytest.approx(a * d / (b * c))


def test_negative_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="0 or more"):
        exact.mcnemar_exact(-1, 2)
