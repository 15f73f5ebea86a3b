"""Deliveries: who signed them, which of them are ours, and what they say."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable
from typing import Any

import pytest

from bot.model import Actor, Ignored, Installed, IssueCommented, IssueOpened, PullActivity, Rejected, RepoName
from bot.webhooks import EVENTS, GHOST, MAX_BODY, delivery_id, parse, verify
from tests.bot.deliveries import APP_ID, REPO, SECRET, SHA, SLUG, Payload, headers, payload, sign
from tests.shared import case, case_file


def read(event: str, content: Payload, **changed: str) -> object:
    body = json.dumps(content).encode()
    return parse({**headers(event, body), **changed}, body, secrets=[SECRET], app_id=APP_ID, app_slug=SLUG)


# --- signatures -------------------------------------------------------------------------------------------------


def test_the_signature_is_over_the_raw_bytes_of_the_shared_case() -> None:
    shared = case("09")
    secret = shared["input"]["secret"].encode()
    body = case_file(shared["input"]["raw_body_file"])
    signature = shared["input"]["headers"]["X-Hub-Signature-256"]
    assert verify([secret], body, signature) is shared["expected"]["valid"]
    variants = {
        "upper_case_hex": verify([secret], body, f"sha256={signature.removeprefix('sha256=').upper()}"),
        "sha1_header_only": verify([secret], body, f"sha1={hmac.new(secret, body, hashlib.sha1).hexdigest()}"),
        "missing_header": verify([secret], body, None),
        "body_plus_newline": verify([secret], body + b"\n", signature),
        "json_dumps_of_parsed_body": verify([secret], json.dumps(json.loads(body)).encode(), signature),
    }
    assert variants == shared["expected"]["invalid_variants"]


def test_githubs_published_example_verifies() -> None:
    digest = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    assert verify([b"It's a Secret to Everybody"], b"Hello, World!", f"sha256={digest}")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda good: good[:-1],
        lambda good: good + "0",
        lambda good: f" {good}",
        lambda good: f"{good}\n",
        lambda good: good.replace("sha256=", "SHA256="),
        lambda good: good.removeprefix("sha256="),
        lambda good: good[:-1] + "\N{FULLWIDTH DIGIT ONE}",
        lambda good: good[:-1] + "\ud800",
        lambda good: "",
    ],
)
def test_no_lookalike_signature_verifies(spoil: Callable[[str], str]) -> None:
    body = "Zug fährt \N{STEAM LOCOMOTIVE}".encode()
    good = sign(body)
    assert verify([SECRET], body, good)
    assert not verify([SECRET], body, spoil(good))


def test_both_secrets_work_while_one_is_rotated_and_an_empty_one_never_does() -> None:
    body = b"{}"
    assert verify([b"new", SECRET], body, sign(body))
    assert verify([SECRET, b"old"], body, sign(body))
    assert not verify([], body, sign(body))
    assert not verify([b"", b"other"], body, sign(body, b""))


def test_an_unsigned_body_is_never_read() -> None:
    nested = b"[" * 1_000_000
    unsigned = headers("issues", b"{}")
    assert parse(unsigned, nested, secrets=[SECRET], app_id=APP_ID, app_slug=SLUG) == Rejected(
        401, "the signature is missing or does not match"
    )


# --- what is refused --------------------------------------------------------------------------------------------


def test_a_delivery_for_another_app_or_a_repositorys_own_hook_is_refused() -> None:
    content = payload("issues")
    answer = read("issues", content, **{"X-GitHub-Hook-Installation-Target-ID": "999"})
    assert isinstance(answer, Rejected)
    assert answer.status == 403


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"not json",
        b"\xff\xfe\xfd",
        b"[" * 200_000,
        b'{"a":' * 200_000,
        b"null",
        b"[]",
        b'"text"',
        b'{"action": NaN}',
        b'{"n": ' + b"9" * 10_000 + b"}",
    ],
)
def test_a_signed_body_that_is_no_json_object_is_answered_400(body: bytes) -> None:
    answer = parse(headers("issues", body), body, secrets=[SECRET], app_id=APP_ID, app_slug=SLUG)
    assert isinstance(answer, Rejected)
    assert answer.status == 400


def test_a_webhook_that_sends_forms_is_told_which_setting_to_change() -> None:
    body = b"payload=%7B%7D"
    form = {**headers("issues", body), "Content-Type": "application/x-www-form-urlencoded"}
    answer = parse(form, body, secrets=[SECRET], app_id=APP_ID, app_slug=SLUG)
    assert isinstance(answer, Rejected)
    assert "application/json" in answer.reason


def test_a_body_larger_than_github_sends_is_refused_before_it_is_hashed() -> None:
    body = b" " * (MAX_BODY + 1)
    answer = parse({}, body, secrets=[SECRET], app_id=APP_ID, app_slug=SLUG)
    assert isinstance(answer, Rejected)
    assert answer.status == 413


def test_a_missing_event_name_is_refused() -> None:
    body = b"{}"
    named = headers("issues", body)
    del named["X-GitHub-Event"]
    answer = parse(named, body, secrets=[SECRET], app_id=APP_ID, app_slug=SLUG)
    assert answer == Rejected(400, "the X-GitHub-Event header is missing")


@pytest.mark.parametrize("number", [0, -1, True, 1.0, "12", None, [], 2**63])
def test_an_issue_without_a_usable_number_is_unreadable(number: object) -> None:
    content = payload("issues")
    content["issue"]["number"] = number
    assert read("issues", content) == Rejected(400, "issue.number is missing or not a positive whole number")


@pytest.mark.parametrize("name", ["", "acme", "acme/", "/x", "acme/x/y", "acme/..", "a b/c", "acme/x?y", "acme/\n"])
def test_a_repository_name_that_would_bend_an_address_is_unreadable(name: str) -> None:
    content = payload("issues")
    content["repository"] = {"full_name": name}
    answer = read("issues", content)
    assert isinstance(answer, Rejected)
    assert "repository.full_name" in answer.reason


# --- what is ignored --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("login", [f"{SLUG}[bot]", f"{SLUG.upper()}[bot]"])
@pytest.mark.parametrize("event", EVENTS)
def test_our_own_events_are_dropped_whatever_they_are(event: str, login: str) -> None:
    content = payload(event)
    content["sender"] = {"login": login, "type": "Bot"}
    assert read(event, content) == Ignored("our own event")


def test_somebody_whose_login_only_contains_ours_is_not_dropped() -> None:
    content = payload("issues")
    content["sender"] = {"login": f"not-{SLUG}[bot]", "type": "Bot"}
    assert isinstance(read("issues", content), IssueOpened)


@pytest.mark.parametrize("event", ["ping", "check_suite", "fork", "star", "no_such_event", "Issues", "x" * 5000])
def test_other_events_are_ignored_without_reading_them(event: str) -> None:
    body = b"not json at all"
    answer = parse(headers(event, body), body, secrets=[SECRET], app_id=APP_ID, app_slug=SLUG)
    assert isinstance(answer, Ignored)
    assert len(answer.reason) < 100


@pytest.mark.parametrize(
    ("event", "action"),
    [
        ("issues", "edited"),
        ("issues", "labeled"),
        ("issue_comment", "edited"),
        ("issue_comment", "deleted"),
        ("pull_request", "labeled"),
        ("pull_request_review", "no_such_action"),
        ("check_run", "rerequested"),
        ("installation", "deleted"),
        ("issues", "opened\n"),
        ("issues", ""),
    ],
)
def test_other_actions_are_ignored(event: str, action: str) -> None:
    assert isinstance(read(event, {**payload(event), "action": action}), Ignored)


@pytest.mark.parametrize("event", EVENTS)
def test_a_delivery_of_no_installation_is_ignored(event: str) -> None:
    content = payload(event)
    del content["installation"]
    assert read(event, content) == Ignored("not sent for an installation of the App")


def test_an_issues_event_of_a_pull_request_starts_nothing() -> None:
    content = payload("issues")
    content["issue"]["pull_request"] = {"url": "x"}
    assert isinstance(read("issues", content), Ignored)


# --- what is read -----------------------------------------------------------------------------------------------


def test_an_opened_issue_is_read_whole() -> None:
    assert read("issues", payload("issues")) == IssueOpened(
        installation=77,
        repo=RepoName("acme", "control"),
        issue=12,
        issue_id=3_000_000_012,
        title="Run it",
        body="### Suite\n\nsmoke",
        author=Actor("dev-one", "User"),
        sender=Actor("dev-one", "User"),
    )


@pytest.mark.parametrize("gone", [None, {}, "dev", {"login": None}, {"login": ""}, {"login": "a/b"}, {"login": 3}])
def test_a_deleted_account_is_a_ghost_and_not_a_crash(gone: object) -> None:
    content = payload("issues")
    content["issue"]["user"] = content["sender"] = gone
    answer = read("issues", content)
    assert isinstance(answer, IssueOpened)
    assert answer.author == answer.sender == GHOST


def test_a_bot_without_a_type_is_still_a_bot() -> None:
    content = payload("issues")
    content["sender"] = {"login": "dependabot[bot]"}
    answer = read("issues", content)
    assert isinstance(answer, IssueOpened)
    assert answer.sender == Actor("dependabot[bot]", "Bot")


def test_an_issue_without_a_body_is_read_as_empty() -> None:
    content = payload("issues")
    content["issue"]["body"] = None
    answer = read("issues", content)
    assert isinstance(answer, IssueOpened)
    assert answer.body == ""


def test_text_that_no_database_stores_is_replaced() -> None:
    content = payload("issues")
    content["issue"]["body"] = "a\x00b\ud800c \N{STEAM LOCOMOTIVE}"
    answer = read("issues", content)
    assert isinstance(answer, IssueOpened)
    assert answer.body == "a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}c \N{STEAM LOCOMOTIVE}"
    assert answer.body.encode()


def test_a_comment_on_an_issue_may_be_a_command() -> None:
    assert read("issue_comment", payload("issue_comment")) == IssueCommented(
        installation=77,
        repo=RepoName("acme", "control"),
        issue=12,
        issue_id=3_000_000_012,
        comment_id=9_000_000_001,
        body="/assay status",
        sender=Actor("dev-one", "User"),
    )


@pytest.mark.parametrize("action", ["created", "edited", "deleted"])
def test_a_comment_on_a_pull_request_is_only_a_nudge(action: str) -> None:
    content = {**payload("issue_comment"), "action": action}
    content["issue"]["pull_request"] = {"url": "x"}
    answer = read("issue_comment", content)
    assert isinstance(answer, PullActivity)
    assert (answer.pull, answer.head_sha, answer.what) == (12, None, f"issue_comment.{action}")


@pytest.mark.parametrize(
    ("event", "action", "pull", "sha"),
    [
        ("pull_request", "opened", 5, SHA),
        ("pull_request", "synchronize", 5, SHA),
        ("pull_request", "closed", 5, SHA),
        ("pull_request", "edited", 5, SHA),
        ("pull_request_review", "submitted", 5, SHA),
        ("pull_request_review", "dismissed", 5, SHA),
        ("pull_request_review_comment", "created", 5, SHA),
        ("pull_request_review_comment", "edited", 5, SHA),
        ("check_run", "created", 5, SHA),
        ("check_run", "completed", 5, SHA),
    ],
)
def test_activity_names_the_pull_request_and_the_commit(event: str, action: str, pull: int, sha: str) -> None:
    answer = read(event, {**payload(event), "action": action})
    assert answer == PullActivity(77, REPO, pull, sha, Actor("zeta-review[bot]", "Bot"), f"{event}.{action}")


def test_a_commit_status_names_only_the_commit() -> None:
    answer = read("status", payload("status"))
    assert answer == PullActivity(77, REPO, None, SHA, Actor("zeta-review[bot]", "Bot"), "status.success")


@pytest.mark.parametrize("pulls", [None, [], [{"number": 1}, {"number": 2}], ["x"], [{"number": "1"}], {"number": 1}])
def test_a_check_run_of_no_single_pull_request_names_only_the_commit(pulls: object) -> None:
    content = payload("check_run")
    content["check_run"]["pull_requests"] = pulls
    answer = read("check_run", content)
    assert isinstance(answer, PullActivity)
    assert (answer.pull, answer.head_sha) == (None, SHA)


def test_activity_that_names_nothing_is_unreadable() -> None:
    content = payload("status")
    content["sha"] = "HEAD"
    assert read("status", content) == Rejected(400, "status names neither a pull request nor a commit")


def test_activity_of_a_deleted_account_has_no_sender() -> None:
    answer = read("pull_request_review", {**payload("pull_request_review"), "sender": None})
    assert isinstance(answer, PullActivity)
    assert answer.sender is None


def test_an_installation_names_its_account() -> None:
    answer = read("installation", payload("installation"))
    assert answer == Installed(installation=77, account="acme", sender=Actor("dev-one", "User"))


def test_header_names_are_compared_without_case() -> None:
    body = json.dumps(payload("issues")).encode()
    shouted = {name.upper(): value for name, value in headers("issues", body).items()}
    assert isinstance(parse(shouted, body, secrets=[SECRET], app_id=APP_ID, app_slug=SLUG), IssueOpened)


# --- delivery ids -----------------------------------------------------------------------------------------------


def test_a_redelivery_has_the_same_id() -> None:
    deliveries: list[dict[str, Any]] = case("07")["input"]["deliveries"]
    ids = {delivery_id({"X-GitHub-Delivery": one["X-GitHub-Delivery"]}) for one in deliveries}
    assert ids == {"aaaaaaaa-0000-4000-8000-000000000001"}


def test_a_delivery_id_is_one_whatever_its_case() -> None:
    guid = "72d3162e-cc78-11e3-81ab-4c9367dc0958"
    assert delivery_id({"x-github-delivery": guid.upper()}) == guid


@pytest.mark.parametrize(
    "text", ["", "-", "a'; drop table", "../x", "a" * 65, "72d3162e\n1", "\N{ARABIC-INDIC DIGIT ONE}"]
)
def test_text_that_is_no_guid_is_no_delivery_id(text: str) -> None:
    assert delivery_id({"X-GitHub-Delivery": text}) is None
    assert delivery_id({}) is None
