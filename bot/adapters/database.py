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

MIGRATIONS = Path(__file__).with_name("migrations")


def open_engine(url: str) -> sa.Engine:
    """Open a database.

    SQLite gets WAL with `synchronous=FULL` (NORMAL can lose the last commits on a power cut, and with them the memory
    of a write to GitHub), immediate transactions, and `unixepoch('subsec')` where the library is older than 3.42.
    """
    if not url.startswith("sqlite"):
        return sa.create_engine(url.replace("postgresql://", "postgresql+psycopg://", 1), pool_pre_ping=True)
    engine = sa.create_engine(url, connect_args={"timeout": 30, "check_same_thread": False}, pool_size=20)
    sa.event.listen(engine, "connect", _prepare_sqlite)
    return engine


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


def upgrade(engine: sa.Engine) -> None:
    """Bring our tables to this version's schema. Safe to run by several processes, one after another."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
