"""Every state that was ever released comes up to this version's tables, with what was in it, on both databases."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from bot.adapters import database
from bot.adapters.ledger import SqlLedger
from bot.adapters.store import SqlStore
from bot.adapters.tables import metadata
from bot.model import ForkId, RunId, WriteLimits
from scoring.model import TrialStatus

RELEASED = Path(__file__).with_name("released")
"""Rows as the releases wrote them, by the revision of their tables. A new release adds a file and changes none."""
REVISIONS = tuple(reversed([one.revision for one in ScriptDirectory.from_config(database._config()).walk_revisions()]))
ORDER = ("runs", "forks", "trials", "snapshots", "writes")
NOW = datetime(2026, 1, 2, 10, 30, tzinfo=UTC)
Open = Callable[[str], sa.Engine]


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'app.db'}"
    made: str = request.getfixturevalue("postgres").database()
    return made


def bring_to(engine: sa.Engine, revision: str) -> None:
    config = database._config()
    with database.writing(engine) as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)


def fill(engine: sa.Engine, rows: dict[str, list[dict[str, Any]]]) -> None:
    tables = sa.MetaData()
    with engine.begin() as db:
        tables.reflect(db, only=ORDER)
        for name in ORDER:
            columns = tables.tables[name].c
            for row in rows[name]:
                values = {
                    key: bool(value) if isinstance(columns[key].type, sa.Boolean) else value
                    for key, value in row.items()
                }
                db.execute(sa.insert(tables.tables[name]).values(values))


def complaints(engine: sa.Engine) -> list[Any]:
    """How the tables differ from what the code believes."""
    with engine.connect() as db:
        context = MigrationContext.configure(db, opts={"compare_type": True, "compare_server_default": False})
        return list(compare_metadata(context, metadata))


@pytest.mark.parametrize("revision", [None, *REVISIONS])
def test_every_state_without_rows_comes_up(url: str, opened: Open, revision: str | None) -> None:
    engine = opened(url)
    if revision is not None:
        bring_to(engine, revision)
    database.upgrade(engine)
    assert database.revision(engine) == database.head() == REVISIONS[-1]
    assert complaints(engine) == []
    database.upgrade(engine)
    assert complaints(engine) == []


@pytest.mark.parametrize("file", sorted(RELEASED.glob("*.json")), ids=lambda path: path.stem)
def test_what_a_release_wrote_is_read_and_worked_on(url: str, opened: Open, file: Path) -> None:
    engine = opened(url)
    bring_to(engine, file.stem)
    rows = json.loads(file.read_text(encoding="utf-8"))
    fill(engine, rows)
    database.upgrade(engine)
    assert complaints(engine) == []
    store, run = SqlStore(engine), RunId("700-1")
    (kept,) = store.active_runs()
    assert (kept.id, kept.plan.run, kept.plan.trials, kept.ended_at) == (run, run, len(rows["trials"]), None)
    fork = store.fork(run, ForkId("injection"))
    assert (fork.state, fork.repo_id, fork.retired) == ("open", 77, "")
    assert fork.commits is not None and fork.commits.head_sha == "c" * 40
    statuses = [trial.status for trial in store.trials(run)]
    assert statuses[0] is TrialStatus.REVIEWED_FINDINGS and set(statuses[1:]) == {None}
    assert store.snapshots(run, fork.id)[0].pull == 1
    store.retire(run, fork.id, "archived")
    assert store.extend(run, "one", 5).orders.extra_seconds == 300
    ledger = SqlLedger(engine, WriteLimits())
    assert ledger.result("comment 700-1 a") == {"id": 9}
    assert ledger.attempts("comment 700-1 b") == 1
    assert ledger.pending(NOW).kinds == {"comment": 1}


def test_a_migration_that_fails_half_way_leaves_the_tables_as_they_were(
    url: str, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = opened(url)
    bring_to(engine, "0001")
    monkeypatch.setattr("alembic.op.create_table", lambda *_args, **_more: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(OSError, match="full"):
        database.upgrade(engine)
    monkeypatch.undo()
    assert database.revision(engine) == "0001"
    database.upgrade(engine)
    assert complaints(engine) == []


AT_ONCE = """
import sys
from bot.adapters import database, slots
engine = database.open_engine(sys.argv[1])
with slots.starting(engine):
    database.upgrade(engine)
print(database.revision(engine))
"""


def test_four_processes_that_upgrade_at_once_get_on_with_each_other(url: str, opened: Open) -> None:
    bring_to(opened(url), "0001")
    command_line = [sys.executable, "-c", AT_ONCE, url]
    children = [subprocess.Popen(command_line, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    assert [(child.communicate(timeout=100)[0], child.returncode) for child in children] == [
        (f"{REVISIONS[-1]}\n", 0)
    ] * 4
    assert complaints(opened(url)) == []
