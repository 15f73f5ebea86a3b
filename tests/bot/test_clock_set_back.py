"""A clock that is set: nothing waits until it has caught up, and no pace is broken by more than a write."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import sqlalchemy as sa

from bot.adapters.database import open_engine, upgrade
from bot.adapters.ledger import SqlLedger
from bot.model import Bucket, WriteLimits
from bot.workflows import deliveries, engine
from bot.workflows.clock import Watch
from bot.workflows.reconcile import _late
from bot.workflows.services import Services, Timing

NOW = datetime(2026, 1, 2, 10, tzinfo=UTC)
HOUR = timedelta(hours=1)


def after(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[sa.Engine]:
    made = open_engine(f"sqlite:///{tmp_path / 'app.db'}")
    upgrade(made)
    yield made
    made.dispose()


@pytest.fixture
def ledger(database: sa.Engine) -> SqlLedger:
    return SqlLedger(database, WriteLimits())


def mean(ledger: SqlLedger, key: str, now: datetime) -> datetime:
    ledger.intend(key, "comment", now)
    return ledger.reserve(key, "author", now)


def write(ledger: SqlLedger, key: str, now: datetime) -> None:
    mean(ledger, key, now)
    assert ledger.sent(key, now) is None
    ledger.confirm(key, {}, now)


def test_turns_given_before_the_clock_was_set_back_are_as_far_away_as_they_were(ledger: SqlLedger) -> None:
    write(ledger, "done", NOW)
    assert [mean(ledger, key, NOW) for key in ("b", "c")] == [after(1), after(2)]
    back = NOW - HOUR
    assert ledger.reserve("c", "author", back) == back + timedelta(seconds=2)
    assert ledger.reserve("b", "author", back) == back + timedelta(seconds=1)
    assert mean(ledger, "new", back) == back + timedelta(seconds=3)
    # And the write that went out a moment before still counts.
    assert ledger.sent("b", back) == back + timedelta(seconds=1)


def test_the_hour_before_the_clock_was_set_back_still_counts(database: sa.Engine) -> None:
    ledger = SqlLedger(database, WriteLimits(per_minute=80, per_hour=3, spacing_seconds=0))
    for key, at in (("a", 0), ("b", 600), ("c", 1200)):
        write(ledger, key, after(at))
    back = after(1200) - HOUR
    # a was 20 minutes before c, so that a fourth fits 40 minutes after c.
    assert mean(ledger, "d", back) == back + timedelta(minutes=40)


def test_a_turn_that_a_wrong_clock_gave_and_nobody_used_is_given_anew(ledger: SqlLedger) -> None:
    ledger.intend("a", "comment", NOW)
    assert ledger.reserve("a", "author", NOW + 24 * HOUR) == NOW + 24 * HOUR
    assert ledger.reserve("a", "author", NOW) == NOW


def test_hosts_whose_clocks_are_some_seconds_apart_move_no_turns(ledger: SqlLedger) -> None:
    write(ledger, "theirs", after(30))
    assert mean(ledger, "ours", NOW) == after(31)


def test_quotas_of_reviewers_survive_a_clock_that_is_set_back(ledger: SqlLedger) -> None:
    once = Bucket("reviews acme one", 1, 3600)
    assert [ledger.pace(key, [once], NOW) for key in "ab"] == [NOW, NOW + HOUR]
    back = NOW - 5 * HOUR
    assert ledger.pace("b", [once], back) == back + HOUR
    assert ledger.pace("c", [once], back) == back + 2 * HOUR
    # Twice is once.
    assert ledger.pace("b", [once], back) == back + HOUR


def test_writes_whose_turns_a_jump_ahead_made_due_go_out_one_by_one(ledger: SqlLedger) -> None:
    keys = [f"w{number}" for number in range(30)]
    for key in keys:
        mean(ledger, key, NOW)
    ahead, gone = NOW + timedelta(seconds=300), []
    for key in keys:
        now = ahead
        turn: datetime | None = ledger.reserve(key, "author", now)
        while turn is not None:
            now = max(now, turn)
            turn = ledger.sent(key, now)
        gone.append(now)
    assert gone == [ahead + timedelta(seconds=number) for number in range(30)]


def test_a_write_that_may_not_go_out_yet_is_not_noted_as_sent(ledger: SqlLedger) -> None:
    write(ledger, "first", NOW)
    mean(ledger, "second", NOW)
    assert ledger.sent("second", after(0.4)) == after(1)
    assert ledger.attempts("second") == 0
    assert ledger.sent("second", after(1)) is None
    assert ledger.attempts("second") == 1


# --- what the engine holds ---------------------------------------------------------------------------------------


class Rows:
    """Delayed rows of the engine: id -> (stamped, until), in seconds after `NOW`."""

    def __init__(self, **rows: tuple[float, float]) -> None:
        self.rows = rows

    def listed(self, *, status: str, start_time: str | None, **_rest: object) -> list[Any]:
        assert status == "DELAYED"
        since = None if start_time is None else datetime.fromisoformat(start_time)
        return [
            SimpleNamespace(workflow_id=key, created_at=_ms(stamped), delay_until_epoch_ms=_ms(until))
            for key, (stamped, until) in self.rows.items()
            if since is None or after(stamped) >= since
        ]

    def move(self, key: str, *, delay_until_epoch_ms: int) -> None:
        self.rows[key] = (self.rows[key][0], delay_until_epoch_ms / 1000 - NOW.timestamp())


def _ms(seconds: float) -> int:
    return int(after(seconds).timestamp() * 1000)


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> Rows:
    found = Rows(before=(-90, -60 + 3600), since=(3590, 3620), ours=(0, 30), long=(0, 7200))
    monkeypatch.setattr("bot.workflows.engine.DBOS.list_workflows", found.listed)
    monkeypatch.setattr("bot.workflows.engine.DBOS.set_workflow_delay", found.move)
    return found


def test_a_wait_set_before_a_jump_that_was_seen_ends_when_it_was_to(rows: Rows) -> None:
    assert engine.hasten(NOW, 3600) == 2
    assert rows.rows["since"] == (3590, 20)
    assert rows.rows["ours"] == (0, 30)
    # It cannot be told from one that was set since; woken too early it sets its next wake.
    assert rows.rows["long"] == (0, 3600)


def test_a_wait_stamped_in_a_time_to_come_is_no_longer_than_it_was_to_be(rows: Rows) -> None:
    assert engine.hasten(NOW) == 1
    assert rows.rows["since"] == (3590, 30)
    assert engine.hasten(after(10)) == 0


def test_a_jump_back_is_noticed_once_and_no_other_change_is() -> None:
    wall, steady = [1000.0], [0.0]
    watch = Watch(lambda: wall[0], lambda: steady[0])
    seen = []
    for passed, jumped in ((2, 0), (2, -3600), (2, 0), (2, 300), (2, -1)):
        wall[0] += passed + jumped
        steady[0] += passed
        seen.append(watch.set_back())
    assert seen == [0, 3600, 0, 0, 0]


# --- what the rounds look at -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("wake", "late"), [(-31, True), (-10, False), (3600, False), (3700, True), (None, True)])
def test_a_wake_farther_away_than_any_is_set_counts_as_lost(
    monkeypatch: pytest.MonkeyPatch, wake: float | None, late: bool
) -> None:
    monkeypatch.setattr("bot.workflows.reconcile.waits_for_bots", lambda *_args: True)
    fork = SimpleNamespace(id="f", state="open", wake_at=None if wake is None else after(wake))
    store = SimpleNamespace(active_runs=lambda: [SimpleNamespace(id="r")], forks=lambda _run: [fork])
    services = cast(Services, SimpleNamespace(clock=lambda: NOW, store=store, timing=Timing()))
    assert _late(services) == ([("r", "f")] if late else [])


def test_deliveries_missed_while_the_clock_was_ahead_are_looked_for() -> None:
    cursors = {deliveries.BEGAN: (NOW - 50 * HOUR).isoformat(), deliveries.CURSOR: (NOW + HOUR).isoformat()}
    services = cast(Services, SimpleNamespace(store=SimpleNamespace(cursor=cursors.get)))
    assert deliveries._since(services, NOW) == NOW - 50 * HOUR
