"""Every question and deed of an installation, on the stand-in: with the narrowest token that will do, and no other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.github import AppGitHub
from bot.adapters.github_permissions import USES, Step, needed, of_step
from bot.model import Annotation, CheckRun, RepoName, Sha
from bot.ports_github import GitHub, GitHubError
from bot.sandbox.api import Api
from bot.sandbox.routing import Route
from bot.sandbox.server import AppKeys, Sandbox
from bot.sandbox.state import Token
from bot.webhooks import EVENTS
from tests.bot.hub import key

ORG = "acme"
CODE = RepoName(ORG, "code")
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
FILES = {"a.py": b"one\n", "docs/b.md": b"# B\n", ".assay/suites/x.yaml": b"x: 1\n"}


@dataclass(slots=True)
class Seen:
    """What was asked with which token."""

    route: Route
    token: Token

    @property
    def call(self) -> str:
        # The root folder has an address of its own.
        return f"{self.route.method} {self.route.template}".replace("/contents/", "/contents/{path}", 1).replace(
            "{path}{path}", "{path}"
        )


@dataclass(slots=True)
class Hub:
    """The stand-in, its App, and every call that an installation token made."""

    gh: Sandbox
    keys: AppKeys
    alice: str
    """Her token."""
    seen: list[Seen] = field(default_factory=list)

    def app(self, author: str | None = None) -> AppGitHub:
        return AppGitHub(
            self.gh.url,
            app_id=self.keys.client_id,
            private_key=self.keys.private_key_pem,
            author_token=author,
            clock=lambda: datetime.now(UTC),
        )

    def github(self, account: str = ORG, author: str | None = None) -> GitHub:
        app = self.app(author)
        return app.installation(next(number for number, login in app.installations() if login == account))


@contextmanager
def running(folder: Path, permissions: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    with Sandbox(folder) as gh:
        alice = gh.create_user("alice")
        gh.create_org(ORG, owner="alice")
        keys = gh.create_app(
            "grey-heron",
            permissions=permissions,
            events=EVENTS,
            webhook_url="http://127.0.0.1:9/hook",
            private_key_pem=key(),
        )
        gh.create_app(
            "blue-heron", permissions={"pull_requests": "write"}, events=(), requestable=True, private_key_pem=key()
        )
        gh.install("blue-heron", ORG)
        gh.install("grey-heron", ORG)
        gh.install("grey-heron", "alice")
        gh.create_repo(ORG, "code", private=True, files=FILES)
        gh.commit(f"{ORG}/code", "topic", {**FILES, "a.py": b"two\n"}, "Change", by="alice")
        hub = Hub(gh, keys, alice)
        real = Api._answer

        def noting(self: Api, request: Any, data: bytes, route: Route, params: Any, caller: Any, links: Any) -> Any:
            if caller.token is not None and caller.installation is not None:
                hub.seen.append(Seen(route, caller.token))
            return real(self, request, data, route, params, caller, links)

        monkeypatch.setattr(Api, "_answer", noting)
        yield hub


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    with running(tmp_path, needed(), monkeypatch) as made:
        yield made


def do_everything(github: GitHub) -> None:
    """Each method of the port, once."""
    made = github.create_repository(RepoName(ORG, "made"), private=True)
    assert made["clone_url"].endswith("/acme/made.git")
    assert github.repository(RepoName(ORG, "nothing")) is None
    talk(github)
    files(github)
    checks(github)
    assert github.org_installations(ORG) is not None
    assert github.permission(CODE, "alice") == "admin"
    assert github.git_token(CODE)
    repo = RepoName(ORG, "made")
    assert github.set_private(repo, False)["private"] is False
    github.archive_repository(repo)
    github.archive_repository(repo)
    assert (github.repository(repo) or {})["archived"] is True
    github.delete_repository(repo)
    github.delete_repository(repo)
    assert github.repository(repo) is None


def talk(github: GitHub) -> None:
    opened = github.open_issue(CODE, "T", "find me")
    number = int(opened["number"])
    assert github.issue(CODE, number)["title"] == "T"
    assert (github.issue_by_us(CODE, "find me") or {})["number"] == number
    assert [one["number"] for one in github.issues_since(CODE, LONG_AGO)] == [number]
    comment = github.comment(CODE, number, "hello")
    github.edit_comment(CODE, int(comment["id"]), "goodbye")
    assert [one["body"] for one in github.issue_comments(CODE, number)] == ["goodbye"]
    assert [one["body"] for one in github.comments_since(CODE, LONG_AGO)] == ["goodbye"]
    pull = github.open_pull(CODE, title="P", body="B", head="topic", base="main")
    assert [one["number"] for one in github.pulls_by_head(CODE, "topic")] == [pull["number"]]
    assert github.request_review(CODE, int(pull["number"]), "blue-heron[bot]") == ("blue-heron[bot]",)
    assert github.review_asks(CODE, int(pull["number"]), "Blue-Heron[bot]") == 1
    assert github.review_asks(CODE, int(pull["number"]), "alice") == 0
    github.ensure_label(CODE, "later", "ff0000", "not now")
    github.ensure_label(CODE, "Later", "00ff00", "another")


def files(github: GitHub) -> None:
    assert github.content(CODE, "docs/b.md") == b"# B\n"
    assert github.content(CODE, "docs") is None
    assert github.content(CODE, "docs/b.md", ref="nowhere") is None
    assert github.content_names(CODE, ".assay/suites") == ("x.yaml",)
    assert set(github.content_names(CODE, "")) == {".assay/", "a.py", "docs/"}
    assert github.content_names(CODE, "nothing") == github.content_names(CODE, "a.py") == ()
    before = {one["name"]: one["commit"]["sha"] for one in github.branches(CODE)}
    github.put_content(CODE, ".github/ISSUE_TEMPLATE/new form.yml", b"\xff\x00", "Add")
    github.put_content(CODE, ".github/ISSUE_TEMPLATE/new form.yml", b"name: 1\n", "Change")
    after = {one["name"]: one["commit"]["sha"] for one in github.branches(CODE)}
    assert before["main"] != after["main"]
    github.put_content(CODE, ".github/ISSUE_TEMPLATE/new form.yml", b"name: 1\n", "Change nothing")
    assert {one["name"]: one["commit"]["sha"] for one in github.branches(CODE)} == after
    assert github.content(CODE, ".github/ISSUE_TEMPLATE/new form.yml") == b"name: 1\n"
    assert (github.commit(CODE, after["main"]) or {})["sha"] == after["main"]
    assert github.commit(CODE, "f" * 40) is None


def checks(github: GitHub) -> None:
    pull = int(github.pulls_by_head(CODE, "topic")[0]["number"])
    sha = Sha(github.snapshot(CODE, pull).head_sha)
    check = CheckRun("lint", sha, "id-1", "T", "S", "neutral", text="X")
    note = Annotation("a.py", 1, 1, "notice", "t", "m")
    made = github.create_check(CODE, check, [note])
    github.add_annotations(CODE, int(made["id"]), check, [note])
    changed = github.update_check(CODE, int(made["id"]), CheckRun("lint", sha, "id-1", "T2", "S2", "neutral"))
    assert changed["output"]["title"] == "T2"
    assert [one["id"] for one in github.check_runs(CODE, sha, "lint")] == [made["id"]]
    assert len(github.snapshot(CODE, pull).check_runs[0]["annotations"]) == 2


def test_the_table_of_uses_is_what_is_used(hub: Hub) -> None:
    do_everything(hub.github())
    used = {one.call for one in hub.seen if one.route.path not in ("/rate_limit",)}
    listed = {call for uses in USES.values() for calls in uses.values() for call in calls} - {"git push"}
    assert used - listed == set(), "used, and not in the table"
    assert listed - used == set(), "in the table, and not used"


def test_each_permission_of_the_table_is_one_that_github_asks_for(hub: Hub) -> None:
    do_everything(hub.github())
    routes = {one.call: one.route for one in hub.seen}
    for uses in USES.values():
        for use, calls in uses.items():
            name, _, access = use.partition(":")
            for call in calls:
                needs = routes[call].needs if call in routes else ()
                assert not needs or (name, access) in needs, f"{call} needs {needs}, not {use}"


def test_every_token_is_narrowed_to_its_step_and_repository(hub: Hub) -> None:
    do_everything(hub.github())
    steps = {call: step for step, uses in USES.items() for calls in uses.values() for call in calls}
    for one in hub.seen:
        step = steps[one.call]
        assert one.token.permissions == of_step(step) | {"metadata": "read"}
        of_repository = step not in (Step.CREATE, Step.CENSUS)
        assert (one.token.repo_ids is not None) == of_repository, f"{one.call} as {step}"


def test_few_tokens_are_minted_for_many_calls(hub: Hub) -> None:
    github = hub.github()
    for _ in range(5):
        github.issues_since(CODE, LONG_AGO)
        github.permission(CODE, "alice")
    assert len({one.token.value for one in hub.seen}) == 1


def test_an_app_without_a_permission_works_with_what_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    held = {
        name: access for name, access in needed().items() if name not in ("organization_administration", "statuses")
    }
    with running(tmp_path, held, monkeypatch) as hub:
        github = hub.github()
        assert github.org_installations(ORG) is None
        assert github.issues_since(CODE, LONG_AGO) == ()
        assert caplog.text.count("'look' could not be narrowed") == 1


def test_a_personal_account_is_a_target_through_its_own_token(hub: Hub) -> None:
    github = hub.github("alice", hub.alice)
    assert github.owner_is_user()
    made = github.create_repository(RepoName("alice", "own"), private=True)
    assert (made["full_name"], made["private"]) == ("alice/own", True)
    assert github.org_installations("alice") is None


@pytest.mark.parametrize("author", [None, "bob"])
def test_a_personal_account_needs_its_own_token(hub: Hub, author: str | None) -> None:
    token = None if author is None else hub.gh.create_user(author)
    with pytest.raises(GitHubError, match="token of that account") as error:
        hub.github("alice", token).create_repository(RepoName("alice", "own"), private=True)
    assert not error.value.outcome_unknown


def test_a_file_over_a_megabyte_is_not_read(hub: Hub) -> None:
    hub.gh.create_repo(ORG, "large", files={"big.bin": b"0" * (1024 * 1024 + 1)})
    with pytest.raises(GitHubError, match="1048577 bytes"):
        hub.github().content(RepoName(ORG, "large"), "big.bin")


@pytest.mark.parametrize("path", ["../../user", "a/../../b", "./a.py"])
def test_a_path_cannot_lead_out_of_the_repository(hub: Hub, path: str) -> None:
    with pytest.raises(ValueError, match="no path in a repository"):
        hub.github().content(CODE, path)


def test_what_is_in_a_name_is_no_part_of_the_address(hub: Hub) -> None:
    hub.gh.create_repo(ORG, "odd", files={"a?ref=x#y.md": b"odd\n", "100%.md": b"all\n"})
    github = hub.github()
    assert github.content(RepoName(ORG, "odd"), "a?ref=x#y.md") == b"odd\n"
    assert github.content(RepoName(ORG, "odd"), "100%.md") == b"all\n"


def test_deliveries_are_read_page_by_page_as_far_back_as_asked(hub: Hub) -> None:
    begun = datetime.now(UTC) - timedelta(minutes=1)
    github = hub.github()
    issue = int(github.open_issue(CODE, "T", "B")["number"])
    for number in range(120):
        github.comment(CODE, issue, f"{number}")
    assert hub.gh.deliveries.wait_idle()
    app = hub.app()
    found = app.deliveries(begun)
    assert len(found) > 120
    assert len({one["id"] for one in found}) == len(found)
    assert app.deliveries(datetime.now(UTC) + timedelta(minutes=1)) == ()
    one = app.delivery(int(found[0]["id"]))
    app.redeliver(int(one["id"]))
    assert hub.gh.deliveries.wait_idle()
    again = app.deliveries(begun)[0]
    assert (again["guid"], again["redelivery"]) == (one["guid"], True)


def test_the_app_tells_of_itself_and_of_the_author(hub: Hub) -> None:
    app = hub.app(hub.alice)
    assert app.details()["slug"] == "grey-heron"
    assert (app.hook_config() or {})["url"] == "http://127.0.0.1:9/hook"
    assert {one["account"]["login"] for one in app.installation_details()} == {ORG, "alice"}
    clock = app.server_time()
    assert clock is not None
    assert abs(clock - datetime.now(UTC)) < timedelta(seconds=5)
    author = app.author_account(ORG)
    assert author is not None
    assert (author.login, author.type, author.kind, author.organisation_role) == ("alice", "User", "classic", "admin")
    assert author.scopes == ("repo", "workflow")
    assert hub.app().author_account() is None
    assert hub.github().rate()["core"]["limit"] > 0
