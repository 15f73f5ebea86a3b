"""Opening databases the way durability needs them: SQLite in WAL with full sync, or PostgreSQL as it is."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

DatabaseError = sa.exc.SQLAlchemyError
"""What a database, or the way to it, says no with."""
MIGRATIONS = Path(__file__).with_name("migrations")
_LIFE = {"connect_timeout": 10, "keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}
"""A server that vanished without a word is noticed within a minute, and not after the hours of TCP's own patience."""
_PASSING = ("08", "53", "57")
"""Classes of PostgreSQL's errors: the connection, the server's means (a full disk), its operator (a shutdown)."""
_LOST_TURN = frozenset({"40001", "40P01", "25P03", "25006"})
"""Others that pass: what was rolled back may be done again; a stand-by becomes a primary."""
_CANCELLED = "57014"
_SQLITE_PASSING = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR})


def open_engine(url: str) -> sa.Engine:
    """Open a database.

    SQLite gets WAL with `synchronous=FULL` (NORMAL can lose the last commits on a power cut, and with them the memory
    of a write to GitHub), immediate transactions, and `unixepoch('subsec')` where the library is older than 3.42.
    """
    if not url.startswith("sqlite"):
        return sa.create_engine(
            url.replace("postgresql://", "postgresql+psycopg://", 1),
            pool_pre_ping=True,
            pool_size=20,
            max_overflow=10,
            connect_args=_LIFE,
        )
    engine = sa.create_engine(url, connect_args={"timeout": 30, "check_same_thread": False}, pool_size=20)
    sa.event.listen(engine, "connect", _prepare_sqlite)
    return engine


def is_away(error: sa.exc.SQLAlchemyError) -> bool:
    """Whether an error comes from a database that is away or cannot write for the moment, and not from the question."""
    if isinstance(error, sa.exc.TimeoutError):
        return True
    if not isinstance(error, sa.exc.DBAPIError):
        return False
    if isinstance(error.orig, sqlite3.Error):
        # The lower byte is the kind; an error that the library did not give has no code.
        return (getattr(error.orig, "sqlite_errorcode", None) or 0) & 0xFF in _SQLITE_PASSING
    state: str | None = getattr(error.orig, "sqlstate", None)
    if state is None:
        return error.connection_invalidated or isinstance(error, (sa.exc.OperationalError, sa.exc.InterfaceError))
    return state != _CANCELLED and (state.startswith(_PASSING) or state in _LOST_TURN)


@contextmanager
def writing(engine: sa.Engine) -> Iterator[sa.Connection]:
    """A transaction that reads in order to write: nobody else writes between the two.

    SQLite's driver begins one only at the first write, so that two threads could read the same and both build on it.
    """
    with engine.begin() as db:
        if db.dialect.name == "sqlite":
            db.exec_driver_sql("BEGIN IMMEDIATE")
        yield db


def _prepare_sqlite(connection: Any, _record: object) -> None:
    connection.isolation_level = "IMMEDIATE"
    connection.execute("PRAGMA busy_timeout=30000")
    connection.execute("PRAGMA foreign_keys=ON")
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    if sqlite3.sqlite_version_info < (3, 42):
        connection.create_function("unixepoch", -1, _unixepoch)


def _unixepoch(*args: str) -> float:
    # The engine only ever asks for the present: unixepoch('subsec') or unixepoch('now', 'subsec').
    return time.time() if "subsec" in args else int(time.time())


def open_existing(url: str) -> sa.Engine:
    """Open a database that must be there.

    Raises:
        FileNotFoundError: it is a SQLite file, and there is none.
    """
    path = sa.make_url(url).database
    if url.startswith("sqlite") and path and not Path(path).exists():
        raise FileNotFoundError(f"there is no database {path}")
    return open_engine(url)


def upgrade(engine: sa.Engine) -> None:
    """Bring our tables to this version's schema. Safe to run by several processes, one after another."""
    config = _config()
    with writing(engine) as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def revision(engine: sa.Engine) -> str | None:
    """The schema a database has; None where it has none of ours."""
    with engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def head() -> str:
    """This version's schema."""
    found = ScriptDirectory.from_config(_config()).get_current_head()
    assert found is not None
    return found


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    return config
