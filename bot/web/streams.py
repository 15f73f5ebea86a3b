"""Live progress as server-sent events, without ever taking the threads that other pages need.

A stream holds one of the server's threads. So there are few at a time, and each is short: the browser comes back by
itself. Who comes when all are taken is told the state once and when to come again, which is asking every few seconds
over the same connection code: nobody is refused, and nothing more has to be built into the page.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from flask import Response, stream_with_context

MOST = 3
"""Streams at a time, of eight threads."""
LONGEST = 30.0
"""Seconds of one stream."""
POLL = 1.0
"""Seconds between two looks."""
BEAT = 5.0
"""Seconds after which something is sent although nothing changed, so that a listener who left is noticed."""
AGAIN = 3000
"""Milliseconds after which a browser comes back."""
_LISTENERS = threading.BoundedSemaphore(MOST)


@dataclass(frozen=True, slots=True)
class State:
    """What there is to see now."""

    fragment: str
    over: bool


def stream(
    look: Callable[[], State],
    *,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> Response:
    """The answer that shows what `look` sees, as it changes, until it is over.

    Args:
        look: Gives the state; called again and again, outside any request.
        sleep: Waits.
        clock: Seconds that only rise.
    """
    first = look()
    if first.over or not _LISTENERS.acquire(blocking=False):
        return _answer(_once(first))
    answer = _answer(_events(first, look, sleep, clock))
    answer.call_on_close(_LISTENERS.release)
    return answer


def _once(first: State) -> Iterator[str]:
    yield f"retry: {AGAIN}\n\n{_event(first)}"


def _events(
    first: State, look: Callable[[], State], sleep: Callable[[float], None], clock: Callable[[], float]
) -> Iterator[str]:
    yield from _once(first)
    begun = told = clock()
    shown = first
    while clock() - begun < LONGEST:
        sleep(POLL)
        now = look()
        if now != shown:
            shown, told = now, clock()
            yield _event(now)
        elif clock() - told >= BEAT:
            told = clock()
            yield ": still here\n\n"
        if now.over:
            return


def _event(now: State) -> str:
    lines = "".join(f"data: {line}\n" for line in now.fragment.splitlines())
    ending = "event: over\ndata: over\n\n" if now.over else ""
    return f"event: progress\n{lines}\n{ending}"


def _answer(events: Iterator[str]) -> Response:
    made = Response(stream_with_context(events), mimetype="text/event-stream")
    # A proxy that buffers would hold everything back until the end.
    made.headers["X-Accel-Buffering"] = "no"
    return made
