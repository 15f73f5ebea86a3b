"""Intervals. Every figure is a small function of counts; where a figure is undefined it is None and says why."""

from __future__ import annotations

from functools import cache
from math import sqrt
from statistics import NormalDist

from scoring.model import Estimate

CONFIDENCE = 0.95


@cache
def z_of(confidence: float) -> float:
    """The two-sided standard normal quantile of a confidence level: 1.959963984540054 for 0.95, not 1.96.

    The quantile of the lower tail, negated: for levels below 0.5 the standard library's quantile is exact to the last
    digit in both tails, and the lower one needs no subtraction from one.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence level lies between 0 and 1, not {confidence}")
    return -NormalDist().inv_cdf((1 - confidence) / 2)


def wilson_bounds(successes: int, n: int, z: float) -> tuple[float, float]:
    """The Wilson score interval of a proportion for a given quantile.

    Centre (p + z²/2n) / (1 + z²/n), half-width z·√(p(1-p)/n + z²/4n²) / (1 + z²/n), no continuity correction
    (E. B. Wilson, Probable Inference, the Law of Succession, and Statistical Inference, JASA 22, 1927).
    It stays inside [0, 1] and does not collapse at 0/n or n/n; there the closed ends are returned exactly, without the
    rounding error of the formula.
    """
    if n < 1 or not 0 <= successes <= n:
        raise ValueError(f"successes must lie in 0..n with n of at least 1, not {successes} of {n}")
    p = successes / n
    scale = 1 + z * z / n
    centre = (p + z * z / (2 * n)) / scale
    half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / scale
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == n else min(1.0, centre + half)
    return low, high


def wilson(successes: int, n: int, confidence: float = CONFIDENCE, *, reason: str = "nothing was observed") -> Estimate:
    """A proportion with its Wilson score interval. 0 of 0 is no proportion: value and bounds are None, with a reason.

    Other programs give (0, 0) for n = 0; that claims certainty about nothing.
    """
    if n == 0 and successes == 0:
        return Estimate(None, None, None, 0, reason)
    low, high = wilson_bounds(successes, n, z_of(confidence))
    return Estimate(successes / n, low, high, n)


def f1(tp: int, fp: int, fn: int, confidence: float = CONFIDENCE) -> Estimate:
    """F1 = 2TP / (2TP + FP + FN) with an interval.

    F1 is no proportion of independent observations, but J = TP / (TP + FP + FN), the Jaccard index of what was claimed
    and what is there, is one, and F1 = 2J / (1 + J) rises with J. So the interval is the Wilson interval of J carried
    through that function, which keeps its level; n is the denominator of J. Where nothing is there to be found
    (TP + FN = 0) F1 is undefined: a clean pull request is judged by its silence, not by F1.
    """
    if tp + fn == 0:
        return Estimate(None, None, None, 0, "no golden was scored, so there was nothing to find")
    n = tp + fp + fn
    low, high = wilson_bounds(tp, n, z_of(confidence))
    return Estimate(2 * tp / (2 * tp + fp + fn), _dice(low), _dice(high), n)


def _dice(jaccard: float) -> float:
    return 2 * jaccard / (1 + jaccard)
