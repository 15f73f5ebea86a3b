"""Counting beside the requests: intervals of a large run take longer than anybody should hold one of few threads."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable

from bot.pages.analysis import Analysis

PATIENCE = 1.0
"""Seconds a request waits; most runs are counted by then."""


class Counting:
    """Works out analyses one after another, each once however many people ask."""

    def __init__(self, patience: float = PATIENCE) -> None:
        """Nothing is under way.

        Args:
            patience: Seconds to wait for the result before the caller is sent away.
        """
        self._patience = patience
        self._turn = threading.Lock()
        self._one_at_a_time = threading.Lock()
        self._under_way: dict[int, threading.Thread] = {}

    def ready(self, analyses: Iterable[Analysis]) -> bool:
        """Whether all have been worked out, after a moment's wait; if not, that goes on by itself."""
        missing = [one for one in analyses if not one.counted]
        until = time.monotonic() + self._patience
        for thread in [self._begin(one) for one in missing]:
            thread.join(max(0.0, until - time.monotonic()))
        return all(one.counted for one in missing)

    def _begin(self, analysis: Analysis) -> threading.Thread:
        key = id(analysis)
        with self._turn:
            if key not in self._under_way:
                # The thread holds the analysis, so its id stays its own for as long as it stands here.
                thread = threading.Thread(target=self._count, args=(key, analysis), name="counting", daemon=True)
                self._under_way[key] = thread
                thread.start()
            return self._under_way[key]

    def _count(self, key: int, analysis: Analysis) -> None:
        try:
            with self._one_at_a_time:
                analysis.count()
        finally:
            with self._turn:
                del self._under_way[key]
