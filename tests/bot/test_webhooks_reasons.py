"""Why a delivery was refused or passed by, to the letter: an operator reads it in the log."""

from __future__ import annotations

import json

import pytest

from bot import webhooks
from bot.model import (
    Actor,
    Ignored,
    Installed,
    IssueCommented,
    IssueEdited,
    IssueOpened,
    PullActivity,
    Pushed,
    Rejected,
)
from bot.webhooks import GHOST, MAX_BODY, parse
from tests.bot.deliveries import APP_ID, REPO, SECRET, SHA, SLUG, Payload, headers, payload
from tests.bot.test_webhooks import read
from tests.bot.test_webhooks_edits import edited, pressed

NOBODY = {"sender": None}


def answered(body: bytes, **changed: str) -> object:
    given = {**headers("issues", body), **changed}
    return parse(given, body, secrets=[SECRET], app_id=APP_ID, app_slug=SLUG)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"[" * 200_000, "the body is nested too deeply"),
        (b"not json", "the body is not JSON"),
        (b'{"action": NaN}', "the body is not JSON"),
        (b"[]", "the body is not a JSON object"),
    ],
)
def test_a_body_that_cannot_be_read_says_what_is_wrong_with_it(body: bytes, reason: str) -> None:
    assert answered(body) == Rejected(400, reason)


def test_a_refusal_says_which_setting_is_wrong() -> None:
    form = answered(b"payload=%7B%7D", **{"Content-Type": "Application/X-WWW-Form-URLEncoded; charset=utf-8"})
    assert form == Rejected(400, "the webhook sends forms; set its content type to application/json")
    elsewhere = answered(b"{}", **{"X-GitHub-Hook-Installation-Target-ID": "4243"})
    assert elsewhere == Rejected(403, "the delivery is for another App or for a repository's own webhook")


def test_a_body_as_large_as_github_sends_is_looked_at_and_a_larger_one_is_not() -> None:
    largest = b" " * MAX_BODY
    unsigned = Rejected(401, "the signature is missing or does not match")
    assert parse({}, largest, secrets=[SECRET], app_id=APP_ID, app_slug=SLUG) == unsigned
    larger = parse({}, largest + b" ", secrets=[SECRET], app_id=APP_ID, app_slug=SLUG)
    assert larger == Rejected(413, "the body is larger than 26214400 bytes")


def test_a_target_id_with_blanks_or_none_at_all_is_no_other_apps() -> None:
    body = json.dumps(payload("issues")).encode()
    assert isinstance(answered(body, **{"X-GitHub-Hook-Installation-Target-ID": f" {APP_ID} "}), IssueOpened)
    given = headers("issues", body)
    del given["X-GitHub-Hook-Installation-Target-ID"]
    assert isinstance(parse(given, body, secrets=[SECRET], app_id=APP_ID, app_slug=SLUG), IssueOpened)


@pytest.mark.parametrize("event", ["ping", "y" * 60])
def test_an_event_we_do_not_use_is_named_and_cut_and_read_alike_with_and_without_a_signature(event: str) -> None:
    reason = Ignored(f"'{event[:40]}' is not an event we use")
    assert read(event, {}) == webhooks.read(event, {}, app_slug=SLUG) == reason


def test_a_payload_that_is_known_to_be_githubs_is_read_as_a_signed_one() -> None:
    for event in (*webhooks.EVENTS, "installation"):
        assert webhooks.read(event, payload(event), app_slug=SLUG) == read(event, payload(event))
    ours = {"sender": {"login": f"{SLUG}[bot]", "type": "Bot"}}
    assert webhooks.read("issues", payload("issues") | ours, app_slug=SLUG) == Ignored("our own event")


@pytest.mark.parametrize(
    ("event", "content", "reason"),
    [
        ("issues", {"action": "closed"},
         "a closed issue changes nothing: its run goes on, and can still be commanded"),
        ("issues", {"action": "reopened"}, "a reopened issue changes nothing: its run is what it was"),
        ("issues", {"action": "deleted"}, "the issue is gone: its run goes on, and nobody is left to tell"),
        ("issues", {"action": "transferred"},
         "the issue was transferred: the people of its new place are not asked, and its run goes on"),
        ("issues", {"action": "pinned"}, "only an issue's opening and its text are of use"),
        ("issues", {"issue": {"pull_request": {}}}, "the issue is a pull request"),
        ("issues", {"action": "edited", "changes": {}}, "the issue's text is what it was"),
        ("issue_comment", {"action": "edited"}, "only a new comment is a command"),
        ("pull_request", {"action": "labeled"},
         "pull_request is of use only when opened, synchronize, closed, reopened, edited"),
        ("pull_request_review", {"action": "x"},
         "pull_request_review is of use only when submitted, edited, dismissed"),
        ("pull_request_review_comment", {"action": "x"},
         "pull_request_review_comment is of use only when created, edited, deleted"),
        ("issue_comment", {"action": "x", "issue": {"pull_request": {}}},
         "issue_comment is of use only when created, edited, deleted"),
        ("check_run", {"action": "rerequested"}, "check_run is of use only when created, completed"),
        ("status", {"state": "x"}, "status is of use only when error, failure, pending, success"),
        ("push", {"ref": "refs/heads/topic"}, "only a push to the default branch is of use"),
        ("push", {"deleted": True}, "the branch is gone"),
        ("push", {"after": "0" * 40}, "the branch is gone"),
        ("installation", {"action": "deleted"}, "only a new installation is of use"),
    ],
)  # fmt: skip
def test_what_is_passed_by_says_why(event: str, content: Payload, reason: str) -> None:
    assert read(event, payload(event) | content) == Ignored(reason)


def test_a_button_that_is_none_of_ours_or_of_no_installation_says_so() -> None:
    assert read("check_run", pressed(requested_action=None)) == Ignored("the button is none of ours")
    gone = Ignored("not sent for an installation of the App")
    assert read("check_run", pressed(installation=None)) == gone
    assert read("issue_comment", payload("issue_comment") | {"installation": None}) == gone


@pytest.mark.parametrize(
    ("event", "content", "reason"),
    [
        ("issues", {"repository": {"full_name": "acme"}}, "repository.full_name is missing or not owner/name"),
        ("issues", {"repository": {"full_name": "acme/."}}, "repository.full_name is missing or not owner/name"),
        ("check_run", pressed(check_run={"id": 5}), "check_run.head_sha is missing or not a commit"),
        ("pull_request", {"pull_request": {}, "number": 0}, "pull_request names neither a pull request nor a commit"),
        ("installation", {"installation": {"id": 7}}, "installation.account.login is missing or not a login"),
        ("installation", {"installation": {"account": {"login": "acme"}}},
         "installation.id is missing or not a positive whole number"),
        ("issue_comment", {"comment": {}}, "comment.id is missing or not a positive whole number"),
        ("check_run", pressed(check_run={"head_sha": SHA}), "check_run.id is missing or not a positive whole number"),
    ],
)  # fmt: skip
def test_what_lacks_a_field_says_which(event: str, content: Payload, reason: str) -> None:
    assert read(event, payload(event) | content) == Rejected(400, reason)


@pytest.mark.parametrize("event", ["issues", "issue_comment", "push", "installation"])
def test_what_a_deleted_account_did_was_done_by_a_ghost(event: str) -> None:
    answer = read(event, payload(event) | NOBODY)
    assert isinstance(answer, IssueOpened | IssueCommented | Pushed | Installed)
    assert answer.sender == GHOST == Actor("ghost", "User")
    changed = read("issues", edited(sender=None))
    assert isinstance(changed, IssueEdited) and changed.sender == GHOST


@pytest.mark.parametrize(
    ("kind", "read_as"), [("Organization", "Organization"), ("x" * 20, "x" * 20), ("x" * 21, "Bot"), ("a b", "Bot")]
)
def test_a_type_that_is_no_word_is_told_from_the_login(kind: str, read_as: str) -> None:
    answer = read("push", payload("push") | {"sender": {"login": "zeta[bot]", "type": kind}})
    assert isinstance(answer, Pushed)
    assert answer.sender == Actor("zeta[bot]", read_as)


@pytest.mark.parametrize("kind", ["", None, "a b"])
def test_a_person_without_a_type_is_a_person(kind: str | None) -> None:
    answer = read("push", payload("push") | {"sender": {"login": "dev-one", "type": kind}})
    assert isinstance(answer, Pushed)
    assert answer.sender == Actor("dev-one", "User")


@pytest.mark.parametrize("number", [1, 2**63 - 1])
def test_the_smallest_and_the_largest_number_are_numbers(number: int) -> None:
    answer = read("push", payload("push") | {"installation": {"id": number}})
    assert isinstance(answer, Pushed)
    assert answer.installation == number


@pytest.mark.parametrize(("full_name", "read_as"), [(None, "zeta/tools"), ("acme/control", "acme/control")])
def test_a_repository_without_its_full_name_is_known_by_its_parts(full_name: str | None, read_as: str) -> None:
    parts = {"name": "tools", "owner": {"login": "zeta"}, "default_branch": "main"}
    answer = read("push", payload("push") | {"repository": parts | {"full_name": full_name}})
    assert isinstance(answer, Pushed)
    assert str(answer.repo) == read_as


def test_activity_may_name_the_pull_request_outside_or_the_commit_alone() -> None:
    outside = read("pull_request", payload("pull_request") | {"pull_request": {}})
    assert isinstance(outside, PullActivity)
    assert (outside.pull, outside.head_sha, outside.repo) == (5, None, REPO)
    commit = read("pull_request", payload("pull_request") | {"pull_request": {"head": {"sha": SHA}}, "number": None})
    assert isinstance(commit, PullActivity)
    assert (commit.pull, commit.head_sha) == (None, SHA)


@pytest.mark.parametrize("state", ["error", "failure", "pending", "success"])
def test_a_commit_status_is_of_use_in_every_state(state: str) -> None:
    answer = read("status", payload("status") | {"state": state})
    assert isinstance(answer, PullActivity)
    assert answer.what == f"status.{state}"
