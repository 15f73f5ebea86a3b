"""What may be archived or deleted: only a repository whose number and root commit are ours."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest

from bot.model import ForkId, RepoName
from bot.ports import GitHubError
from bot.workflows.cleanup import Made, _due, _made, _prove
from bot.workflows.services import Services
from tests.bot.render_world import RUN, plan
from tests.bot.test_store import NOW, row

ROOT, HEAD = "a" * 40, "b" * 40
MADE = Made(RUN, ForkId("injection"), "acme-bench/tidy-harbour", 4711)
PUSHED = {"push 700-1 injection": {"main": ROOT, "tidy-harbour-update": HEAD}}


class Remote:
    """One repository, as GitHub shows it."""

    def __init__(self, repository: Any, commits: Mapping[str, Any], branches: int = 2) -> None:
        self._repository, self._commits, self._branches = repository, commits, branches

    def repository(self, _repo: RepoName) -> Any:
        if isinstance(self._repository, Exception):
            raise self._repository
        return self._repository

    def commit(self, _repo: RepoName, sha: str) -> Any:
        return self._commits.get(sha)

    def branches(self, _repo: RepoName) -> tuple[Any, ...]:
        return ({},) * self._branches


def services(remote: Remote | None = None, ledger: Mapping[str, Any] | None = None, **more: Any) -> Services:
    fields = SimpleNamespace(
        store=SimpleNamespace(run=lambda _run: row()),
        ledger=SimpleNamespace(result=lambda key: (PUSHED if ledger is None else ledger).get(key)),
        github=lambda _installation: remote,
        clock=lambda: NOW,
        **more,
    )
    return cast(Services, fields)


def there(**changes: Any) -> dict[str, Any]:
    return {"id": 4711, "full_name": MADE.repo, "archived": False} | changes


OURS = {ROOT: {"sha": ROOT, "parents": []}}


def test_the_number_and_the_root_commit_together_prove_it_ours() -> None:
    found = _prove(services(Remote(there(), OURS)), MADE)
    assert found == {"name": MADE.repo, "archived": False, "empty": False}


def test_one_that_was_renamed_is_found_where_it_is_now() -> None:
    found = _prove(services(Remote(there(full_name="acme-bench/renamed"), OURS)), MADE)
    assert found["name"] == "acme-bench/renamed"


@pytest.mark.parametrize(
    ("repository", "commits", "outcome"),
    [
        (None, OURS, "gone"),
        (there(id=4712), OURS, "kept"),
        (there(), {}, "kept"),
        (there(), {ROOT: {"sha": ROOT, "parents": [{"sha": HEAD}]}}, "kept"),
        (there(), {ROOT: {"sha": HEAD, "parents": []}}, "kept"),
        (GitHubError(403, "Resource not accessible by integration", {}, "GET"), OURS, "kept"),
    ],
    ids=["removed", "another number", "no such commit", "not a root", "another commit", "out of reach"],
)
def test_without_either_half_of_the_proof_it_is_left_alone(
    repository: Any, commits: Mapping[str, Any], outcome: str
) -> None:
    found = _prove(services(Remote(repository, commits)), MADE)
    assert found["outcome"] == outcome
    assert found["why"]


def test_one_that_was_never_pushed_to_is_empty_and_one_that_somebody_filled_is_not() -> None:
    assert _prove(services(Remote(there(), {}, branches=0), {}), MADE)["empty"] is True


def test_an_outage_proves_nothing_and_is_waited_out() -> None:
    with pytest.raises(GitHubError):
        _prove(services(Remote(GitHubError(502, "Bad Gateway", {}, "GET"), OURS)), MADE)


def test_repositories_of_forks_that_came_to_nothing_are_found_in_the_ledger() -> None:
    first, second = plan().forks
    ledger = {f"repository {RUN} {second.id} 1": {"id": 9, "full_name": "acme-bench/calm-meadow", "clone_url": "x"}}
    assert _made(services(ledger=ledger), RUN) == [Made(RUN, second.id, "acme-bench/calm-meadow", 9)]
    assert first.id != second.id


@pytest.mark.parametrize(("days", "due"), [(None, []), (30, ["700-1"])])
def test_forks_are_archived_by_themselves_unless_the_operator_keeps_them(days: float | None, due: list[str]) -> None:
    marked: list[Any] = []
    asked: list[Any] = []

    def ended(before: Any) -> list[Any]:
        asked.append(before)
        return [row()]

    store = SimpleNamespace(mark_ended=marked.append, ended_runs=ended)
    fields = SimpleNamespace(store=store, clock=lambda: NOW, timing=SimpleNamespace(cleanup_days=days))
    assert _due(cast(Services, fields)) == due
    assert marked == [NOW]
    assert asked == ([] if days is None else [NOW - timedelta(days=30)])
