"""What dead workers left is taken over, once, and nothing of a worker that lives."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Mapping, Sequence

import pytest
import sqlalchemy as sa

from bot.adapters import slots
from bot.workflows.reaper import Reaper
from tests.bot.holding import holder
from tests.postgres import Postgres

Open = Callable[[str], sa.Engine]


class Work:
    """Executor -> queue -> workflows, as the engine's table says it."""

    def __init__(self, rows: dict[str, dict[str, list[str]]]) -> None:
        self.rows = rows
        self.handed: list[Mapping[str, Sequence[str]]] = []

    def busy(self) -> dict[str, dict[str, list[str]]]:
        return {executor: dict(queues) for executor, queues in self.rows.items()}

    def hand_on(self, queues: Mapping[str, Sequence[str]]) -> int:
        self.handed.append(queues)
        self.rows = {executor: left for executor, left in self.rows.items() if left != queues}
        return sum(map(len, queues.values()))


def test_the_work_of_a_killed_worker_is_handed_on_once_and_that_of_a_stopped_one_never(
    postgres: Postgres, opened: Open
) -> None:
    url = postgres.database()
    with (
        slots.database_slot(opened(url)) as ours,
        holder(url) as (killed, dead),
        holder(url) as (stopped, asleep),
        holder(url) as (_, awake),
    ):
        work = Work({name: {"forks": [f"{name}-a", f"{name}-b"]} for name in (ours.executor, dead, asleep, awake)})
        reaper = Reaper(ours, work.busy, work.hand_on)
        assert [reaper.round() for _ in range(3)] == [0, 0, 0]
        stopped.send_signal(signal.SIGSTOP)
        killed.kill()
        killed.wait(10)
        handed = 0
        give_up = time.monotonic() + 10
        while not handed and time.monotonic() < give_up:
            handed = reaper.round()
        assert handed == 2
        assert [reaper.round() for _ in range(4)] == [0, 0, 0, 0]
        assert work.handed == [{"forks": [f"{dead}-a", f"{dead}-b"]}]
        assert set(work.rows) == {ours.executor, asleep, awake}


def test_a_slot_that_is_free_for_one_round_only_is_left_alone(postgres: Postgres, opened: Open) -> None:
    url = postgres.database()
    with slots.database_slot(opened(url)) as ours, slots.database_slot(opened(url)) as theirs:
        work = Work({theirs.executor: {"forks": ["a"]}})
        reaper = Reaper(ours, work.busy, work.hand_on)
        theirs.release()
        assert reaper.round() == 0
        assert theirs.keep(), "it came back after an outage, before the second round"
        assert [reaper.round() for _ in range(3)] == [0, 0, 0]
        theirs.release()
        assert [reaper.round(), reaper.round()] == [0, 1]


def test_a_dead_workers_slot_is_held_while_its_work_is_handed_on(postgres: Postgres, opened: Open) -> None:
    url = postgres.database()
    started: list[str] = []
    with slots.database_slot(opened(url)) as ours:
        work = Work({"slot-1": {"forks": ["a"]}})

        def hand_on(queues: Mapping[str, Sequence[str]]) -> int:
            with slots.database_slot(opened(url)) as new:
                started.append(new.executor)
            return work.hand_on(queues)

        reaper = Reaper(ours, work.busy, hand_on)
        assert [reaper.round(), reaper.round()] == [0, 1]
        assert started == ["slot-2"], "a new worker would have run the same workflows at once"


def test_work_that_ended_between_the_look_and_the_lock_is_not_handed_on(postgres: Postgres, opened: Open) -> None:
    with slots.database_slot(opened(postgres.database())) as ours:
        looks = [{"slot-9": {"forks": ["a", "b"]}}, {"slot-9": {"forks": ["a", "b"]}}, {"slot-9": {"forks": ["b"]}}]
        work = Work({})
        reaper = Reaper(ours, lambda: looks.pop(0), work.hand_on)
        assert [reaper.round(), reaper.round()] == [0, 1]
        assert work.handed == [{"forks": ["b"]}]


@pytest.mark.parametrize("name", ["local", "slot-64", "somebody else's"])
def test_an_executor_that_is_none_of_ours_is_left_alone(postgres: Postgres, opened: Open, name: str) -> None:
    with slots.database_slot(opened(postgres.database())) as ours:
        work = Work({name: {"forks": ["a"]}})
        assert [Reaper(ours, work.busy, work.hand_on).round() for _ in range(3)] == [0, 0, 0]
