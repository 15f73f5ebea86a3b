"""Two workers never work under one name, and nobody takes the work of one that lives."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot.adapters import slots
from bot.composition_workers import LOST_SLOT
from tests.bot.holding import holder
from tests.postgres import Postgres


@pytest.fixture
def url(postgres: Postgres) -> str:
    return postgres.database()


Open = Callable[[str], sa.Engine]


def test_every_worker_gets_a_slot_of_its_own_and_a_freed_one_is_given_again(url: str, opened: Open) -> None:
    with ExitStack() as stack:
        held = [stack.enter_context(slots.database_slot(opened(url))) for _ in range(5)]
        assert [slot.executor for slot in held] == [f"slot-{number}" for number in range(5)]
        held[2].release()
        assert stack.enter_context(slots.database_slot(opened(url))).executor == "slot-2"


def test_a_worker_too_many_is_told_so(url: str, opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slots, "MOST", 2)
    with ExitStack() as stack:
        for _ in range(2):
            stack.enter_context(slots.database_slot(opened(url)))
        with pytest.raises(slots.NoSlot, match="2 workers use this database already"):
            stack.enter_context(slots.database_slot(opened(url)))


def test_only_a_dead_workers_slot_can_be_borrowed(url: str, opened: Open) -> None:
    with slots.database_slot(opened(url)) as ours, holder(url) as (child, theirs):
        for name in (ours.executor, theirs, "local", "slot-64", "slot--1", "slot-"):
            with ours.borrowed(name) as dead:
                assert not dead, name
        child.send_signal(signal.SIGSTOP)
        time.sleep(0.5)
        with ours.borrowed(theirs) as dead:
            assert not dead, "it is stopped, and may go on"
        child.kill()
        child.wait(10)
        assert _soon(lambda: _borrow(ours, theirs))
        with ours.borrowed(theirs) as dead, slots.database_slot(opened(url)) as third:
            assert dead
            assert third.executor != theirs, "it was given away while its work was handed on"


def _borrow(slot: slots.DatabaseSlot, name: str) -> bool:
    with slot.borrowed(name) as dead:
        return dead


def _soon(ready: object, seconds: float = 5) -> bool:
    assert callable(ready)
    give_up = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > give_up:
            return False
        time.sleep(0.05)
    return True


def _hang_up(engine: sa.Engine) -> None:
    """End every other connection to the database, as a restart would."""
    with engine.connect() as connection:
        connection.execute(
            sa.text(
                "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        )


def test_a_slot_lost_with_its_connection_is_taken_again(url: str, opened: Open) -> None:
    with slots.database_slot(opened(url)) as ours:
        _hang_up(opened(url))
        assert _soon(lambda: ours.keep() and ours.keep())
        with slots.database_slot(opened(url)) as next_one:
            assert next_one.executor != ours.executor


def test_a_slot_that_somebody_else_took_meanwhile_is_lost(url: str, opened: Open) -> None:
    with slots.database_slot(opened(url)) as ours:
        _hang_up(opened(url))
        with slots.database_slot(opened(url)) as taker:
            assert taker.executor == ours.executor
            assert ours.keep(), "the first look only notices that the connection is gone"
            assert not ours.keep()


def test_while_the_database_is_away_nobody_gives_up_a_slot(postgres: Postgres, opened: Open) -> None:
    url = postgres.database()
    with slots.database_slot(opened(url)) as ours:
        postgres.stop()
        try:
            assert all(ours.keep() for _ in range(4))
        finally:
            postgres.start()
        assert _soon(lambda: ours.keep() and ours._connection is not None)
        with slots.database_slot(opened(url)) as next_one:
            assert next_one.executor != ours.executor


def test_a_data_directory_has_one_slot_and_says_what_to_do(tmp_path: Path) -> None:
    with slots.file_slot(tmp_path, 0) as slot:
        assert (slot.executor, slot.keep()) == ("slot-0", True)
        with pytest.raises(slots.NoSlot, match="another ASSAY_DATA_DIR"), slots.file_slot(tmp_path, 0.2):
            raise AssertionError("a second worker has the slot")
        with slot.borrowed("slot-1") as dead:
            assert not dead
    with slots.file_slot(tmp_path, 0):
        pass


def test_a_data_directorys_slot_dies_with_its_holder(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from bot.adapters.slots import file_slot\n"
        "with file_slot(Path(sys.argv[1]), 0): print('held', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None and child.stdout.readline() == "held\n"
        with pytest.raises(slots.NoSlot), slots.file_slot(tmp_path, 0):
            raise AssertionError("two hold it")
        os.kill(child.pid, signal.SIGKILL)
        child.wait(10)
    with slots.file_slot(tmp_path, 5) as slot:
        assert slot.keep()


KEEPER = """
import sys
from bot import composition_workers
from bot.adapters import slots
from bot.adapters.database import open_engine
with slots.database_slot(open_engine(sys.argv[1])) as slot:
    print(slot.executor, flush=True)
    composition_workers._keep(slot)
"""


def test_a_worker_that_slept_through_the_loss_of_its_slot_ends_when_it_wakes(postgres: Postgres, opened: Open) -> None:
    url = postgres.database()
    with subprocess.Popen([sys.executable, "-c", KEEPER, url], stdout=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout is not None
            name = child.stdout.readline().strip()
            child.send_signal(signal.SIGSTOP)
            _hang_up(opened(url))
            with slots.database_slot(opened(url)) as taker:
                assert taker.executor == name
                child.send_signal(signal.SIGCONT)
                assert child.wait(30) == LOST_SLOT
        finally:
            child.kill()
