"""Which deliveries were missed: those that no attempt brought to us and that are of use, each once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest

from bot.ports import GitHubError
from bot.workflows import deliveries
from bot.workflows.services import Services

NOW = datetime(2026, 5, 4, 10, tzinfo=UTC)


def attempt(guid: str, age: float, code: int = 502, event: str = "issues", **more: Any) -> dict[str, Any]:
    """An attempt as GitHub lists it."""
    at = (NOW - timedelta(seconds=age)).isoformat().replace("+00:00", "Z")
    return {"id": int(age), "guid": guid, "delivered_at": at, "status_code": code, "event": event, **more}


class Hub:
    """What GitHub lists, and what we keep."""

    def __init__(self, *attempts: dict[str, Any]) -> None:
        self.attempts = attempts
        self.since: list[datetime] = []
        self.fetched: list[int] = []
        self.cursors: dict[str, str] = {
            deliveries.BEGAN: (NOW - timedelta(days=9)).isoformat(),
            deliveries.CURSOR: (NOW - timedelta(hours=5)).isoformat(),
        }
        self.error: GitHubError | None = None

    def deliveries(self, since: datetime) -> tuple[dict[str, Any], ...]:
        self.since.append(since)
        if self.error is not None:
            raise self.error
        return self.attempts

    def delivery(self, number: int) -> dict[str, Any]:
        self.fetched.append(number)
        issue = {"number": 3, "id": 33, "title": "t", "body": "b", "user": {"login": "mira", "type": "User"}}
        repo = {"full_name": "acme/assay"}
        payload = {"action": "opened", "issue": issue, "repository": repo, "installation": {"id": 5}}
        return {"request": {"headers": {}, "payload": payload}}

    def services(self) -> Services:
        forks = {77: SimpleNamespace(run="r", id="f")}
        store = SimpleNamespace(
            cursor=self.cursors.get,
            set_cursor=self.cursors.__setitem__,
            fork_by_repo_id=lambda number: forks.get(number),
        )
        app = SimpleNamespace(
            deliveries=self.deliveries, delivery=self.delivery, identity=lambda: SimpleNamespace(slug="assay")
        )
        return cast(Services, SimpleNamespace(clock=lambda: NOW, store=store, app=app))


@pytest.fixture(autouse=True)
def engine(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """What the engine has seen."""
    seen = {"gh-known"}
    monkeypatch.setattr("bot.workflows.engine.known", seen.__contains__)
    return seen


def test_only_what_no_attempt_brought_is_fetched() -> None:
    hub = Hub(
        attempt("lost", 900),
        attempt("lost", 800),
        attempt("redelivered", 700, code=504),
        attempt("redelivered", 600, code=202),
        attempt("known", 500),
        attempt("useless", 400, event="star"),
        attempt("arrived", 300, code=200),
    )
    found = deliveries.missed(hub.services())
    assert [event["guid"] for event in found["events"]] == ["lost"]
    assert found["events"][0]["event"]["kind"] == "IssueOpened"
    assert hub.fetched == [800]
    assert hub.cursors[deliveries.CURSOR] == NOW.isoformat()
    assert hub.since == [NOW - timedelta(hours=5) - deliveries.OVERLAP]


def test_what_happened_on_a_fork_is_a_nudge_and_costs_no_request() -> None:
    hub = Hub(
        *(
            attempt(f"c{number}", 100 + number, event="pull_request_review_comment", repository_id=77)
            for number in range(30)
        ),
        attempt("talk", 90, event="issue_comment", repository_id=77),
        attempt("elsewhere", 80, event="pull_request_review", repository_id=78),
    )
    assert deliveries.missed(hub.services()) == {"events": [], "forks": [["r", "f"]]}
    assert hub.fetched == []


def test_an_attempt_that_is_still_under_way_is_looked_at_again() -> None:
    hub = Hub(attempt("new", 10, code=0), attempt("lost", 5))
    assert [event["guid"] for event in deliveries.missed(hub.services())["events"]] == ["lost"]
    assert datetime.fromisoformat(hub.cursors[deliveries.CURSOR]) == NOW - timedelta(seconds=10)


def test_where_nothing_can_be_listed_the_cursor_stays(caplog: pytest.LogCaptureFixture) -> None:
    hub = Hub()
    hub.error = GitHubError(0, "api.example.com cannot be reached (ConnectionError)", {}, "GET")
    before = dict(hub.cursors)
    assert deliveries.missed(hub.services()) == {"events": [], "forks": []}
    assert hub.cursors == before
    assert "api.example.com" in caplog.text


def test_what_was_sent_before_the_app_ran_first_is_history() -> None:
    hub = Hub()
    hub.cursors.clear()
    deliveries.missed(hub.services())
    deliveries.missed(hub.services())
    assert hub.since == [NOW, NOW]


def test_a_long_absence_goes_back_as_far_as_github_keeps_deliveries() -> None:
    hub = Hub()
    hub.cursors[deliveries.CURSOR] = (NOW - timedelta(days=8)).isoformat()
    deliveries.missed(hub.services())
    assert hub.since == [NOW - deliveries.KEPT]
