"""Intervals by resampling pull requests: the engine, and the figures of a reviewer.

A figure is a function of sums over pull requests, so a resample needs only how often each pull request was drawn: one
matrix product turns 10,000 draws into 10,000 sums, and leaving one out is a subtraction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from enum import StrEnum
from statistics import NormalDist
from typing import TYPE_CHECKING, TypeAlias

from scoring.model import Counts, Estimate, PullId, ReviewerId
from scoring.statistics.clusters import Partition
from scoring.stats import CONFIDENCE, z_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix: TypeAlias = NDArray[np.float64]
    Mask: TypeAlias = NDArray[np.bool_]

DRAWS = 10_000
FEW_CLUSTERS = "fewer than two pull requests bear on it, so there is no spread to resample"
NO_SPREAD = "every resample of the pull requests gives the same value, which says nothing about others"
SELDOM_DEFINED = "it is undefined in more than half of the resamples"
_BLOCK = 1 << 19
"""How many random pull requests are held at once, so that memory does not grow with the number of draws."""
_HELD = 1 << 24
"""How many counts of a drawn pull request are kept for the next question, two bytes each."""
_TILE = 1 << 18
"""Multiplications of one matrix product."""
_SAME = 1e-12
"""Values nearer than this differ by rounding only."""

Statistic: TypeAlias = "Callable[[Matrix], Matrix]"
"""Rows of sums -> one value per row, NaN where it is undefined. NaN never leaves this module: it becomes None."""


class Method(StrEnum):
    """How bounds are read from the draws.

    `percentile`: the quantiles of the draws (B. Efron, Bootstrap Methods: Another Look at the Jackknife, 1979).
    `bca`: the quantiles moved for bias and skew, the acceleration from leaving one pull request out (B. Efron, Better
    Bootstrap Confidence Intervals, JASA 82, 1987); its error falls with 1/n where that of the other falls with 1/√n.
    """

    BCA = "bca"
    PERCENTILE = "percentile"


class Resampler:
    """Draws of pull requests with replacement, the same for every question about equally many.

    What is drawn depends on the generator's state at construction and on the number of pull requests, never on who
    else is asked about: another reviewer, or a trial that did not run, moves no one's interval. Reviewers with the same
    pull requests see the same draws, so differences between them are paired.
    """

    def __init__(
        self,
        rng: np.random.Generator,
        draws: int = DRAWS,
        confidence: float = CONFIDENCE,
        method: Method = Method.BCA,
    ) -> None:
        if draws < 100:
            raise ValueError(f"an interval needs 100 draws or more, not {draws}")
        self.z = z_of(confidence)
        self.draws, self.confidence, self.method = draws, confidence, method
        self._entropy = int(rng.integers(2**63))
        self._held: dict[int, NDArray[np.uint16]] = {}

    def at_least(self, draws: int) -> Resampler:
        """This, or one from the same seed with as many draws as asked for."""
        if draws <= self.draws:
            return self
        more = copy(self)
        more.draws, more._held = draws, {}
        return more

    def sums(self, rows: Matrix) -> Matrix:
        """The sums of each resample of the rows: a matrix of draws x columns."""
        import numpy as np

        n = len(rows)
        if n not in self._held and self.draws * (n + sum(self._held)) <= _HELD:
            self._held[n] = np.concatenate(list(self._weights(n)))
        drawn = (self._held[n],) if n in self._held else self._weights(n)
        return np.concatenate([_product(weights, rows) for weights in drawn])

    def _weights(self, n: int) -> Iterator[NDArray[np.uint16]]:
        """How often each of n clusters is drawn, in blocks of draws."""
        import numpy as np

        rng = np.random.default_rng([self._entropy, n])
        block = max(1, _BLOCK // n)
        for start in range(0, self.draws, block):
            height = min(block, self.draws - start)
            cells = rng.integers(0, n, size=(height, n), dtype=np.int32)
            cells += np.arange(0, height * n, n, dtype=np.int32)[:, None]
            yield np.bincount(cells.ravel(), minlength=height * n).reshape(height, n).astype(np.uint16)

    def estimate(self, rows: Matrix, statistic: Statistic, informative: Mask, n: int, reason: str) -> Estimate:
        """A figure with its interval.

        Args:
            rows: One row of addends per pull request.
            statistic: The figure, from sums of rows.
            informative: Which pull requests bear on the figure (its denominator); under two, it has no interval.
            n: The observations behind the value.
            reason: Why the figure is undefined, should it be.
        """
        if len(rows) == 0:
            return Estimate(None, None, None, 0, reason)
        return self.read(Drawn(rows, self.sums(rows)), statistic, informative, n, reason)

    def read(self, drawn: Drawn, statistic: Statistic, informative: Mask, n: int, reason: str) -> Estimate:
        """As `estimate`, from sums that are there already."""
        import numpy as np

        total = drawn.rows.sum(axis=0)
        value = float(statistic(total[None, :])[0])
        if np.isnan(value):
            return Estimate(None, None, None, 0, reason)
        if int(informative.sum()) < 2:
            return Estimate(value, None, None, n, FEW_CLUSTERS)
        draws = np.sort(statistic(drawn.sums))  # the undefined last
        draws = draws[: np.searchsorted(draws, np.nan)]
        if 2 * draws.size < self.draws:
            return Estimate(value, None, None, n, SELDOM_DEFINED)
        levels = self._levels(value, draws, statistic(total - drawn.rows))
        low, high = (quantile(draws, level) for level in levels)
        if max(high, value) - min(low, value) <= _SAME:
            return Estimate(value, None, None, n, NO_SPREAD)
        return Estimate(value, min(low, value), max(high, value), n)

    def _levels(self, value: float, draws: Matrix, left_out: Matrix) -> tuple[float, float]:
        tail = (1 - self.confidence) / 2
        if self.method is Method.PERCENTILE:
            return tail, 1 - tail
        # Ties are common, for counts are small; each counts half.
        upto = draws.searchsorted(value - _SAME) + draws.searchsorted(value + _SAME)
        return bca_levels(float(upto) / 2 / draws.size, acceleration(left_out), self.z)


def _product(weights: NDArray[np.uint16], rows: Matrix) -> Matrix:
    """Weights x rows, in tiles so small that one thread does each: more would wait longer than they work."""
    import numpy as np

    (height, n), width = weights.shape, rows.shape[1]
    wide = min(width, max(1, _TILE // (16 * n)))
    high = max(16, _TILE // (n * wide))
    made = np.empty((height, width))
    for top in range(0, height, high):
        part = weights[top : top + high].astype(np.float64)
        for left in range(0, width, wide):
            made[top : top + high, left : left + wide] = part @ rows[:, left : left + wide]
    return made


@dataclass(frozen=True, slots=True)
class Drawn:
    """Rows of addends, one per pull request, and their sums in every resample."""

    rows: Matrix
    sums: Matrix

    def columns(self, *which: int) -> Drawn:
        """A part of the addends."""
        return Drawn(self.rows[:, which], self.sums[:, which])


def quantile(ordered: Matrix, level: float) -> float:
    """The quantile of ordered values, linear between the two nearest, as numpy's usual one; it would sort again."""
    at = level * (len(ordered) - 1)
    below = int(at)
    above = min(below + 1, len(ordered) - 1)
    return float(ordered[below] + (at - below) * (ordered[above] - ordered[below]))


def acceleration(left_out: Matrix) -> float:
    """How fast a figure's spread changes with it, a = Σd³ / 6(Σd²)^1.5, d the mean of the leave-one-outs less each.

    (Efron 1987, with jackknife values.) 0 where leaving one out changes nothing or leaves nothing.
    """
    import numpy as np

    defined = left_out[~np.isnan(left_out)]
    if defined.size == 0:
        return 0.0
    away = defined.mean() - defined
    square = float((away**2).sum())
    return float((away**3).sum()) / (6 * square**1.5) if square > _SAME**2 else 0.0


def bca_levels(share_below: float, acceleration: float, z: float) -> tuple[float, float]:
    """The quantiles of the draws to read: Φ(b + (b ± z) / (1 - a(b ± z))), b the normal quantile of `share_below`.

    `share_below` is the share of draws under the value, ties half. With no bias (0.5) and no acceleration these are the
    plain percentiles. A share of 0 or 1 has no quantile; it is moved inside by a millionth.
    """
    normal = NormalDist()
    bias = normal.inv_cdf(min(max(share_below, 1e-6), 1 - 1e-6))

    def level(quantile: float) -> float:
        moved = bias + quantile
        scale = 1 - acceleration * moved
        return normal.cdf(bias + moved / scale) if scale > 0 else float(moved > 0)

    return level(-z), level(z)


@dataclass(frozen=True, slots=True)
class Figures:
    """Three figures of one reviewer, or the differences between those of two."""

    precision: Estimate
    recall: Estimate
    f1: Estimate


@dataclass(frozen=True, slots=True)
class Intervals:
    """A reviewer's figures with intervals that know of the pull requests."""

    micro: Figures
    """Of the sums over all pull requests: every claim and every golden weighs the same."""
    macro: Figures
    """The mean of the pull requests' own figures, of those where it is defined: every pull request weighs the same."""
    clusters: int
    """Scored pull requests."""


def precision_of(sums: Matrix) -> Matrix:
    """TP / (TP + FP) of rows of (tp, fp, fn); NaN where nothing scored was claimed."""
    return ratio(sums[:, 0], sums[:, 0] + sums[:, 1])


def recall_of(sums: Matrix) -> Matrix:
    """TP / (TP + FN); NaN where there was nothing to find."""
    return ratio(sums[:, 0], sums[:, 0] + sums[:, 2])


def f1_of(sums: Matrix) -> Matrix:
    """2TP / (2TP + FP + FN); NaN where there was nothing to find, as in `stats.f1`."""
    import numpy as np

    found = ratio(2 * sums[:, 0], 2 * sums[:, 0] + sums[:, 1] + sums[:, 2])
    return np.where(sums[:, 0] + sums[:, 2] > 0, found, np.nan)


def ratio(part: Matrix, whole: Matrix) -> Matrix:
    """Part / whole, NaN where whole is 0."""
    import numpy as np

    made: Matrix = np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole > 0)
    return made


def mean_of(sums: Matrix) -> Matrix:
    """The mean, from rows of (sum, how many)."""
    return ratio(sums[:, 0], sums[:, 1])


FIGURES: tuple[Statistic, Statistic, Statistic] = (precision_of, recall_of, f1_of)
NO_CLAIM = "no scored candidate, so nothing was right or wrong"
NO_GOLDEN = "no golden was scored, so there was nothing to find"
REASONS = (NO_CLAIM, NO_GOLDEN, NO_GOLDEN)


def count_rows(table: Sequence[Counts]) -> Matrix:
    """One row (tp, fp, fn) per pull request."""
    import numpy as np

    return np.array([(one.tp, one.fp, one.fn) for one in table], dtype=np.float64).reshape(len(table), 3)


def informative(rows: Matrix) -> tuple[Mask, Mask, Mask]:
    """Which pull requests bear on precision, on recall and on F1: a clean one has no recall and no F1 to give."""
    claims, goldens = rows[:, 0] + rows[:, 1] > 0, rows[:, 0] + rows[:, 2] > 0
    return claims, goldens, goldens


def intervals(table: Mapping[PullId, Counts], resampler: Resampler) -> Intervals:
    """Precision, recall and F1 of one reviewer, micro and macro, with intervals clustered by pull request.

    Each lies in [0, 1] and its interval contains it: where skew would leave the value outside its own bounds they are
    widened to it, a deviation from the textbook. Bounds are None, with a reason and never of zero width, where fewer
    than two pull requests bear on the figure or no resample differs from it; the Wilson interval (`scoring.metrics`)
    still stands there. Resamples in which the figure is undefined are left out.

    Source: C. A. Field and A. H. Welsh, Bootstrapping Clustered Data, JRSS B 69, 2007 (resampling whole clusters);
    `Method` for the bounds.
    """
    return all_intervals({ReviewerId("one"): table}, resampler)[ReviewerId("one")]


def micro_intervals(table: Mapping[PullId, Counts], resampler: Resampler) -> Figures:
    """The micro part of `intervals` alone."""
    rows = count_rows([table[pull] for pull in sorted(table)])
    return _micro(Drawn(rows, resampler.sums(rows) if len(rows) else rows), resampler)


def all_intervals(
    tables: Mapping[ReviewerId, Mapping[PullId, Counts]], resampler: Resampler
) -> dict[ReviewerId, Intervals]:
    """`intervals` of every reviewer, drawing once for all that have equally many pull requests."""
    import numpy as np

    rows = {name: _columns(count_rows([table[pull] for pull in sorted(table)])) for name, table in tables.items()}
    found = {name: _read(Drawn(some, some), resampler) for name, some in rows.items() if not len(some)}
    for size in sorted({len(some) for some in rows.values() if len(some)}):
        names = sorted(name for name, some in rows.items() if len(some) == size)
        sums = resampler.sums(np.hstack([rows[name] for name in names]))
        parts = np.split(sums, len(names), axis=1)
        found |= {name: _read(Drawn(rows[name], part), resampler) for name, part in zip(names, parts, strict=True)}
    return {name: found[name] for name in tables}


def leaderboard_intervals(trials: Partition, resampler: Resampler) -> dict[ReviewerId, Intervals]:
    """`intervals` of every reviewer of a partition, in the order of their ids."""
    return all_intervals({name: trials.counts(name) for name in trials.reviewers}, resampler)


def _columns(rows: Matrix) -> Matrix:
    """(tp, fp, fn), then each figure of the pull request itself and whether it is defined."""
    import numpy as np

    own = [figure(rows) for figure in FIGURES]
    pairs = [column for one in own for column in (np.nan_to_num(one), (~np.isnan(one)).astype(np.float64))]
    return np.column_stack([rows, *pairs])


def _read(drawn: Drawn, resampler: Resampler) -> Intervals:
    return Intervals(_micro(drawn.columns(0, 1, 2), resampler), _macro(drawn, resampler), len(drawn.rows))


def _micro(drawn: Drawn, resampler: Resampler) -> Figures:
    tp, fp, fn = (int(one) for one in drawn.rows.sum(axis=0))
    asked = zip(FIGURES, informative(drawn.rows), (tp + fp, tp + fn, tp + fp + fn), REASONS, strict=True)
    return Figures(*(resampler.read(drawn, figure, bears, n, reason) for figure, bears, n, reason in asked))


def _macro(drawn: Drawn, resampler: Resampler) -> Figures:
    def figure(at: int, reason: str) -> Estimate:
        defined = drawn.rows[:, at + 1] > 0
        return resampler.read(drawn.columns(at, at + 1), mean_of, defined, int(defined.sum()), reason)

    return Figures(*(figure(3 + 2 * number, reason) for number, reason in enumerate(REASONS)))
