"""What trials cost that wait for a bot: memory, threads, processor time while idle, and what a restart does again.

The whole App, `assay serve` with its engine, on SQLite, with the pauses an operator has by default, at a stand-in for
GitHub on loopback that is no part of what is measured.
"""

from __future__ import annotations

import socket
import sqlite3
import tempfile
import time
from contextlib import closing
from pathlib import Path

import psutil

from bot.demo import app as app_process
from bot.demo import world as demo_world
from tests.bench import waiting
from tests.bench.table import Row

SIZES = (1_000, 10_000)
MEMORY, THREADS, IDLE = 300.0, 64.0, 5.0
PARKED = {10_000: (556.0, 10_008.0)}
"""Megabytes above a process without any, and threads, of 10,000 workflows of the engine that each wait for a message
on SQLite; measured once with the engine's version 3.4.0, not here."""
SETTLE, WATCHED = 15.0, 30.0
"""Seconds. The second holds whole rounds of whatever comes round."""
_QUICK = ("POLL", "ISSUE_POLL", "QUEUE_POLL", "PROGRESS", "NUDGE", "RECHECK")


def run() -> list[Row]:
    return [row for size in SIZES for row in _measure(size)]


def _measure(size: int) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "app"
        with demo_world.running(Path(folder) / "github") as world:
            made = waiting.fill(data, size, 1)
            quick = {f"ASSAY_{name}_SECONDS" for name in _QUICK}
            settings = {name: value for name, value in world.app_settings(data).items() if name not in quick}
            with app_process.running(settings, data / "log.txt") as app:
                first = _watch(app, world.app_settings(data)["ASSAY_BIND"])
                _undisturbed(data)
                app.stop()
                restarted = time.time()
                app.start()
                _watch(app, world.app_settings(data)["ASSAY_BIND"], 5.0)
                again = _touched_since(data, restarted)
    memory, threads, idle = first
    parked = PARKED.get(size)
    against = parked or (None, None)
    return [
        Row(
            f"{made:,} waiting trials, resident memory; against: a parked workflow each",
            memory,
            "MB",
            against[0],
            MEMORY,
        ),
        Row("- threads", threads, "", against[1], THREADS),
        Row("- processor time while idle, of one core", idle, "%", None, IDLE),
        Row("- workflows that a restart touched, except the rounds", again, "", None, 0.0),
    ]


def _watch(app: app_process.AppProcess, bind: str, seconds: float = WATCHED) -> tuple[float, float, float]:
    """Megabytes, threads, and percent of a core, of all processes of the App."""
    everybody = _everybody(app, bind)
    time.sleep(SETTLE)
    before, began = _spent(everybody), time.monotonic()
    time.sleep(seconds)
    share = (_spent(everybody) - before) / (time.monotonic() - began)
    assert app.exited is None
    memory = sum(one.memory_info().rss for one in everybody) / 1e6
    return memory, float(sum(one.num_threads() for one in everybody)), share * 100


def _everybody(app: app_process.AppProcess, bind: str) -> list[psutil.Process]:
    """gunicorn's arbiter and its worker, once the App takes connections."""
    host, _, port = bind.rpartition(":")
    give_up = time.monotonic() + 180
    while True:
        try:
            socket.create_connection((host, int(port)), timeout=1).close()
        except OSError:
            if time.monotonic() > give_up or app.exited is not None:
                raise RuntimeError(f"the App does not answer:\n{app.tail(30)}") from None
            time.sleep(0.2)
            continue
        assert app._process is not None
        top = psutil.Process(app._process.pid)
        return [top, *top.children(recursive=True)]


def _spent(processes: list[psutil.Process]) -> float:
    return sum(times.user + times.system for times in (one.cpu_times() for one in processes))


def _undisturbed(data: Path) -> None:
    with closing(sqlite3.connect(data / "engine.db")) as db:
        rows = db.execute(
            "SELECT status, count(*) FROM workflow_status WHERE workflow_uuid LIKE 'waiting-%' GROUP BY 1"
        )
        found = dict(rows.fetchall())
    if set(found) != {"DELAYED"}:
        raise RuntimeError(f"not everything waits: {found}")


def _touched_since(data: Path, moment: float) -> float:
    query = "SELECT count(*) FROM workflow_status WHERE updated_at > ? AND name NOT IN ('sweep', 'tidy')"
    query += " AND name NOT LIKE '%debouncer%'"
    with closing(sqlite3.connect(data / "engine.db")) as db:
        return float(db.execute(query, (int(moment * 1000),)).fetchone()[0])
