"""Two reviewers on the pull requests both reviewed: who is ahead, by how much, and whether that is more than chance."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from typing import TYPE_CHECKING

from scoring.exact import mcnemar_exact
from scoring.model import Estimate, PullId, ReviewerId
from scoring.statistics.bootstrap import FIGURES, NO_GOLDEN, Drawn, Figures, Resampler, count_rows, informative
from scoring.statistics.clusters import GoldenKey, Partition

if TYPE_CHECKING:
    from scoring.statistics.bootstrap import Matrix, Statistic

NO_SHARED = "no shared pull requests"
Pair = tuple[ReviewerId, ReviewerId]


class Standing(StrEnum):
    """What a comparison says."""

    FIRST_AHEAD = "first_ahead"
    SECOND_AHEAD = "second_ahead"
    NOT_SEPARATED = "not_separated"
    NOT_COMPARABLE = "not_comparable"


@dataclass(frozen=True, slots=True)
class FoundBy:
    """Goldens scored for both reviewers, by who found them."""

    both: int
    only_first: int
    only_second: int
    neither: int

    @property
    def p_value(self) -> float:
        """McNemar's exact test, in (0, 1].

        It takes goldens as independent; those of one pull request are not, so a decision goes by the interval of
        `Comparison.differences`.
        """
        return mcnemar_exact(self.only_first, self.only_second)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two reviewers on their shared pull requests. Differences are first minus second."""

    first: ReviewerId
    second: ReviewerId
    shared: int
    """Pull requests on which both were scored."""
    found: FoundBy
    differences: Figures
    p_value: float | None
    """Of the F1 difference, two-sided: twice the smaller share of draws on one side of 0. None without an interval."""
    standing: Standing
    sentence: str


def compare(trials: Partition, first: ReviewerId, second: ReviewerId, resampler: Resampler) -> Comparison:
    """Two reviewers on their shared pull requests.

    A pull request that either was not scored on is left out for both, so nobody is ahead for having failed on the hard
    ones. The difference of a figure lies in [-1, 1]; its interval resamples shared pull requests and takes both
    reviewers' counts from each draw, so what makes a pull request hard for both cancels out. One is ahead where the
    interval of the F1 difference leaves out 0.

    Source: the paired cluster bootstrap (A. C. Davison and D. V. Hinkley, Bootstrap Methods and their Application,
    1997); McNemar's exact test of the goldens stands beside it.

    Raises:
        ValueError: a reviewer has no trial, or both are the same.
    """
    return compare_pairs(trials, [(first, second)], resampler)[first, second]


def compare_all(trials: Partition, resampler: Resampler) -> dict[Pair, Comparison]:
    """Every two reviewers, the first of each pair first by id."""
    return compare_pairs(trials, combinations(trials.reviewers, 2), resampler)


def compare_pairs(trials: Partition, pairs: Iterable[Pair], resampler: Resampler) -> dict[Pair, Comparison]:
    """As `compare`, drawing once for all pairs that share the same pull requests."""
    wanted = list(pairs)
    names = sorted({name for pair in wanted for name in pair})
    scored = {name: trials.scored(name) for name in names}
    goldens = {name: trials.goldens(name) for name in names}
    alike: dict[tuple[PullId, ...], list[Pair]] = defaultdict(list)
    for first, second in wanted:
        if first == second:
            raise ValueError(f"{first} cannot be compared with itself")
        alike[tuple(pull for pull in scored[first] if pull in scored[second])].append((first, second))
    made: dict[Pair, Comparison] = {}
    for pulls, group in alike.items():
        members = sorted({name for pair in group for name in pair})
        tables = [count_rows([scored[name][pull].counts for pull in pulls]) for name in members]
        differences = _differences(members, tables, group, resampler)
        for pair in group:
            found = found_by(goldens[pair[0]], goldens[pair[1]])
            made[pair] = _comparison(pair, len(pulls), found, *differences[pair], resampler)
    return {pair: made[pair] for pair in wanted}


def found_by(first: Mapping[GoldenKey, bool], second: Mapping[GoldenKey, bool]) -> FoundBy:
    """The goldens scored for both, by who found them."""
    pairs = [(hit, second[key]) for key, hit in first.items() if key in second]
    return FoundBy(*(pairs.count(kind) for kind in ((True, True), (True, False), (False, True), (False, False))))


def _differences(
    members: Sequence[ReviewerId], tables: Sequence[Matrix], pairs: Sequence[Pair], resampler: Resampler
) -> dict[Pair, tuple[Figures, float | None]]:
    import numpy as np

    if not len(tables[0]):
        none = Estimate(None, None, None, 0, NO_SHARED)
        return {pair: (Figures(none, none, none), None) for pair in pairs}
    rows = np.hstack(tables)
    drawn = Drawn(rows, resampler.sums(rows))
    at = {name: 3 * number for number, name in enumerate(members)}
    return {(a, b): _difference(_both(drawn, at[a], at[b]), resampler) for a, b in pairs}


def _both(drawn: Drawn, first: int, second: int) -> Drawn:
    return drawn.columns(*range(first, first + 3), *range(second, second + 3))


def _difference(drawn: Drawn, resampler: Resampler) -> tuple[Figures, float | None]:
    bears = zip(informative(drawn.rows[:, :3]), informative(drawn.rows[:, 3:]), strict=True)
    reasons = ("one of them claimed nothing that was scored", NO_GOLDEN, NO_GOLDEN)
    figures = Figures(
        *(
            resampler.read(drawn, difference_of(figure), one & other, len(drawn.rows), reason)
            for figure, (one, other), reason in zip(FIGURES, bears, reasons, strict=True)
        )
    )
    known = figures.f1.low is not None
    return figures, two_sided(difference_of(FIGURES[2])(drawn.sums)) if known else None


def difference_of(figure: Statistic) -> Statistic:
    """A figure of the first three columns less the same of the last three."""

    def difference(sums: Matrix) -> Matrix:
        made: Matrix = figure(sums[:, :3]) - figure(sums[:, 3:])
        return made

    return difference


def two_sided(draws: Matrix) -> float:
    """Twice the smaller share of draws at or beyond 0, one draw added to each side so that it is never 0.

    (Davison and Hinkley 1997 for the added draw.)
    """
    below, above = int((draws <= 0).sum()), int((draws >= 0).sum())
    defined = below + above - int((draws == 0).sum())
    return min(1.0, 2 * (min(below, above) + 1) / (defined + 1))


def _comparison(
    pair: Pair, shared: int, found: FoundBy, figures: Figures, p_value: float | None, resampler: Resampler
) -> Comparison:
    standing = _standing(figures.f1)
    sentence = say(pair, shared, figures.f1, standing, resampler.confidence)
    return Comparison(*pair, shared, found, figures, p_value, standing, sentence)


def _standing(difference: Estimate) -> Standing:
    if difference.value is None:
        return Standing.NOT_COMPARABLE
    if difference.low is not None and difference.low > 0:
        return Standing.FIRST_AHEAD
    if difference.high is not None and difference.high < 0:
        return Standing.SECOND_AHEAD
    return Standing.NOT_SEPARATED


def say(pair: Pair, shared: int, difference: Estimate, standing: Standing, confidence: float) -> str:
    """The comparison as one plain sentence, told from the side of the one ahead."""
    first, second = pair
    on = f"on {shared} shared pull request{'' if shared == 1 else 's'}"
    if shared == 0:
        return f"{first} and {second} cannot be compared: {NO_SHARED}."
    if difference.value is None:
        return f"{first} and {second} cannot be compared {on}: {difference.reason}."
    if difference.low is None or difference.high is None:
        return (
            f"{first} and {second} are not separated: F1 differs by {difference.value:+.3f} {on}, "
            f"without an interval, because {difference.reason}."
        )
    value, low, high = difference.value, difference.low, difference.high
    if standing is Standing.SECOND_AHEAD:
        (first, second), (value, low, high) = (second, first), (-value, -high, -low)
    verdict = "are not separated" if standing is Standing.NOT_SEPARATED else f"is ahead of {second}"
    subject = f"{first} and {second}" if standing is Standing.NOT_SEPARATED else first
    return (
        f"{subject} {verdict}: F1 differs by {value:+.3f}; the {confidence:.0%} interval of the difference is "
        f"{low:+.3f} to {high:+.3f}, {on}."
    )
