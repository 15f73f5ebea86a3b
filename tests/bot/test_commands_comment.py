"""Commands in comments, and who may give them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bot.commands import may_start, read_command
from bot.model import Actor, Command, CommandKind, Ignored, IssueOpened, Problems
from bot.webhooks import parse
from tests.bot.deliveries import APP_ID, SECRET, headers, payload
from tests.shared import case


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("/assay status", Command(CommandKind.STATUS)),
        ("/assay cancel", Command(CommandKind.CANCEL)),
        ("/assay help", Command(CommandKind.HELP)),
        ("/assay retry Acme Reviewer (acme)", Command(CommandKind.RETRY, "Acme Reviewer (acme)")),
        ("/assay rejudge litellm:acme/model-1", Command(CommandKind.REJUDGE, "litellm:acme/model-1")),
        ("/assay extend 30", Command(CommandKind.EXTEND, "30")),
        ("/assay cleanup delete", Command(CommandKind.CLEANUP, "delete")),
        ("/assay", Command(CommandKind.HELP)),
        ("  /ASSAY\tStatus  ", Command(CommandKind.STATUS)),
        ("/assay cancel 12-1 please ", Command(CommandKind.CANCEL, "12-1 please")),
        ("\r\n\r\n/assay status\r\nthank you", Command(CommandKind.STATUS)),
        ("> /assay cancel\n\n/assay status", Command(CommandKind.STATUS)),
        ("```\n/assay cancel\n```\n/assay status", Command(CommandKind.STATUS)),
        ("    /assay cancel\n/assay status", Command(CommandKind.STATUS)),
    ],
)
def test_a_command_is_the_first_line_that_is_neither_quoted_nor_code(text: str, command: Command) -> None:
    assert read_command(text) == command


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "looks good",
        "please /assay status",
        "thanks\n/assay cancel",
        "> /assay cancel",
        ">/assay cancel",
        "> > /assay cancel\n> more",
        "```\n/assay cancel\n```",
        "~~~sh\n/assay cancel",
        "\t/assay cancel",
        "`/assay cancel`",
        "/assayer cancel",
        "/assay-cancel",
        "//assay cancel",
        "-/assay cancel",
        "\\/assay cancel",
        "/assay" + "\N{NO-BREAK SPACE}" * 3 + "cancel",
    ],
)
def test_anything_else_is_just_a_comment(text: str | None) -> None:
    assert read_command(text) is None


@pytest.mark.parametrize(
    ("word", "guess"),
    [
        ("stauts", "status"),
        ("cancle", "cancel"),
        ("halp", "help"),
        ("retyr", "retry"),
        ("clean-up", "cleanup"),
        ("zzz", None),
    ],
)
def test_an_unknown_command_is_answered_with_the_known_ones(word: str, guess: str | None) -> None:
    answer = read_command(f"/assay {word} now")
    assert isinstance(answer, Problems)
    (problem,) = answer.items
    assert problem.allowed == ("status", "cancel", "retry", "rejudge", "extend", "cleanup", "help")
    assert problem.did_you_mean == guess
    assert word in problem.message


def test_a_long_argument_is_cut() -> None:
    answer = read_command("/assay status " + "x" * 60_000)
    assert isinstance(answer, Command)
    assert len(answer.argument) == 200


# --- who may ----------------------------------------------------------------------------------------------------

_PERMISSIONS = {"stranger": "read", "dependabot[bot]": "write", "dev-one": "write", "gone": "admin", "ghost": "admin"}


def _start(sender: dict[str, Any]) -> tuple[bool, bool]:
    """Whether an issue of this sender starts a run, and whether a refusal is visible, all the way from the delivery."""
    slug = "our-benchmark-app"
    content = payload("issues")
    content["issue"]["user"] = {"login": sender["login"], "type": sender["type"]}
    content["issue"]["author_association"] = sender["author_association"]
    content["sender"] = sender["sender"] if "sender" in sender else content["issue"]["user"]
    body = json.dumps(content).encode()
    event = parse(headers("issues", body), body, secrets=[SECRET], app_id=APP_ID, app_slug=slug)
    if isinstance(event, Ignored):
        return False, False
    assert isinstance(event, IssueOpened)
    reason = may_start(_PERMISSIONS[event.sender.login], event.sender, slug)
    return reason is None, reason is not None


def test_who_may_spend_money_in_the_shared_case() -> None:
    shared = case("06")
    answers = [_start(sender) for sender in shared["input"]["senders"]]
    assert [started for started, _ in answers] == shared["expected"]["start"]
    assert [visible for _, visible in answers] == [True, True, False, False, True]


@pytest.mark.parametrize("permission", ["read", "none", "", "triage", "Admin", "maintain", "write "])
def test_only_write_and_admin_suffice(permission: str) -> None:
    assert may_start(permission, Actor("dev-one", "User"), "app") is not None


@pytest.mark.parametrize("permission", ["write", "admin"])
@pytest.mark.parametrize(
    "sender",
    [
        Actor("x[bot]", "Bot"),
        Actor("x[bot]", "User"),
        Actor("X[BOT]", "User"),
        Actor("machine", "Bot"),
        Actor("acme", "Organization"),
        Actor("left", "Mannequin"),
        Actor("ghost", "User"),
        Actor("Ghost", "User"),
        Actor("app[bot]", "Bot"),
        Actor("someone", ""),
    ],
)
def test_no_permission_makes_a_person_of_a_bot_or_a_ghost(permission: str, sender: Actor) -> None:
    assert may_start(permission, sender, "app") is not None
    assert may_start(permission, Actor("dev-one", "User"), "app") is None


def test_a_refusal_mentions_nobody() -> None:
    for sender in (Actor("dev-one", "User"), Actor("x[bot]", "Bot"), Actor("ghost", "User"), Actor("app[bot]", "Bot")):
        assert "@" not in str(may_start("read", sender, "app"))
