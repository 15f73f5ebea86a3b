"""Takes over what dead workers left: nobody else does, and a run would wait for it for ever."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

LOG = logging.getLogger("assay.workflows")

Work = Mapping[str, Mapping[str, Sequence[str]]]
"""Executor -> queue -> workflows under way."""


class Slot(Protocol):
    """The executor slot of this worker."""

    executor: str

    def keep(self) -> bool:
        """Whether it is still ours."""
        ...

    def borrowed(self, executor: str) -> AbstractContextManager[bool]:
        """Hold another executor's slot for a moment; False where it is alive."""
        ...


class Reaper:
    """One worker's look at the others, round after round."""

    def __init__(
        self, slot: Slot, busy: Callable[[], Work], hand_on: Callable[[Mapping[str, Sequence[str]]], int]
    ) -> None:
        self._slot = slot
        self._busy = busy
        self._hand_on = hand_on
        self._suspects: frozenset[str] = frozenset()

    def round(self) -> int:
        """Look once. A slot must be free in two rounds: after an outage of the database all are, for a moment.

        Returns:
            How many workflows were handed on.
        """
        suspects: set[str] = set()
        handed = 0
        for executor in sorted(self._busy()):
            if executor == self._slot.executor:
                continue
            with self._slot.borrowed(executor) as dead:
                if dead and executor in self._suspects:
                    # Asked again while the slot is held: what was listed before may have ended or moved since.
                    handed += self._hand_on(self._busy().get(executor, {}))
                    LOG.warning("took over the work of %s, which is gone", executor)
                elif dead:
                    suspects.add(executor)
        self._suspects = frozenset(suspects)
        return handed
