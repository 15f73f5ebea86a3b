"""Deliveries that GitHub did not make, and commands by people who may give none."""

from __future__ import annotations

import ast
import hashlib
import hmac
import json
from pathlib import Path

import pytest

import bot
from bot import webhooks
from bot.commands import may_start
from bot.model import Actor, Ignored, IssueCommented, IssueOpened, Rejected, RepoName
from bot.workflows.start import is_of
from tests.bot.deliveries import APP_ID, SLUG, payload

OLD, NEW = b"the-old-secret", b"the-new-secret"
BODY = json.dumps(payload("issues")).encode()
SOURCES = Path(str(bot.__file__)).parent


def _sent(body: bytes, signature: str | None, **more: str) -> object:
    headers = {"X-GitHub-Event": "issues", "X-GitHub-Delivery": "0123abcd-0000-4000-8000-000000000000", **more}
    if signature is not None:
        headers["X-Hub-Signature-256"] = signature
    return webhooks.parse(headers, body, secrets=[NEW, OLD], app_id=APP_ID, app_slug=SLUG)


def _signed(secret: bytes, body: bytes, how: str = "sha256") -> str:
    return f"{how}=" + hmac.new(secret, body, how).hexdigest()


@pytest.mark.parametrize("secret", [OLD, NEW])
def test_either_secret_is_good_while_one_is_rotated(secret: bytes) -> None:
    assert isinstance(_sent(BODY, _signed(secret, BODY)), IssueOpened)


@pytest.mark.parametrize(
    "signature",
    [
        None,
        "",
        "sha256=",
        _signed(b"", BODY),
        _signed(b"another", BODY),
        _signed(NEW, BODY + b" "),
        _signed(NEW, BODY, "sha1"),
        _signed(NEW, BODY).replace("sha256", "sha1"),
        _signed(NEW, BODY).upper(),
        _signed(NEW, BODY) + "00",
        _signed(NEW, BODY)[:-2],
        hashlib.sha256(NEW + BODY).hexdigest(),
    ],
)
def test_a_forged_signature_is_refused(signature: str | None) -> None:
    outcome = _sent(BODY, signature)
    assert isinstance(outcome, Rejected) and outcome.status == 401


def test_the_old_kind_of_signature_alone_is_none() -> None:
    sha1 = {"X-Hub-Signature": _signed(NEW, BODY, "sha1")}
    assert isinstance(_sent(BODY, None, **sha1), Rejected)


def test_every_changed_byte_is_noticed() -> None:
    signature = _signed(NEW, BODY)
    for at in range(0, len(BODY), 7):
        changed = BODY[:at] + bytes([BODY[at] ^ 1]) + BODY[at + 1 :]
        assert isinstance(_sent(changed, signature), Rejected)


def test_an_edited_comment_and_a_transferred_issue_command_nothing() -> None:
    for event, action in (("issue_comment", "edited"), ("issue_comment", "deleted"), ("issues", "transferred")):
        changed = {**payload(event), "action": action}
        assert isinstance(webhooks.read(event, changed, app_slug=SLUG), Ignored)
    assert isinstance(webhooks.read("issue_comment", payload("issue_comment"), app_slug=SLUG), IssueCommented)
    moved = {"repository_url": "https://api.github.com/repos/else/where"}
    assert not is_of(moved, RepoName("acme", "control"))
    assert is_of({"repository_url": "https://api.github.com/repos/acme/Control"}, RepoName("acme", "control"))


@pytest.mark.parametrize("permission", ["read", "triage", "none", "", "WRITE", "maintain ", "pull"])
def test_less_than_write_access_is_not_enough(permission: str) -> None:
    assert may_start(permission, Actor("somebody", "User"), SLUG) is not None


@pytest.mark.parametrize(
    "actor",
    [
        Actor("helper[bot]", "Bot"),
        Actor("helper", "Bot"),
        Actor("helper[bot]", "User"),
        Actor("acme", "Organization"),
        Actor("ghost", "User"),
        Actor(f"{SLUG}[bot]", "Bot"),
        Actor(f"{SLUG.upper()}[BOT]", "User"),
        Actor("enterprise", "Mannequin"),
    ],
)
def test_nobody_but_a_person_commands_whatever_the_permission(actor: Actor) -> None:
    assert may_start("admin", actor, SLUG) is not None


_NOTHING_SECRET = {
    "adapters/forks.py: _host(url) == self._token_host",  # a host
    "adapters/github_tokens.py: minted.token == token",  # both are ours, and nobody sees the answer
    "scrape.py: before.digest != digest",  # of a comment
}


def test_a_secret_is_never_compared_with_an_equals_sign() -> None:
    secret = ("secret", "signature", "csrf", "token", "hmac", "digest", "password")
    found = []
    for path in sorted(SOURCES.rglob("*.py")):
        if "demo" in path.parts or "actors" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Compare) and any(isinstance(how, ast.Eq | ast.NotEq) for how in node.ops):
                sides = [node.left, *node.comparators]
                if any(isinstance(side, ast.Constant) for side in sides):
                    continue
                names = {_last(side) for side in sides} - {""}
                if any(word in name for name in names for word in secret):
                    found.append(f"{path.relative_to(SOURCES).as_posix()}: {ast.unparse(node)}")
    told = {line for line in found if line not in _NOTHING_SECRET}
    assert not told, "compare with hmac.compare_digest"


def _last(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr.lower()
    return node.id.lower() if isinstance(node, ast.Name) else ""
