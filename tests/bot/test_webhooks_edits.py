"""Edits of issues, what else happens to them, and buttons on our check runs."""

from __future__ import annotations

import pytest

from bot.model import Actor, ButtonPressed, Ignored, IssueEdited, RepoName
from bot.webhooks import GHOST
from tests.bot.deliveries import REPO, SHA, SLUG, Payload, payload
from tests.bot.test_webhooks import read


def edited(**changes: object) -> Payload:
    content = payload("issues")
    return content | {"action": "edited", "changes": {"body": {"from": "before"}}, **changes}


def test_an_edited_text_is_read_again() -> None:
    assert read("issues", edited()) == IssueEdited(
        77, RepoName("acme", "control"), 12, 3_000_000_012, "### Suite\n\nsmoke", Actor("dev-one", "User")
    )


@pytest.mark.parametrize("changes", [None, {}, {"title": {"from": "before"}}, {"body": None}, "body"])
def test_an_edit_of_anything_else_is_ignored(changes: object) -> None:
    assert isinstance(read("issues", edited(changes=changes)), Ignored)


@pytest.mark.parametrize("action", ["closed", "reopened", "deleted", "transferred", "pinned", "typed", ""])
def test_what_happens_to_an_issue_starts_and_ends_nothing(action: str) -> None:
    answer = read("issues", payload("issues") | {"action": action})
    assert isinstance(answer, Ignored)
    assert answer.reason


def test_an_edit_by_us_or_of_a_pull_request_is_ignored() -> None:
    ours = {"login": f"{SLUG}[bot]", "type": "Bot"}
    assert read("issues", edited(sender=ours)) == Ignored("our own event")
    content = edited()
    content["issue"]["pull_request"] = {"url": "x"}
    assert isinstance(read("issues", content), Ignored)


def pressed(**changes: object) -> Payload:
    content = payload("check_run") | {"action": "requested_action", "requested_action": {"identifier": "cleanup"}}
    return content | {"sender": {"login": "dev-one", "type": "User"}} | changes


def test_a_pressed_button_names_the_check_run_and_who_pressed() -> None:
    person = Actor("dev-one", "User")
    assert read("check_run", pressed()) == ButtonPressed(77, REPO, 106_538_952_701, SHA, "cleanup", person)


@pytest.mark.parametrize("action", [None, {}, {"identifier": ""}, {"identifier": "x" * 21}, {"identifier": "Rm -rf /"}])
def test_a_button_that_is_none_of_ours_is_ignored(action: object) -> None:
    assert isinstance(read("check_run", pressed(requested_action=action)), Ignored)


def test_a_button_pressed_by_nobody_is_a_ghosts() -> None:
    answer = read("check_run", pressed(sender=None))
    assert isinstance(answer, ButtonPressed)
    assert answer.sender == GHOST
