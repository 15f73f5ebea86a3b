"""The checker itself: what GitHub would refuse or never answer does not get past it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.conformance.allowed import ANSWERS, Allowed, beyond, unused
from tests.conformance.hooks import HookFinding, Hooks
from tests.conformance.recording import Tape
from tests.conformance.rest import Exchange, Finding, Rest

Json = Any
CHECK_RUNS = "POST /repos/{owner}/{repo}/check-runs"
NOTE = {"path": "a.py", "start_line": 1, "end_line": 1, "annotation_level": "notice", "message": "m"}
GOOD = {"name": "lint", "head_sha": "f" * 40, "status": "completed", "conclusion": "neutral"}


def asked(method: str, path: str, body: Json = None, query: str = "", kind: str = "application/json") -> Exchange:
    data = b"" if body is None else json.dumps(body).encode()
    answer = json.dumps({"message": "Not Found", "documentation_url": "", "status": "404"}).encode()
    kind_of_answer = "application/json; charset=utf-8"
    return Exchange("t", method, path, query, kind, data, "", 404, kind_of_answer, answer)


def requests(rest: Rest, exchange: Exchange) -> list[Finding]:
    return [one for one in rest.check(exchange) if one.side == "request"]


def with_output(**output: Json) -> dict[str, Json]:
    return {**GOOD, "output": {"title": "t", "summary": "s", **output}}


@pytest.mark.parametrize(
    "body",
    [
        GOOD,
        with_output(annotations=[NOTE] * 50),
        {"name": "lint", "head_sha": "f" * 40, "started_at": "2026-01-01T00:00:00Z"},
    ],
)
def test_a_good_request_passes(rest: Rest, body: Json) -> None:
    assert requests(rest, asked("POST", "/repos/a/b/check-runs", body)) == []


@pytest.mark.parametrize(
    ("body", "where", "problem"),
    [
        ({"name": "lint"}, "body", "required: 'head_sha'"),
        ({**GOOD, "name": 7}, "body/name", "type: 7 is not of type 'string'"),
        ({**GOOD, "conclusion": "passed"}, "body/conclusion", "enum: 'passed'"),
        ({**GOOD, "conclusoin": "neutral"}, "body/conclusoin", "undeclared field"),
        ({**GOOD, "started_at": "yesterday"}, "body/started_at", "format: 'yesterday'"),
        ({**GOOD, "external_id": None}, "body/external_id", "type: None"),
        (with_output(annotations=[NOTE] * 51), "body/output/annotations", "maxItems"),
        (
            with_output(annotations=[{**NOTE, "annotation_level": "error"}]),
            "body/output/annotations/*",
            "enum: 'error'",
        ),
        (with_output(annotations=[{**NOTE, "line": 1}]), "body/output/annotations/*/line", "undeclared field"),
        (with_output(summary=None), "body/output/summary", "type: None"),
        ([GOOD], "body", "type: "),
        (None, "body", "required body is missing"),
    ],
)
def test_a_body_that_github_would_refuse_is_found(rest: Rest, body: Json, where: str, problem: str) -> None:
    found = requests(rest, asked("POST", "/repos/a/b/check-runs", body))
    assert found
    assert {one.operation for one in found} == {CHECK_RUNS}
    assert any(one.where.startswith(where) and one.problem.startswith(problem) for one in found), found


@pytest.mark.parametrize(
    ("exchange", "where", "problem"),
    [
        (asked("POST", "/repos/a/b/check-run", GOOD), "path", "there is no such operation"),
        (asked("PUT", "/repos/a/b/check-runs", GOOD), "path", "there is no such operation"),
        (asked("GET", "/repos/a/b/issues/one"), "path/issue_number", "type: 'one' is not of type 'integer'"),
        (asked("GET", "/repos/a/b/issues", query="states=all"), "query/states", "undeclared parameter"),
        (asked("GET", "/repos/a/b/issues", query="state=merged"), "query/state", "enum: 'merged'"),
        (asked("GET", "/repos/a/b/issues", query="page=first"), "query/page", "type: 'first'"),
        (asked("GET", "/repos/a/b/issues", query="since=today"), "query/since", "format: 'today'"),
        (asked("GET", "/search/issues"), "query/q", "required parameter is missing"),
        (asked("POST", "/repos/a/b/issues", {"title": "t"}, kind="text/plain"), "body", "content type text/plain"),
        (replace(asked("POST", "/repos/a/b/issues", {}), body=b"{"), "body", "not JSON"),
        (asked("DELETE", "/repos/a/b", {"sure": True}), "body", "the operation takes none"),
    ],
)
def test_a_request_that_goes_astray_is_found(rest: Rest, exchange: Exchange, where: str, problem: str) -> None:
    found = requests(rest, exchange)
    assert any(one.where == where and one.problem.startswith(problem) for one in found), found


def test_of_two_operations_that_fit_the_more_exact_is_meant(rest: Rest) -> None:
    names = {
        "/repos/a/b/commits/heads/x/check-runs": "/repos/{owner}/{repo}/commits/{ref}/check-runs",
        "/repos/a/b/commits/heads/x": "/repos/{owner}/{repo}/commits/{ref}",
        "/repos/a/b/issues/comments": "/repos/{owner}/{repo}/issues/comments",
        "/repos/a/b/contents/x/y.py": "/repos/{owner}/{repo}/contents/{path}",
        "/repos/a/b/contents": "/repos/{owner}/{repo}/contents/{path}",
        "/repos/a/b/git/ref/heads/x/y": "/repos/{owner}/{repo}/git/ref/{ref}",
    }
    found = {path: rest.find("GET", path) for path in names}
    assert {path: one.path for path, one in found.items() if one} == names


# --- answers: good ones of the tour, spoiled ------------------------------------------------------------------------


def good(rest: Rest, toured: Tape, operation: str, status: int) -> Exchange:
    for one in toured.exchanges:
        found = rest.find(one.method, one.path)
        if found and found.name == operation and one.status == status:
            return one
    raise AssertionError(f"the tour holds no {operation}")


def spoiled(exchange: Exchange, spoil: Callable[[Json], object]) -> Exchange:
    answer = json.loads(exchange.answer)
    spoil(answer)
    return replace(exchange, answer=json.dumps(answer).encode())


@pytest.mark.parametrize(
    ("spoil", "where", "problem"),
    [
        (lambda run: run.pop("html_url"), "201", "required: 'html_url'"),
        (lambda run: run.update(status="done"), "201/status", "enum: 'done'"),
        (lambda run: run.update(id=str(run["id"])), "201/id", "type: "),
        (lambda run: run["output"].update(annotations_count=None), "201/output/annotations_count", "type: None"),
        (lambda run: run["output"].update(annotations=[]), "201/output/annotations", "undeclared field"),
        (lambda run: run["app"].update(created_at="2026-01-01 at noon"), "201/app", ""),
    ],
)
def test_an_answer_that_github_would_not_give_is_found(
    rest: Rest, toured: Tape, spoil: Callable[[Json], object], where: str, problem: str
) -> None:
    whole = good(rest, toured, CHECK_RUNS, 201)
    assert list(rest.check(whole)) == []
    found = list(rest.check(spoiled(whole, spoil)))
    assert found
    assert {one.side for one in found} == {"answer"}
    assert any(one.where.startswith(where) and one.problem.startswith(problem) for one in found), found
    assert not any(entry.covers(one.operation, one.where, one.problem) for entry in ANSWERS for one in found)


@pytest.mark.parametrize(
    ("changes", "where", "problem"),
    [
        ({"status": 418}, "status 418", "undocumented status"),
        ({"answer": b""}, "201", "the body is missing"),
        ({"answer": b"<html>"}, "201", "not JSON"),
        ({"answer_type": "text/html"}, "201", "content type text/html"),
    ],
)
def test_an_answer_of_another_kind_is_found(
    rest: Rest, toured: Tape, changes: dict[str, Any], where: str, problem: str
) -> None:
    found = list(rest.check(replace(good(rest, toured, CHECK_RUNS, 201), **changes)))
    assert [(one.where, one.problem[: len(problem)]) for one in found] == [(where, problem)]


def test_a_body_where_there_is_none_is_found(rest: Rest, toured: Tape) -> None:
    whole = good(rest, toured, "DELETE /repos/{owner}/{repo}", 204)
    assert list(rest.check(whole)) == []
    assert [one.problem for one in rest.check(replace(whole, answer=b"{}"))] == ["the description has no body"]


def test_null_is_taken_only_where_the_description_allows_it(rest: Rest, toured: Tape) -> None:
    issue = good(rest, toured, "GET /repos/{owner}/{repo}/issues/{issue_number}", 200)
    assert list(rest.check(spoiled(issue, lambda told: told.update(state_reason=None, user=None)))) == []
    found = list(rest.check(spoiled(issue, lambda told: told.update(number=None))))
    assert {one.where for one in found} == {"200/number"}


def test_an_allowance_covers_its_own_kind_only_and_is_missed_when_idle() -> None:
    entry = Allowed("GET /repos/*", "200*/line", "type: None *", "because")
    covered = ("GET /repos/{owner}", "200/*/line", "type: None for not nullable")
    others = [("POST /repos/{owner}", *covered[1:]), (covered[0], "200/*/lines", covered[2]), (*covered[:2], "enum: x")]
    assert beyond([covered, *others], [entry]) == others
    assert unused([covered], [entry]) == []
    assert unused(others, [entry]) == ["GET /repos/* 200*/line"]


# --- webhooks -----------------------------------------------------------------------------------------------------


def test_a_webhook_that_github_would_not_send_is_found(hooks: Hooks, toured: Tape) -> None:
    whole = next(one.payload for one in toured.told if one.event == "check_run")
    assert list(hooks.check("check_run", whole)) == []
    lacking = {name: value for name, value in whole.items() if name != "check_run"}
    more = {**whole, "check_run": {**whole["check_run"], "verdict": "good"}}
    assert [one.problem for one in hooks.check("check_run", lacking)] == [
        "required: 'check_run' is a required property"
    ]
    assert [one.where for one in hooks.check("check_run", more)] == ["payload/check_run/verdict"]
    assert list(hooks.check("check_run", {**whole, "action": "finished"})) == [
        HookFinding("check-run-finished", "name", "there is no such webhook")
    ]


def test_a_webhook_without_its_signature_is_found(hooks: Hooks) -> None:
    headers = dict.fromkeys(
        ("User-Agent", "X-GitHub-Hook-ID", "X-GitHub-Event", "X-GitHub-Hook-Installation-Target-ID"), "x"
    ) | dict.fromkeys(("X-GitHub-Hook-Installation-Target-Type", "X-GitHub-Delivery"), "x")
    found = list(hooks.check_headers("issues-opened", headers))
    assert [one.where for one in found] == ["header/X-Hub-Signature-256"]
