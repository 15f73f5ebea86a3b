"""Exact tests and measures for small counts: two reviewers on the same cases, and two-by-two tables.

Each is a pure function of counts. Where a measure is undefined the answer is None.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log, sqrt

from scoring.stats import CONFIDENCE, z_of

Table = tuple[int, int, int, int]
"""a, b, c, d of a two-by-two table, row by row: first group with and without, second group with and without."""


@dataclass(frozen=True, slots=True)
class OddsRatio:
    """An odds ratio with Woolf's interval. `corrected`: some cell was 0, so 0.5 was added to all four."""

    value: float
    low: float
    high: float
    corrected: bool


def mcnemar_exact(only_first: int, only_second: int) -> float:
    """The exact two-sided McNemar test: how surprising the split of the discordant pairs is if both are equally good.

    The smaller binomial tail doubled and cut at 1; no discordant pair gives 1. Neither mid-p nor chi-square: on the
    few discordant pairs of a benchmark they differ from it in the second digit.
    """
    _counts(only_first, only_second)
    if only_first + only_second == 0:
        return 1.0
    from scipy.stats import binomtest

    return float(binomtest(only_first, only_first + only_second, 0.5).pvalue)


def fisher_two_sided(table: Table) -> float:
    """Fisher's exact test, two-sided: the sum of the tables with these margins that are no likelier than the one seen.

    A table with an empty row or column says nothing: 1. Always the raw counts, whatever `odds_ratio` corrects.
    """
    _counts(*table)
    a, b, c, d = table
    if 0 in (a + b, c + d, a + c, b + d):
        return 1.0
    import numpy as np
    from scipy.stats import fisher_exact

    return float(fisher_exact(np.array([[a, b], [c, d]])).pvalue)


def odds_ratio(table: Table, z: float | None = None) -> OddsRatio:
    """The odds ratio ad / bc with the interval exp(ln OR -/+ z sqrt(1/a + 1/b + 1/c + 1/d)) (Woolf 1955).

    Where some cell is 0, and only then, 0.5 is added to all four (Haldane 1956, Anscombe 1956), and the result says so.

    Args:
        table: The four counts.
        z: The normal quantile of the interval; the exact one for 95 % if not given.
    """
    _counts(*table)
    corrected = 0 in table
    a, b, c, d = (cell + 0.5 if corrected else float(cell) for cell in table)
    ratio = (a * d) / (b * c)
    half = (z_of(CONFIDENCE) if z is None else z) * sqrt(1 / a + 1 / b + 1 / c + 1 / d)
    return OddsRatio(ratio, exp(log(ratio) - half), exp(log(ratio) + half), corrected)


def sample_odds_ratio(table: Table) -> float | None:
    """The plain ad / bc: infinite where only bc is 0, None where it is 0 / 0."""
    a, b, c, d = table
    if b * c:
        return a * d / (b * c)
    return float("inf") if a * d else None


def jaccard(both: int, only_first: int, only_second: int) -> float | None:
    """The share of what either has that both have; None where neither has anything."""
    _counts(both, only_first, only_second)
    union = both + only_first + only_second
    return both / union if union else None


def _counts(*values: int) -> None:
    if negative := [value for value in values if value < 0]:
        raise ValueError(f"counts are 0 or more, not {negative[0]}")
