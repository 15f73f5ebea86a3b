"""How far two judges agree, and how far the leaderboard moves with the judge."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING

from scoring.model import CandidateId, Estimate, GoldenId, GoldenState, OutcomeKind, PullId, ReviewerId, TrialScore
from scoring.statistics.bootstrap import Resampler, ratio
from scoring.stats import CONFIDENCE, wilson, z_of

if TYPE_CHECKING:
    from scoring.statistics.bootstrap import Matrix, Statistic

Unit = tuple[PullId, ReviewerId, GoldenId | CandidateId]
"""One thing both judges label: a golden of a trial, or a candidate."""
Labels = Mapping[Unit, str]
Pairing = tuple[str, str, float]
"""Two labels of one unit, and what the pair weighs."""

NOTHING_SHARED = "no unit was labelled by two judges"
ONE_LABEL = "all labels are the same, so agreement by chance is total and none beyond it can be seen"
_GOLDEN = {GoldenState.FOUND: "found", GoldenState.MISSED: "missed"}
_CANDIDATE = {
    OutcomeKind.TP: "golden",
    OutcomeKind.DUPLICATE: "golden",
    OutcomeKind.FP: "false alarm",
    OutcomeKind.VALID: "valid",
}


@dataclass(frozen=True, slots=True)
class Kappa:
    """Cohen's kappa of one table."""

    value: Estimate
    error: float | None
    """The asymptotic standard error that does not assume kappa is 0."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Two judges on the same units."""

    units: int
    observed: Estimate
    """The share of units with the same label, with its Wilson interval."""
    kappa: Estimate
    """With an interval clustered by pull request."""
    alpha: Estimate
    """Krippendorff's alpha of the same labels, interval likewise."""


@dataclass(frozen=True, slots=True)
class RankMoves:
    """What changing the judge does to the leaderboard."""

    reviewers: int
    tau_b: float | None
    """Kendall's tau-b in [-1, 1]: 1 the same order, -1 the reverse."""
    largest_move: int | None
    moved_most: tuple[ReviewerId, ...]
    reason: str | None = None


def golden_labels(scores: Iterable[TrialScore]) -> dict[Unit, str]:
    """Found or missed, for every golden that a judge settled; an unscored one is missing, not a label."""
    return {
        (score.trial.pull, score.trial.reviewer, one.golden): _GOLDEN[one.state]
        for score in scores
        if score.scored
        for one in score.goldens
        if one.state in _GOLDEN
    }


def candidate_labels(scores: Iterable[TrialScore]) -> dict[Unit, str]:
    """What a judge made of every candidate: a golden (said first or again), valid, or a false alarm."""
    return {
        (score.trial.pull, score.trial.reviewer, one.candidate): _CANDIDATE[one.kind]
        for score in scores
        if score.scored
        for one in score.outcomes
        if one.kind in _CANDIDATE
    }


def cohens_kappa(table: Sequence[Sequence[int]], confidence: float = CONFIDENCE) -> Kappa:
    """κ = (pₒ - pₑ) / (1 - pₑ) of a square table, with the interval κ ± z·SE cut to [-1, 1].

    1 is full agreement, 0 what the two judges' own label frequencies give by chance; below 0 is worse than chance.
    Unlike Krippendorff's alpha and Scott's pi it lets each judge have its own frequencies. Undefined for an empty
    table, and where both judges used one and the same label. At full agreement the error is 0, which would claim
    certainty: then there are no bounds.

    Source: J. Cohen, Educational and Psychological Measurement 20, 1960; J. L. Fleiss, J. Cohen and B. S. Everitt,
    Psychological Bulletin 72, 1969 (the error), as statsmodels computes it. It takes units as independent; `agreement`
    does not.
    """
    import numpy as np

    counts = np.array(table, dtype=np.float64)
    n = int(counts.sum())
    value = float(_kappa_of(len(table))(counts.reshape(1, -1))[0])
    if np.isnan(value):
        return Kappa(Estimate(None, None, None, 0, ONE_LABEL if n else NOTHING_SHARED), None)
    from statsmodels.stats.inter_rater import cohens_kappa as with_error  # type: ignore[import-untyped]

    error = float(with_error(counts).std_kappa)
    if not error > 1e-9:
        return Kappa(Estimate(value, None, None, n, "full agreement, so no error can be estimated"), None)
    half = z_of(confidence) * error
    return Kappa(Estimate(value, max(-1.0, value - half), min(1.0, value + half), n), error)


def agreement(first: Labels, second: Labels, resampler: Resampler) -> Agreement:
    """Two judges on the units both labelled; the order of the judges does not matter."""
    both = sorted(first.keys() & second.keys())
    same = sum(first[unit] == second[unit] for unit in both)
    observed = wilson(same, len(both), resampler.confidence, reason=NOTHING_SHARED)
    return Agreement(len(both), observed, kappa(first, second, resampler), alpha([first, second], resampler))


def kappa(first: Labels, second: Labels, resampler: Resampler) -> Estimate:
    """Cohen's kappa of two judges, its interval resampling pull requests (see `cohens_kappa`)."""
    both = sorted(first.keys() & second.keys())
    values = sorted({labels[unit] for labels in (first, second) for unit in both})
    rows = _by_pull(both, values, lambda unit: [(first[unit], second[unit], 1.0)])
    reason = ONE_LABEL if both else NOTHING_SHARED
    return resampler.estimate(rows, _kappa_of(len(values)), rows.sum(axis=1) > 0, len(both), reason)


def alpha(judges: Sequence[Labels], resampler: Resampler) -> Estimate:
    """Krippendorff's alpha for nominal labels, 1 - Dₒ/Dₑ (disagreement seen and by chance), of two or more judges.

    1 is full agreement, 0 what chance gives when labels are drawn from the pool of all judges; below 0 is worse. It
    takes missing labels: a unit counts once two judges labelled it, each pair of labels weighing 1 / (labels - 1).
    Undefined where no unit has two labels, or all labels are the same. n counts units.

    Source: K. Krippendorff, Content Analysis, 2004, chapter 11, as the krippendorff package computes it; the interval
    resamples pull requests through the coincidences, which add up, instead of Krippendorff's draws of single pairs.
    """
    given: dict[Unit, list[str]] = defaultdict(list)
    for labels in judges:
        for unit, label in labels.items():
            given[unit].append(label)
    units = sorted(unit for unit, labels in given.items() if len(labels) > 1)
    values = sorted({label for unit in units for label in given[unit]})
    if len(values) < 2:
        return Estimate(None, None, None, 0, ONE_LABEL if units else NOTHING_SHARED)
    rows = _by_pull(units, values, lambda unit: _coincidences(given[unit]))
    made = resampler.estimate(rows, _alpha_of(len(values)), rows.sum(axis=1) > 0, len(units), ONE_LABEL)
    value = _library_alpha([given[unit] for unit in units], values)
    if made.low is None or made.high is None:
        return Estimate(value, None, None, made.n, made.reason)
    # The library sums in another order, so its last digit may lie outside bounds that touch the value.
    return Estimate(value, min(made.low, value), max(made.high, value), made.n)


def _library_alpha(labels: Sequence[Sequence[str]], values: Sequence[str]) -> float:
    import krippendorff
    import numpy as np

    counts = np.array([[own.count(value) for value in values] for own in labels])
    return float(krippendorff.alpha(value_counts=counts, level_of_measurement="nominal"))


def _coincidences(labels: Sequence[str]) -> list[Pairing]:
    return [(one, other, 1 / (len(labels) - 1)) for one, other in permutations(labels, 2)]


def rank_moves(first: Mapping[ReviewerId, float | None], second: Mapping[ReviewerId, float | None]) -> RankMoves:
    """How far the order of reviewers moves between two judges, by the values each gave.

    Reviewers with a value from both. Tau-b counts pairs in the same order less pairs in reverse, and takes ties out of
    both (M. G. Kendall, Biometrika 33, 1945, as scipy computes it); undefined under two reviewers and where a judge has
    everybody equal. A move is the change of rank, where equal values share the better rank.
    """
    known = ({name for name, value in side.items() if value is not None} for side in (first, second))
    shared = sorted(set.intersection(*known))
    if len(shared) < 2:
        return RankMoves(len(shared), None, None, (), "fewer than two reviewers have a value from both judges")
    ours, theirs = ([float(side[name] or 0.0) for name in shared] for side in (first, second))
    moves = {name: abs(a - b) for name, a, b in zip(shared, _ranks(ours), _ranks(theirs), strict=True)}
    largest = max(moves.values())
    most = tuple(name for name in shared if moves[name] == largest and largest > 0)
    if len(set(ours)) < 2 or len(set(theirs)) < 2:
        return RankMoves(len(shared), None, largest, most, "a judge has all reviewers equal, so there is no order")
    from scipy.stats import kendalltau

    return RankMoves(len(shared), float(kendalltau(ours, theirs).statistic), largest, most)


def _ranks(values: Sequence[float]) -> list[int]:
    return [sum(other > own for other in values) for own in values]


def _by_pull(units: Sequence[Unit], values: Sequence[str], pairs: Callable[[Unit], Iterable[Pairing]]) -> Matrix:
    """A table values x values for each pull request, flat."""
    import numpy as np

    at = {value: number for number, value in enumerate(values)}
    row = {pull: number for number, pull in enumerate(dict.fromkeys(unit[0] for unit in units))}
    rows = np.zeros((len(row), len(values) ** 2))
    for unit in units:
        for one, other, weight in pairs(unit):
            rows[row[unit[0]], at[one] * len(values) + at[other]] += weight
    return rows


def _kappa_of(size: int) -> Statistic:
    def value(sums: Matrix) -> Matrix:
        tables = sums.reshape(len(sums), size, size)
        n = tables.sum(axis=(1, 2))
        agreed = n * tables.trace(axis1=1, axis2=2)
        chance = (tables.sum(axis=1) * tables.sum(axis=2)).sum(axis=1)
        return ratio(agreed - chance, n * n - chance)

    return value


def _alpha_of(size: int) -> Statistic:
    def value(sums: Matrix) -> Matrix:
        tables = sums.reshape(len(sums), size, size)
        margin = tables.sum(axis=2)
        n = margin.sum(axis=1)
        differing = n - tables.trace(axis1=1, axis2=2)
        expected = n * n - (margin * margin).sum(axis=1)
        made: Matrix = 1 - ratio((n - 1) * differing, expected)
        return made

    return value
