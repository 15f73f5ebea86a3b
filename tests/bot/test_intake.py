"""Deliveries kept together and moved on: durable before they are answered, queued once however often it is tried."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from queue import SimpleQueue

import pytest
import sqlalchemy as sa

from bot.adapters import database
from bot.adapters.inbox import SqlInbox
from bot.web.intake import LARGEST_BATCH, MOST, Delivery, Mover, Together
from bot.workflows import engine


@pytest.fixture
def app(tmp_path: Path) -> Iterator[sa.Engine]:
    opened = database.open_engine(f"sqlite:///{tmp_path / 'app.db'}")
    database.upgrade(opened)
    yield opened
    opened.dispose()


class Disk:
    """What is written, transaction by transaction; it can fail."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.broken = False

    def keep(self, deliveries: Sequence[Delivery]) -> None:
        if self.broken:
            raise OSError("the disk is full")
        self.batches.append([guid for guid, _ in deliveries])


def test_what_has_come_by_then_is_written_in_one_transaction_and_told_after_it() -> None:
    disk, told = Disk(), list[tuple[str, bool, int]]()
    together = Together(disk.keep, lambda: told.append(("all", True, len(disk.batches))))
    for name in ("a", "b", "c"):
        together.put(name, {}, lambda kept, name=name: told.append((name, kept, len(disk.batches))))  # type: ignore[misc]
    together.keep_some()
    assert disk.batches == [["a", "b", "c"]]
    assert told == [("a", True, 1), ("b", True, 1), ("c", True, 1), ("all", True, 1)]


def test_a_transaction_is_not_larger_than_it_may_be_and_none_is_left_behind() -> None:
    disk = Disk()
    together = Together(disk.keep)
    for number in range(LARGEST_BATCH + 2):
        together.put(str(number), {}, lambda _kept: None)
    together.keep_some()
    together.keep_some()
    assert [len(batch) for batch in disk.batches] == [LARGEST_BATCH, 2]


def test_one_that_cannot_be_told_keeps_the_others_of_its_transaction_waiting_for_nothing() -> None:
    told = list[str]()

    def gone(_kept: bool) -> None:
        raise ZeroDivisionError

    together = Together(Disk().keep, lambda: told.append("all"))
    together.put("a", {}, gone)
    together.put("b", {}, lambda _kept: told.append("b"))
    together.keep_some()
    assert told == ["b", "all"]


def test_if_the_transaction_fails_nobody_in_it_is_told_that_it_was_kept_and_the_next_is_tried() -> None:
    disk, told = Disk(), dict[str, bool]()
    together = Together(disk.keep)
    together.start()
    came = threading.Semaphore(0)

    def put(name: str) -> None:
        def tell(kept: bool) -> None:
            told[name] = kept
            came.release()

        together.put(name, {}, tell)
        assert came.acquire(timeout=20)

    disk.broken = True
    put("first")
    disk.broken = False
    put("later")
    assert told == {"first": False, "later": True}
    assert disk.batches == [["later"]]


def test_many_threads_at_once_lose_nothing_and_keep_nothing_twice(app: sa.Engine) -> None:
    inbox, told = SqlInbox(app), SimpleQueue[bool]()
    together = Together(inbox.keep)
    together.start()

    def put(at: int) -> None:
        for n in range(20):
            together.put(f"{at}-{n}", {"n": n}, told.put)

    threads = [threading.Thread(target=put, args=(at,)) for at in range(16)]
    for thread in threads:
        thread.start()
    assert [told.get(timeout=60) for _ in range(320)] == [True] * 320
    assert sorted(guid for guid, _ in inbox.oldest(1000)) == sorted(f"{at}-{n}" for at in range(16) for n in range(20))


def test_a_guid_that_waits_already_joins_and_the_first_to_come_leaves_first(app: sa.Engine) -> None:
    inbox = SqlInbox(app)
    inbox.keep([("b", {"n": 1}), ("a", {"n": "\x00\ud800"})])
    inbox.keep([("b", {"n": 2}), ("c", {"n": 3})])
    assert inbox.oldest(2) == [("b", {"n": 1}), ("a", {"n": "\x00\ud800"})]
    inbox.remove(["b"])
    assert [guid for guid, _ in inbox.oldest(9)] == ["a", "c"]


class Killed(Exception):
    """The process ends here."""


class Queues:
    """The engine's real queue, in front of which the process can end, or behind which."""

    def __init__(self, url: str) -> None:
        engine.migrate(url)
        self.engine = database.open_engine(url)
        self.door = engine.client(self.engine, url)

    def submit(self, ones: Sequence[Delivery]) -> None:
        engine.submit_all(self.door, self.engine, "events", "on_event", [(f"gh-{guid}", e) for guid, e in ones])

    def ids(self) -> list[str]:
        return sorted(row.workflow_id for row in self.door.list_workflows())


@pytest.fixture(scope="module")
def queues(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Queues]:
    found = Queues(f"sqlite:///{tmp_path_factory.mktemp('engine') / 'engine.db'}")
    yield found
    found.door.destroy()
    found.engine.dispose()


def test_a_process_that_ends_between_queueing_and_forgetting_queues_nothing_twice(
    app: sa.Engine, queues: Queues
) -> None:
    inbox = SqlInbox(app)
    inbox.keep([(f"{number:03}", {"n": number}) for number in range(MOST + 7)])

    def then_die(ones: Sequence[Delivery]) -> None:
        queues.submit(ones)
        raise Killed

    with pytest.raises(Killed):
        Mover(inbox, then_die, ()).move()
    assert len(inbox.oldest(1000)) == MOST + 7
    again = Mover(inbox, queues.submit, ())
    assert [again.move(), again.move(), again.move()] == [MOST, 7, 0]
    assert queues.ids() == [f"gh-{number:03}" for number in range(MOST + 7)]
    inbox.keep([("000", {"n": "redelivered"})])
    again.move()
    assert len(queues.ids()) == MOST + 7


def test_what_an_earlier_process_acknowledged_is_moved_and_a_database_that_is_away_is_waited_for(
    app: sa.Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.web.intake.RETRY", 0.01)
    inbox, came, tries = SqlInbox(app), threading.Event(), []
    inbox.keep([("left", {})])

    def submit(ones: Sequence[Delivery]) -> None:
        tries.append([guid for guid, _ in ones])
        if tries[-1] == ["last"]:
            raise Killed
        if len(tries) == 1:
            raise OSError("away")
        came.set()

    mover = Mover(inbox, submit, (OSError,))

    def until_killed() -> None:
        with pytest.raises(Killed):
            mover._run()

    thread = threading.Thread(target=until_killed)
    thread.start()
    for name in ("new", "last"):
        assert came.wait(20)
        came.clear()
        inbox.keep([(name, {})])
        mover.nudge()
    thread.join(20)
    assert not thread.is_alive()
    assert tries == [["left"], ["left"], ["new"], ["last"]]
