"""The App with a trap in it: it kills itself at one named moment of its work. Run as `python -m tests.chaos.trapped`.

What it does is the App's own code; only the ways into the engine and to the bundles are watched.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

TRAP = "CHAOS_TRAP"
"""A JSON list: see `Trap`."""
RECORD = "CHAOS_RECORD"
"""A file that gets a line for each moment that is met."""
CLOCK = "CHAOS_CLOCK"
"""A file with the seconds by which this machine's clock is wrong, for everything in the process that asks for it."""

BEFORE, INSIDE, AFTER = "before", "inside", "after"
"""Before a step begins; when its work is done and not yet remembered; when it is remembered."""


@dataclass(frozen=True, slots=True)
class Trap:
    """Where the App kills itself, once in the life of its data directory."""

    moment: str
    """`<phase> <step>`."""
    nth: int
    """At which meeting in the life of one process."""
    sprung: str
    """A file that is there once it has happened."""
    alone: bool
    """Whether only the process that works dies, and what started it and what it started live on."""


class Watch:
    """Counts moments, writes them down, and springs the trap."""

    def __init__(self, traps: Sequence[Trap], record: str | None) -> None:
        self._traps = {(trap.moment, trap.nth): trap for trap in traps}
        self._record = record
        self._met: Counter[str] = Counter()
        self._lock = threading.Lock()

    def meet(self, phase: str, name: str) -> None:
        moment = f"{phase} {name}"
        with self._lock:
            self._met[moment] += 1
            nth = self._met[moment]
        if self._record is not None:
            with Path(self._record).open("a", encoding="utf-8") as file:
                file.write(f"{moment}\n")
        if (moment, nth) in self._traps:
            self._spring(self._traps[moment, nth])

    def _spring(self, trap: Trap) -> None:
        try:
            os.close(os.open(trap.sprung, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return
        if trap.alone:
            os.kill(os.getpid(), signal.SIGKILL)
        os.killpg(0, signal.SIGKILL)

    def step(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def traced(name: str, do: Callable[[], Any]) -> Any:
            worked = False

            def work() -> Any:
                nonlocal worked
                self.meet(BEFORE, name)
                worked, done = True, do()
                self.meet(INSIDE, name)
                return done

            found = original(name, work)
            if worked:
                self.meet(AFTER, name)
            return found

        return traced

    def pieces(self, original: Callable[..., Mapping[str, bytes]]) -> Callable[..., Mapping[str, bytes]]:
        """Watch what is written piece by piece."""
        return lambda *args: _Pieces(original(*args), self)

    def queueing(self, original: Callable[..., Any], what: Callable[..., str]) -> Callable[..., Any]:
        def traced(*args: Any, **kwargs: Any) -> Any:
            name = what(*args)
            self.meet(BEFORE, name)
            found = original(*args, **kwargs)
            self.meet(AFTER, name)
            return found

        return traced


class _Pieces(dict[str, bytes]):
    """Parts of a bundle; before each but the first something is written and something is not."""

    def __init__(self, parts: Mapping[str, bytes], watch: Watch) -> None:
        super().__init__(parts)
        self._watch = watch

    def items(self) -> Any:
        for number, one in enumerate(super().items()):
            if number:
                self._watch.meet(INSIDE, "writing the bundle")
            yield one


def _wrong(path: Path) -> None:
    """Let the clock say what the file says, before anybody has taken hold of the right one."""
    original = time.time
    time.time = lambda: original() + (float(path.read_text() or 0) if path.exists() else 0.0)


def arm() -> None:
    if CLOCK in os.environ:
        _wrong(Path(os.environ[CLOCK]))
    from bot import composition, composition_workers
    from bot.adapters.inbox import SqlInbox
    from bot.judging import keeping
    from bot.workflows import engine, judge
    from scoring import bundle

    traps = [Trap(**one) for one in json.loads(os.environ.get(TRAP, "[]"))]
    watch = Watch(traps, os.environ.get(RECORD) or None)
    ways: dict[str, Any] = {
        "step": watch.step(engine.step),
        "enqueue": watch.queueing(engine.enqueue, lambda _queue, workflow, *_rest: f"queue {workflow}"),
        "submit": watch.queueing(engine.submit, lambda _door, _queue, workflow, *_rest: f"queue {workflow}"),
        "submit_all": watch.queueing(engine.submit_all, lambda *_args: "queue deliveries"),
        "wake": watch.queueing(engine.wake, lambda workflow, *_rest: f"queue {workflow.__name__}"),
    }
    for name, way in ways.items():
        setattr(engine, name, way)
    rest: list[tuple[Any, str, Any]] = [
        (SqlInbox, "keep", watch.queueing(SqlInbox.keep, lambda *_args: "keeping deliveries")),
        (SqlInbox, "remove", watch.queueing(SqlInbox.remove, lambda *_args: "forgetting deliveries")),
        (judge, "parts", watch.pieces(bundle.parts)),
        (
            keeping,
            "_land",
            watch.queueing(
                keeping._land,
                lambda path, *_rest: "keeping the index" if path.name == "index.json" else "keeping judgements",
            ),
        ),
    ]
    if CLOCK in os.environ:
        now = lambda: datetime.fromtimestamp(time.time(), UTC)  # noqa: E731
        rest += [(module, "utc_now", now) for module in (composition, composition_workers)]
    for module, name, way in rest:
        setattr(module, name, way)


if __name__ == "__main__":
    arm()
    from bot.cli import main

    main()
