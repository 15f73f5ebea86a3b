"""All traffic of a whole run and of a tour of the sandbox is as GitHub describes it."""

from __future__ import annotations

import json
from collections.abc import Iterable

import pytest
from gidgethub.sansio import Event
from githubkit.webhooks import parse_obj
from pydantic import ValidationError

from bot.demo.world import SECRET
from bot.sandbox.routing import ROUTES
from tests.conformance.allowed import ANSWERS, MODELS, WEBHOOKS, Where, beyond, unused
from tests.conformance.conftest import Run
from tests.conformance.hooks import Hooks, hook_name
from tests.conformance.recording import Tape, Told
from tests.conformance.rest import Exchange, Finding, Rest, Side


def _findings(rest: Rest, exchanges: Iterable[Exchange], side: Side) -> list[Where]:
    found: Iterable[Finding] = (one for exchange in exchanges for one in rest.check(exchange))
    return sorted({(one.operation, one.where, one.problem) for one in found if one.side == side})


def _webhooks(hooks: Hooks, told: Iterable[Told]) -> list[Where]:
    found = {finding for one in told for finding in hooks.check(one.event, one.payload)}
    return sorted((one.hook, one.where, one.problem) for one in found)


def _models(told: Iterable[Told]) -> list[Where]:
    """What githubkit's models, which are made from GitHub's own schemas, refuse."""
    found = set()
    for one in told:
        try:
            parse_obj(one.event, one.payload)
        except ValidationError as problem:
            fields = {str(error["loc"][-1]) for error in problem.errors() if error["type"] == "missing"}
            found.add((hook_name(one.event, one.payload), "payload", f"missing: {', '.join(sorted(fields))}"))
    return sorted(found)


def _distinct(told: Iterable[Told]) -> list[Told]:
    """Each event once, however many Apps heard of it."""
    kept = {}
    for one in told:
        kept[one.event, json.dumps({**one.payload, "installation": None}, sort_keys=True)] = one
    return list(kept.values())


# --- the REST API -------------------------------------------------------------------------------------------------


def test_every_request_of_a_run_is_one_that_github_describes(rest: Rest, run: Run) -> None:
    assert _findings(rest, run.tape.exchanges, "request") == []


def test_every_request_of_the_tour_is_one_that_github_describes(rest: Rest, toured: Tape) -> None:
    assert _findings(rest, toured.exchanges, "request") == []


def test_every_answer_is_one_that_github_describes(rest: Rest, run: Run, toured: Tape) -> None:
    found = _findings(rest, [*run.tape.exchanges, *toured.exchanges], "answer")
    assert beyond(found, ANSWERS) == []
    assert unused(found, ANSWERS) == [], "nothing needs these allowances any more"


def test_the_record_of_a_run_holds_the_app_and_the_reviewers(rest: Rest, run: Run) -> None:
    agents = {one.agent for one in run.tape.exchanges}
    assert agents >= {"assay", "quillreview[bot]", "gatewatch[bot]", "lintwarden[bot]", "meterbot[bot]"}
    ours = [one for one in run.tape.exchanges if one.agent == "assay"]
    made = {found.name for one in ours if (found := rest.find(one.method, one.path)) and one.method != "GET"}
    assert made >= {
        "POST /app/installations/{installation_id}/access_tokens",
        "POST /orgs/{org}/repos",
        "POST /repos/{owner}/{repo}/pulls",
        "POST /repos/{owner}/{repo}/issues/{issue_number}/comments",
        "PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}",
        "POST /repos/{owner}/{repo}/check-runs",
    }


def _described(rest: Rest) -> dict[str, str]:
    """The sandbox's operations and GitHub's names of them."""
    own = [("GET", "/rate_limit"), ("POST", "/app-manifests/{code}/conversions")]
    named = {}
    for method, template in [*((one.method, one.template) for one in ROUTES), *own]:
        example = template.replace("{span}", "main...topic").replace("{", "").replace("}", "")
        found = rest.find(method, example)
        named[f"{method} {template}"] = found.name if found else "none"
    return named


def test_every_route_of_the_sandbox_is_an_operation_of_github(rest: Rest) -> None:
    named = _described(rest)
    assert len(named) > 90
    assert [route for route, name in named.items() if name == "none"] == []
    several = {"GET /repos/{owner}/{repo}/contents/{path}"}
    names = [name for name in named.values() if name not in several]
    assert len(names) == len(set(names)), "two routes answer for one operation"


def test_the_tour_visits_every_route_and_each_answers_well(rest: Rest, toured: Tape) -> None:
    good = [one for one in toured.exchanges if one.status < 300]
    visited = {found.name for one in good if (found := rest.find(one.method, one.path))}
    assert set(_described(rest).values()) - visited == set()


# --- webhooks -----------------------------------------------------------------------------------------------------


def test_every_webhook_is_one_that_github_describes(hooks: Hooks, run: Run, toured: Tape) -> None:
    told = [*run.tape.told, *toured.told]
    assert len({hook_name(one.event, one.payload) for one in told}) > 30
    found = _webhooks(hooks, told)
    assert beyond(found, WEBHOOKS) == []
    assert unused(found, WEBHOOKS) == [], "nothing needs these allowances any more"


def test_every_webhook_reads_with_models_made_from_githubs_schemas(run: Run, toured: Tape) -> None:
    found = _models(_distinct([*run.tape.told, *toured.told]))
    assert beyond(found, MODELS) == []
    assert unused(found, MODELS) == [], "nothing needs these allowances any more"


def test_every_delivery_has_the_headers_that_github_describes(hooks: Hooks, run: Run) -> None:
    assert {one.event for one in run.deliveries} >= {"installation", "issues", "issue_comment", "check_run"}
    for one in run.deliveries:
        assert list(hooks.check_headers(hook_name(one.event, json.loads(one.body)), one.headers)) == []


def test_every_delivery_proves_itself_to_another_client(run: Run) -> None:
    for one in run.deliveries:
        headers = {name.lower(): value for name, value in one.headers.items()}
        event = Event.from_http(headers, one.body, secret=SECRET)
        assert (event.event, event.data) == (one.event, json.loads(one.body))
        with pytest.raises(Exception, match="signature"):
            Event.from_http(headers, one.body + b" ", secret=SECRET)
