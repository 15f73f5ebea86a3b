"""Runs one after another on one data directory: what grows with them, and what should not.

    python -m tests.chaos.soak [--runs N] [--resume FILE]

The file gets a line for each run; started again, only the runs that are missing are done, in a process of their own,
whose growth is counted by itself.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import psutil

from bot.adapters.database import open_engine
from bot.adapters.store import SqlStore
from bot.demo.world import database_of
from tests.chaos.places import Place, place
from tests.flows.world import TINY

FILE = Path("var/soak.jsonl")
RUNS = 5
MOST_MB = 6.0
"""Memory that a run may add, once the process has had its first runs."""
MOST_MORE = 4
"""Threads and files that the last run may have open more than the second."""
WARM = 2
"""Runs after which everything is loaded that ever is."""


@dataclass(frozen=True, slots=True)
class Row:
    """How the App stands after a run."""

    process: int
    """Rows of one process can be compared."""
    run: int
    seconds: float
    memory_mb: float
    threads: int
    files: int
    app_kb: int
    engine_kb: int
    data_kb: int


def measure(here: Place, number: int) -> Row:
    before = _runs(here)
    began = time.monotonic()
    here.ask(TINY)
    here.tend_until(lambda: _runs(here) > before, 120)
    outcome = here.finish()
    assert outcome.stage == "done", outcome
    assert len(here.ours("leaderboard")) == 1
    seconds = time.monotonic() - began
    # What is left to do after the last comment: the progress comment, the engine's own rows.
    time.sleep(3)
    family = [psutil.Process(here.processes[0].pid), *psutil.Process(here.processes[0].pid).children(recursive=True)]
    assert here.processes[0].starts == 1, "the App died meanwhile"
    return Row(
        process=here.processes[0].pid,
        run=number,
        seconds=round(seconds, 1),
        memory_mb=round(sum(one.memory_info().rss for one in family) / 1e6, 1),
        threads=sum(one.num_threads() for one in family),
        files=sum(one.num_fds() for one in family),
        app_kb=_size(here.data, "app.db*"),
        engine_kb=_size(here.data, "engine.db*"),
        data_kb=_size(here.data, "**/*"),
    )


def _runs(here: Place) -> int:
    if not (here.data / "app.db").exists():
        return 0
    engine = open_engine(database_of(here.where))
    try:
        store = SqlStore(engine)
        return len(store.all_runs()) if store.ready else 0
    finally:
        engine.dispose()


def _size(folder: Path, pattern: str) -> int:
    return sum(path.stat().st_size for path in folder.glob(pattern) if path.is_file()) // 1024


def complaints(rows: Sequence[Row]) -> list[str]:
    """What is not flat among the rows of one process."""
    if len(rows) <= WARM:
        return []
    first, last = rows[WARM - 1], rows[-1]
    per_run = (last.memory_mb - first.memory_mb) / (len(rows) - WARM)
    found = [f"memory grows by {per_run:.1f} MB a run"] if per_run > MOST_MB else []
    for name in ("threads", "files"):
        before, after = getattr(first, name), getattr(last, name)
        if after > before + MOST_MORE:
            found.append(f"{name}: {before} after run {first.run}, {after} after run {last.run}")
    return found


def table(rows: Sequence[Row]) -> str:
    names = [one.name for one in fields(Row)]
    lines = [names, *([str(getattr(row, name)) for name in names] for row in rows)]
    return "\n".join(
        " | ".join(cell.rjust(max(len(name), 8)) for cell, name in zip(line, names, strict=True)) for line in lines
    )


def read(path: Path) -> list[Row]:
    return [Row(**json.loads(line)) for line in path.read_text().splitlines() if line] if path.exists() else []


def main(given: Sequence[str]) -> int:
    signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))
    parser = argparse.ArgumentParser(prog="python -m tests.chaos.soak", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=RUNS, help="how many in all (default: %(default)s)")
    parser.add_argument("--resume", type=Path, default=FILE, metavar="FILE", help="the rows (default: %(default)s)")
    asked = parser.parse_args(given)
    asked.resume.parent.mkdir(parents=True, exist_ok=True)
    done = len(read(asked.resume))
    if done < asked.runs:
        with (
            tempfile.TemporaryDirectory(prefix="assay-soak-") as folder,
            place(Path(folder), extra={"CHAOS_RECORD": ""}) as here,
        ):
            for number in range(done + 1, asked.runs + 1):
                row = measure(here, number)
                with asked.resume.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(row)) + "\n")
                sys.stderr.write(f"run {number} of {asked.runs}: {row.seconds} s\n")
    rows = read(asked.resume)
    sys.stdout.write(table(rows) + "\n")
    wrong = [
        line
        for process in dict.fromkeys(row.process for row in rows)
        for line in complaints([row for row in rows if row.process == process])
    ]
    sys.stdout.write("\n".join(wrong or ["flat"]) + "\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
