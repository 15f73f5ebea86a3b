"""Deliveries are kept together: one transaction for all that are waiting, and each is answered when it is durable.

A transaction of its own for each would be bound by the disk. Nobody has to collect them: of those who wait, the first
to come to the disk takes along whoever came in the meantime.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

LOG = logging.getLogger("assay.web")
MOST = 100
"""How many are moved to the queues at a time."""
QUIET = 0.02
"""Seconds without a delivery after which there is time for those that came before."""
AT_LATEST = 1.0
"""Seconds after which some are moved however many go on coming."""
RETRY = 2.0
"""Seconds between two tries where a database is away."""

Delivery = tuple[str, Any]


class NotKeptError(Exception):
    """The transaction that was to keep this delivery failed; whoever wrote it says why."""


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


@dataclass(slots=True, eq=False)
class _Waiting:
    delivery: Delivery
    kept: bool | None = None
    """None: nobody has tried yet."""


class Together:
    """Keeps deliveries that come at the same time in one transaction."""

    def __init__(self, keep: Callable[[Sequence[Delivery]], None]) -> None:
        self._keep = keep
        self._turn = threading.Lock()
        self._waiting: deque[_Waiting] = deque()

    def put(self, guid: str, event: Any) -> None:
        """Keep one; returns when it is durable.

        Raises:
            NotKeptError: somebody else's try, with this one in it, failed.
        """
        mine = _Waiting((guid, event))
        self._waiting.append(mine)
        with self._turn:
            if mine.kept is None:
                self._keep_all()
        if not mine.kept:
            raise NotKeptError(f"delivery {guid} could not be kept")

    def _keep_all(self) -> None:
        # Popped one by one: whoever comes meanwhile is in this batch or in the next, never in neither.
        batch = [self._waiting.popleft() for _ in range(len(self._waiting))]
        kept = False
        try:
            self._keep([one.delivery for one in batch])
            kept = True
        finally:
            for one in batch:
                one.kept = kept


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
        while True:
            # Before the look, so that what comes during it is looked for again.
            self._came.clear()
            try:
                moved = self.move()
            except self._away as error:
                LOG.warning("acknowledged deliveries wait: a database does not answer: %s", type(error).__name__)
                time.sleep(RETRY)
                continue
            if moved < MOST:
                # With a limit: where several web processes share an inbox, one may have died on the way.
                self._came.wait(30)
            self._give_way()

    def _give_way(self) -> None:
        """Wait until no deliveries come for a moment: those are being waited for, and what is kept is not."""
        until = time.monotonic() + AT_LATEST
        while (now := time.monotonic()) < until and now - self._last < QUIET:
            time.sleep(QUIET)
