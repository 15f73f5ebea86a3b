"""How many pull requests it takes to tell two reviewers apart, from a pilot."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, sqrt
from statistics import NormalDist

from scoring.model import PullId, ReviewerId
from scoring.statistics.clusters import GoldenKey, Partition
from scoring.stats import CONFIDENCE, z_of

POWER = 0.8


@dataclass(frozen=True, slots=True)
class Pilot:
    """What is known about two reviewers on the goldens of their shared pull requests."""

    pulls: int
    """Shared pull requests with a golden scored for both."""
    goldens: int
    difference: float | None
    """Recall of the first less recall of the second; None without a golden."""
    discordance: float | None
    """The share of goldens that exactly one of them found."""
    correlation: float | None
    """How alike the goldens of one pull request are in who found them, the intraclass correlation, in [0, 1]."""
    cluster: float | None
    """Goldens on a pull request, as a golden sees it: Σm² / Σm."""

    @property
    def design_effect(self) -> float | None:
        """How many times more goldens are needed because those of a pull request are alike: 1 + (Σm²/Σm - 1)·r.

        (L. Kish, Survey Sampling, 1965; for unequal sizes S. M. Eldridge, D. Ashby and S. Kerry, 2006.)
        """
        if self.cluster == 1:
            return 1.0
        if self.correlation is None or self.cluster is None:
            return None
        return 1 + (self.cluster - 1) * self.correlation


@dataclass(frozen=True, slots=True)
class Sample:
    """A number of pull requests, or why there is none."""

    pulls: int | None
    goldens: int | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Power:
    """A chance to tell two reviewers apart, or why it is unknown."""

    value: float | None
    reason: str | None = None


def pilot(trials: Partition, first: ReviewerId, second: ReviewerId) -> Pilot:
    """The pilot that two reviewers' trials are."""
    return pilot_of(trials.goldens(first), trials.goldens(second))


def pilot_of(first: Mapping[GoldenKey, bool], second: Mapping[GoldenKey, bool]) -> Pilot:
    """A pilot from who found which golden; those not scored for both are left out."""
    groups: dict[PullId, list[int]] = defaultdict(list)
    for key, hit in first.items():
        if key in second:
            groups[key[0]].append(int(hit) - int(second[key]))
    own = [groups[pull] for pull in sorted(groups)]
    flat = [one for group in own for one in group]
    if not flat:
        return Pilot(0, 0, None, None, None, None)
    n = len(flat)
    cluster = sum(len(group) ** 2 for group in own) / n
    return Pilot(len(own), n, sum(flat) / n, sum(map(abs, flat)) / n, correlation(own), cluster)


def correlation(groups: Sequence[Sequence[float]]) -> float | None:
    """The intraclass correlation (MSB - MSW) / (MSB + (m₀ - 1)·MSW), by analysis of variance.

    m₀ = (N - Σm²/N) / (k - 1). In [0, 1]: a negative estimate is taken as 0, so that clustering never makes a sample
    smaller. Undefined under two groups, and where no group has two members: nothing is known about likeness inside
    one. Where all values are equal it is 0: there is no variance to share.

    Source: A. Donner and J. J. Koval, The Estimation of Intraclass Correlation, Biometrics 36, 1980.
    """
    sizes = [len(group) for group in groups]
    n, k = sum(sizes), len(groups)
    if k < 2 or n == k:
        return None
    grand = sum(map(sum, groups)) / n
    means = [sum(group) / len(group) for group in groups]
    between = sum(size * (mean - grand) ** 2 for size, mean in zip(sizes, means, strict=True)) / (k - 1)
    inside = zip(groups, means, strict=True)
    within = sum((one - mean) ** 2 for group, mean in inside for one in group) / (n - k)
    usual = (n - sum(size**2 for size in sizes) / n) / (k - 1)
    total = between + (usual - 1) * within
    return max(0.0, (between - within) / total) if total > 0 else 0.0


def goldens_needed(
    difference: float, discordance: float, power: float = POWER, confidence: float = CONFIDENCE
) -> float:
    """Independent goldens that McNemar's test needs: N = (z·√ψ + z'·√(ψ - δ²))² / δ².

    ψ is the share of goldens only one finds, δ the difference of recall, 0 < δ ≤ ψ ≤ 1; z and z' are the normal
    quantiles of the confidence (two-sided) and of the power.

    Source: O. S. Miettinen, Biometrics 24, 1968; R. J. Connor, Sample Size for Testing Differences in Proportions for
    the Paired-Sample Design, Biometrics 43, 1987. It is for the asymptotic test; the exact one asks for a little more.
    """
    z_beta = NormalDist().inv_cdf(power)
    root = z_of(confidence) * sqrt(discordance) + z_beta * sqrt(max(0.0, discordance - difference**2))
    return root**2 / difference**2


def pulls_needed(difference: float, known: Pilot, power: float = POWER, confidence: float = CONFIDENCE) -> Sample:
    """The fewest pull requests on which a difference of recall is told with a given chance.

    `goldens_needed`, times the pilot's design effect, over the pilot's goldens per pull request; 2 or more. None with a
    reason where the pilot does not say how often, or how alike, the two differ, or rules the difference out.

    Raises:
        ValueError: the difference is not in (0, 1], or the power not between the error level and 1.
    """
    _check(difference)
    if not 1 - confidence < power < 1:
        raise ValueError(f"power lies above {1 - confidence:g}, which chance gives, and below 1, not {power}")
    reason = _unknown(difference, known)
    if reason or known.discordance is None or known.design_effect is None:
        return Sample(None, None, reason)
    goldens = goldens_needed(difference, known.discordance, power, confidence) * known.design_effect
    # Rounding up what is whole but for the last digit would ask for one more than the formula does.
    pulls = max(2, ceil(goldens * known.pulls / known.goldens - 1e-9))
    return Sample(pulls, ceil(pulls * known.goldens / known.pulls))


def achieved_power(pulls: int, difference: float, known: Pilot, confidence: float = CONFIDENCE) -> Power:
    """The chance to tell a difference of recall on so many pull requests: `pulls_needed` solved for the power."""
    _check(difference)
    if pulls < 2:
        return Power(None, "fewer than two pull requests have no spread")
    reason = _unknown(difference, known)
    if reason or known.discordance is None or known.design_effect is None:
        return Power(None, reason)
    goldens = pulls * known.goldens / known.pulls / known.design_effect
    surplus = difference * sqrt(goldens) - z_of(confidence) * sqrt(known.discordance)
    rest = known.discordance - difference**2
    return Power(NormalDist().cdf(surplus / sqrt(rest)) if rest > 0 else float(surplus > 0))


def _check(difference: float) -> None:
    if not 0 < difference <= 1:
        raise ValueError(f"the difference to tell is a share above 0 and up to 1, not {difference}")


def _unknown(difference: float, known: Pilot) -> str | None:
    if known.discordance is None:
        return "the pilot has no golden that was scored for both"
    if known.discordance == 0:
        return "in the pilot both found the same goldens, so it does not say how often they differ"
    if difference > known.discordance:
        return (
            f"in the pilot the two differ on {known.discordance:.1%} of the goldens, "
            f"so their recall cannot be {difference:.1%} apart"
        )
    if known.design_effect is None:
        return "the pilot does not say how alike the goldens of one pull request are"
    return None
