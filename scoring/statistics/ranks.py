"""The order of reviewers, with ties where the evidence does not tell two apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from scoring.model import Estimate, ReviewerId
from scoring.statistics.bootstrap import Resampler, leaderboard_intervals
from scoring.statistics.clusters import Partition
from scoring.statistics.paired import Comparison, Pair, Standing, compare_all


@dataclass(frozen=True, slots=True)
class Place:
    """Where a reviewer stands."""

    reviewer: ReviewerId
    rank: int | None
    """One more than the reviewers that are ahead of it; equal ranks are ties. None where F1 is undefined."""
    worst: int | None
    """The last rank the evidence leaves open: how many are ranked, less those it is ahead of."""
    f1: Estimate


@dataclass(frozen=True, slots=True)
class Ranking:
    """All reviewers from first to last, and the comparisons behind it."""

    places: tuple[Place, ...]
    comparisons: Mapping[Pair, Comparison]
    ahead: frozenset[Pair]
    """(a, b) where a is ahead of b, in this family of comparisons."""


def rank(trials: Partition, resampler: Resampler, *, family: bool = True) -> Ranking:
    """Rank reviewers by the F1 differences on shared pull requests that the evidence separates.

    A rank is 1 + the number of reviewers ahead, as leaderboards from pairwise votes do it (W.-L. Chiang et al.,
    Chatbot Arena, 2024), but on paired differences instead of separate intervals: two intervals may overlap
    where the difference is sure. Not separated is not transitive: a ties with b, b with c, and a may be ahead of c.
    Equal ranks are listed by the value of F1.

    Args:
        trials: The trials by pull request.
        resampler: Draws for every interval.
        family: Hold the chance of any false separation among all pairs to one less the confidence, by Holm's steps
            (`holm`). Without it each pair is judged as if it were the only one: of the 66 pairs of 12 equal reviewers
            3 would be separated by chance.
    """
    pairs = len(trials.reviewers) * (len(trials.reviewers) - 1) // 2
    if family:
        # A p-value from draws is 2 / (draws + 1) or more, and the smallest is held against level / pairs.
        resampler = resampler.at_least(ceil(4 * pairs / (1 - resampler.confidence)))
    comparisons = compare_all(trials, resampler)
    ahead = separated(comparisons.values(), 1 - resampler.confidence if family else 1.0)
    values = {name: made.micro.f1 for name, made in leaderboard_intervals(trials, resampler).items()}
    return Ranking(places(values, ahead), comparisons, ahead)


def separated(comparisons: Iterable[Comparison], level: float) -> frozenset[Pair]:
    """The pairs (ahead, behind) whose interval leaves out 0 and that pass Holm's steps at a level; 1 passes all."""
    known = [one for one in comparisons if one.p_value is not None]
    passed = holm([one.p_value for one in known if one.p_value is not None], level)
    found = set()
    for one, sure in zip(known, passed, strict=True):
        if sure and one.standing is Standing.FIRST_AHEAD:
            found.add((one.first, one.second))
        elif sure and one.standing is Standing.SECOND_AHEAD:
            found.add((one.second, one.first))
    return frozenset(found)


def holm(p_values: Sequence[float], level: float) -> list[bool]:
    """Which of m hypotheses fall: the k-th smallest p-value while p ≤ level / (m - k + 1), stopping at the first not.

    Holds the chance of any false one to `level`, whatever the dependence (S. Holm, A Simple Sequentially Rejective
    Multiple Test Procedure, Scandinavian Journal of Statistics 6, 1979). A level of 1 or more lets all fall.
    """
    fallen = [False] * len(p_values)
    for step, number in enumerate(sorted(range(len(p_values)), key=lambda at: p_values[at])):
        if p_values[number] * (len(p_values) - step) > level and level < 1:
            break
        fallen[number] = True
    return fallen


def places(values: Mapping[ReviewerId, Estimate], ahead: frozenset[Pair]) -> tuple[Place, ...]:
    """The places that a set of separations gives; reviewers without a value come last, unranked."""
    ranked = [name for name, f1 in values.items() if f1.value is not None]
    made = []
    for name, f1 in values.items():
        if f1.value is None:
            made.append(Place(name, None, None, f1))
            continue
        better = sum((other, name) in ahead for other in ranked)
        worse = sum((name, other) in ahead for other in ranked)
        made.append(Place(name, 1 + better, len(ranked) - worse, f1))
    return tuple(sorted(made, key=_order))


def _order(place: Place) -> tuple[bool, int, float, str]:
    return place.rank is None, place.rank or 0, -(place.f1.value or 0.0), place.reviewer
