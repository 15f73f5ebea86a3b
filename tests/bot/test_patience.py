"""A database that is away is waited for; a question that is wrong is not asked for ever."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot.adapters.database import is_away, upgrade
from bot.adapters.patience import patient
from bot.adapters.store import SqlStore
from tests.postgres import Postgres


def failed(engine: sa.Engine, statement: str) -> sa.exc.SQLAlchemyError:
    with pytest.raises(sa.exc.SQLAlchemyError) as caught, engine.connect() as db:
        db.execute(sa.text(statement))
    return caught.value


Open = Callable[[str], sa.Engine]


@pytest.fixture
def engine(postgres: Postgres, opened: Open) -> sa.Engine:
    return opened(postgres.database())


@pytest.mark.parametrize("statement", ["SELECT nonsense", "SELECT * FROM nowhere", "SELECT 1/0", "SELEC"])
def test_a_wrong_question_is_not_asked_again(engine: sa.Engine, statement: str) -> None:
    assert not is_away(failed(engine, statement))


def test_a_statement_that_was_cancelled_is_not_asked_again(engine: sa.Engine) -> None:
    assert not is_away(failed(engine, "SET statement_timeout = 20; SELECT pg_sleep(5)"))


def test_a_connection_that_was_ended_is_away(engine: sa.Engine) -> None:
    assert is_away(failed(engine, "SELECT pg_terminate_backend(pg_backend_pid())"))


def test_a_server_that_is_not_there_is_away(opened: Open) -> None:
    assert is_away(failed(opened("postgresql://assay@127.0.0.1:1/assay"), "SELECT 1"))


def test_sqlite_is_away_when_it_is_full_or_locked_and_not_when_a_table_is_missing(tmp_path: Path, opened: Open) -> None:
    engine = opened(f"sqlite:///{tmp_path / 'one.db'}")
    assert not is_away(failed(engine, "SELECT * FROM nowhere"))
    with engine.connect() as db:
        db.execute(sa.text("CREATE TABLE big (body TEXT)"))
        db.execute(sa.text("PRAGMA max_page_count = 3"))
        with pytest.raises(sa.exc.OperationalError) as full:
            db.execute(sa.text("INSERT INTO big SELECT hex(randomblob(100000))"))
    assert is_away(full.value)
    with sqlite3.connect(tmp_path / "one.db", isolation_level=None) as other:
        other.execute("BEGIN EXCLUSIVE")
        with engine.connect() as db:
            db.execute(sa.text("PRAGMA busy_timeout = 10"))
            with pytest.raises(sa.exc.OperationalError) as locked:
                db.execute(sa.text("INSERT INTO big VALUES ('x')"))
        other.execute("ROLLBACK")
    other.close()
    assert is_away(locked.value)


def test_the_store_waits_for_its_database_and_then_answers(
    postgres: Postgres, opened: Open, caplog: pytest.LogCaptureFixture
) -> None:
    engine = opened(postgres.database())
    upgrade(engine)
    store = patient(SqlStore(engine))
    store.set_cursor("place", "1")
    postgres.stop()
    answers: list[str | None] = []
    asking = threading.Thread(target=lambda: answers.append(store.cursor("place")))
    asking.start()
    asking.join(1)
    assert asking.is_alive() and answers == []
    postgres.start()
    asking.join(20)
    assert answers == ["1"]
    assert "waiting for it" in caplog.text


def test_what_is_no_database_error_passes_through_at_once(tmp_path: Path, opened: Open) -> None:
    engine = opened(f"sqlite:///{tmp_path / 'app.db'}")
    upgrade(engine)
    with pytest.raises(sa.exc.NoResultFound):
        patient(SqlStore(engine)).run("none")  # type: ignore[arg-type]
