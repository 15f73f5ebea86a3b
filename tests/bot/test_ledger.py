"""The ledger paces writes across processes and remembers what was done."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot.adapters.database import open_engine, upgrade
from bot.adapters.ledger import SqlLedger
from bot.model import WriteLimits

NOW = datetime(2026, 1, 2, 10, tzinfo=UTC)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[sa.Engine]:
    made = open_engine(f"sqlite:///{tmp_path / 'app.db'}")
    upgrade(made)
    yield made
    made.dispose()


def slots(ledger: SqlLedger, count: int, identity: str = "someone") -> list[float]:
    found = []
    for number in range(count):
        key = f"{identity} {number}"
        ledger.intend(key, "comment", NOW)
        found.append((ledger.reserve(key, identity, NOW) - NOW).total_seconds())
    return found


def test_writes_of_one_identity_are_spaced(engine: sa.Engine) -> None:
    assert slots(SqlLedger(engine, WriteLimits()), 4) == [0, 1, 2, 3]


def test_no_minute_holds_more_than_the_limit(engine: sa.Engine) -> None:
    found = slots(SqlLedger(engine, WriteLimits(per_minute=3, per_hour=500, spacing_seconds=0)), 10)
    for slot in found:
        assert sum(slot <= other < slot + 60 for other in found) <= 3


def test_no_hour_holds_more_than_the_limit(engine: sa.Engine) -> None:
    found = slots(SqlLedger(engine, WriteLimits(per_minute=80, per_hour=5, spacing_seconds=0)), 12)
    for slot in found:
        assert sum(slot <= other < slot + 3600 for other in found) <= 5
    assert found[-1] >= 7200


def test_identities_have_budgets_of_their_own(engine: sa.Engine) -> None:
    ledger = SqlLedger(engine, WriteLimits())
    assert slots(ledger, 2, "app") == slots(ledger, 2, "author")


def test_a_second_process_shares_the_budget(engine: sa.Engine) -> None:
    first, second = SqlLedger(engine, WriteLimits()), SqlLedger(engine, WriteLimits())
    first.intend("a", "comment", NOW)
    second.intend("b", "comment", NOW)
    assert first.reserve("a", "someone", NOW) == NOW
    assert second.reserve("b", "someone", NOW) == NOW + timedelta(seconds=1)


def test_a_restart_keeps_the_slot_and_does_not_queue_behind_itself(engine: sa.Engine) -> None:
    ledger = SqlLedger(engine, WriteLimits())
    ledger.intend("a", "comment", NOW)
    slot = ledger.reserve("a", "someone", NOW)
    assert ledger.reserve("a", "someone", NOW + timedelta(minutes=5)) == slot


def test_a_confirmed_write_is_remembered_and_an_unconfirmed_one_is_not(engine: sa.Engine) -> None:
    ledger = SqlLedger(engine, WriteLimits())
    assert ledger.intend("a", "comment", NOW) == NOW
    assert ledger.result("a") is None
    ledger.confirm("a", {"id": 7}, NOW)
    assert ledger.result("a") == {"id": 7}
    assert ledger.intend("a", "comment", NOW + timedelta(hours=1)) == NOW


def test_a_refused_send_is_not_counted_as_maybe_done(engine: sa.Engine) -> None:
    ledger = SqlLedger(engine, WriteLimits())
    ledger.intend("a", "comment", NOW)
    assert ledger.sent("a", NOW) is None
    assert ledger.attempts("a") == 1
    ledger.refused("a")
    assert ledger.attempts("a") == 0


def test_writes_that_ask_for_their_turn_at_once_get_one_each(engine: sa.Engine) -> None:
    ledger = SqlLedger(engine, WriteLimits())
    keys = [str(number) for number in range(12)]
    for key in keys:
        ledger.intend(key, "comment", NOW)
    with ThreadPoolExecutor(6) as threads:
        slots = set(threads.map(lambda key: ledger.reserve(key, "someone", NOW), keys))
    assert slots == {NOW + timedelta(seconds=number) for number in range(12)}


def test_turns_that_an_outage_left_unused_lapse(engine: sa.Engine) -> None:
    ledger = SqlLedger(engine, WriteLimits())
    for key in ("a", "b"):
        ledger.intend(key, "comment", NOW)
        ledger.reserve(key, "someone", NOW)
    back = NOW + timedelta(hours=2)
    assert [ledger.reserve(key, "someone", back) for key in ("a", "b")] == [back, back + timedelta(seconds=1)]
