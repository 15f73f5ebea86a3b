"""GitHub's own example payloads, signed and handed to the App: read or cleanly ignored, never an exception."""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from bot.model import Event, Ignored, IssueCommented, IssueEdited, IssueOpened, PullActivity, Rejected
from bot.webhooks import parse
from tests.bot.deliveries import APP_ID, SECRET, SLUG, headers

Payload = dict[str, Any]
Examples = dict[str, list[Payload]]
COUNTS = {
    "issues": 29,
    "issue_comment": 9,
    "pull_request_review": 4,
    "pull_request_review_comment": 5,
    "check_run": 9,
}
INSTALLATION = {"id": 77, "node_id": "MDIz"}


def read(event: str, payload: Payload) -> Event | Ignored | Rejected:
    body = json.dumps(payload).encode()
    return parse(headers(event, body), body, secrets=[SECRET], app_id=APP_ID, app_slug=SLUG)


def installed(payload: Payload) -> Payload:
    return {**copy.deepcopy(payload), "installation": INSTALLATION}


def on_pull(payload: Payload) -> Payload:
    made = installed(payload)
    made["issue"]["pull_request"] = {"url": f"{made['repository']['url']}/pulls/{made['issue']['number']}"}
    return made


def each(examples: Examples) -> Iterator[tuple[str, Payload]]:
    for event in COUNTS:
        yield from ((event, payload) for payload in examples[event])


def outcomes(examples: Examples, change: Callable[[Payload], Payload], *events: str) -> Counter[tuple[str, str]]:
    """How the payloads of some events are read: (event and action, kind of result)."""
    found: Counter[tuple[str, str]] = Counter()
    for event, payload in each(examples):
        if event in events:
            result = read(event, change(payload))
            assert not isinstance(result, Rejected), f"{event}.{payload['action']}: {result}"
            found[f"{event}.{payload['action']}", type(result).__name__] += 1
    return found


def test_all_examples_of_our_events_are_here(examples: Examples) -> None:
    assert {event: len(examples[event]) for event in COUNTS} == COUNTS


@pytest.mark.parametrize("event", list(COUNTS))
def test_an_example_as_it_is_never_breaks_the_reader(examples: Examples, event: str) -> None:
    found = outcomes(examples, copy.deepcopy, event)
    assert sum(found.values()) == COUNTS[event]


def test_an_example_for_our_installation_is_read_as_what_it_is(examples: Examples) -> None:
    found = outcomes(examples, installed, *COUNTS)
    read_as = {name: kind for name, kind in found if kind != "Ignored"}
    assert read_as == {
        "issues.opened": "IssueOpened",
        "issue_comment.created": "IssueCommented",
        "pull_request_review.submitted": "PullActivity",
        "pull_request_review.dismissed": "PullActivity",
        "pull_request_review_comment.created": "PullActivity",
        "pull_request_review_comment.edited": "PullActivity",
        "pull_request_review_comment.deleted": "PullActivity",
        "check_run.created": "PullActivity",
        "check_run.completed": "PullActivity",
    }


def test_an_edited_text_and_a_button_of_ours_are_read(examples: Examples) -> None:
    def changed(payload: Payload) -> Payload:
        made = installed(payload) | {"changes": {"body": {"from": "before"}}}
        return made | {"requested_action": {"identifier": "cleanup"}}

    found = outcomes(examples, changed, "issues", "check_run")
    kinds = {name: kind for name, kind in found if kind in ("IssueEdited", "ButtonPressed")}
    assert kinds == {"issues.edited": "IssueEdited", "check_run.requested_action": "ButtonPressed"}


def test_an_example_on_a_pull_request_is_activity_and_never_a_command(examples: Examples) -> None:
    found = outcomes(examples, on_pull, "issues", "issue_comment")
    assert {kind for name, kind in found if name.startswith("issues.")} == {"Ignored"}
    comments = {name: kind for name, kind in found if name.startswith("issue_comment.") and kind != "Ignored"}
    assert set(comments.values()) == {"PullActivity"}
    assert "issue_comment.created" in comments


def test_what_is_read_names_the_examples_own_numbers(examples: Examples) -> None:
    for event, payload in each(examples):
        result = read(event, installed(payload))
        if isinstance(result, IssueOpened | IssueEdited | IssueCommented):
            assert (result.issue, result.issue_id) == (payload["issue"]["number"], payload["issue"]["id"])
            assert str(result.repo) == payload["repository"]["full_name"]
        if isinstance(result, IssueCommented):
            assert (result.comment_id, result.body) == (payload["comment"]["id"], payload["comment"]["body"])
        if isinstance(result, PullActivity) and event.startswith("pull_request"):
            assert result.pull == payload["pull_request"]["number"]
            assert result.head_sha == payload["pull_request"]["head"]["sha"]
        if isinstance(result, PullActivity) and event == "check_run":
            assert result.head_sha == payload["check_run"]["head_sha"]


def test_an_example_with_a_wrong_signature_is_refused(examples: Examples) -> None:
    for event, payload in each(examples):
        body = json.dumps(installed(payload)).encode()
        sent = headers(event, body)
        result = parse(sent, body + b" ", secrets=[SECRET], app_id=APP_ID, app_slug=SLUG)
        assert isinstance(result, Rejected)
        assert result.status == 401
