"""Writes happen once: what may be done is looked for, what was refused is not, what must wait says until when."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from bot.adapters.database import open_engine, upgrade
from bot.adapters.ledger import SqlLedger
from bot.model import WriteLimits
from bot.ports import GitFailure, GitHubError, Json
from bot.workflows.once import MOST_ATTEMPTS, MOST_TRIES, Write, _attempt, _try_again_in
from bot.workflows.services import Services, Timing


class World:
    """A remote place where one thing can be made, and a clock that only sleeping moves."""

    def __init__(self, ledger: SqlLedger) -> None:
        self.now = datetime(2026, 1, 2, 10, tzinfo=UTC)
        self.made = 0
        self.visible_from = self.now
        self.answers: list[Exception | None] = []
        self.slept: list[float] = []
        timing = Timing(rechecks=(10, 60), longest_sleep=20)
        fields = SimpleNamespace(ledger=ledger, clock=lambda: self.now, sleep=self.sleep, timing=timing)
        self.services = cast(Services, fields)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += timedelta(seconds=seconds)

    def find(self) -> Json | None:
        return {"id": 1} if self.made and self.now >= self.visible_from else None

    def make(self) -> Json:
        answer = self.answers.pop(0) if self.answers else None
        if answer is None or getattr(answer, "outcome_unknown", False):
            self.made += 1
        if answer is not None:
            raise answer
        return {"id": 1}

    def write(self, find: Callable[[], Json | None] | None = None) -> dict[str, Json]:
        return _attempt(self.services, Write("key", "comment", "someone", find or self.find, self.make))


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    engine = open_engine(f"sqlite:///{tmp_path / 'app.db'}")
    upgrade(engine)
    yield World(SqlLedger(engine, WriteLimits()))
    engine.dispose()


def error(status: int, message: str = "", **headers: str) -> GitHubError:
    return GitHubError(status, message, {name.replace("_", "-"): text for name, text in headers.items()}, "POST")


def test_a_write_is_made_once_and_remembered(world: World) -> None:
    assert world.write() == {"done": {"id": 1}}
    assert world.write() == {"done": {"id": 1}}
    assert world.made == 1


def test_what_stands_there_already_is_not_made_again(world: World) -> None:
    world.made = 1
    assert world.write() == {"done": {"id": 1}}
    assert world.made == 1


@pytest.mark.parametrize("status", [0, 500, 502])
def test_post_returned_502_but_it_was_done(world: World, status: int) -> None:
    world.answers = [error(status)]
    assert world.write() == {"done": {"id": 1}}
    assert world.made == 1


def test_a_write_that_shows_late_is_waited_for_and_not_sent_again(world: World) -> None:
    world.answers = [error(502)]
    world.visible_from = world.now + timedelta(seconds=45)
    assert world.write() == {"done": {"id": 1}}
    assert world.made == 1
    assert world.slept == [1, 10, 60]


def test_a_refused_write_is_sent_again_without_waiting_for_what_cannot_be(world: World) -> None:
    world.answers = [error(403, "You have exceeded a secondary rate limit", retry_after="5")]
    assert world.write() == {"done": {"id": 1}}
    assert world.made == 1
    assert world.slept == [5]


def test_a_wait_too_long_to_sleep_names_the_moment(world: World) -> None:
    start = world.now
    world.answers = [error(403, "API rate limit exceeded", retry_after="900")]
    assert world.write() == {"later": (start + timedelta(seconds=900)).isoformat()}
    assert world.slept == []


def test_a_turn_far_away_under_the_content_limits_names_the_moment(world: World) -> None:
    ledger = world.services.ledger
    for number in range(30):
        ledger.intend(f"other {number}", "comment", world.now)
        ledger.reserve(f"other {number}", "someone", world.now)
    assert world.write() == {"later": (world.now + timedelta(seconds=30)).isoformat()}


def test_a_no_is_final_and_says_why(world: World) -> None:
    world.answers = [error(422, "Validation Failed")]
    assert world.write() == {"refused": "422 Validation Failed"}
    assert world.made == 0


def test_git_failures_are_told_apart(world: World) -> None:
    world.answers = [GitFailure("connection reset", retryable=True), GitFailure("GH013", retryable=False)]
    assert world.write() == {"refused": "GH013"}


def test_a_github_that_stays_out_is_given_up_on(world: World) -> None:
    world.answers = [error(403, "rate limit", retry_after="1") for _ in range(MOST_ATTEMPTS + 5)]
    assert f"{MOST_ATTEMPTS} attempts" in world.write()["refused"]
    assert world.made == 0


def test_a_killed_process_looks_before_it_sends_again(world: World) -> None:
    def died() -> Json:
        world.made += 1
        raise KeyboardInterrupt

    write = Write("key", "comment", "someone", world.find, died)
    with pytest.raises(KeyboardInterrupt):
        _attempt(world.services, write)
    assert _attempt(world.services, replace(write, make=world.make)) == {"done": {"id": 1}}
    assert world.made == 1


def test_a_lookup_that_fails_never_counts_as_nothing_there(world: World) -> None:
    looks: list[Any] = [error(502), None]

    def find() -> Json | None:
        answer = looks.pop(0) if looks else None
        if isinstance(answer, Exception):
            raise answer
        return {"id": 1}

    assert world.write(find) == {"done": {"id": 1}}
    assert world.made == 0


def test_a_token_not_known_everywhere_yet_is_tried_again_and_a_wrong_one_is_not_for_long(world: World) -> None:
    world.answers = [error(401, "Bad credentials")]
    assert world.write() == {"done": {"id": 1}}
    other = Write("other", "comment", "someone", lambda: None, world.make)
    world.answers = [error(401, "Bad credentials") for _ in range(MOST_ATTEMPTS)]
    assert "not accepted" in _attempt(world.services, other)["refused"]
    assert world.made == 1


def test_an_outage_is_waited_out_and_anything_else_is_left_after_some_tries(world: World) -> None:
    out, no, wrong = error(502), error(404, "Not Found"), KeyError("x")
    assert [_try_again_in(world.services, out, attempt) for attempt in (1, 10, 500)] == [30, 300, 600]
    for hopeless in (no, wrong):
        assert _try_again_in(world.services, hopeless, 1) == 30
        assert _try_again_in(world.services, hopeless, MOST_TRIES) is None
