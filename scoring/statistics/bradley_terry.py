"""Strengths from duels: on each pull request, every two reviewers that were scored meet once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import exp
from typing import TYPE_CHECKING

from scoring.model import Counts, Estimate, PullId, ReviewerId
from scoring.statistics.clusters import Partition
from scoring.stats import CONFIDENCE, z_of

if TYPE_CHECKING:
    from scoring.statistics.bootstrap import Matrix

_ROUNDS = 10_000
_STILL = 1e-12


@dataclass(frozen=True, slots=True)
class Duel:
    """Two reviewers on one pull request. A tie is half a win for each."""

    pull: PullId
    first: ReviewerId
    second: ReviewerId
    won: float
    """By the first: 1, 0.5 or 0."""


@dataclass(frozen=True, slots=True)
class Strength:
    """How strong one reviewer is among those it met."""

    reviewer: ReviewerId
    log_strength: float | None
    """Natural logarithm, the mean over reviewers is 0. Two differ by the log odds that one beats the other."""
    error: float | None
    """Its standard error, clustered by pull request."""
    wins: Estimate
    """The chance to beat a reviewer of average strength, in (0, 1)."""
    duels: int


def duels(trials: Partition) -> list[Duel]:
    """Every duel of a partition.

    With goldens, the better F1 of the pull request wins; without, the fewer false alarms. A pull request on which the
    two were not judged on the same footing (all goldens of one unscored) is no duel.
    """
    found = []
    for pull in trials.pulls:
        scored = [(name, one.counts) for name, one in trials.trials[pull].items() if one.scored]
        clean = all(not one.trial.goldens for one in trials.trials[pull].values())
        for (first, ours), (second, theirs) in combinations(scored, 2):
            won = _won(ours, theirs, clean)
            if won is not None:
                found.append(Duel(pull, first, second, won))
    return found


def _won(ours: Counts, theirs: Counts, clean: bool) -> float | None:
    if clean:
        return _half(theirs.fp - ours.fp)
    if not ours.tp + ours.fn or not theirs.tp + theirs.fn:
        return None
    # F1 compared as fractions of whole numbers, so that equal ones tie whatever their rounding.
    return _half(ours.tp * (theirs.tp * 2 + theirs.fp + theirs.fn) - theirs.tp * (ours.tp * 2 + ours.fp + ours.fn))


def _half(margin: int) -> float:
    return 0.5 if margin == 0 else float(margin > 0)


def bradley_terry(fought: Iterable[Duel], confidence: float = CONFIDENCE) -> tuple[Strength, ...]:
    """Strengths such that i beats j with chance pᵢ / (pᵢ + pⱼ), strongest first.

    The strengths of largest likelihood by the MM iteration pᵢ ← Wᵢ / Σⱼ (nᵢⱼ / (pᵢ + pⱼ)), ties as half wins. They
    exist, and are unique, only if every reviewer can be reached from every other along wins (L. R. Ford, 1957);
    otherwise somebody is infinitely strong, and all values are None with the groups named.

    Source: R. A. Bradley and M. E. Terry, Biometrika 39, 1952; D. R. Hunter, MM Algorithms for Generalized
    Bradley-Terry Models, Annals of Statistics 32, 2004. Deviation: the duels of a pull request are not independent
    (with 12 reviewers each fights 11), so errors are the cluster-robust H⁻¹ (Σ sₖsₖᵀ) H⁻¹ · K/(K-1) over K pull
    requests (K.-Y. Liang and S. L. Zeger, Biometrika 73, 1986) and not the inverse information H⁻¹. Under two pull
    requests there is no error and no interval. The chance to beat the average is 1 / (1 + e⁻ᵝ) of the log strength β,
    its interval carried through that function.
    """
    import numpy as np

    held = sorted(fought, key=lambda one: (one.pull, one.first, one.second))
    names = sorted({name for one in held for name in (one.first, one.second)})
    if not names:
        return ()
    at = {name: number for number, name in enumerate(names)}
    wins = np.zeros((len(names), len(names)))
    for one in held:
        wins[at[one.first], at[one.second]] += one.won
        wins[at[one.second], at[one.first]] += 1 - one.won
    met = [int(row) for row in (wins + wins.T).sum(axis=1)]
    if reason := _apart(names, wins):
        none = Estimate(None, None, None, 0, reason)
        return tuple(Strength(name, None, None, none, met[at[name]]) for name in names)
    strengths = maximise(wins)
    errors = _errors(held, at, strengths, wins + wins.T)
    made = [_strength(name, strengths[at[name]], errors, at[name], met, z_of(confidence)) for name in names]
    return tuple(sorted(made, key=lambda one: (-(one.log_strength or 0.0), one.reviewer)))


def maximise(wins: Matrix) -> Matrix:
    """The log strengths of greatest likelihood, mean 0; `wins` must be strongly connected."""
    import numpy as np

    met, total = wins + wins.T, wins.sum(axis=1)
    strength = np.ones(len(wins))
    for _ in range(_ROUNDS):
        moved = total / (met / (strength[:, None] + strength[None, :])).sum(axis=1)
        moved /= np.exp(np.log(moved).mean())
        still = float(np.abs(np.log(moved) - np.log(strength)).max()) < _STILL
        strength = moved
        if still:
            break
    logs: Matrix = np.log(strength)
    return logs


def _apart(names: Sequence[ReviewerId], wins: Matrix) -> str | None:
    """Why the strengths do not exist: who never took even half a duel from the others."""
    from scipy.sparse.csgraph import connected_components

    count, group = connected_components(wins > 0, directed=True, connection="strong")
    if count == 1:
        return None
    members = [", ".join(name for name, own in zip(names, group, strict=True) if own == one) for one in range(count)]
    listed = "; ".join(sorted(members))
    return f"no chain of wins leads from everyone to everyone, so strengths are without bound; groups: {listed}"


def _errors(held: Sequence[Duel], at: Mapping[ReviewerId, int], logs: Matrix, met: Matrix) -> Matrix | None:
    import numpy as np

    pulls = {pull: number for number, pull in enumerate(dict.fromkeys(one.pull for one in held))}
    if len(pulls) < 2:
        return None
    score = np.zeros((len(pulls), len(logs)))
    for one in held:
        first, second = at[one.first], at[one.second]
        surplus = one.won - 1 / (1 + exp(logs[second] - logs[first]))
        score[pulls[one.pull], first] += surplus
        score[pulls[one.pull], second] -= surplus
    chance = 1 / (1 + np.exp(logs[None, :] - logs[:, None]))
    information = -met * chance * (1 - chance)
    np.fill_diagonal(information, -information.sum(axis=1))
    bread = np.linalg.pinv(information, hermitian=True)
    spread = bread @ (score.T @ score) @ bread * len(pulls) / (len(pulls) - 1)
    errors: Matrix = np.sqrt(np.clip(np.diag(spread), 0, None))
    return errors


def _strength(name: ReviewerId, log: float, errors: Matrix | None, at: int, met: Sequence[int], z: float) -> Strength:
    value = 1 / (1 + exp(-log))
    error = None if errors is None else float(errors[at])
    if error is None:
        wins = Estimate(value, None, None, met[at], "all duels were on one pull request, so no spread is seen")
    elif error < _STILL:
        wins = Estimate(value, None, None, met[at], "every pull request went the same way, so no spread is seen")
    else:
        wins = Estimate(value, 1 / (1 + exp(z * error - log)), 1 / (1 + exp(-z * error - log)), met[at])
    return Strength(name, float(log), error, wins, met[at])
