"""When to try a request again, and when to give up."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


class GaveUp(Exception):
    """Every attempt was refused; the last refusal is the cause."""


class Refused(Exception):
    """The other side asks to come back later."""

    def __init__(self, after: float | None = None) -> None:
        super().__init__("come back later")
        self.after = after


@dataclass(frozen=True)
class Policy:
    """How patient a caller is."""

    attempts: int = 5
    first: float = 0.5
    ceiling: float = 30.0
    spread: float = 0.2

    def pauses(self, rng: random.Random) -> Iterator[float]:
        """Seconds to wait before each further attempt."""
        pause = self.first
        for _ in range(self.attempts - 1):
            yield pause * (1 + rng.uniform(-self.spread, self.spread))
            pause *= 2


class Clock:
    """Time as the caller sees it; tests bring their own."""

    def now(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


def attempt(call: Callable[[], T], policy: Policy, clock: Clock, rng: random.Random) -> T:
    """The answer of `call`, asked again while it is refused."""
    refusal: Refused | None = None
    pauses: list[float | None] = list(policy.pauses(rng))
    for pause in pauses:
        try:
            return call()
        except Refused as caught:
            refusal = caught
        if pause is not None:
            clock.sleep(max(pause, refusal.after or 0.0))
    raise GaveUp(f"refused {policy.attempts} times") from refusal


def within(deadline: float, clock: Clock, steps: Iterator[T]) -> Iterator[T]:
    """Steps until the deadline has passed."""
    for step in steps:
        if clock.now() >= deadline:
            return
        yield step
