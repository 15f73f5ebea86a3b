"""When the next of something may be done that may be done so often in so long. Pure; all times in seconds."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence

from bot.model import Bucket
from bot.registry import Quota, Reviewer

_ROUNDING = 0.001
LONGEST_PACED_HOURS = 48.0
"""A quota for a longer time is a stock rather than a pace: nobody waits a month for the next review."""


def free(taken: Sequence[float], at: float, most: int, seconds: float) -> float:
    """The first moment from `at` on at which one more fits: no stretch of `seconds` then holds more than `most`.

    Args:
        taken: the moments given out, ascending; some may lie ahead, in any order of giving.
        at: not before that.
        most: how many fit, one or more.
        seconds: into how long a stretch, its end not included.
    """
    moments = [at, *(slot + seconds for slot in taken if slot + seconds > at)]
    return next(moment for moment in sorted(moments) if _fits(taken, moment, most, seconds))


def _fits(taken: Sequence[float], moment: float, most: int, seconds: float) -> bool:
    around = list(taken[bisect_left(taken, moment - seconds) :])
    insort(around, moment)
    return all(later - earlier >= seconds - _ROUNDING for earlier, later in zip(around, around[most:], strict=False))


def paced(reviewer: Reviewer) -> Quota | None:
    """The quota that a reviewer's openings and triggers keep to; None: there is none to keep to."""
    first = reviewer.quotas[0] if reviewer.quotas else None
    return first if first is not None and first.hours <= LONGEST_PACED_HOURS else None


def hours(reviewer: Reviewer, trials: int) -> float:
    """The least hours from the first ask of so many to the last."""
    quota = paced(reviewer)
    return 0.0 if quota is None or trials <= 0 else (trials - 1) // quota.reviews * quota.hours


def bucket(owner: str, reviewer: Reviewer) -> Bucket | None:
    """What the asks of a reviewer on one account count against."""
    quota = paced(reviewer)
    if quota is None:
        return None
    return Bucket(f"reviews {owner.lower()} {reviewer.id}", quota.reviews, quota.hours * 3600)


def repositories(identity: str, per_hour: int) -> Bucket:
    """What the making of repositories counts against."""
    return Bucket(f"repositories {identity}", per_hour, 3600.0)
