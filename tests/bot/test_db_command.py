"""`assay db`: says what there is without changing it, and brings both databases up, however many ask at once."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from click.testing import CliRunner, Result

from bot import composition
from bot.adapters import database
from bot.cli import cli
from bot.cli_common import Failure
from bot.settings import load_settings
from tests.postgres import Postgres

Open = Callable[[str], sa.Engine]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """`assay db ...` in a data directory of its own."""
    monkeypatch.setenv("ASSAY_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    kept: list[composition.Databases] = []
    real = composition.open_databases

    def open_databases(settings: Any) -> composition.Databases:
        kept.append(real(settings))
        return kept[-1]

    monkeypatch.setattr(composition, "open_databases", open_databases)

    def assay(*arguments: str) -> Result:
        result = CliRunner().invoke(cli, ["db", *arguments], standalone_mode=False)
        while kept:
            one = kept.pop()
            one.app.dispose()
            one.engine.dispose()
        return result

    return assay


def refused(result: Result) -> tuple[int, str]:
    assert isinstance(result.exception, Failure), result.exception
    return result.exception.code, result.exception.message


def test_what_is_not_there_is_bad_input_and_is_not_made(run: Callable[..., Result], tmp_path: Path) -> None:
    code, message = refused(run("check"))
    assert code == 2 and "app.db" in message and "assay db upgrade" in message
    assert not (tmp_path / "data" / "app.db").exists()


def test_both_databases_come_up_and_stay_as_they_are(run: Callable[..., Result], tmp_path: Path) -> None:
    assert json.loads(run("upgrade", "--json").output) == {"revision": database.head()}
    before = {path.name for path in (tmp_path / "data").iterdir()}
    checked = run("check", "--json")
    assert checked.exit_code == 0
    told = json.loads(checked.output)
    assert told["current"] is True and told["revision"] == told["head"] == database.head()
    assert told["engine"][0] == told["engine"][1] > 0
    assert run("upgrade").exit_code == 0
    assert run("check").output.endswith("current.\n")
    assert before <= {path.name for path in (tmp_path / "data").iterdir()}


@pytest.mark.parametrize("which", ["app.db", "engine.db"])
def test_tables_of_another_version_are_a_failed_check(
    run: Callable[..., Result], tmp_path: Path, opened: Open, which: str
) -> None:
    run("upgrade")
    engine = opened(f"sqlite:///{tmp_path / 'data' / which}")
    with engine.begin() as db:
        older = "alembic_version SET version_num = '0001'" if which == "app.db" else "dbos_migrations SET version = 3"
        db.execute(sa.text(f"UPDATE {older}"))
    result = run("check")
    assert result.exit_code == 1 or isinstance(result.exception, SystemExit)
    assert "run assay db upgrade" in result.output


def test_a_database_that_is_away_is_one_line_without_its_password(
    run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_DATABASE_URL", "postgresql://assay:hunter2hunter2@127.0.0.1:1/assay")
    for command in ("check", "upgrade"):
        code, message = refused(run(command))
        assert (code, message.count("\n")) == (3, 0)
        assert "does not answer" in message and "hunter2" not in message


def test_four_upgrades_at_once_of_a_new_postgresql_database(postgres: Postgres, tmp_path: Path) -> None:
    url = postgres.database()
    env = {"PATH": "/usr/bin:/bin", "ASSAY_DATA_DIR": str(tmp_path), "ASSAY_DATABASE_URL": url}
    line = [sys.executable, "-m", "bot", "db", "upgrade"]
    children = [subprocess.Popen(line, env=env, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    said = [(child.communicate(timeout=100)[0], child.returncode) for child in children]
    assert said == [(f"The tables are those of revision {database.head()}.\n", 0)] * 4
    assert composition.schema_of(load_settings({"ASSAY_DATABASE_URL": url})).current
