"""Points at which the App is killed: planned from an undisturbed run, each carried out in a world of its own."""

from __future__ import annotations

import json
import random
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from bot.demo.story import DemoError
from tests.chaos.checks import Reference, problems
from tests.chaos.places import Place, place
from tests.chaos.trapped import AFTER, BEFORE, TRAP, Trap
from tests.flows.world import SMALL, content
from tests.postgres import Postgres

STEP, ALONE, ASKING, ASKED, TIME = "step", "alone", "asking", "asked", "time"
PG_STEP, PG_WEB, PG_TIME = "pg-step", "pg-web", "pg-time"
TRAPPED_KINDS = (STEP, ALONE, PG_STEP, PG_WEB)
KINDS = (STEP, ALONE, ASKING, ASKED, TIME, PG_STEP, PG_WEB, PG_TIME)
WEIGHTS = {STEP: 12, ALONE: 3, ASKING: 4, ASKED: 4, TIME: 4, PG_STEP: 6, PG_WEB: 2, PG_TIME: 3}
"""How many of each kind there are among as many points as the sum."""
WEB_MOMENTS = tuple(
    f"{phase} {what}"
    for what in ("keeping deliveries", "queue deliveries", "forgetting deliveries")
    for phase in (BEFORE, AFTER)
)
LONGEST = 300.0


@dataclass(frozen=True, slots=True)
class Point:
    """One place at which something dies."""

    kind: str
    """`step`: at a moment of its work, with all its children; `alone`: the working process without its master and its
    children; `asking` and `asked`: when GitHub has got a request, before and after it is carried out; `time`: some
    moment. `pg-`: one process of several that share a PostgreSQL."""
    what: str
    """The moment; the number of the request; the part of an undisturbed run that has gone by."""
    nth: int = 1

    @property
    def name(self) -> str:
        return f"{self.kind} {self.what}" + (f" #{self.nth}" if self.kind in TRAPPED_KINDS else "")


def plan(reference: Reference, seed: int, count: int) -> tuple[Point, ...]:
    """As many different points, mixed so that every beginning of the list has some of each kind.

    Every moment of the reference run comes once before any comes at a later meeting.
    """
    rng = random.Random(seed)
    sources = {kind: _source(kind, reference, rng) for kind in KINDS}
    kinds = [kind for kind, weight in WEIGHTS.items() for _ in range(weight)]
    found: dict[str, Point] = {}
    while len(found) < count and sources:
        rng.shuffle(kinds)
        for kind in kinds:
            point = next(sources[kind], None) if kind in sources else None
            if point is not None:
                found.setdefault(point.name, point)
            else:
                sources.pop(kind, None)
    return tuple(found.values())[:count]


def _source(kind: str, reference: Reference, rng: random.Random) -> Iterator[Point]:
    if kind in (STEP, ALONE, PG_STEP):
        yield from _moments(kind, reference.moments, rng)
    elif kind == PG_WEB:
        yield from (Point(kind, moment, nth) for nth in range(1, 9) for moment in WEB_MOMENTS)
    elif kind in (ASKING, ASKED):
        # A quick run asks fewer times than a slow one did.
        numbers = list(range(1, reference.requests * 4 // 5))
        rng.shuffle(numbers)
        yield from (Point(kind, str(number)) for number in numbers)
    else:
        yield from (Point(kind, f"{rng.random():.3f}") for _ in range(1000))


def _moments(kind: str, met: Sequence[str], rng: random.Random) -> Iterator[Point]:
    counted = Counter(met)
    once = sorted(counted)
    rng.shuffle(once)
    yield from (Point(kind, moment) for moment in once)
    again = [(moment, nth) for moment, count in counted.items() for nth in range(2, min(count, 4) + 1)]
    rng.shuffle(again)
    yield from (Point(kind, moment, nth) for moment, nth in again)


def measure() -> Reference:
    """An undisturbed run, with everything written down."""
    with tempfile.TemporaryDirectory(prefix="assay-chaos-") as folder, place(Path(folder)) as here:
        began = time.monotonic()
        here.ask(SMALL)
        outcome = here.finish()
        seconds = time.monotonic() - began
        wrong = list(problems(here, SMALL, outcome, None))
        if wrong:
            raise AssertionError(f"an undisturbed run is not well: {wrong}")
        moments = tuple(here.record.read_text(encoding="utf-8").splitlines())
        return Reference(content(outcome.report), seconds, here.wire.seen, moments)


@dataclass(frozen=True, slots=True)
class Came:
    """What came of a run that was disturbed."""

    met: tuple[bool, ...]
    """Of each point, whether anything was killed there at all."""
    wrong: tuple[str, ...]
    tail: str = ""
    """The end of the logs where something is wrong."""


def carry_out(points: Sequence[Point], reference: Reference, postgres: Postgres | None) -> Came:
    """Kill at a point, or at several of one kind that have a trap, in one run, and see what came of it."""
    with tempfile.TemporaryDirectory(prefix="assay-chaos-") as folder:
        sprung = [Path(folder) / "app" / f"sprung-{number}" for number, _ in enumerate(points)]
        server = postgres if points[0].kind.startswith("pg-") else None
        with place(Path(folder), postgres=server, extra=traps(points, sprung)) as here:
            _arm(here, points[0], reference)
            here.ask(SMALL)
            try:
                outcome = here.finish(LONGEST)
                wrong = tuple(problems(here, SMALL, outcome, reference.report))
            except (DemoError, AssertionError) as error:
                wrong = (str(error)[:300],)
            trapped = points[0].kind in TRAPPED_KINDS
            died = any(process.starts > 1 for process in here.processes)
            met = tuple(one.exists() for one in sprung) if trapped else (died,)
            return Came(met, wrong, here.logs()[-8000:] if wrong else "")


def traps(points: Sequence[Point], sprung: Sequence[Path]) -> dict[str, str]:
    """The settings that set the traps; each leaves a file when it springs."""
    found = [
        asdict(Trap(point.what, point.nth, str(file), alone=point.kind == ALONE))
        for point, file in zip(points, sprung, strict=True)
        if point.kind in TRAPPED_KINDS
    ]
    return {TRAP: json.dumps(found)}


def _arm(here: Place, point: Point, reference: Reference) -> None:
    """See to it that what has no trap of its own dies."""
    if point.kind in (ASKING, ASKED):
        here.wire.arm(here.wire.seen + int(point.what), here.processes[0].strike, answered_first=point.kind == ASKED)
    if point.kind in (TIME, PG_TIME):
        victim = here.processes[-1]
        timer = threading.Timer(float(point.what) * reference.seconds, victim.strike)
        timer.daemon = True
        timer.start()
