"""The actors' threads: one pull request at a time, several taking turns, nothing done twice."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from bot.model import Raw
from bot.sandbox.actors.api import Api, Refused
from bot.sandbox.actors.jobs import Job, commanded, opened
from bot.sandbox.actors.runtime import Actors, Worker


class Nobody:
    def token(self) -> str:
        return ""

    def renew(self) -> str:
        return ""


class Scribe:
    """An actor that notes its steps."""

    SLUG = "scribe"

    def __init__(self, steps: int = 2, failing: frozenset[int] = frozenset()) -> None:
        self.steps, self.failing = steps, failing
        self.notes: list[tuple[int, str, int]] = []

    def wants(self, event: str, payload: Raw) -> Job | None:
        return opened(event, payload) or commanded(event, payload, "@scribe review")

    def story(self, job: Job, api: Api, seat: AbstractContextManager[object]) -> Iterator[None]:
        for step in range(self.steps):
            self.notes.append((job.pull, job.head or f"ask {job.ask}", step))
            if job.pull in self.failing and step == 1:
                raise Refused("no")
            yield


def pull_event(number: int, head: str = "aa", action: str = "opened", **more: Any) -> dict[str, Any]:
    pull = {"number": number, "head": {"sha": head}, **more}
    return {"action": action, "repository": {"full_name": "o/r"}, "pull_request": pull}


def comment_event(body: str, author: str = "User", **issue: Any) -> dict[str, Any]:
    comment = {"id": 7, "body": body, "user": {"login": "x", "type": author}}
    return {
        "action": "created",
        "repository": {"full_name": "o/r"},
        "issue": {"number": 1, "pull_request": {}, **issue},
        "comment": comment,
    }


def worked(
    actor: Scribe, events: list[tuple[str, dict[str, Any]]], until: Callable[[], bool], gap: float = 0.01
) -> Worker:
    worker = Worker(actor, Api("http://127.0.0.1:9", "scribe[bot]", Nobody()), nullcontext(), gap)
    with Actors((worker,)):
        worker.start()
        for event, payload in events:
            worker.receive(event, payload)
        begun = time.monotonic()
        while not until() and time.monotonic() - begun < 10:
            time.sleep(0.005)
        time.sleep(5 * gap)
    assert not worker.is_alive()
    return worker


def test_a_redelivered_event_is_done_once() -> None:
    actor = Scribe()
    worked(actor, [("pull_request", pull_event(1))] * 3, lambda: len(actor.notes) >= 2)
    assert actor.notes == [(1, "aa", 0), (1, "aa", 1)]


def test_pull_requests_take_turns_at_the_pauses() -> None:
    actor = Scribe()
    worked(actor, [("pull_request", pull_event(n)) for n in (1, 2, 3)], lambda: len(actor.notes) >= 6, gap=0.1)
    assert [(pull, step) for pull, _, step in actor.notes] == [(1, 0), (2, 0), (3, 0), (1, 1), (2, 1), (3, 1)]


def test_a_second_head_of_one_pull_request_waits_for_the_first() -> None:
    actor = Scribe()
    events = [("pull_request", pull_event(1)), ("pull_request", pull_event(1, "bb", "synchronize"))]
    worked(actor, events, lambda: len(actor.notes) >= 4)
    assert actor.notes == [(1, "aa", 0), (1, "aa", 1), (1, "bb", 0), (1, "bb", 1)]


def test_what_failed_is_told_and_a_redelivery_tries_again() -> None:
    actor = Scribe(failing=frozenset({1}))
    worker = worked(
        actor, [("pull_request", pull_event(1)), ("pull_request", pull_event(2))], lambda: len(actor.notes) >= 4
    )
    assert worker.failures == ["o/r#1: no"]
    assert (2, "aa", 1) in actor.notes
    assert Job("o/r", 1, "aa") not in worker._done


def test_stopping_does_not_wait_for_a_long_gap() -> None:
    actor = Scribe()
    worker = Worker(actor, Api("http://127.0.0.1:9", "scribe[bot]", Nobody()), nullcontext(), 300.0)
    actors = Actors((worker,))
    worker.start()
    worker.receive("pull_request", pull_event(1))
    begun = time.monotonic()
    actors.stop()
    assert time.monotonic() - begun < 5
    assert not worker.is_alive()


def test_a_draft_and_a_closed_pull_request_are_left_alone() -> None:
    assert opened("pull_request", pull_event(1, draft=True)) is None
    assert opened("pull_request", pull_event(1, action="closed")) is None
    assert opened("issues", {"action": "opened"}) is None
    assert opened("pull_request", pull_event(1, draft=False)) == Job("o/r", 1, "aa")


def test_only_a_humans_exact_command_on_a_pull_request_is_one() -> None:
    def taken(payload: dict[str, Any]) -> bool:
        return commanded("issue_comment", payload, "@gatewatch review") is not None

    assert taken(comment_event(" @GateWatch review\r\n"))
    assert not taken(comment_event("@gatewatch review", author="Bot"))
    assert not taken(comment_event("please do not run @gatewatch review"))
    assert not taken({**comment_event("@gatewatch review"), "action": "edited"})
    plain_issue = comment_event("@gatewatch review")
    del plain_issue["issue"]["pull_request"]
    assert not taken(plain_issue)
    assert commanded("issue_comment", comment_event("@gatewatch review"), "@gatewatch review") == Job("o/r", 1, "", 7)
