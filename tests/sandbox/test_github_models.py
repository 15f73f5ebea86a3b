"""What the sandbox says, read with models that were generated from GitHub's own description."""

from __future__ import annotations

from typing import Any

from githubkit.webhooks import parse_obj
from githubkit_schemas.latest import models
from pydantic import TypeAdapter

from .conftest import Town

CODE = "/repos/acme/code"


def _fill(town: Town) -> tuple[str, str]:
    """One of everything; the head sha and a token."""
    sha, token = town.pull()["head"]["sha"], town.token()
    comments = [{"path": "new.py", "line": 2, "start_line": 1, "side": "RIGHT", "start_side": "RIGHT", "body": "x"}]
    town.ok("POST", f"{CODE}/pulls/1/reviews", token, body="r", event="COMMENT", comments=comments)
    town.ok("POST", f"{CODE}/issues/1/comments", token, body="c")
    town.ok("POST", f"{CODE}/issues", town.alice, title="I", body="see #1", labels=["l"])
    town.ok("PATCH", f"{CODE}/issues/2", town.alice, state="closed", body="edited")
    note = {"path": "a.py", "start_line": 1, "end_line": 1, "annotation_level": "notice", "message": "m"}
    output = {"title": "t", "summary": "s", "annotations": [note]}
    town.ok("POST", f"{CODE}/check-runs", token, name="n", head_sha=sha, conclusion="neutral", output=output)
    town.ok("POST", f"{CODE}/statuses/{sha}", token, state="success")
    town.ok("POST", f"{CODE}/issues/1/reactions", token, content="eyes")
    return sha, token


ANSWERS: dict[str, Any] = {
    "": models.FullRepository,
    "/issues": list[models.Issue],
    "/issues/1": models.Issue,
    "/issues/1/comments": list[models.IssueComment],
    "/issues/1/reactions": list[models.Reaction],
    "/pulls": list[models.PullRequestSimple],
    "/pulls/1": models.PullRequest,
    "/pulls/1/files": list[models.DiffEntry],
    "/pulls/1/commits": list[models.Commit],
    "/pulls/1/reviews": list[models.PullRequestReview],
    "/pulls/1/comments": list[models.PullRequestReviewComment],
    "/commits/{sha}/status": models.CombinedCommitStatus,
    "/commits/{sha}/statuses": list[models.Status],
    "/branches": list[models.ShortBranch],
    "/branches/main": models.BranchWithProtection,
    "/git/ref/heads/main": models.GitRef,
    "/compare/main...topic": models.CommitComparison,
    "/contents/a.py": models.ContentFile,
}


def test_answers_read_with_githubs_models(town: Town) -> None:
    sha, token = _fill(town)
    for path, model in ANSWERS.items():
        found = town.ok("GET", CODE + path.replace("{sha}", sha), token)
        TypeAdapter(model).validate_python(found)


def test_answers_about_checks_read_with_githubs_models(town: Town) -> None:
    sha, token = _fill(town)
    runs = town.ok("GET", f"{CODE}/commits/{sha}/check-runs", token)["check_runs"]
    TypeAdapter(list[models.CheckRun]).validate_python(runs)
    suites = town.ok("GET", f"{CODE}/commits/{sha}/check-suites", token)["check_suites"]
    TypeAdapter(list[models.CheckSuite]).validate_python(suites)
    notes = town.ok("GET", f"{CODE}/check-runs/{runs[0]['id']}/annotations", token)
    TypeAdapter(list[models.CheckAnnotation]).validate_python(notes)


def test_answers_about_apps_read_with_githubs_models(town: Town) -> None:
    TypeAdapter(models.Integration).validate_python(town.ok("GET", "/app", town.jwt()))
    there = town.ok("GET", "/orgs/acme/installation", town.jwt())
    TypeAdapter(models.Installation).validate_python(there)
    TypeAdapter(models.OrganizationFull).validate_python(town.ok("GET", "/orgs/acme"))
    TypeAdapter(models.PrivateUser).validate_python(town.ok("GET", "/user", town.alice))
    TypeAdapter(models.PublicUser).validate_python(town.ok("GET", "/users/alice"))
    TypeAdapter(models.RateLimitOverview).validate_python(town.ok("GET", "/rate_limit"))


def test_webhooks_read_with_githubs_models(town: Town) -> None:
    heard: list[tuple[str, dict[str, Any]]] = []
    town.gh.subscribe("assay", lambda event, payload: heard.append((event, payload)))
    _fill(town)
    town.gh.commit("acme/code", "topic", {"a.py": b"x\n"}, "More", by="alice")
    town.ok("PATCH", f"{CODE}/pulls/1", town.alice, state="closed")
    town.ok("PATCH", CODE, town.token(), archived=True)
    assert town.gh.deliveries.wait_idle()
    names = {f"{event}.{payload.get('action')}" for event, payload in heard}
    wanted = {"issues.opened", "issue_comment.created", "pull_request.opened", "pull_request.synchronize", "push.None"}
    wanted |= {"pull_request_review.submitted", "pull_request_review_comment.created", "check_run.completed"}
    assert names >= wanted | {"check_suite.requested", "status.None", "repository.archived"}
    for event, payload in heard:
        parse_obj(event, payload)
