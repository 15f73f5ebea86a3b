"""Notices that this machine's clock was set back: what waits for a moment would wait until the clock has caught up."""

from __future__ import annotations

import time
from collections.abc import Callable

NOTICED = 5.0
"""Seconds; less is no jump that anybody waits long for."""


class Watch:
    """Holds the clock against one that nobody can set."""

    def __init__(self, wall: Callable[[], float] = time.time, steady: Callable[[], float] = time.monotonic) -> None:
        self._wall = wall
        self._steady = steady
        self._ahead = wall() - steady()

    def set_back(self) -> float:
        """By how many seconds the clock was set back since the last call; 0 where it was not."""
        ahead = self._wall() - self._steady()
        back, self._ahead = self._ahead - ahead, ahead
        return back if back >= NOTICED else 0.0
