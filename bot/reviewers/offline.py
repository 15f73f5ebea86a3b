"""One reviewer on one golden pull request, without GitHub: what it takes beforehand, and what came of it."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from bot.judging.budget import Forecast
from bot.reviewers.protocol import Change, Review, Reviewer
from goldens.leakage import Leak

_SHOWN = 200


@runtime_checkable
class PerPull(Protocol):
    """A reviewer whose answers lie in files by pull request."""

    def for_pull(self, pull: str) -> Reviewer:
        """The reviewer of that pull request."""
        ...


@runtime_checkable
class Forecasting(Protocol):
    """A reviewer that can say what it will take."""

    def forecast(self, change: Change) -> Forecast:
        """The calls that are still to be made. Asks nobody."""
        ...


def forecast_of(reviewer: Reviewer, pull: str, change: Change) -> Forecast:
    """What reviewing a pull request will take; nothing of a reviewer that asks no model."""
    one = reviewer.for_pull(pull) if isinstance(reviewer, PerPull) else reviewer
    return one.forecast(change) if isinstance(one, Forecasting) else Forecast(0, 0, 0.0, 0.0)


def plus(first: Forecast, second: Forecast) -> Forecast:
    """Both together."""
    return Forecast(
        first.calls + second.calls,
        first.prompt_tokens + second.prompt_tokens,
        _sum(first.likely_cost, second.likely_cost),
        _sum(first.most_cost, second.most_cost),
    )


def _sum(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else first + second


def reviewed(reviewer: Reviewer, pull: str, change: Change) -> Review:
    """What a reviewer says of a pull request. A reviewer that breaks has failed on this one and on no other.

    Raises:
        Leak: it would have been shown what it must find. This is no failed review: the whole run is void.
    """
    one = reviewer.for_pull(pull) if isinstance(reviewer, PerPull) else reviewer
    try:
        return one.review(change)
    except Leak:
        raise
    except Exception as error:  # noqa: BLE001 - whatever breaks in a reviewer is this trial's error, told as such
        return Review((), failed=f"{type(error).__name__}: {str(error)[:_SHOWN]}")
