"""Executor slots: which worker is which, said by a lock that dies with its holder.

Two executors under one name would run each step twice, so a slot is locked before the engine is launched, and only
who can lock a slot may take over the workflows of whoever held it.
"""

from __future__ import annotations

import fcntl
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import sqlalchemy as sa

LOG = logging.getLogger("assay.workers")
MOST = 64
"""Workers of one database."""
_CLASS = 0x0A55A7
"""The first key of our advisory locks; the second is the slot, or one of those below."""
_STARTING = -1
_NOTICED = {"tcp_keepalives_idle": 10, "tcp_keepalives_interval": 5, "tcp_keepalives_count": 3}
"""What PostgreSQL is told: a host that vanished without a word holds its locks for half a minute, and not for hours."""
_PREFIX = "slot-"
_PATIENCE = 5


class NoSlot(RuntimeError):
    """Every slot is taken; the message says by whom and what to do."""


def executor_name(slot: int) -> str:
    """The name under which the engine notes who works on what."""
    return f"{_PREFIX}{slot}"


def slot_of(executor: str) -> int | None:
    """The slot of an executor's name; None for a name that is not ours."""
    number = executor.removeprefix(_PREFIX)
    return int(number) if executor != number and number.isdecimal() and int(number) < MOST else None


class FileSlot:
    """The one slot of a data directory: SQLite has one executor."""

    def __init__(self, held: IO[str]) -> None:
        self._held = held
        self.executor = executor_name(0)

    def keep(self) -> bool:
        """Whether it is still ours: a file's lock is, as long as we live."""
        return not self._held.closed

    @contextmanager
    def borrowed(self, _executor: str) -> Iterator[bool]:
        """No other slot is ever free here."""
        yield False


@contextmanager
def file_slot(directory: Path, seconds: float) -> Iterator[FileSlot]:
    """Hold the slot of a directory.

    Raises:
        NoSlot: another worker holds it and did not end in time.
    """
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / "executor.lock").open("w", encoding="ascii") as held:
        give_up, told = time.monotonic() + seconds, False
        while True:
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if not told:
                    LOG.warning("another worker uses %s; waiting %g seconds for it to end", directory, seconds)
                    told = True
                if time.monotonic() > give_up:
                    raise NoSlot(f"another worker uses {directory}; stop it, or set another ASSAY_DATA_DIR") from None
                time.sleep(0.1)
        yield FileSlot(held)


class DatabaseSlot:
    """One slot of a PostgreSQL database, held by an advisory lock of a connection that does nothing else."""

    def __init__(self, engine: sa.Engine, slot: int, connection: sa.Connection) -> None:
        self._engine = engine
        self._slot = slot
        self._connection: sa.Connection | None = connection
        self.executor = executor_name(slot)

    def keep(self) -> bool:
        """Whether the slot is still ours; one lost with its connection is taken again if nobody else has it."""
        try:
            if self._connection is None:
                return self._take_again()
            self._connection.execute(sa.text("SELECT 1"))
        except sa.exc.SQLAlchemyError:
            # The database is away, and with it everybody's locks: who comes back first is asked again.
            self.release()
        return True

    def release(self) -> None:
        """Let the slot go."""
        held, self._connection = self._connection, None
        if held is not None:
            with suppress(sa.exc.SQLAlchemyError):
                held.close()

    def _take_again(self) -> bool:
        connection = _connect(self._engine)
        try:
            for _ in range(_PATIENCE):
                if _locked(connection, self._slot):
                    self._connection = connection
                    return True
                # Somebody may be looking whether we are dead, and holds it for a moment.
                time.sleep(0.2)
        finally:
            if self._connection is None:
                connection.close()
        return False

    @contextmanager
    def borrowed(self, executor: str) -> Iterator[bool]:
        """Hold a dead worker's slot for a moment, so that nobody takes it up while its work is handed on.

        Gives False where the slot is alive, is our own, or is no slot of ours.
        """
        slot = slot_of(executor)
        if slot is None or slot == self._slot:
            yield False
            return
        with _connect(self._engine) as connection:
            got = _locked(connection, slot)
            try:
                yield got
            finally:
                if got:
                    _unlock(connection, slot)


@contextmanager
def database_slot(engine: sa.Engine) -> Iterator[DatabaseSlot]:
    """Hold the first free slot of a database.

    Raises:
        NoSlot: there are as many workers as slots.
    """
    connection = _connect(engine)
    slot = next((number for number in range(MOST) if _locked(connection, number)), None)
    if slot is None:
        connection.close()
        raise NoSlot(f"{MOST} workers use this database already; stop one of them")
    held = DatabaseSlot(engine, slot, connection)
    try:
        yield held
    finally:
        held.release()


@contextmanager
def starting(engine: sa.Engine) -> Iterator[None]:
    """One process at a time brings tables up to date and launches: two at once get in each other's way."""
    if engine.dialect.name == "sqlite":
        path = Path(str(engine.url.database))
        with (path.parent / f"{path.name}.lock").open("w", encoding="ascii") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            yield
        return
    with _connect(engine) as connection:
        # Asked again and again: who waits inside the database holds up the index that another one is building there.
        while not _locked(connection, _STARTING):
            time.sleep(0.1)
        try:
            yield
        finally:
            _unlock(connection, _STARTING)


def _connect(engine: sa.Engine) -> sa.Connection:
    # Without a transaction: one that stays open for days would keep the database from tidying up.
    connection = engine.connect().execution_options(isolation_level="AUTOCOMMIT")
    # Nobody else's: a pool would keep the connection, and with it the lock, when we are done.
    connection.detach()
    for name, value in _NOTICED.items():
        connection.execute(sa.text(f"SET {name} = {value}"))
    return connection


def _locked(connection: sa.Connection, slot: int) -> bool:
    got = connection.execute(sa.text("SELECT pg_try_advisory_lock(:a, :b)"), {"a": _CLASS, "b": slot})
    return bool(got.scalar_one())


def _unlock(connection: sa.Connection, slot: int) -> None:
    connection.execute(sa.text("SELECT pg_advisory_unlock(:a, :b)"), {"a": _CLASS, "b": slot})
