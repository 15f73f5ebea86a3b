"""What polling takes up: what is new, of who may be served, whoever else is out of reach."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, cast

from bot.model import RepoName
from bot.ports import GitHubError
from bot.workflows.ids import issue_key
from bot.workflows.reconcile import _news
from bot.workflows.services import Services
from bot.workflows.start import is_of

NOW = datetime(2026, 1, 2, 10, tzinfo=UTC)


def item(number: int, age: timedelta, body: str = "", where: str = "acme/assay") -> dict[str, Any]:
    url = f"https://api.github.com/repos/{where}/issues/{number}"
    return {"id": number, "number": number, "issue_url": url, "body": body, "created_at": (NOW - age).isoformat()}


class Remote:
    """One installation's GitHub."""

    def __init__(self, issues: list[Any], comments: list[Any], error: GitHubError | None = None) -> None:
        self.issues, self.comments, self.error = issues, comments, error

    def repository(self, _repo: RepoName) -> Any:
        if self.error is not None:
            raise self.error
        return {"id": 1}

    def issues_since(self, _repo: RepoName, _since: datetime) -> list[Any]:
        return self.issues

    def comments_since(self, _repo: RepoName, _since: datetime) -> list[Any]:
        return self.comments


def services(remotes: dict[str, Remote], control: RepoName | None = None) -> Services:
    accounts = list(remotes)
    fields = SimpleNamespace(
        app=SimpleNamespace(installations=lambda: tuple(enumerate(accounts))),
        github=lambda installation: remotes[accounts[installation]],
        control=lambda account: control or RepoName(account, "assay"),
        clock=lambda: NOW,
    )
    return cast(Services, fields)


def test_an_old_issue_or_command_that_changes_today_is_no_news() -> None:
    new, old = timedelta(hours=1), timedelta(days=40)
    comments = [item(3, new, "/assay status"), item(4, old, "/assay cancel"), item(5, new, "thanks")]
    remote = Remote([item(1, new), item(2, old)], comments)
    found = _news(services({"acme": remote}))
    assert [(one["queue"], one["id"]) for one in found] == [("start", issue_key(1, "")), ("events", "command-3")]


def test_an_installation_out_of_reach_keeps_nobody_else_waiting() -> None:
    suspended = Remote([], [], GitHubError(403, "This installation has been suspended", {}, "GET"))
    found = _news(services({"suspended": suspended, "acme": Remote([item(1, timedelta(0))], [])}))
    assert [one["args"] for one in found] == [[1, "acme/assay", 1]]


def test_another_account_never_serves_the_control_repository() -> None:
    public = Remote([item(1, timedelta(0))], [])
    found = _news(services({"stranger": public, "acme": public}, RepoName("acme", "benchmarks")))
    assert [one["args"] for one in found] == [[1, "acme/benchmarks", 1]]


def test_an_issue_that_was_transferred_is_not_taken_for_ours() -> None:
    here = {"repository_url": "https://api.github.com/repos/Acme/assay"}
    assert is_of(here, RepoName("acme", "assay"))
    assert not is_of(here | {"repository_url": "https://api.github.com/repos/acme/other"}, RepoName("acme", "assay"))
    assert not is_of(here | {"repository_url": "https://api.github.com/repos/x/not-acme/assay"}, RepoName("y", "assay"))
