"""How far GitHub's clock is from ours: what we sign for it has to hold by its clock, whatever ours says."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime

TOLERATED = 30
"""Seconds that two good clocks and a slow answer may be apart; a signature holds in spite of them."""


class TheirClock:
    """What the last answer said."""

    def __init__(self, ours: Callable[[], float] = time.time) -> None:
        self._ours = ours
        self._ahead = 0

    def note(self, headers: Mapping[str, str]) -> None:
        """Read an answer's headers; those without a date say nothing."""
        try:
            theirs = parsedate_to_datetime(headers["date"]).timestamp()
        except (KeyError, ValueError):
            return
        self._ahead = round(theirs - self._ours())

    def ahead(self) -> int:
        """By how many seconds theirs is ahead of ours; 0 where the two agree."""
        return self._ahead if abs(self._ahead) > TOLERATED else 0
