"""One run from its issue to its leaderboard, at the stand-in, with reviewers that only say what is prepared.

First paced: 50 pull requests, and the bound that the limits imply, from the ledger. Then without limits on PostgreSQL,
one worker against four, where the stand-in answers at once and where it takes its time as GitHub does. The stand-in
works on the same cores and takes a share of them that no worker can give back. The App looks and polls as often as an
operator has it by default. `ASSAY_BENCH_REVIEWERS` sets how many reviewers there are, `ASSAY_BENCH_PULLS` of how many
pull requests the run is that workers share.
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

from bot.adapters.database import open_engine
from bot.adapters.store import SqlStore
from bot.demo import app as app_process
from bot.demo.world import Asked, database_of
from bot.sandbox.faults import Fault
from goldens.load import load_suite
from tests import postgres
from tests.bench import scripted
from tests.bench.table import Row
from tests.postgres import Postgres

REVIEWERS = int(os.environ.get("ASSAY_BENCH_REVIEWERS", "12"))
PULLS = 50
SHARED_PULLS = int(os.environ.get("ASSAY_BENCH_PULLS", "50"))
"""Of the run that workers share."""
SUITE = "synthetic"
SPACING = 0.75
"""Seconds between two writes of one identity, where the run is paced."""
ANSWERS = (0.0, 0.2)
"""Seconds that the stand-in takes for an answer beyond its work. GitHub takes 0.1 to 1."""
NEAR, FASTER = 1.1, 2.0
TIMEOUT = 1800.0
_QUICK = ("POLL", "ISSUE_POLL", "QUEUE_POLL", "PROGRESS", "NUDGE", "RECHECK")
_FORKING = frozenset({"repository", "push", "pull request"})


def run() -> list[Row]:
    return [*_paced(), *_workers()]


def _paced() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "app"
        more = {"ASSAY_WRITE_SPACING_SECONDS": str(SPACING)}
        asked = _asked(PULLS, REVIEWERS)
        spent = _run(Path(folder), data, data, more, [("serve",)], asked)
        with closing(sqlite3.connect(data / "app.db")) as db:
            bound, writes = _bound(db)
    what = f"a run of {PULLS} x {REVIEWERS}, a write each {SPACING} s; against: the bound of {writes} writes"
    return [Row(what, spent, "s", bound, bound * NEAR)]


def _bound(db: sqlite3.Connection) -> tuple[float, int]:
    """What the writes need at least, the first at once and each other after its spacing.

    Results may be written only when every trial is over, so the busiest identity of each of the two parts counts.
    """
    rows = db.execute("SELECT kind, identity FROM writes WHERE attempts > 0").fetchall()
    forking = Counter(identity for kind, identity in rows if kind in _FORKING)
    rest = Counter(identity for kind, identity in rows if kind not in _FORKING)
    most = max(forking.values()) + max(rest.values())
    return (most - 1) * SPACING, most


def _workers() -> list[Row]:
    if postgres.programs() is None:
        sys.stderr.write("workers are not compared: PostgreSQL is not here\n")
        return []
    with postgres.running() as server:
        return [_compared(server, answer) for answer in ANSWERS]


def _compared(server: Postgres, answer: float) -> Row:
    spent = {}
    for workers in (1, 4):
        with tempfile.TemporaryDirectory() as folder:
            database = server.database()
            more = {"ASSAY_DATABASE_URL": database}
            commands: list[tuple[str, ...]] = [("serve", "--web-only"), *[("worker",)] * workers]
            asked = _asked(SHARED_PULLS, REVIEWERS)
            spent[workers] = _run(Path(folder), Path(folder) / "app", database, more, commands, asked, answer)
    what = f"{SHARED_PULLS} x {REVIEWERS} without limits on PostgreSQL, answers after {answer:g} s, 4 workers"
    return Row(
        f"{what}; against: 1, on {os.cpu_count()} cores with the stand-in", spent[4], "s", spent[1], spent[1] / FASTER
    )


def _asked(pulls: int, reviewers: int) -> Asked:
    names = [pull.id for pull in load_suite(SUITE).pulls[:pulls]]
    return Asked(suite=SUITE, pulls=",".join(names), reviewers=tuple(scripted.slugs(reviewers)))


def _run(
    folder: Path,
    data: Path,
    database: Path | str,
    more: dict[str, str],
    commands: list[tuple[str, ...]],
    asked: Asked,
    answer: float = 0.0,
) -> float:
    """Seconds from the issue to the end of the run."""
    with ExitStack() as stack:
        world, registry = stack.enter_context(scripted.running(folder, len(asked.reviewers)))
        quick = {f"ASSAY_{name}_SECONDS" for name in _QUICK}
        settings = {name: value for name, value in world.app_settings(data).items() if name not in quick}
        settings |= {"ASSAY_REGISTRY": str(registry)} | more
        apps = []
        for number, command in enumerate(commands):
            apps.append(stack.enter_context(app_process.running(settings, data / f"log-{number}.txt", command)))
        _answers(settings["ASSAY_BIND"], apps[0])
        # Workers start by themselves; the run must not wait for their imports.
        time.sleep(15)
        if answer:
            world.sandbox.faults.add(Fault("delay_after", seconds=answer, times=sys.maxsize))
        began = time.monotonic()
        world.ask_for_run(asked)
        stage = _followed(database)
        spent = time.monotonic() - began
        if stage != "done":
            raise RuntimeError(f"the run ended as {stage}:\n{apps[-1].tail(30)}")
        return spent


def _followed(database: Path | str) -> str:
    """The stage a run ends in. Only looked at now and then: looking takes from the same cores."""
    engine = open_engine(database_of(database))
    give_up, stage = time.monotonic() + TIMEOUT, ""
    try:
        while stage not in ("done", "failed", "cancelled") and time.monotonic() < give_up:
            time.sleep(0.5)
            stage = next((run.stage for run in SqlStore(engine).all_runs()), stage)
    finally:
        engine.dispose()
    return stage


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
