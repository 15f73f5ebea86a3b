"""Runs that wait for bots which have not answered: all forks open, every row of the engine a day away."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import sqlalchemy as sa
from dbos import EnqueueOptions

from bot.adapters import database
from bot.adapters.store import SqlStore
from bot.adapters.tables import forks, trials
from bot.model import ForkId, ForkPlan, RepoName, RunId
from bot.ports import RunRow
from bot.workflows import engine
from scoring.model import PullId, ReviewerId
from tests.bot.render_world import plan

REVIEWERS = tuple(ReviewerId(f"reviewer-{letter}") for letter in "abcdefghijkl")
FORKS = 50
"""Of a run; with all reviewers, 600 trials."""
DAY = timedelta(days=1)
NEXT_LOOK = timedelta(minutes=55)
"""No waking is ever set for later than an hour; one that seems to be counts as lost."""


def fill(data: Path, trials_wanted: int, installation: int) -> int:
    """Write the runs, and the row with which each fork waits; gives the number of trials."""
    data.mkdir(parents=True, exist_ok=True)
    app = database.open_engine(f"sqlite:///{data / 'app.db'}")
    database.upgrade(app)
    left = -(-trials_wanted // len(REVIEWERS))
    waiting: list[tuple[RunId, ForkId]] = []
    for number in range(-(-left // FORKS)):
        run = _run(number, min(FORKS, left - number * FORKS), installation)
        SqlStore(app).create_run(run, REVIEWERS)
        waiting += [(run.id, fork.id) for fork in run.plan.forks]
    _open_all(app)
    app.dispose()
    _wait(f"sqlite:///{data / 'engine.db'}", waiting)
    return len(waiting) * len(REVIEWERS)


def _run(number: int, count: int, installation: int) -> RunRow:
    now, made = datetime.now(UTC), plan()
    ones = tuple(_fork(number, at) for at in range(count))
    name = RunId(f"{900 + number}-1")
    full = replace(made, run=name, forks=ones, request=replace(made.request, reviewers=REVIEWERS))
    control = RepoName("acme-bench", "assay")
    return RunRow(name, 900 + number, installation, control, 1 + number, full, b"s" * 32, "waiting", now, public=False)


def _fork(run: int, number: int) -> ForkPlan:
    name = f"calm-{run:02}-{number:02}"
    return ForkPlan(ForkId(name), PullId(name), (name,), "main", "update", "Tidy", "", REVIEWERS)


def _open_all(app: sa.Engine) -> None:
    now = datetime.now(UTC)
    asked = {"asks": f'["{now.isoformat()}"]'}
    repo = sa.literal("acme-bench/", sa.Text) + forks.c.id
    opened = {"state": "open", "repo": repo, "repo_key": repo, "pull": 1}
    with app.begin() as db:
        stamps = {"opened_at": now.isoformat(), "wake_at": (now + NEXT_LOOK).isoformat()}
        db.execute(sa.update(forks).values(**opened, **stamps))
        db.execute(sa.update(trials).values(**asked))


def _wait(url: str, waiting: list[tuple[RunId, ForkId]]) -> None:
    """The rows that the engine's own delayed call makes: delayed, not queued."""
    engine.migrate(url)
    opened = database.open_engine(url)
    door = engine.client(opened, url)
    with opened.begin() as db:
        for run, fork in waiting:
            options: EnqueueOptions = {
                "workflow_name": "collect",
                "queue_name": "collect",
                "workflow_id": f"waiting-{run}-{fork}",
                "delay_seconds": DAY.total_seconds(),
            }
            door.enqueue_in_transaction(db, options, run, fork)
    door.destroy()
    opened.dispose()
