"""A process that holds an executor slot, as a worker does, and can be stopped and killed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

HOLDER = """
import sys, time
from bot.adapters import slots
from bot.adapters.database import open_engine
with slots.database_slot(open_engine(sys.argv[1])) as slot:
    print(slot.executor, flush=True)
    while slot.keep():
        time.sleep(0.1)
"""


@contextmanager
def holder(url: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A process with a slot, and the slot's name."""
    with subprocess.Popen([sys.executable, "-c", HOLDER, url], stdout=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout is not None
            yield child, child.stdout.readline().strip()
        finally:
            child.kill()
