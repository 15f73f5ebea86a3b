"""The same figures for a part of the pull requests, or of the goldens."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from scoring import metrics
from scoring.model import (
    Candidate,
    Counts,
    Estimate,
    Golden,
    GoldenState,
    OutcomeKind,
    PullId,
    Severity,
    TrialScore,
)
from scoring.statistics.bootstrap import Figures, Resampler, micro_intervals
from scoring.statistics.clusters import partition

UNKNOWN = "unknown"
SIZE_EDGES = (10, 50, 150)
"""Changed lines at which the next stratum of size begins."""


@dataclass(frozen=True, slots=True)
class PullKey:
    """A property of a pull request: all its goldens and all claims on it are in one stratum."""

    name: str
    of: Callable[[TrialScore], str]
    order: tuple[str, ...] = ()
    """Strata in the order to be shown; those not named follow by the alphabet, the unknown one last."""


@dataclass(frozen=True, slots=True)
class DefectKey:
    """A property of a golden. A false alarm has no golden: its stratum is what the reviewer called it, if it did."""

    name: str
    of: Callable[[Golden], str]
    said: Callable[[Candidate], str | None] | None = None
    """The stratum of a claim by the reviewer's own words; None where there are none that can be compared."""
    order: tuple[str, ...] = ()


Key = PullKey | DefectKey


@dataclass(frozen=True, slots=True)
class Stratum:
    """The counts and figures of one stratum."""

    name: str
    pulls: int
    """Scored pull requests that bear on it."""
    goldens: Counts
    """tp, fn and goldens_unscored of its goldens; for a property of pull requests, all counts."""
    claims: Counts | None
    """tp and fp of its claims; for a property of pull requests the same as `goldens`; None where claims have none."""
    figures: Figures


BY_LANGUAGE = PullKey("language", lambda score: score.trial.language or UNKNOWN)
BY_CATEGORY = DefectKey("category", lambda golden: golden.category.value)
BY_SEVERITY = DefectKey(
    "severity",
    lambda golden: golden.severity.value,
    lambda claim: claim.severity.value if claim.severity else UNKNOWN,
    tuple(one.value for one in Severity),
)


def by_size(changed_lines: Mapping[PullId, int | None], edges: tuple[int, ...] = SIZE_EDGES) -> PullKey:
    """Strata of the size of the diff, half-open: 0-9, 10-49, 50-149 and 150+ changed lines with the usual edges.

    Raises:
        ValueError: the edges are not rising from 1.
    """
    if not edges or edges[0] < 1 or any(one >= other for one, other in pairwise(edges)):
        raise ValueError(f"edges of size rise from 1, as {SIZE_EDGES} do; not {edges}")
    names = [f"{low}-{high - 1}" for low, high in pairwise((0, *edges))] + [f"{edges[-1]}+"]

    def of(score: TrialScore) -> str:
        lines = changed_lines.get(score.trial.pull)
        return UNKNOWN if lines is None else names[sum(lines >= edge for edge in edges)]

    return PullKey("size", of, tuple(names))


def by(scores: Iterable[TrialScore], key: Key, resampler: Resampler | None = None) -> dict[str, Stratum]:
    """One reviewer's scored trials by a key; a trial without a score is in no stratum.

    For a property of pull requests the figures are the usual ones. For a property of goldens, recall is over the
    goldens of the stratum, precision over the claims the reviewer itself put there; a claim the reviewer called `high`
    may have found a `low` golden, so the two have no common TP, and F1 is undefined. Where claims cannot be put
    into strata precision is undefined. Over all strata of a key goldens, and claims, add up to those of the whole.

    Args:
        scores: The trials of one reviewer.
        key: What to group by: `BY_LANGUAGE`, `BY_CATEGORY`, `BY_SEVERITY`, `by_size(...)` or one of your own.
        resampler: For intervals that resample pull requests; Wilson intervals, which take goldens as independent, if
            not given.

    Raises:
        ValueError: the trials are of several reviewers.
    """
    trials = partition(scores)
    if len(trials.reviewers) > 1:
        raise ValueError(f"strata are of one reviewer, not of {', '.join(trials.reviewers)}")
    scored = [score for name in trials.reviewers for score in trials.scored(name).values()]
    if isinstance(key, PullKey):
        tables: dict[str, dict[PullId, Counts]] = defaultdict(dict)
        for score in scored:
            tables[key.of(score)][score.trial.pull] = score.counts
        made = {name: _of_pulls(name, table, resampler) for name, table in tables.items()}
    else:
        made = _of_defects(scored, key, resampler)
    return {name: made[name] for name in sorted(made, key=lambda name: _order(name, key.order))}


def _order(name: str, order: tuple[str, ...]) -> tuple[int, str]:
    return (order.index(name) if name in order else len(order) + (name == UNKNOWN)), name


def _of_pulls(name: str, table: Mapping[PullId, Counts], resampler: Resampler | None) -> Stratum:
    total = sum(table.values(), Counts())
    return Stratum(name, len(table), total, total, _figures(table, resampler))


def _figures(table: Mapping[PullId, Counts], resampler: Resampler | None) -> Figures:
    if resampler is not None:
        return micro_intervals(table, resampler)
    total = sum(table.values(), Counts())
    return Figures(metrics.precision(total), metrics.recall(total), metrics.f1(total))


def _of_defects(scored: Iterable[TrialScore], key: DefectKey, resampler: Resampler | None) -> dict[str, Stratum]:
    goldens: dict[str, dict[PullId, Counts]] = defaultdict(lambda: defaultdict(Counts))
    claims: dict[str, dict[PullId, Counts]] = defaultdict(lambda: defaultdict(Counts))
    for score in scored:
        pull = score.trial.pull
        for name, one in _goldens(score, key.of):
            goldens[name][pull] += one
        for name, one in _claims(score, key.said) if key.said else ():
            claims[name][pull] += one
    names = goldens.keys() | claims.keys()
    return {
        name: _of_goldens(name, goldens.get(name, {}), claims.get(name, {}) if key.said else None, resampler)
        for name in names
    }


def _of_goldens(
    name: str, goldens: Mapping[PullId, Counts], claims: Mapping[PullId, Counts] | None, resampler: Resampler | None
) -> Stratum:
    recall = _figures(goldens, resampler).recall
    unsaid = Estimate(None, None, None, 0, "a false alarm belongs to no stratum of the goldens")
    precision = unsaid if claims is None else _figures(claims, resampler).precision
    both = Estimate(None, None, None, 0, "claims and goldens of the stratum have no common true positives")
    pulls = len(goldens.keys() | (claims or {}).keys())
    told = None if claims is None else sum(claims.values(), Counts())
    return Stratum(name, pulls, sum(goldens.values(), Counts()), told, Figures(precision, recall, both))


def _goldens(score: TrialScore, of: Callable[[Golden], str]) -> Iterable[tuple[str, Counts]]:
    known = {golden.id: golden for golden in score.trial.goldens}
    for outcome in score.goldens:
        found, missed = outcome.state is GoldenState.FOUND, outcome.state is GoldenState.MISSED
        yield of(known[outcome.golden]), Counts(tp=found, fn=missed, goldens_unscored=not found and not missed)


def _claims(score: TrialScore, said: Callable[[Candidate], str | None]) -> Iterable[tuple[str, Counts]]:
    kinds = {one.candidate: one.kind for one in score.outcomes}
    for candidate in score.candidates:
        kind = kinds.get(candidate.id)
        if kind in (OutcomeKind.TP, OutcomeKind.FP):
            yield said(candidate) or UNKNOWN, Counts(tp=kind is OutcomeKind.TP, fp=kind is OutcomeKind.FP)
