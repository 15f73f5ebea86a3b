"""How many real defects nobody found, from how often the same ones are found twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import exp, log, sqrt

from scoring.model import Estimate, GoldenState, OutcomeKind, ReviewerId
from scoring.statistics.clusters import Partition
from scoring.statistics.overlap import Same, claim_groups, claims_of, near, shared_pulls
from scoring.stats import CONFIDENCE, z_of

Incidence = Sequence[Collection[ReviewerId]]
"""For each defect that somebody found, who did."""

NOTHING = "nobody found anything, so nothing can be said about what was missed"
NO_OVERLAP = "no defect was found by both, so their number has no upper bound"
_COMMON = (
    "the defects of these pull requests are a fixed set: nothing was fixed or added between the reviews",
    "reviewers find independently: those that share a model find the same, which makes the estimate too low",
    "what is counted as the same defect is the same, and what is counted as found is real",
)
_ALIKE = "every defect is equally easy to find for a given reviewer; where some are harder the estimate is too low"
_LOWER = "defects may differ in how easy they are to find; the estimate is then a lower bound"


@dataclass(frozen=True, slots=True)
class Unseen:
    """An estimate of all defects that are there."""

    method: str
    observed: int
    """Different defects that somebody found."""
    total: Estimate
    """All defects, at least `observed`."""
    missed: Estimate
    """Those nobody found: `total` less `observed`."""
    assumptions: tuple[str, ...]


def incidence(trials: Partition, reviewers: Sequence[ReviewerId], same: Same = near) -> list[frozenset[ReviewerId]]:
    """Who found each defect, on the pull requests where all reviewers were scored.

    Defects are the goldens that somebody found, and the claims a judge called valid without a golden, those of
    different reviewers at one place taken for one. A judge that never says `valid` leaves goldens only.
    """
    found: list[frozenset[ReviewerId]] = []
    for own in shared_pulls(trials, sorted(set(reviewers))).values():
        hits: dict[str, set[ReviewerId]] = {}
        for name, score in own.items():
            for outcome in score.goldens:
                if outcome.state is GoldenState.FOUND:
                    hits.setdefault(outcome.golden, set()).add(name)
        found += [frozenset(who) for who in hits.values()]
        groups = claim_groups(claims_of(OutcomeKind.VALID, own), same)
        found += [frozenset(name for name, _ in group) for group in groups]
    return found


def chapman(first: int, second: int, both: int, confidence: float = CONFIDENCE) -> Unseen:
    """Two reviewers: N = (n₁ + 1)(n₂ + 1) / (m + 1) - 1, Lincoln and Petersen's n₁n₂/m without its bias.

    With variance (n₁ + 1)(n₂ + 1)(n₁ - m)(n₂ - m) / ((m + 1)²(m + 2)). Undefined where both found nothing in common:
    the formula gives a number there, but it rests on the added ones. Where one found all that the
    other did, nothing unseen is estimated and there are no bounds.

    Source: D. G. Chapman, 1951; G. A. F. Seber, The Effects of Trap Response on Tag Recapture Estimates, Biometrics 26,
    1970 (the variance). Deviation: not N ± z·SE, which can fall below what was seen, but the log-normal interval of the
    unseen (`log_normal`).

    Args:
        first: Defects the first found.
        second: Defects the second found.
        both: Defects both found.
        confidence: The level of the interval.
    """
    if both < 0 or both > min(first, second):
        raise ValueError(f"defects found by both lie between 0 and the fewer of {first} and {second}, not {both}")
    observed = first + second - both
    if not both:
        return _unseen("chapman", observed, None, NO_OVERLAP if observed else NOTHING, (*_COMMON, _ALIKE), confidence)
    total = (first + 1) * (second + 1) / (both + 1) - 1
    variance = (first + 1) * (second + 1) * (first - both) * (second - both) / ((both + 1) ** 2 * (both + 2))
    return _unseen("chapman", observed, (total - observed, variance), "", (*_COMMON, _ALIKE), confidence)


def chapman_of(found: Incidence, first: ReviewerId, second: ReviewerId, confidence: float = CONFIDENCE) -> Unseen:
    """`chapman` of two reviewers' finds."""
    by = Counter((first in who, second in who) for who in found)
    both = by[True, True]
    return chapman(both + by[True, False], both + by[False, True], both, confidence)


def chao2(found: Incidence, reviewers: int, confidence: float = CONFIDENCE) -> Unseen:
    """Two reviewers or more: S + A·Q₁² / 2Q₂, at least so many defects are there.

    Q₁ and Q₂ count the defects found by exactly one and by exactly two of t reviewers, A = (t - 1) / t; with r = Q₁/Q₂
    the variance is Q₂(A·r²/2 + A²·r³ + A²·r⁴/4). Where nothing was found exactly twice, the bias-corrected
    S + A·Q₁(Q₁ - 1)/2 stands in, with its own variance. Where nothing was found exactly once, or one defect once and
    none twice, nothing unseen is estimated and there are no bounds.

    Source: A. Chao, Estimating the Population Size for Capture-Recapture Data with Unequal Catchability, Biometrics 43,
    1987; the factor A and the variances as in R. K. Colwell, EstimateS 9 user's guide, 2013, appendix B.
    """
    if reviewers < 2:
        raise ValueError(
            f"how often a defect was found says nothing with {reviewers} reviewer(s); it takes two or more"
        )
    often = Counter(len(set(who)) for who in found)
    if bad := [times for times in often if not 1 <= times <= reviewers]:
        raise ValueError(f"a defect was found by {bad[0]} of {reviewers} reviewers")
    observed, scale, once, twice = len(found), (reviewers - 1) / reviewers, often[1], often[2]
    if not observed:
        return _unseen("chao2", 0, None, NOTHING, (*_COMMON, _LOWER), confidence)
    if twice:
        rate = once / twice
        unseen = scale * once**2 / (2 * twice)
        variance = twice * (scale * rate**2 / 2 + scale**2 * rate**3 + scale**2 * rate**4 / 4)
    else:
        unseen = scale * once * (once - 1) / 2
        variance = unseen + scale**2 * once * (2 * once - 1) ** 2 / 4
        variance -= scale**2 * once**4 / (4 * (observed + unseen))
    return _unseen("chao2", observed, (unseen, variance), "", (*_COMMON, _LOWER), confidence)


def log_normal(unseen: float, variance: float, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """The interval unseen / C to unseen · C of what was not seen, C = exp(z·√ln(1 + variance / unseen²)).

    Log-normal, so that it never falls below what was seen (Chao 1987).
    """
    factor = exp(z_of(confidence) * sqrt(log(1 + variance / unseen**2)))
    return unseen / factor, unseen * factor


def _unseen(
    method: str,
    observed: int,
    estimate: tuple[float, float] | None,
    reason: str,
    assumptions: tuple[str, ...],
    confidence: float,
) -> Unseen:
    if estimate is None:
        none = Estimate(None, None, None, observed, reason)
        return Unseen(method, observed, none, none, assumptions)
    unseen, variance = estimate
    if unseen <= 0:
        reason = "too few were found only once to estimate how many more there are"
        total = Estimate(observed + unseen, None, None, observed, reason)
        return Unseen(method, observed, total, Estimate(unseen, None, None, observed, reason), assumptions)
    low, high = log_normal(unseen, variance, confidence)
    total = Estimate(observed + unseen, observed + low, observed + high, observed)
    return Unseen(method, observed, total, Estimate(unseen, low, high, observed), assumptions)
