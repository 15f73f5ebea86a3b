"""Waiting for a database that is away: a workflow that fell over for that would end for good."""

from __future__ import annotations

import functools
import logging
import time
from collections.abc import Callable
from typing import Any, TypeVar, cast

import sqlalchemy as sa

from bot.adapters.database import is_away

LOG = logging.getLogger("assay.workers")
PAUSES = (0.2, 0.5, 1.0, 2.0, 5.0)
"""Seconds between two tries; the last one from then on."""
TOLD_SECONDS = 60.0

T = TypeVar("T")


def patient(target: T, sleep: Callable[[float], None] = time.sleep) -> T:
    """The same object, whose methods wait while the database is away and then do their work.

    Only for objects whose methods are one transaction each and may be done twice: whether a commit on a lost connection
    took place is not known.
    """
    return cast(T, _Patient(target, sleep))


class _Patient:
    """Passes everything on, as often as it takes."""

    def __init__(self, target: object, sleep: Callable[[float], None]) -> None:
        self._target = target
        self._sleep = sleep

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._target, name)
        return self._waiting(found) if callable(found) else found

    def _waiting(self, method: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(method)
        def insist(*args: Any, **kwargs: Any) -> Any:
            began, tries = time.monotonic(), 0
            while True:
                try:
                    return method(*args, **kwargs)
                except sa.exc.SQLAlchemyError as error:
                    if not is_away(error):
                        raise
                    waited = time.monotonic() - began
                    if tries == 0 or waited > TOLD_SECONDS:
                        LOG.warning("the database does not answer (%s); waiting for it", type(error).__name__)
                        began = time.monotonic()
                    self._sleep(PAUSES[min(tries, len(PAUSES) - 1)])
                    tries += 1

        return insist
