"""Seats of a hall: who holds which, and for how long."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass

HOLD_SECONDS = 600.0


class Taken(Exception):
    """A seat belongs to somebody else."""


@dataclass(frozen=True)
class Hold:
    """A seat that somebody may still pay for."""

    seat: str
    customer: str
    until: float


class Hall:
    """Holds and sales of one performance; safe to be used by several threads."""

    def __init__(self, seats: Iterable[str], now: Callable[[], float]) -> None:
        self._seats = frozenset(seats)
        self._now = now
        self._lock = threading.Lock()
        self._holds: dict[str, Hold] = {}
        self._sold: dict[str, str] = {}

    def hold(self, seat: str, customer: str) -> Hold:
        """Keep a seat for a customer for ten minutes."""
        if seat not in self._seats:
            raise KeyError(seat)
        self._check(seat, customer)
        kept = Hold(seat, customer, self._now() + HOLD_SECONDS)
        with self._lock:
            self._holds[seat] = kept
        return kept

    def buy(self, seat: str, customer: str) -> None:
        """Sell a seat to the customer who holds it."""
        with self._lock:
            kept = self._holds.get(seat)
            if kept is None or kept.customer != customer:
                raise Taken(seat)
            self._sold[seat] = customer
            del self._holds[seat]

    def free(self) -> list[str]:
        """Seats that nobody holds or has bought."""
        with self._lock:
            return sorted(seat for seat in self._seats if not self._kept(seat) and seat not in self._sold)

    def release(self, customer: str) -> int:
        """Give up whatever a customer holds; how many seats that were."""
        with self._lock:
            own = [seat for seat, kept in self._holds.items() if kept.customer == customer]
            for seat in own:
                del self._holds[seat]
        return len(own)

    def _kept(self, seat: str) -> Hold | None:
        kept = self._holds.get(seat)
        return kept if kept is not None and kept.until > self._now() else None

    def _check(self, seat: str, customer: str) -> None:
        kept = self._kept(seat)
        if seat in self._sold or (kept is not None and kept.customer != customer):
            raise Taken(seat)
