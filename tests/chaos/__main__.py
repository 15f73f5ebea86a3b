"""Disturb the App in every way there is, and see that each run ends as an undisturbed one does.

    python -m tests.chaos [--seed N] [--points N] [--only KIND] [--resume FILE] [--together N]

Kill points come first, then the scenarios. What is done is in the file, a line each; started again, what came out well
is not repeated.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from tests import postgres
from tests.chaos import kills, scenarios
from tests.chaos.checks import Reference
from tests.chaos.kills import Point
from tests.chaos.record import Record, Result
from tests.postgres import Postgres

SEED, POINTS = 1, 160
FILE = Path("var/chaos.jsonl")


def arguments(given: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=SEED, help="of the kill points")
    parser.add_argument("--points", type=int, default=POINTS, help="how many kill points (default: %(default)s)")
    parser.add_argument("--only", action="append", choices=[*kills.KINDS, *scenarios.NAMES], help="only this kind")
    parser.add_argument("--resume", type=Path, default=FILE, metavar="FILE", help="the results (default: %(default)s)")
    parser.add_argument("--together", type=int, default=1, help="traps in one run; one by one if it goes wrong")
    return parser.parse_args(given)


def main(given: Sequence[str]) -> int:
    asked = arguments(given)
    record = Record(asked.resume)
    with ExitStack() as stack:
        server = stack.enter_context(postgres.running()) if postgres.programs() is not None else None
        if server is None:
            _say("PostgreSQL is not installed: what needs it is NOT done")
        reference = record.reference(asked.seed)
        if reference is None:
            _say("one undisturbed run first")
            reference = kills.measure()
            record.begin(asked.seed, reference)
        wanted = _kill(asked, reference, record, server) + _disturb(asked, reference, record, server)
    return _summary(record, wanted)


def _kill(asked: argparse.Namespace, reference: Reference, record: Record, server: Postgres | None) -> list[str]:
    points = [
        point
        for point in kills.plan(reference, asked.seed, asked.points)
        if not asked.only or point.kind in asked.only
        if server is not None or not point.kind.startswith("pg-")
    ]
    done = record.done()
    for batch in _batches([point for point in points if point.name not in done], asked.together):
        _carry_out(batch, reference, record, server)
    return [point.name for point in points]


def _batches(points: Sequence[Point], together: int) -> Iterator[list[Point]]:
    """Points of one kind that can share a run, in the order of the plan."""
    waiting: dict[str, list[Point]] = {}
    for point in points:
        batch = waiting.setdefault(point.kind, [])
        batch.append(point)
        if len(batch) >= together or point.kind not in kills.TRAPPED_KINDS:
            yield waiting.pop(point.kind)
    yield from waiting.values()


def _carry_out(batch: list[Point], reference: Reference, record: Record, server: Postgres | None) -> None:
    began = time.monotonic()
    came = kills.carry_out(batch, reference, server)
    seconds = round(time.monotonic() - began, 1)
    if len(batch) > 1 and (came.wrong or not all(came.met)):
        for line in came.wrong:
            _say(f"   together: {line}")
        missed = batch if came.wrong else [one for one, met in zip(batch, came.met, strict=True) if not met]
        for point in missed:
            _carry_out([point], reference, record, server)
        batch = [point for point in batch if point not in missed]
    for point, met in zip(batch, came.met if len(batch) == len(came.met) else (True,) * len(batch), strict=True):
        _note(record, Result(point.name, not came.wrong and met, met, seconds, came.wrong, came.tail, len(came.met)))


def _disturb(asked: argparse.Namespace, reference: Reference, record: Record, server: Postgres | None) -> list[str]:
    wanted = [
        one
        for one in scenarios.ALL
        if (not asked.only or one.name in asked.only) and (server is not None or not one.needs_postgres)
    ]
    done = record.done()
    for scenario in wanted:
        if scenario.name not in done:
            began = time.monotonic()
            came = scenarios.carry_out(scenario, reference, server)
            seconds = round(time.monotonic() - began, 1)
            ok = all(came.met) and not came.wrong
            _note(record, Result(scenario.name, ok, all(came.met), seconds, came.wrong, came.tail))
    return [one.name for one in wanted]


def _note(record: Record, result: Result) -> None:
    record.add(result)
    said = "ok" if result.ok else "not met" if not result.met else "WRONG"
    why = result.wrong or ((result.tail,) if result.tail and not result.met else ())
    _say(f"{said:8}{result.seconds:6.0f} s  {result.name}" + "".join(f"\n          {one}" for one in why))


def _summary(record: Record, wanted: Sequence[str]) -> int:
    results = record.results()
    found = [results[name] for name in wanted if name in results]
    wrong = [one for one in found if one.wrong]
    missed = [one for one in found if not one.met and not one.wrong]
    _say(f"{len(found)} done: {sum(one.ok for one in found)} well, {len(wrong)} wrong, {len(missed)} not met")
    return 1 if wrong else 0


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _told_to_end(number: int, _frame: object) -> None:
    # The App's processes are sessions of their own, and would outlive us.
    raise SystemExit(128 + number)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _told_to_end)
    raise SystemExit(main(sys.argv[1:]))
