"""What to do about an answer GitHub gave: try again and when, or give up and why. Pure; case by case from its docs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

SECONDARY_WAIT = 60.0
"""Seconds to wait after a secondary limit that names no time; GitHub's documented least."""
LONGEST_WAIT = 3600.0


@dataclass(frozen=True, slots=True)
class Answer:
    """A failed answer. `status` 0 stands for none at all (timeout, connection lost): the deed may have been done."""

    status: int
    message: str
    headers: Mapping[str, str]
    method: str = "GET"


@dataclass(frozen=True, slots=True)
class Retry:
    """Worth trying again after `seconds`."""

    seconds: float
    reason: str


@dataclass(frozen=True, slots=True)
class GiveUp:
    """Trying again cannot help; `reason` says what would."""

    reason: str


def decide(answer: Answer, now: datetime, attempt: int, *, fresh: bool = False) -> Retry | GiveUp:
    """Decide on the `attempt`-th failure (1 is the first) of one call.

    Args:
        answer: what came back.
        now: timezone-aware UTC.
        attempt: counts from 1; waits double with it.
        fresh: the object or token was made by us seconds ago, so 401, 403 and 404 may be replication lag.

    Source: GitHub's best practices for the REST API (retry-after first, then the reset, else a minute and doubling).
    """
    backoff = float(min(2 ** (attempt - 1), 64))
    if answer.status == 0 or answer.status >= 500:
        return Retry(min(backoff, 30.0), f"GitHub answered {answer.status or 'nothing'}")
    if answer.status == 429 or (answer.status == 403 and _is_limit(answer)):
        return Retry(min(_limit_wait(answer, now, backoff), LONGEST_WAIT), "rate limited")
    if fresh and answer.status in (401, 403, 404):
        return Retry(min(backoff, 10.0), "just made; not replicated yet")
    if answer.status == 403:
        return GiveUp(f"{answer.message}: the App or token lacks a permission{_needed(answer)}")
    if answer.status == 401:
        return GiveUp(f"{answer.message}: the key or token is not accepted")
    return GiveUp(f"{answer.status} {answer.message}")


def _is_limit(answer: Answer) -> bool:
    return (
        "retry-after" in answer.headers
        or answer.headers.get("x-ratelimit-remaining") == "0"
        or "rate limit" in answer.message.lower()
        or "abuse" in answer.message.lower()
    )


def _limit_wait(answer: Answer, now: datetime, backoff: float) -> float:
    named = answer.headers.get("retry-after")
    if named is not None:
        seconds = _retry_after(named, now)
        if seconds is not None:
            return max(seconds, 1.0)
    reset = answer.headers.get("x-ratelimit-reset", "")
    if answer.headers.get("x-ratelimit-remaining") == "0" and reset.isdigit():
        # A reset in the past means clocks differ or the limit is another one: never hammer at once.
        return max(int(reset) - now.timestamp() + 1.0, backoff)
    return SECONDARY_WAIT * backoff


def _retry_after(text: str, now: datetime) -> float | None:
    if text.strip().isdigit():
        return float(text)
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - now).total_seconds()


def _needed(answer: Answer) -> str:
    needed = answer.headers.get("x-accepted-github-permissions")
    return f" (it needs {needed})" if needed else ""
