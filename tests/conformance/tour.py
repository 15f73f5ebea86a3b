"""A tour of everything the sandbox offers, with PyGithub as the guide and one visit to each route."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import requests
from github import Auth, Github, GithubException, GithubIntegration
from github.PullRequest import PullRequest
from github.Repository import Repository

from bot.sandbox.server import Sandbox

ORG = "acme"
NOWHERE = "http://127.0.0.1:9/hook"
"""Nobody listens there, so that every delivery is tried and fails."""
PERMISSIONS = dict.fromkeys(
    ("administration", "checks", "contents", "issues", "pull_requests", "statuses", "workflows"), "write"
)
EVENTS = (
    "issues",
    "issue_comment",
    "pull_request",
    "pull_request_review",
    "pull_request_review_comment",
    "push",
    "repository",
    "status",
)
BASE = {"a.py": "".join(f"line {number}\n" for number in range(1, 31)).encode(), "docs/b c.md": b"# B\n"}
HEAD = {**BASE, "a.py": BASE["a.py"].replace(b"line 10\n", b"line ten\n"), "new.py": b"one\ntwo\nthree\n"}
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Guide:
    """A sandbox and the clients of everybody in it."""

    gh: Sandbox
    app: GithubIntegration
    signed: Github
    """The App itself, by its signature."""
    alice: Github
    """Administrator of the organisation."""
    bob: Github
    bot: Github
    """With an installation token."""

    def pull(self) -> PullRequest:
        """The pull request of the tour, as the bot sees it."""
        return self.repo(self.bot).get_pull(1)

    def repo(self, client: Github) -> Repository:
        """The repository of the tour, as somebody sees it."""
        return client.get_repo(f"{ORG}/code")


def client(gh: Sandbox, auth: Auth.Auth) -> Github:
    """A client of a sandbox that neither waits nor tries again."""
    never: Any = None
    return Github(auth=auth, base_url=gh.url, retry=never, seconds_between_requests=never, seconds_between_writes=never)


def raw(gh: Github, method: str, path: str, body: dict[str, Any] | None = None, **query: Any) -> Any:
    """For what PyGithub has no method for."""
    return gh.requester.requestJsonAndCheck(method, path, parameters=query or None, input=body)[1]


@contextmanager
def guide(folder: Path) -> Iterator[Guide]:
    """A small town with one pull request."""
    with Sandbox(folder) as gh:
        alice, bob = gh.create_user("alice"), gh.create_user("bob")
        gh.create_org(ORG, owner="alice", members=["bob"])
        keys = gh.create_app(
            "assay", permissions=PERMISSIONS, events=EVENTS, webhook_url=NOWHERE, webhook_secret="s", requestable=True
        )
        gh.install("assay", ORG)
        gh.install("assay", "alice")
        gh.create_repo(ORG, "code", private=True, files=BASE, collaborators={"bob": "write"})
        gh.commit(f"{ORG}/code", "topic", HEAD, "Change", by="alice")
        token = gh.installation_token("assay", ORG)
        auth = Auth.AppAuth(keys.app_id, keys.private_key_pem)
        yield Guide(
            gh,
            GithubIntegration(auth=auth, base_url=gh.url, seconds_between_requests=0, seconds_between_writes=0),
            client(gh, auth),
            client(gh, Auth.Token(alice)),
            client(gh, Auth.Token(bob)),
            client(gh, Auth.Token(token)),
        )
        assert gh.deliveries.wait_idle()


def tour(here: Guide) -> None:
    """Everything, once."""
    pull = here.repo(here.alice).create_pull(title="T", body="B", head="topic", base="main")
    assert pull.number == 1
    accounts(here)
    installations(here)
    repositories(here)
    history(here)
    contents(here)
    issues(here)
    issue_comments(here)
    reviews(here)
    inline_comments(here)
    pulls(here)
    checks(here)
    statuses(here)
    registration(here)
    refusals(here)
    hooks(here)


def accounts(here: Guide) -> None:
    me = here.alice.get_user()
    assert me.login == "alice"
    org = here.alice.get_organization(ORG)
    bob = here.alice.get_user("bob")
    assert org.has_in_members(bob)
    assert me.get_organization_membership(ORG).role == "admin"
    assert raw(here.alice, "GET", f"/orgs/{ORG}/memberships/bob")["role"] == "member"
    assert [one.app_slug for one in org.get_installations()] == ["assay"]
    assert [one.name for one in org.get_repos()] == ["code"]
    assert here.alice.get_rate_limit().rate.limit > 0
    assert raw(here.alice, "GET", "/meta")["hooks"]


def installations(here: Guide) -> None:
    assert here.app.get_app().slug == "assay"
    there = {one.raw_data["account"]["login"]: one.id for one in here.app.get_installations()}
    assert here.app.get_app_installation(there[ORG]).id == there[ORG]
    assert here.app.get_org_installation(ORG).id == there[ORG]
    assert here.app.get_user_installation("alice").id == there["alice"]
    assert here.app.get_repo_installation(ORG, "code").id == there[ORG]
    whole = here.app.get_access_token(there[ORG])
    narrow = here.app.get_access_token(there[ORG], permissions={"contents": "read"})
    assert set(narrow.permissions) < set(whole.permissions)
    body = {"repositories": ["code"], "permissions": {"contents": "write"}}
    token = raw(here.signed, "POST", f"/app/installations/{there[ORG]}/access_tokens", body)["token"]
    passing = client(here.gh, Auth.Token(token))
    assert raw(passing, "GET", "/installation/repositories", per_page=5)["total_count"] == 1
    raw(passing, "DELETE", "/installation/token")


def repositories(here: Guide) -> None:
    me = here.alice.get_user()
    me.create_repo("own", private=True, auto_init=True, has_wiki=False)
    repo = here.bot.get_organization(ORG).create_repo(
        "made", description="D", homepage="http://127.0.0.1/", private=True, has_issues=True, has_projects=False
    )
    made = here.alice.get_repo(repo.full_name)
    made.edit(description="E", has_wiki=False, archived=True)
    made.edit(archived=False)
    made.edit(visibility="public")
    made.edit(private=True)
    made.add_to_collaborators("bob", "push")
    assert made.has_in_collaborators("bob")
    assert made.get_collaborator_permission("bob") == "write"
    assert {one.login for one in made.get_assignees()} >= {"bob"}
    raw(here.alice, "PUT", f"/repos/{ORG}/made/actions/permissions", {"enabled": False})
    assert raw(here.alice, "GET", f"/repos/{ORG}/made/actions/permissions")["enabled"] is False
    raw(here.alice, "PUT", f"/repos/{ORG}/made/actions/permissions", {"enabled": True, "allowed_actions": "all"})
    assert raw(here.alice, "GET", f"/repos/{ORG}/made/actions/permissions")["enabled"] is True
    made.create_label("later", "ff0000", "not now")
    assert made.get_label("later").color == "ff0000"
    assert [one.name for one in made.get_labels()] == ["later"]
    made.remove_from_collaborators("bob")
    made.delete()


def history(here: Guide) -> None:
    repo = here.repo(here.bot)
    assert {one.name for one in repo.get_branches()} == {"main", "topic"}
    branch = repo.get_branch("main")
    ref = repo.create_git_ref("refs/heads/other/one", branch.commit.sha)
    assert repo.get_git_ref("heads/other/one").object.sha == branch.commit.sha
    assert [one.ref for one in repo.get_git_matching_refs("heads/other")] == [ref.ref]
    assert repo.get_branch("other/one").commit.sha == branch.commit.sha
    ref.edit(repo.get_branch("topic").commit.sha, force=True)
    ref.delete()
    assert repo.get_commits(sha="topic").totalCount == 2
    commit = repo.get_commit(repo.get_branch("topic").commit.sha)
    assert {one.filename for one in commit.files} == {"a.py", "new.py"}
    compared = repo.compare("main", "topic")
    assert (compared.ahead_by, compared.status) == (1, "ahead")


def contents(here: Guide) -> None:
    repo = here.repo(here.bot)
    root = repo.get_contents("")
    assert isinstance(root, list)
    assert {one.path for one in root} == {"a.py", "docs"}
    file = repo.get_contents("docs/b c.md", ref="main")
    assert not isinstance(file, list)
    assert file.decoded_content == b"# B\n"
    raw(here.bot, "GET", f"/repos/{ORG}/code/contents")
    mine = here.alice.get_user().get_repo("own")
    made: Any = mine.create_file("docs/new.md", "Add", b"# N\n")["content"]
    mine.update_file("docs/new.md", "Change", b"# M\n", made.sha)
    again = mine.get_contents("docs/new.md")
    assert not isinstance(again, list)
    assert again.decoded_content == b"# M\n"


def issues(here: Guide) -> None:
    repo = here.repo(here.bob)
    made = repo.create_issue(title="I", body="see #1", labels=["bug"], assignees=["bob"])
    made.edit(title="J", body="see #1 again")
    made.edit(state="closed", state_reason="not_planned")
    made.edit(state="open")
    raw(here.bob, "POST", f"/repos/{ORG}/code/issues/{made.number}/labels", {"labels": ["late", "later"]})
    made.remove_from_labels("late")
    assert {one.name for one in made.get_labels()} == {"bug", "later"}
    made.create_reaction("eyes")
    made.create_reaction("eyes")
    assert [one.content for one in made.get_reactions()] == ["eyes"]
    assert repo.get_issue(made.number).title == "J"
    assert {one.number for one in repo.get_issues(state="all", since=LONG_AGO, labels=["bug"])} == {made.number}
    assert {one.event for one in made.get_events()} >= {"closed", "reopened", "renamed"}
    assert {one.event for one in repo.get_issue(1).get_timeline()} >= {"cross-referenced"}


def issue_comments(here: Guide) -> None:
    issue = here.repo(here.bot).get_issue(1)
    made = issue.create_comment("first")
    made.edit("changed")
    made.create_reaction("rocket")
    assert [one.content for one in made.get_reactions()] == ["rocket"]
    assert issue.get_comment(made.id).body == "changed"
    assert [one.id for one in issue.get_comments(since=LONG_AGO)] == [made.id]
    every = here.repo(here.bot).get_issues_comments(sort="created", direction="asc", since=LONG_AGO)
    assert [one.id for one in every] == [made.id]
    issue.create_comment("second").delete()


def reviews(here: Guide) -> None:
    pull = here.pull()
    comment: Any = {"path": "a.py", "line": 10, "start_line": 9, "side": "RIGHT", "start_side": "RIGHT", "body": "why"}
    one_line: Any = {"path": "new.py", "line": 2, "side": "RIGHT", "body": "here"}
    made = pull.create_review(pull.get_commits()[0], "R", "COMMENT", [comment, one_line])
    made.edit("R, again")
    assert pull.get_review(made.id).body == "R, again"
    assert len(list(pull.get_single_review_comments(made.id))) == 2
    pending = pull.create_review(body="later")
    raw(here.bot, "POST", f"/repos/{ORG}/code/pulls/1/reviews/{pending.id}/events", {"event": "REQUEST_CHANGES"})
    here.repo(here.bob).get_pull(1).create_review(body="fine", event="APPROVE")
    here.repo(here.alice).get_pull(1).get_review(pending.id).dismiss("no longer")
    states = [one.state for one in pull.get_reviews()]
    assert states == ["COMMENTED", "DISMISSED", "APPROVED"]


def inline_comments(here: Guide) -> None:
    pull, repo = here.pull(), here.repo(here.bot)
    commit = pull.get_commits()[0]
    made = pull.create_review_comment("on a line", commit, "a.py", line=10, side="RIGHT")
    pull.create_review_comment("on the file", commit, "new.py", subject_type="file")
    left = pull.create_review_comment("on the old line", commit, "a.py", line=10, side="LEFT")
    pull.create_review_comment_reply(made.id, "an answer")
    reply = {"body": "another", "in_reply_to": made.id, "commit_id": commit.sha, "path": "a.py"}
    raw(here.bot, "POST", f"/repos/{ORG}/code/pulls/1/comments", reply)
    made.edit("on that line")
    made.create_reaction("+1")
    assert [one.content for one in made.get_reactions()] == ["+1"]
    assert pull.get_review_comment(made.id).body == "on that line"
    assert len(list(pull.get_review_comments(sort="created", direction="asc", since=LONG_AGO))) == 7
    assert len(list(repo.get_pulls_review_comments(sort="updated", direction="desc"))) == 7
    left.delete()


def pulls(here: Guide) -> None:
    repo, pull = here.repo(here.bot), here.pull()
    head = f"{ORG}:topic"
    assert [one.number for one in repo.get_pulls(state="all", head=head, base="main", sort="updated")] == [1]
    assert {one.filename for one in pull.get_files()} == {"a.py", "new.py"}
    assert len(list(pull.get_commits())) == 1
    pull.create_review_request(reviewers=["bob"])
    assert [one.login for one in pull.get_review_requests()[0]] == ["bob"]
    assert "review_requested" in {one.event for one in pull.as_issue().get_timeline()}
    pull.delete_review_request(reviewers=["bob"])
    pull.create_review_request(reviewers=["assay[bot]"])
    here.gh.commit(f"{ORG}/code", "topic", {**HEAD, "a.py": BASE["a.py"], "more.py": b"x\n"}, "More", by="alice")
    assert None in {one.raw_data["line"] for one in pull.get_review_comments()}, "nothing is outdated"
    mine = here.repo(here.alice).get_pull(1)
    mine.edit(title="U", body="C", state="closed")
    mine.edit(state="open", base="main")
    for kind in ("diff", "patch"):
        accept = {"Accept": f"application/vnd.github.{kind}"}
        status, _, text = here.bot.requester.requestJson("GET", f"/repos/{ORG}/code/pulls/1", headers=accept)
        assert (status, "more.py" in text) == (200, True)


def checks(here: Guide) -> None:
    repo, sha = here.repo(here.bot), here.pull().head.sha
    note = {"path": "a.py", "start_line": 1, "end_line": 1, "annotation_level": "notice", "message": "m", "title": "t"}
    output: Any = {"title": "t", "summary": "s", "text": "x", "annotations": [note] * 50}
    queued = repo.create_check_run("early", sha, external_id="e1", details_url="http://127.0.0.1/d")
    queued.edit(status="in_progress", started_at=LONG_AGO)
    made = repo.create_check_run("lint", sha, status="completed", conclusion="neutral", output=output)
    made.edit(output={"title": "t", "summary": "s", "annotations": [note]})
    assert len(list(made.get_annotations())) == 51
    assert repo.get_check_run(made.id).conclusion == "neutral"
    commit = repo.get_commit(sha)
    assert [one.name for one in commit.get_check_runs(check_name="lint", status="completed", filter="all")] == ["lint"]
    raw(here.bot, "GET", f"/repos/{ORG}/code/commits/{sha}/check-runs", app_id=here.app.get_app().id, filter="latest")
    suite = next(iter(commit.get_check_suites()))
    assert repo.get_check_suite(suite.id).head_sha == sha
    assert {one.name for one in suite.get_check_runs()} == {"early", "lint"}
    raw(here.bob, "POST", f"/repos/{ORG}/code/check-runs/{made.id}/rerequest")
    queued.edit(status="completed", conclusion="success", completed_at=datetime.now(UTC))


def statuses(here: Guide) -> None:
    commit = here.repo(here.bob).get_commit(here.pull().head.sha)
    commit.create_status("pending", context="ci")
    commit.create_status("success", "http://127.0.0.1/t", "passed", "ci")
    listed = raw(here.bob, "GET", f"/repos/{ORG}/code/commits/{commit.sha}/statuses")
    assert [one["state"] for one in listed] == ["success", "pending"]
    combined = commit.get_combined_status()
    assert (combined.state, combined.total_count) == ("success", 1)


def registration(here: Guide) -> None:
    manifest = {
        "name": "Grey Heron",
        "url": "http://127.0.0.1/",
        "redirect_url": "http://127.0.0.1:1/done",
        "hook_attributes": {"url": NOWHERE},
        "default_permissions": {"checks": "write"},
        "default_events": ["issues"],
    }
    form = f"{here.gh.url}/organizations/{ORG}/settings/apps/new?state=s"
    sent = requests.post(form, data={"manifest": json.dumps(manifest)}, allow_redirects=False, timeout=10)
    code = parse_qs(urlsplit(sent.headers["Location"]).query)["code"][0]
    assert raw(here.alice, "POST", f"/app-manifests/{code}/conversions")["slug"] == "grey-heron"


def refusals(here: Guide) -> None:
    """Answers that are no success have a described form too."""
    wrong: list[tuple[Github, str, str, dict[str, Any] | None, int]] = [
        (here.bot, "GET", f"/repos/{ORG}/nothing", None, 404),
        (here.bot, "GET", f"/repos/{ORG}/code/issues/99", None, 404),
        (here.bot, "GET", f"/repos/{ORG}/code/pulls/2", None, 404),
        (here.bob, "GET", f"/repos/{ORG}/code/collaborators/nobody/permission", None, 404),
        (here.bot, "GET", f"/repos/{ORG}/code/git/ref/heads/nothing", None, 404),
        (here.alice, "POST", f"/orgs/{ORG}/repos", {"name": "code"}, 422),
        (here.bob, "POST", f"/repos/{ORG}/code/pulls", {"title": "T", "head": "topic", "base": "main"}, 422),
        (here.bot, "POST", f"/repos/{ORG}/code/git/refs", {"ref": "refs/heads/main", "sha": "0" * 40}, 422),
        (here.bob, "PATCH", f"/repos/{ORG}/code", {"description": "mine"}, 403),
        (here.bob, "DELETE", f"/repos/{ORG}/code", None, 403),
        (here.bot, "POST", f"/repos/{ORG}/code/issues/1/comments", {"body": " "}, 422),
    ]
    for who, method, path, body, status in wrong:
        try:
            raw(who, method, path, body)
        except GithubException as refused:
            assert refused.status == status, f"{method} {path}: {refused.status} {refused.data}"
        else:
            raise AssertionError(f"{method} {path} is not refused")


def hooks(here: Guide) -> None:
    assert here.gh.deliveries.wait_idle()
    config = {"url": NOWHERE, "content_type": "json", "secret": "another"}
    changed = raw(here.signed, "PATCH", "/app/hook/config", config)
    assert changed == raw(here.signed, "GET", "/app/hook/config")
    listed = raw(here.signed, "GET", "/app/hook/deliveries", per_page=5, status="failure")
    assert len(listed) == 5
    one = raw(here.signed, "GET", f"/app/hook/deliveries/{listed[0]['id']}")
    assert one["request"]["headers"]["X-GitHub-Delivery"] == one["guid"]
    raw(here.signed, "POST", f"/app/hook/deliveries/{one['id']}/attempts")
