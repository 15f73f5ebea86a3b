"""One run from its issue to its leaderboard, at the stand-in, with reviewers that only say what is prepared.

First paced: limits such that writing takes about a minute, and the bound that those limits imply, from the ledger.
Then without limits on PostgreSQL, one worker against four. The stand-in works on the same cores and takes a share of
them that no worker can give back. `ASSAY_BENCH_REVIEWERS` sets how many reviewers there are.
"""

from __future__ import annotations

import os
import socket
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack, closing
from pathlib import Path

from bot.demo import app as app_process
from bot.demo import story
from bot.demo.world import Asked
from tests import postgres
from tests.bench import scripted
from tests.bench.table import Row

REVIEWERS = int(os.environ.get("ASSAY_BENCH_REVIEWERS", "6"))
PULLS = 8
"""All of the suite that ships and needs no repository from elsewhere."""
SPACING = 0.75
"""Seconds between two writes of one identity, where the run is paced."""
NEAR, FASTER = 1.1, 2.0
TIMEOUT = 900.0


def run() -> list[Row]:
    return [*_paced(), *_workers()]


def _paced() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "app"
        more = {"ASSAY_WRITE_SPACING_SECONDS": str(SPACING)}
        spent = _run(Path(folder), data, data, more, [("serve",)])
        with closing(sqlite3.connect(data / "app.db")) as db:
            bound, writes = _bound(db)
    what = f"a run of {PULLS} x {REVIEWERS}, a write each {SPACING} s; against: the bound of {writes} writes"
    return [Row(what, spent, "s", bound, bound * NEAR)]


def _bound(db: sqlite3.Connection) -> tuple[float, int]:
    """What the busiest identity needs at least: its writes, the first at once, each other after its spacing."""
    rows = db.execute("SELECT identity FROM writes WHERE slot IS NOT NULL AND kind != 'turn'").fetchall()
    counts = Counter(row[0] for row in rows)
    most = max(counts.values())
    return (most - 1) * SPACING, most


def _workers() -> list[Row]:
    with ExitStack() as stack:
        if postgres.programs() is None:
            sys.stderr.write("workers are not compared: PostgreSQL is not here\n")
            return []
        server = stack.enter_context(postgres.running())
        spent = {}
        for workers in (1, 4):
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            database = server.database()
            more = {"ASSAY_DATABASE_URL": database}
            commands: list[tuple[str, ...]] = [("serve", "--web-only"), *[("worker",)] * workers]
            spent[workers] = _run(folder, folder / "app", database, more, commands)
    what = f"the same without limits on PostgreSQL, 4 workers; against: 1, on {os.cpu_count()} cores with the stand-in"
    return [Row(what, spent[4], "s", spent[1], spent[1] / FASTER)]


def _run(
    folder: Path, data: Path, database: Path | str, more: dict[str, str], commands: list[tuple[str, ...]]
) -> float:
    """Seconds from the issue to the end of the run."""
    with ExitStack() as stack:
        world, registry = stack.enter_context(scripted.running(folder, REVIEWERS))
        settings = world.app_settings(data) | {"ASSAY_REGISTRY": str(registry)} | more
        bind = settings["ASSAY_BIND"]
        apps = []
        for number, command in enumerate(commands):
            apps.append(stack.enter_context(app_process.running(settings, data / f"log-{number}.txt", command)))
        _answers(bind, apps[0])
        # Workers start by themselves; the run must not wait for their imports.
        time.sleep(15)
        began = time.monotonic()
        world.ask_for_run(Asked(reviewers=tuple(scripted.slugs(REVIEWERS))))
        outcome = story.follow(database, apps[0], lambda line: None, TIMEOUT)
        spent = time.monotonic() - began
        if outcome.stage != "done":
            raise RuntimeError(f"the run ended as {outcome.stage}:\n{apps[-1].tail(30)}")
        return spent


def _answers(bind: str, app: app_process.AppProcess) -> None:
    host, _, port = bind.rpartition(":")
    give_up = time.monotonic() + 180
    while True:
        try:
            socket.create_connection((host, int(port)), timeout=1).close()
        except OSError:
            if time.monotonic() > give_up or app.exited is not None:
                raise RuntimeError(f"the App does not answer:\n{app.tail(30)}") from None
            time.sleep(0.2)
        else:
            return
