"""Asks carried to a model: from the cache where they were answered before, several at a time, patiently, on a budget.

One call that fails loses nothing but itself. What was paid for is kept before it is read, so that a run that is
killed goes on where it was. The order in which calls end does not show in the outcome.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from bot.judging.budget import Budget, Charge
from bot.ports import Model, ModelError, Replies
from scoring.judges.asks import Ask, Reading, Reply, Unscored, Verdicts

MOST_SENDS = 6
"""How often one call is sent until it is answered."""
LONGEST_PAUSE = 60.0
PATIENCE = 300.0
"""A provider that asks for a longer pause, in seconds, is not waited for."""
MOST_FAILURES = 8
"""So many calls in a row without an answer, each sent as often as may be, and nobody is asked any more."""
TOO_MANY = 429
ABOUT_THE_CALL = (400, 413, 422)
"""Refusals of one call, which say nothing of the next."""

Read = Callable[[Ask, Reply], Reading]
Progress = Callable[[int, int], None]
"""Takes how many of how many asks are done."""


@dataclass(frozen=True, slots=True)
class Call:
    """One answer behind a reading."""

    ask: Ask
    reply: Reply
    cached: bool
    """Whether it was paid for at an earlier time."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What an ask came to, with every call that was made for it."""

    ask: Ask
    reading: Verdicts | Unscored
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True, slots=True)
class Means:
    """What asking takes."""

    model: Model
    replies: Replies
    budget: Budget
    sleep: Callable[[float], None]
    clock: Callable[[], float]
    """Seconds that only grow."""
    concurrency: int = 4
    progress: Progress = field(default=lambda done, total: None)
    account: str = ""
    """Who pays."""


def run_asks(asks: Sequence[Ask], read: Read, means: Means) -> tuple[Asked, ...]:
    """What each ask came to, in the order given.

    On an interruption nothing new is sent, and what is under way is still kept.
    """
    caller = Caller(means)
    with ThreadPoolExecutor(max_workers=max(1, means.concurrency), thread_name_prefix="judge") as pool:
        futures = [pool.submit(_chain, ask, read, caller) for ask in asks]
        try:
            return tuple(_collected(asks, futures, means.progress))
        finally:
            caller.stop()
            pool.shutdown(wait=True, cancel_futures=True)


def _collected(asks: Sequence[Ask], futures: Sequence[Future[Asked]], progress: Progress) -> Iterator[Asked]:
    for done, (ask, future) in enumerate(zip(asks, futures, strict=True), 1):
        error = future.exception()
        if error is not None and not isinstance(error, Exception):
            raise error
        yield future.result() if error is None else Asked(ask, Unscored(f"judge_out: {type(error).__name__}: {error}"))
        progress(done, len(asks))


def _chain(ask: Ask, read: Read, caller: Caller) -> Asked:
    """One ask, and what is asked again because the answer could not be read."""
    first, calls = ask, list[Call]()
    while True:
        answer = caller.call(ask)
        if isinstance(answer, Unscored):
            return Asked(first, answer, tuple(calls))
        calls.append(answer)
        reading = read(ask, answer.reply)
        if not isinstance(reading, Ask):
            return Asked(first, reading, tuple(calls))
        ask = reading


class Caller:
    """Makes calls, for several threads at once."""

    def __init__(self, means: Means) -> None:
        self._means = means
        self._lock = threading.Lock()
        self._keys: dict[str, threading.Lock] = {}
        self._not_before = 0.0
        self._failures = 0
        self._last_failure = ""
        self._stopped = False

    def stop(self) -> None:
        """Send nothing more."""
        self._stopped = True

    def call(self, ask: Ask) -> Call | Unscored:
        """The answer to an ask; the same ask is under way once only."""
        with self._alone(ask.key):
            kept = self._means.replies.get(ask.key)
            if kept is not None:
                return Call(ask, kept, cached=True)
            reply = self._sent(ask)
            if isinstance(reply, Unscored):
                return reply
            self._means.replies.put(ask.key, reply, self._means.account)
            return Call(ask, reply, cached=False)

    @contextmanager
    def _alone(self, key: str) -> Iterator[None]:
        with self._lock:
            own = self._keys.setdefault(key, threading.Lock())
        with own:
            yield

    def _sent(self, ask: Ask) -> Reply | Unscored:
        not_before = 0.0
        error: ModelError | None = None
        for sent in range(1, MOST_SENDS + 1):
            if (problem := self._wait_turn(not_before)) is not None:
                return problem
            answer = self._send(ask)
            if not isinstance(answer, ModelError):
                return answer
            error = answer
            if not error.retryable or (error.retry_after or 0.0) > PATIENCE:
                break
            not_before = self._put_off(ask, error, sent)
        assert error is not None
        return self._failed(error)

    def _send(self, ask: Ask) -> Reply | ModelError | Unscored:
        budget = self._means.budget
        slot = budget.take(ask)
        if isinstance(slot, str):
            return Unscored(slot)
        charged: Charge = None
        try:
            reply = self._means.model.complete(ask)
            charged = self._cost(ask, reply)
            self._failures = 0
            return replace(reply, cost=charged)
        except ModelError as error:
            charged = None if error.outcome_unknown else "nothing"
            return error
        finally:
            budget.give_back(slot, charged)

    def _cost(self, ask: Ask, reply: Reply) -> float | None:
        if reply.cost is not None:
            return reply.cost
        if reply.prompt_tokens is None or reply.completion_tokens is None:
            return None
        return self._means.model.price(ask.model, reply.prompt_tokens, reply.completion_tokens)

    def _put_off(self, ask: Ask, error: ModelError, sent: int) -> float:
        """When this call may be sent again. A provider that has had enough has had enough of all calls."""
        spread = 1 + int(ask.key[:4], 16) / 0x10000
        pause = min(LONGEST_PAUSE, 2.0 ** (sent - 1)) * spread if error.retry_after is None else error.retry_after
        until = self._means.clock() + pause
        if error.status == TOO_MANY:
            with self._lock:
                self._not_before = max(self._not_before, until)
        return until

    def _wait_turn(self, not_before: float) -> Unscored | None:
        while not self._stopped and self._failures < MOST_FAILURES:
            with self._lock:
                left = max(self._not_before, not_before) - self._means.clock()
            if left <= 0:
                return None
            self._means.sleep(min(left, 1.0))
        if self._stopped:
            return Unscored("judge_out: interrupted before the call")
        return Unscored(f"judge_out: not asked, for {MOST_FAILURES} calls in a row had no answer: {self._last_failure}")

    def _failed(self, error: ModelError) -> Unscored:
        if error.status not in ABOUT_THE_CALL:
            with self._lock:
                self._failures += 1
                self._last_failure = str(error)
        return Unscored(f"judge_out: {error}")
