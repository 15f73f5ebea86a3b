"""What all tables of a study share: how one is named and made, and what stands in the place of one that cannot be."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bot.analysis.sheet import Cell, Column, Kind, Sheet
from bot.studies.material import Material
from scoring import metrics
from scoring.model import Counts, Estimate, PullId, ReviewerId
from scoring.statistics.bootstrap import Figures, Resampler, micro_intervals
from scoring.statistics.clusters import Partition

BOUNDS = (
    "Where all resamples come to the same, the interval is Wilson's, which takes claims and goldens as independent."
)
LEVEL = 0.05
"""The chance of any false separation among all the pairs of one table."""
REVIEWER = Column("reviewer", "reviewer")


class NotMade(Exception):
    """A table cannot be made of this evidence; the message says why, in words that stand in its place."""


@dataclass(frozen=True, slots=True)
class Table:
    """One table: a pure function of a study's evidence."""

    key: str
    title: str
    make: Callable[[Material], Sheet]


def made(table: Table, material: Material) -> Sheet:
    """A table, or the reason why there is none."""
    try:
        return table.make(material)
    except NotMade as missing:
        return Sheet(table.key, table.title, (Column("missing", "not made, because"),), ((str(missing),),))


def holm_adjusted(p_values: Sequence[float]) -> list[float]:
    """Each p-value as the level at which Holm's steps would let it fall, in the order given.

    The k-th smallest of m is multiplied by m - k + 1, no smaller than the one before and at most 1 (S. Holm, A Simple
    Sequentially Rejective Multiple Test Procedure, Scandinavian Journal of Statistics 6, 1979).
    """
    adjusted, floor = [0.0] * len(p_values), 0.0
    for step, at in enumerate(sorted(range(len(p_values)), key=lambda at: p_values[at])):
        floor = max(floor, min(1.0, p_values[at] * (len(p_values) - step)))
        adjusted[at] = floor
    return adjusted


def bounded(one: Estimate, other: Estimate) -> Estimate:
    """A figure with the interval of its resamples, or the other's where they all came to the same."""
    return other if one.value is not None and one.low is None and other.low is not None else one


def bounded_all(figures: Figures, goldens: Counts, claims: Counts) -> Figures:
    """The same for three figures: Wilson's intervals take the place of those that resampling could not give."""
    return Figures(
        bounded(figures.precision, metrics.precision(claims)),
        bounded(figures.recall, metrics.recall(goldens)),
        bounded(figures.f1, metrics.f1(goldens)),
    )


def figures_of(counts: Mapping[PullId, Counts], resampler: Resampler) -> Figures:
    """Precision, recall and F1 of some pull requests, each with an interval if there is any way to one."""
    total = sum(counts.values(), Counts())
    return bounded_all(micro_intervals(counts, resampler), total, total)


def hits(trials: Partition, reviewer: ReviewerId) -> dict[PullId, bool]:
    """Of the scored pull requests that have a golden: whether the reviewer found any of theirs."""
    found: dict[PullId, bool] = {}
    for (pull, _), hit in trials.goldens(reviewer).items():
        found[pull] = found.get(pull, False) or hit
    return found


def table_of(
    key: str, title: str, columns: Sequence[Column], rows: Sequence[Sequence[Cell]], notes: Sequence[str] = ()
) -> Sheet:
    """A sheet from rows."""
    return Sheet(key, title, tuple(columns), tuple(tuple(row) for row in rows), tuple(notes))


def count(key: str, title: str) -> Column:
    """A column of whole numbers."""
    return Column(key, title, Kind.COUNT)


def share(key: str, title: str) -> Column:
    """A column of estimates."""
    return Column(key, title, Kind.ESTIMATE)


def plain(key: str, title: str) -> Column:
    """A column of numbers that need no interval."""
    return Column(key, title, Kind.NUMBER)


def small(key: str, title: str) -> Column:
    """A column of p-values and other small numbers."""
    return Column(key, title, Kind.SMALL)
