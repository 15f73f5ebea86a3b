"""Turns that keep a pace: no stretch of time ever holds more than it may, in whatever order turns were given."""

from __future__ import annotations

import random
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot import pacing
from bot.adapters import database
from bot.adapters.ledger import SqlLedger
from bot.model import Bucket, WriteLimits
from bot.registry import Quota
from tests.bot.talk import reviewer

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def most_within(moments: list[float], seconds: float) -> int:
    return max(sum(start <= moment < start + seconds - 0.01 for moment in moments) for start in moments)


@pytest.mark.parametrize("seed", range(6))
def test_no_stretch_holds_more_than_it_may(seed: int) -> None:
    rng = random.Random(seed)
    most, seconds = rng.randint(1, 5), rng.uniform(1, 5000)
    taken: list[float] = []
    for _ in range(80):
        at = 1.7e9 + rng.uniform(0, 20 * seconds)
        moment = pacing.free(taken, at, most, seconds)
        assert moment >= at
        taken = sorted([*taken, moment])
    assert most_within(taken, seconds) <= most


def test_a_turn_is_no_later_than_it_has_to_be() -> None:
    assert pacing.free([], 10, 2, 60) == 10
    assert pacing.free([10, 20], 30, 2, 60) == 70
    # A gap before turns that lie ahead is used.
    assert pacing.free([10, 500, 501], 80, 2, 60) == 80


def test_a_quota_for_longer_than_two_days_is_a_stock_that_nobody_is_paced_by() -> None:
    hourly = reviewer().model_copy(update={"quotas": (Quota(reviews=4, hours=2),)})
    monthly = reviewer().model_copy(update={"quotas": (Quota(reviews=100, hours=720),)})
    assert pacing.bucket("Acme", hourly) == Bucket("reviews acme acme", 4, 7200)
    assert pacing.bucket("Acme", monthly) is pacing.bucket("Acme", reviewer()) is None
    # Four at once, four more after two hours, the ninth after four.
    assert [pacing.hours(hourly, trials) for trials in (0, 1, 4, 5, 8, 9)] == [0, 0, 0, 2, 2, 4]
    assert pacing.hours(monthly, 1000) == 0
    assert pacing.repositories("author", 30) == Bucket("repositories author", 30, 3600)


@pytest.fixture
def ledger(tmp_path: Path) -> SqlLedger:
    engine = database.open_engine(f"sqlite:///{tmp_path}/app.db")
    database.upgrade(engine)
    return SqlLedger(engine, WriteLimits())


HOURLY, DAILY = Bucket("reviews acme one", 5, 3600), Bucket("reviews acme two", 7, 86_400)


def test_forks_with_two_reviewers_keep_to_both_quotas(ledger: SqlLedger) -> None:
    turns = [ledger.pace(f"ask r p{number}", [HOURLY, DAILY], NOW).timestamp() for number in range(20)]
    assert turns[:5] == [NOW.timestamp()] * 5
    assert turns[5] == NOW.timestamp() + 3600
    assert most_within(turns, 3600) <= 5
    assert most_within(turns, 86_400) <= 7
    # One that is asked for later shares the pace, and finds the gaps that the other quota leaves.
    alone = ledger.pace("ask r q", [HOURLY], NOW)
    assert alone == NOW + timedelta(hours=1)


def test_a_turn_is_kept_for_its_key_and_lapses_when_it_is_long_past(ledger: SqlLedger) -> None:
    once = Bucket("repositories installation 1", 1, 3600)
    first, second = ledger.pace("a", [once], NOW), ledger.pace("b", [once], NOW)
    assert (first, second) == (NOW, NOW + timedelta(hours=1))
    assert ledger.pace("b", [once], NOW + timedelta(minutes=50)) == second
    assert ledger.pace("c", [once], NOW) == NOW + timedelta(hours=2)
    # After an outage of a day the turns that nobody used are given anew, one an hour again.
    late = NOW + timedelta(days=1)
    assert [ledger.pace(key, [once], late) for key in "bc"] == [late, late + timedelta(hours=1)]


def test_workers_that_ask_at_once_get_turns_of_their_own(ledger: SqlLedger) -> None:
    once, turns = Bucket("repositories author", 1, 60), list[datetime]()
    threads = [threading.Thread(target=lambda key=key: turns.append(ledger.pace(key, [once], NOW))) for key in "abcdef"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(turns) == [NOW + timedelta(minutes=number) for number in range(6)]


def test_what_waits_is_told(ledger: SqlLedger) -> None:
    assert ledger.pending(NOW).kinds == {}
    once = Bucket("repositories author", 1, 3600)
    for key in "abc":
        ledger.pace(key, [once], NOW)
    ledger.intend("comment x", "comment", NOW)
    ledger.reserve("comment x", "author", NOW)
    told = ledger.pending(NOW)
    assert told.kinds == {"comment": 1, "turn": 2}
    assert (told.next_at, told.last_at) == (NOW + timedelta(hours=1), NOW + timedelta(hours=2))
    ledger.confirm("comment x", {}, NOW)
    assert ledger.pending(NOW + timedelta(hours=3)).kinds == {}
