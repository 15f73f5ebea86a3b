"""Every page of a large run on SQLite: how long the server takes once the run has been counted."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from flask import Blueprint, Flask

from bot.adapters.database import open_engine, upgrade
from bot.adapters.store import SqlStore
from bot.model import RepoName, RunId
from bot.pages.analysis import Analysis
from bot.pages.links import ServedLinks
from bot.ports import RunRow
from bot.web.counting import Counting
from bot.web.looking import looking
from bot.web.records import Records
from tests.bench.table import Row
from tests.bot.render_world import plan
from tests.pages.world import made_bundle, reviewer_names, write

PULLS, REVIEWERS, RUNS, TIMES, LIMIT = 50, 40, 200, 7, 150.0
RUN = "run-0"
PAGES = {
    f"list of {RUNS} runs": "/",
    "run": f"/runs/{RUN}",
    "run, filtered": f"/runs/{RUN}?language=go&outcome=found",
    "leaderboard": f"/runs/{RUN}/leaderboard",
    "leaderboard by category": f"/runs/{RUN}/leaderboard?by=category",
    "A or B": f"/runs/{RUN}/compare?first=revbot-ab&second=revbot-ac",
    "together": f"/runs/{RUN}/overlap",
    "reviewers": "/reviewers",
    "picture": f"/runs/{RUN}/forest.svg",
    "progress": f"/runs/{RUN}/progress",
}


def run() -> list[Row]:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write(made_bundle(PULLS, reviewer_names(REVIEWERS)), folder / RUN)
        engine = open_engine(f"sqlite:///{folder / 'app.db'}")
        upgrade(engine)
        store = SqlStore(engine)
        for at in range(RUNS):
            _add(store, f"run-{at}")
        counting = _seconds(lambda: _analysis(store, folder).count())
        client = _served(store, folder).test_client()
        size = f"{PULLS} x {REVIEWERS}"
        rows = [Row(f"{size}: counting it, once, beside the requests", counting, "s")]
        for name, path in PAGES.items():
            assert client.get(path).status_code == 200, path
            best = min(_seconds(lambda path=path: client.get(path)) for _ in range(TIMES))  # type: ignore[misc]
            rows.append(Row(f"- {name}", best * 1000, "ms", limit=LIMIT))
        engine.dispose()
    return rows


def _add(store: SqlStore, name: str) -> None:
    asked = plan()
    now = datetime(2026, 1, 2, 10, tzinfo=UTC)
    row = RunRow(RunId(name), 700, 5, RepoName("acme", "control"), 12, asked, b"s" * 32, "done", now)
    store.create_run(row, asked.request.reviewers)


def _records(store: SqlStore, folder: Path) -> Records:
    return Records(store, folder, "https://forge.example", lambda row: True)


def _analysis(store: SqlStore, folder: Path) -> Analysis:
    made = _records(store, folder).analysis(RUN)
    assert made is not None
    return made


def _served(store: SqlStore, folder: Path) -> Flask:
    assert Counting().ready([_analysis(store, folder)])
    app = Flask("bench")
    made = Blueprint("pages", __name__)
    looking(made, lambda: _records(store, folder), ServedLinks())
    app.register_blueprint(made)
    return app


def _seconds(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun
