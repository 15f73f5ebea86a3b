"""Other people's clients, which know nothing of us, get along with the sandbox."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from githubkit import GitHub, TokenAuthStrategy
from githubkit.exception import RequestFailed

from tests.conformance.tour import ORG, Guide

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


def _gh(town: Guide, home: Path, *args: str) -> str:
    """The `gh` command; it speaks plain HTTP only to `github.localhost`, and reaches that through a proxy."""
    program = shutil.which("gh")
    if program is None:
        pytest.skip("gh is not installed")
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


def test_pygithub_adds_labels_with_a_bare_list(town: Guide) -> None:
    issue = town.repo(town.bob).get_issue(1)
    issue.add_to_labels("one", "two")
    assert {one.name for one in issue.get_labels()} == {"one", "two"}
