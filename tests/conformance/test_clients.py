"""Other people's clients, which know nothing of us, get along with the sandbox."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import NoReturn
from urllib.parse import urlsplit

import pytest
from github.Repository import Repository
from githubkit import GitHub, TokenAuthStrategy
from githubkit.exception import RequestFailed

from tests.conformance.packages import REQUIRED
from tests.conformance.tour import BASE, HEAD, ORG, Guide

ISSUES = 7


def _kit(town: Guide) -> GitHub[TokenAuthStrategy]:
    token = town.gh.installation_token("assay", ORG)
    return GitHub(TokenAuthStrategy(token), base_url=town.gh.url, http_cache=False, auto_retry=False)


def test_githubkit_reads_and_writes_what_the_app_does(town: Guide) -> None:
    with _kit(town) as kit:
        api = kit.rest
        pull = api.pulls.get(ORG, "code", 1).parsed_data
        assert {one.filename for one in api.pulls.list_files(ORG, "code", 1).parsed_data} == {"a.py", "new.py"}
        comment = api.issues.create_comment(ORG, "code", 1, body="one").parsed_data
        assert api.issues.update_comment(ORG, "code", comment.id, body="two").parsed_data.body == "two"
        remark = {"path": "a.py", "line": 10, "side": "RIGHT", "body": "why"}
        review = api.pulls.create_review(ORG, "code", 1, body="R", event="COMMENT", comments=[remark]).parsed_data
        assert review.state == "COMMENTED"
        assert [one.line for one in api.pulls.list_review_comments(ORG, "code", 1).parsed_data] == [10]
        run = api.checks.create(
            ORG, "code", name="lint", head_sha=pull.head.sha, status="completed", conclusion="neutral"
        ).parsed_data
        listed = api.checks.list_for_ref(ORG, "code", pull.head.sha).parsed_data
        assert [one.id for one in listed.check_runs] == [run.id]
        assert api.repos.get_collaborator_permission_level(ORG, "code", "bob").parsed_data.permission == "write"
        assert api.repos.get_content(ORG, "code", "a.py").status_code == 200
        assert api.apps.list_repos_accessible_to_installation().parsed_data.total_count == 1


def test_githubkit_follows_the_pages(town: Guide) -> None:
    for number in range(ISSUES):
        town.gh.open_issue(f"{ORG}/code", f"I{number}", None, by="alice")
    with _kit(town) as kit:
        found = [
            one.title for one in kit.rest.paginate(kit.rest.issues.list_for_repo, owner=ORG, repo="code", per_page=3)
        ]
    assert found == [*(f"I{number}" for number in reversed(range(ISSUES))), "T"]


def test_githubkit_sees_a_refusal_as_one(town: Guide) -> None:
    with _kit(town) as kit, pytest.raises(RequestFailed) as refused:
        kit.rest.issues.get(ORG, "code", 99)
    assert refused.value.response.status_code == 404


def _missing(program: str) -> NoReturn:
    """Skip aloud; where clients are required and this one could be installed, that is a failure."""
    told = f"{program} is not installed, so nobody but our own clients was asked"
    if os.environ.get(REQUIRED) == "1" and _installable(program):
        pytest.fail(f"{told}; install the system's package {program}", pytrace=False)
    pytest.skip(told)


def _installable(package: str) -> bool:
    """Whether the system's package manager offers it."""
    lister = shutil.which("apt-cache")
    if lister is None:
        return False
    done = subprocess.run([lister, "policy", package], capture_output=True, text=True, timeout=60, check=False)
    candidate = re.search(r"Candidate: (\S+)", done.stdout)
    return candidate is not None and candidate[1] != "(none)"


def _gh(town: Guide, home: Path, *args: str) -> str:
    """The `gh` command; it speaks plain HTTP only to `github.localhost`, and reaches that through a proxy."""
    program = shutil.which("gh")
    if program is None:
        _missing("gh")
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "GH_HOST": "github.localhost",
        "GH_TOKEN": town.gh.installation_token("assay", ORG),
        "HTTP_PROXY": town.gh.url,
        "GH_NO_UPDATE_NOTIFIER": "1",
    }
    done = subprocess.run(
        [program, "api", *args], capture_output=True, text=True, env=environment, timeout=30, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_gh_reads_all_pages(town: Guide, tmp_path: Path) -> None:
    town.gh.create_repo(ORG, "open", files={"a.py": b"x\n"})
    for number in range(ISSUES):
        town.gh.open_issue(f"{ORG}/open", f"I{number}", None, by="alice")
    told = _gh(town, tmp_path, "--paginate", f"/repos/{ORG}/open/issues?per_page=3", "--jq", ".[].title")
    assert told.split() == [f"I{number}" for number in reversed(range(ISSUES))]


def test_gh_writes(town: Guide, tmp_path: Path) -> None:
    told = _gh(town, tmp_path, f"/repos/{ORG}/code/issues/1/comments", "-f", "body=from gh")
    assert urlsplit(json.loads(told)["html_url"]).fragment.startswith("issuecomment-")
    assert [one.body for one in town.repo(town.bot).get_issue(1).get_comments()] == ["from gh"]


def test_gh_reads_all_pages_of_a_conversation_and_of_a_list_inside_an_object(town: Guide, tmp_path: Path) -> None:
    # A public one: the links to further pages name a host for which `gh` has no token.
    town.gh.create_repo(ORG, "open", files=BASE)
    town.gh.commit(f"{ORG}/open", "topic", HEAD, "Change", by="alice")
    town.alice.get_repo(f"{ORG}/open").create_pull(title="T", body="B", head="topic", base="main")
    sha = _talk(town.bot.get_repo(f"{ORG}/open"))
    root = f"/repos/{ORG}/open"
    told = _gh(town, tmp_path, "--paginate", f"{root}/pulls/1/comments?per_page=3", "--jq", ".[].body")
    assert told.split("\n")[:-1] == [f"remark {number}" for number in range(REMARKS)]
    listed = _gh(
        town, tmp_path, "--paginate", f"{root}/commits/{sha}/check-runs?per_page=2", "--jq", ".check_runs[].name"
    )
    assert sorted(listed.split()) == [f"lint-{number}" for number in range(CHECKS)]


REMARKS, CHECKS = 8, 5


def _talk(repo: Repository) -> str:
    """A conversation of more than one page on the pull request; its head commit."""
    pull = repo.get_pull(1)
    sha = pull.head.sha
    commit = repo.get_commit(sha)
    for number in range(REMARKS):
        pull.create_review_comment(f"remark {number}", commit, "a.py", line=10, side="RIGHT")
    for number in range(CHECKS):
        repo.create_check_run(f"lint-{number}", sha, status="completed", conclusion="neutral")
    return sha


def test_githubkit_reads_a_conversation_whole(town: Guide) -> None:
    sha = _talk(town.repo(town.bot))
    pull = town.repo(town.bob).get_pull(1)
    pull.create_review(body="Looks odd", event="COMMENT")
    pull.create_issue_comment("Why?")
    pull.as_issue().create_reaction("eyes")
    with _kit(town) as kit:
        api = kit.rest
        where = {"owner": ORG, "repo": "code"}
        remarks = kit.rest.paginate(api.pulls.list_review_comments, **where, pull_number=1, per_page=3)
        assert [one.body for one in remarks] == [f"remark {number}" for number in range(REMARKS)]
        reviews = kit.rest.paginate(api.pulls.list_reviews, **where, pull_number=1, per_page=2)
        assert [one.body for one in reviews if one.body] == ["Looks odd"]
        assert [one.body for one in api.issues.list_comments(**where, issue_number=1).parsed_data] == ["Why?"]
        reactions = api.reactions.list_for_issue(**where, issue_number=1).parsed_data
        assert [one.content for one in reactions] == ["eyes"]
        runs = kit.rest.paginate(
            api.checks.list_for_ref, lambda page: page.parsed_data.check_runs, **where, ref=sha, per_page=2
        )
        assert sorted(one.name for one in runs) == [f"lint-{number}" for number in range(CHECKS)]
        assert api.repos.get_combined_status_for_ref(**where, ref=sha).parsed_data.statuses == []
        assert api.pulls.list_requested_reviewers(**where, pull_number=1).parsed_data.users == []


def _git(folder: Path, *args: str, code: int = 0) -> str:
    quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    names = {f"GIT_{who}_{what}": "x@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), **quiet, **names}
    done = subprocess.run(
        ["git", *args], cwd=folder, capture_output=True, text=True, env=environment, timeout=60, check=False
    )
    assert done.returncode == code, done.stderr
    return done.stdout.strip()


def test_git_fetches_one_commit_by_its_sha_and_pushes_from_where_history_ends(town: Guide, tmp_path: Path) -> None:
    head = town.pull().head.sha
    address = f"{town.gh.url}/{ORG}/code.git"
    _git(tmp_path, "init", "-q", "work")
    work = tmp_path / "work"
    _git(work, "fetch", "-q", "--depth", "1", address, head, code=128)
    token = town.gh.installation_token("assay", ORG)
    named = address.replace("://", f"://x-access-token:{token}@")
    _git(work, "fetch", "-q", "--depth", "1", named, head)
    assert _git(work, "rev-list", "--count", "FETCH_HEAD") == "1"
    _git(work, "checkout", "-q", "--orphan", "fresh", "FETCH_HEAD")
    _git(work, "commit", "-q", "-m", "fresh")
    _git(work, "push", "-q", named, "fresh:refs/heads/fresh")
    made = _git(work, "rev-parse", "fresh")
    assert town.repo(town.bot).get_branch("fresh").commit.sha == made
    assert _git(work, "ls-remote", "--heads", named, "fresh").split()[0] == made


def test_pygithub_adds_labels_with_a_bare_list(town: Guide) -> None:
    issue = town.repo(town.bob).get_issue(1)
    issue.add_to_labels("one", "two")
    assert {one.name for one in issue.get_labels()} == {"one", "two"}
