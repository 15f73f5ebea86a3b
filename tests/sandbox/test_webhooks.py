"""Deliveries: what an App's endpoint gets, what the deliveries API tells, and what goes wrong on the way."""

from __future__ import annotations

import hashlib
import hmac
import json
import uuid

import pytest
from gidgethub import ValidationFailure
from gidgethub.sansio import Event

from bot.sandbox.faults import Fault

from .conftest import SECRET, Receiver, Town


@pytest.fixture
def hooked(town: Town, receiver: Receiver) -> Town:
    town.gh.create_repo("acme", "code", private=True)
    assert town.gh.deliveries.wait_idle()
    town.gh.set_webhook("assay", receiver.url, SECRET)
    return town


def _open(town: Town, count: int = 1) -> None:
    for number in range(count):
        town.gh.open_issue("acme/code", f"issue {number} ünï", "body", by="alice")
    assert town.gh.deliveries.wait_idle()


def test_a_delivery_carries_a_signature_that_others_can_check(hooked: Town, receiver: Receiver) -> None:
    _open(hooked)
    headers, body = receiver.got[0]
    event = Event.from_http(headers, body, secret=SECRET)
    assert (event.event, event.data["action"], event.data["issue"]["title"]) == ("issues", "opened", "issue 0 ünï")
    assert event.data["installation"]["id"] == hooked.installation
    assert str(uuid.UUID(headers["x-github-delivery"])) == headers["x-github-delivery"]
    assert headers["user-agent"].startswith("GitHub-Hookshot/")
    assert headers["x-github-hook-installation-target-id"] == str(hooked.keys.app_id)
    assert headers["x-github-hook-installation-target-type"] == "integration"
    with pytest.raises(ValidationFailure):
        Event.from_http(headers, body.replace(b"body", b"b0dy"), secret=SECRET)
    right = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    assert headers["x-hub-signature-256"] == f"sha256={right}"


def test_only_subscribed_events_of_covered_repositories_arrive(hooked: Town, receiver: Receiver) -> None:
    hooked.gh.create_org("other", owner="bob")
    hooked.gh.create_repo("other", "theirs", private=False)
    hooked.gh.open_issue("other/theirs", "t", None, by="bob")
    _open(hooked)
    assert receiver.events() == ["issues.opened"]


def test_one_review_is_told_once_and_each_inline_comment_once(hooked: Town, receiver: Receiver) -> None:
    hooked.pull("prs")
    assert hooked.gh.deliveries.wait_idle()
    receiver.got.clear()
    comments = [{"path": "new.py", "line": line, "body": "x"} for line in (1, 2)]
    path = "/repos/acme/prs/pulls/1/reviews"
    hooked.ok("POST", path, hooked.token(), event="COMMENT", body="b", comments=comments)
    assert hooked.gh.deliveries.wait_idle()
    assert receiver.events() == ["pull_request_review.submitted", *["pull_request_review_comment.created"] * 2]
    assert json.loads(receiver.got[0][1])["review"]["state"] == "commented"


def test_a_comment_on_a_pull_request_says_so(hooked: Town, receiver: Receiver) -> None:
    hooked.pull("prs")
    assert hooked.gh.deliveries.wait_idle()
    hooked.gh.comment("acme/prs", 1, "hi", by="alice")
    assert hooked.gh.deliveries.wait_idle()
    assert "pull_request" in json.loads(receiver.got[-1][1])["issue"]


def test_a_failed_delivery_is_found_and_repeated_under_its_guid(hooked: Town, receiver: Receiver) -> None:
    receiver.answers = [500]
    _open(hooked)
    failed = hooked.ok("GET", "/app/hook/deliveries?status=failure", hooked.jwt())
    assert [(one["event"], one["action"], one["status_code"]) for one in failed] == [("issues", "opened", 500)]
    again = hooked.call("POST", f"/app/hook/deliveries/{failed[0]['id']}/attempts", hooked.jwt())
    assert again.status_code == 202
    assert hooked.gh.deliveries.wait_idle()
    assert [headers["x-github-delivery"] for headers, _ in receiver.got] == [failed[0]["guid"]] * 2
    assert receiver.got[0][1] == receiver.got[1][1]
    newest = hooked.ok("GET", "/app/hook/deliveries", hooked.jwt())[0]
    assert (newest["redelivery"], newest["status"], newest["guid"]) == (True, "OK", failed[0]["guid"])


def test_deliveries_are_read_page_by_page(hooked: Town) -> None:
    _open(hooked, 5)
    seen, url = [], "/app/hook/deliveries?per_page=2"
    while url:
        answer = hooked.call("GET", url, hooked.jwt())
        seen += [one["id"] for one in answer.json()]
        url = answer.links.get("next", {}).get("url", "").removeprefix(hooked.gh.url)
    assert len(seen) == 5
    assert seen == sorted(set(seen), reverse=True)
    whole = hooked.ok("GET", f"/app/hook/deliveries/{seen[0]}", hooked.jwt())
    assert whole["request"]["payload"]["action"] == "opened"
    assert "X-Hub-Signature-256" in whole["request"]["headers"]
    assert hooked.call("GET", "/app/hook/deliveries?cursor=junk", hooked.jwt()).status_code == 400


def test_an_endpoint_that_is_gone_is_a_failed_delivery(hooked: Town) -> None:
    hooked.gh.set_webhook("assay", "http://127.0.0.1:9/hook", SECRET)
    _open(hooked)
    failed = hooked.ok("GET", "/app/hook/deliveries?status=failure", hooked.jwt())
    assert failed[0]["status"] == "failed to connect to host"


def test_nothing_is_ever_sent_beyond_loopback(hooked: Town) -> None:
    hooked.gh.set_webhook("assay", "http://example.org/hook", SECRET)
    _open(hooked)
    assert hooked.ok("GET", "/app/hook/deliveries", hooked.jwt())[0]["status"] == "failed to connect to host"


@pytest.mark.parametrize(
    ("kind", "arrived", "told"),
    [
        ("drop_delivery", ["issue 1", "issue 2"], 3),
        ("lose_delivery", ["issue 1", "issue 2"], 2),
        ("duplicate_delivery", ["issue 0", "issue 0", "issue 1", "issue 2"], 3),
        ("reorder_delivery", ["issue 1", "issue 0", "issue 2"], 3),
    ],
)
def test_deliveries_go_wrong_on_request(
    hooked: Town, receiver: Receiver, kind: str, arrived: list[str], told: int
) -> None:
    hooked.gh.faults.add(Fault(kind, event="issues.*"))  # type: ignore[arg-type]
    _open(hooked, 3)
    titles = [json.loads(body)["issue"]["title"].removesuffix(" ünï") for _, body in receiver.got]
    assert titles == arrived
    assert len(hooked.ok("GET", "/app/hook/deliveries", hooked.jwt())) == told
    assert hooked.gh.faults.left() == 0


def test_a_duplicate_has_the_same_guid(hooked: Town, receiver: Receiver) -> None:
    hooked.gh.faults.add(Fault("duplicate_delivery"))
    _open(hooked)
    assert len({headers["x-github-delivery"] for headers, _ in receiver.got}) == 1


def test_a_delayed_delivery_comes_after_later_ones(hooked: Town, receiver: Receiver) -> None:
    hooked.gh.faults.add(Fault("delay_delivery", seconds=0.3))
    _open(hooked, 2)
    titles = [json.loads(body)["issue"]["title"] for _, body in receiver.got]
    assert titles == ["issue 1 ünï", "issue 0 ünï"]


def test_a_callback_that_fails_is_recorded_and_the_next_event_still_comes(town: Town) -> None:
    town.gh.create_repo("acme", "code", private=True)
    heard: list[str] = []

    def fragile(event: str, payload: dict[str, object]) -> None:
        heard.append(event)
        if len(heard) == 1:
            raise LookupError("first")

    town.gh.subscribe("assay", fragile)
    _open(town, 2)
    assert heard == ["issues", "issues"]
    assert [str(problem) for problem in town.gh.deliveries.failures] == ["first"]
    town.gh.deliveries.failures.clear()


def test_a_callback_may_act_on_the_sandbox_it_hears(town: Town) -> None:
    town.gh.create_repo("acme", "code", private=True)
    token = town.gh.installation_token("assay", "acme")

    def answer(event: str, payload: dict[str, dict[str, object]]) -> None:
        if event == "issues":
            town.ok("POST", f"/repos/acme/code/issues/{payload['issue']['number']}/comments", token, body="heard")

    town.gh.subscribe("assay", answer)
    _open(town)
    assert [one["body"] for one in town.ok("GET", "/repos/acme/code/issues/1/comments", token)] == ["heard"]


def test_an_app_that_writes_checks_hears_of_suites_without_asking(hooked: Town, receiver: Receiver) -> None:
    pull = hooked.pull("prs")
    run = {"name": "n", "head_sha": pull["head"]["sha"], "conclusion": "neutral"}
    hooked.ok("POST", "/repos/acme/prs/check-runs", hooked.token(), **run)
    assert hooked.gh.deliveries.wait_idle()
    assert "check_suite.requested" in receiver.events()
    assert receiver.events()[-3:] == ["check_run.created", "check_run.completed", "check_suite.completed"]


def test_the_address_of_the_webhook_can_be_changed(hooked: Town, receiver: Receiver) -> None:
    config = hooked.ok("GET", "/app/hook/config", hooked.jwt())
    assert (config["url"], config["secret"]) == (receiver.url, "********")
    hooked.ok("PATCH", "/app/hook/config", hooked.jwt(), url=receiver.url + "/2", secret="other")
    _open(hooked)
    assert Event.from_http(*receiver.got[0], secret="other").event == "issues"
