"""Deliveries are kept together: one transaction for all that are waiting, and each is answered when it is durable.

A transaction of its own for each would be bound by the disk. Nobody has to wait for company: what comes while one
transaction is written goes into the next.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Any, Protocol

LOG = logging.getLogger("assay.web")
MOST = 25
"""How many are moved to the queues at a time."""
QUIET = 0.5
"""Seconds without a delivery after which there is time for those that came before."""
GIVE_WAY = 19.0
"""While deliveries come, the time between two moves: so many times that of a move."""
AT_LATEST = 60.0
"""Seconds for which moving may lag behind; then it takes all the time it needs, however many go on coming."""
RETRY = 2.0
"""Seconds between two tries where a database is away."""

LARGEST_BATCH = 500
"""How many are kept in a transaction."""

Delivery = tuple[str, Any]
_Waiting = tuple[Delivery, Callable[[bool], None]]


class Inbox(Protocol):
    """Where deliveries are kept until the engine has them."""

    def keep(self, deliveries: Sequence[Delivery]) -> None:
        """Keep them durably, in one transaction."""
        ...

    def oldest(self, most: int) -> Sequence[Delivery]:
        """The first to have come."""
        ...

    def remove(self, guids: Sequence[str]) -> None:
        """Take them out."""
        ...


class Together:
    """Keeps deliveries that come at the same time in one transaction, in a thread of its own."""

    def __init__(self, keep: Callable[[Sequence[Delivery]], None], after: Callable[[], None] = lambda: None) -> None:
        """Nothing waits yet.

        Args:
            keep: Writes deliveries in one transaction.
            after: Called when all of a transaction have been told.
        """
        self._keep = keep
        self._after = after
        self._waiting: SimpleQueue[_Waiting] = SimpleQueue()

    def start(self) -> None:
        """Keep whatever comes until the process ends."""
        threading.Thread(target=self._run, name="keeping", daemon=True).start()

    def put(self, guid: str, event: Any, told: Callable[[bool], None]) -> None:
        """Keep one; `told` is called from another thread, with whether it is durable."""
        self._waiting.put(((guid, event), told))

    def keep_some(self) -> None:
        """Wait for a delivery, and keep it with all that have come by then."""
        batch = [self._waiting.get()]
        # Whoever comes meanwhile is in this batch or in the next, never in neither.
        batch += [self._waiting.get() for _ in range(min(self._waiting.qsize(), LARGEST_BATCH - 1))]
        kept = False
        try:
            self._keep([delivery for delivery, _ in batch])
            kept = True
        except Exception:
            # Whatever it was: those who wait have to be told, and the next may be kept.
            LOG.exception("%d deliveries could not be kept", len(batch))
        for _, told in batch:
            try:
                told(kept)
            except Exception:
                # Whoever else is in this batch has to be told all the same.
                LOG.exception("who waits for a delivery could not be told")
        self._after()

    def _run(self) -> None:
        while True:
            try:
                self.keep_some()
            except Exception:
                # Nobody else would notice: without this thread no delivery is ever answered.
                LOG.exception("what comes after keeping deliveries failed")


class Mover:
    """Brings what is in the inbox to the engine's queues: once each by their ids, however often it is interrupted."""

    def __init__(
        self, inbox: Inbox, submit: Callable[[Sequence[Delivery]], None], away: tuple[type[Exception], ...]
    ) -> None:
        """A mover.

        Args:
            inbox: From where.
            submit: Queues deliveries durably; one that was queued before joins.
            away: What a database that is away raises.
        """
        self._inbox = inbox
        self._submit = submit
        self._away = away
        self._came = threading.Event()
        self._last = 0.0

    def nudge(self) -> None:
        """Something was put into the inbox."""
        self._last = time.monotonic()
        if not self._came.is_set():
            self._came.set()

    def start(self) -> None:
        """Move whatever comes, and what an earlier process has left, until the process ends."""
        threading.Thread(target=self._run, name="inbox", daemon=True).start()

    def move(self) -> int:
        """Move some; gives how many."""
        deliveries = self._inbox.oldest(MOST)
        if deliveries:
            self._submit(deliveries)
            self._inbox.remove([guid for guid, _ in deliveries])
        return len(deliveries)

    def _run(self) -> None:
        behind: float | None = None
        while True:
            # Before the look, so that what comes during it is looked for again.
            self._came.clear()
            began = time.monotonic()
            try:
                moved = self.move()
            except self._away as error:
                LOG.warning("acknowledged deliveries wait: a database does not answer: %s", type(error).__name__)
                time.sleep(RETRY)
                continue
            if moved < MOST:
                behind = None
                # With a limit: where several web processes share an inbox, one may have died on the way.
                self._came.wait(30)
                continue
            behind = began if behind is None else behind
            if began < behind + AT_LATEST:
                self._give_way(GIVE_WAY * (time.monotonic() - began))

    def _give_way(self, seconds: float) -> None:
        """Leave the processor to deliveries as long as they come: those are being waited for, what is kept is not."""
        until = time.monotonic() + seconds
        while (now := time.monotonic()) < until and now - self._last < QUIET:
            time.sleep(min(0.05, until - now))
