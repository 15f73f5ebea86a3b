"""Reviewers on pull requests, several at a time. The order in which they end does not show in the outcome."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from bot.judging.budget import Forecast
from bot.reviewers.means import ReviewMeans
from bot.reviewers.offline import forecast_of, plus, reviewed
from bot.reviewers.protocol import Change, Review, Reviewer
from bot.reviewers.record import Reviewed
from scoring.model import PullId

Progress = Callable[[int, int], None]
CONCURRENCY = 2
"""How many at a time where no model is asked."""


def forecast(reviewers: Sequence[Reviewer], changes: Mapping[PullId, Change]) -> Forecast:
    """What all the reviews will take. Asks nobody.

    Raises:
        Leak: a reviewer would be shown what it must find.
    """
    total = Forecast(0, 0, 0.0, 0.0)
    for one in reviewers:
        for pull, change in changes.items():
            total = plus(total, forecast_of(one, str(pull), change))
    return total


def review_all(
    reviewers: Sequence[Reviewer], changes: Mapping[PullId, Change], means: ReviewMeans, progress: Progress
) -> tuple[Reviewed, ...]:
    """Every reviewer on every pull request: reviewer by reviewer, pull request by pull request.

    On an interruption nothing new is begun; what was answered is kept.

    Raises:
        Leak: a reviewer would have been shown what it must find.
    """
    over = threading.Event()
    many = means.asking.concurrency if means.asking else CONCURRENCY
    wanted = [(one, pull, change) for one in reviewers for pull, change in changes.items()]
    with ThreadPoolExecutor(max_workers=max(1, many), thread_name_prefix="review") as pool:
        futures = [pool.submit(_unless, over, *one) for one in wanted]
        try:
            return tuple(_collected(futures, progress))
        finally:
            over.set()
            if means.caller is not None and not all(future.done() for future in futures):
                means.caller.stop()
            pool.shutdown(wait=True, cancel_futures=True)


def _unless(over: threading.Event, reviewer: Reviewer, pull: PullId, change: Change) -> Reviewed:
    if over.is_set():
        return Reviewed(pull, reviewer.name, Review((), failed="interrupted"))
    return Reviewed(pull, reviewer.name, reviewed(reviewer, str(pull), change))


def _collected(futures: Sequence[Future[Reviewed]], progress: Progress) -> Iterator[Reviewed]:
    for done, future in enumerate(futures, 1):
        yield future.result()
        progress(done, len(futures))
