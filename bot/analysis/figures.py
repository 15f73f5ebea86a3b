"""The figures of every reviewer of some evidence, gathered once for tables, files and pictures."""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import median

from bot.analysis.opening import Scored
from scoring.model import Estimate, ReviewerId, ReviewerScore
from scoring.statistics.bootstrap import Intervals, Resampler, leaderboard_intervals
from scoring.statistics.bradley_terry import Strength, bradley_terry, duels
from scoring.statistics.noise import Noise, noise
from scoring.statistics.ranks import Place, rank


@dataclass(frozen=True, slots=True)
class Price:
    """What a reviewer cost, as far as the bundle says."""

    priced: int
    """Scored trials whose cost is known."""
    per_review: float | None
    """US dollars, the mean over those."""
    per_find: float | None
    """US dollars for each golden found on those; None where none was."""
    seconds: float | None
    """From the first ask to the last thing said, the median over scored trials."""


@dataclass(frozen=True, slots=True)
class Standing:
    """One reviewer: where it stands, by which figures, at what price."""

    reviewer: ReviewerId
    place: Place
    row: ReviewerScore
    """The counts, and Wilson intervals that take goldens and claims as independent."""
    intervals: Intervals
    """The same figures with intervals clustered by pull request."""
    noise: Noise
    price: Price
    strength: Strength | None
    """None where it met nobody."""


@dataclass(frozen=True, slots=True)
class Board:
    """All reviewers, best first."""

    scored: Scored
    standings: tuple[Standing, ...]
    separated: frozenset[tuple[ReviewerId, ReviewerId]]
    """(a, b) where a is ahead of b by more than chance, all pairs taken together."""
    resampler: Resampler
    seed: int


def resampler_of(seed: int) -> Resampler:
    """Draws that depend on the seed alone."""
    import numpy as np

    return Resampler(np.random.default_rng(seed))


def board(scored: Scored, seed: int) -> Board:
    """Everything a leaderboard says."""
    resampler = resampler_of(seed)
    ranking = rank(scored.trials, resampler)
    rows = {row.reviewer: row for row in scored.report.reviewers}
    intervals = leaderboard_intervals(scored.trials, resampler)
    strengths = {one.reviewer: one for one in bradley_terry(duels(scored.trials))}
    prices = {name: _price(scored, name) for name in scored.trials.reviewers}
    standings = tuple(
        Standing(
            place.reviewer,
            place,
            rows[place.reviewer],
            intervals[place.reviewer],
            _noise(scored, place.reviewer, resampler),
            prices[place.reviewer],
            strengths.get(place.reviewer),
        )
        for place in ranking.places
    )
    return Board(scored, standings, ranking.ahead, resampler, seed)


def _noise(scored: Scored, reviewer: ReviewerId, resampler: Resampler) -> Noise:
    """Evidence may hold claims without the comments they came from: then nobody knows how much there was to read."""
    own = scored.trials.scored(reviewer)
    made = noise(own, resampler)
    if made.words or not any(one.candidates for one in own.values()):
        return made
    return replace(made, words_per_find=Estimate(None, None, None, 0, "the bundle holds claims but not the comments"))


def _price(scored: Scored, reviewer: ReviewerId) -> Price:
    counted = scored.trials.scored(reviewer)
    own = [trial for trial in scored.bundle.trials if trial.reviewer == reviewer and trial.pull in counted]
    priced = [(trial.cost, counted[trial.pull].counts.tp) for trial in own if trial.cost is not None]
    costs, finds = sum(cost for cost, _ in priced), sum(tp for _, tp in priced)
    seconds = [trial.seconds for trial in own if trial.seconds is not None]
    return Price(
        priced=len(priced),
        per_review=costs / len(priced) if priced else None,
        per_find=costs / finds if finds else None,
        seconds=median(seconds) if seconds else None,
    )
