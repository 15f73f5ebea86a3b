"""Deliveries in GitHub's shape, for tests: only the fields an App of ours could care about, and a few it must not."""

from __future__ import annotations

import copy
import hashlib
import hmac
from typing import Any

from bot.model import RepoName

Payload = dict[str, Any]

SECRET = b"a-made-up-secret"
APP_ID = 4242
SLUG = "quiet-helper"
SHA = "0123456789abcdef0123456789abcdef01234567"
REPO = RepoName("acme", "svc-4k2p9d")

_PERSON = {"login": "dev-one", "id": 11, "type": "User", "site_admin": False}
_BOT = {"login": "zeta-review[bot]", "id": 12, "type": "Bot"}
_CONTROL = {"id": 1, "name": "control", "full_name": "acme/control", "owner": {"login": "acme"}}
_FORK = {"id": 2, "name": REPO.name, "full_name": str(REPO), "owner": {"login": "acme"}}
_INSTALLATION = {"id": 77, "node_id": "x"}
_PULL = {"id": 50, "number": 5, "head": {"sha": SHA, "ref": "topic"}, "user": _PERSON, "body": None}
_ISSUE = {
    "id": 3_000_000_012,
    "number": 12,
    "title": "Run it",
    "body": "### Suite\n\nsmoke",
    "user": _PERSON,
    "author_association": "NONE",
}
_ON_FORK = {"repository": _FORK, "installation": _INSTALLATION, "sender": _BOT}
_ON_CONTROL = {"repository": _CONTROL, "installation": _INSTALLATION, "sender": _PERSON}
_COMMENT = {"id": 9_000_000_001, "body": "/assay status", "user": _PERSON}
_CHECK = {
    "id": 106_538_952_701,
    "head_sha": SHA,
    "name": "zeta",
    "app": {"slug": "zeta"},
    "pull_requests": [{"number": 5}],
}

_PAYLOADS: dict[str, Payload] = {
    "issues": {"action": "opened", "issue": _ISSUE, **_ON_CONTROL},
    "issue_comment": {"action": "created", "issue": _ISSUE, "comment": _COMMENT, **_ON_CONTROL},
    "pull_request": {"action": "opened", "number": 5, "pull_request": _PULL, **_ON_FORK},
    "pull_request_review": {"action": "submitted", "review": {"id": 1}, "pull_request": _PULL, **_ON_FORK},
    "pull_request_review_comment": {"action": "created", "comment": {"id": 1}, "pull_request": _PULL, **_ON_FORK},
    "check_run": {"action": "completed", "check_run": _CHECK, **_ON_FORK},
    "push": {
        "ref": "refs/heads/main",
        "before": "0" * 40,
        "after": SHA,
        "deleted": False,
        "repository": {**_CONTROL, "default_branch": "main"},
        "installation": _INSTALLATION,
        "sender": _PERSON,
    },
    "status": {"id": 1, "sha": SHA, "state": "success", "context": "zeta", **_ON_FORK},
    "installation": {
        "action": "created",
        "installation": {**_INSTALLATION, "account": {"login": "acme", "type": "Organization"}},
        "sender": _PERSON,
    },
}


def payload(event: str) -> Payload:
    """A fresh payload of the event."""
    return copy.deepcopy(_PAYLOADS[event])


def sign(body: bytes, secret: bytes = SECRET) -> str:
    """GitHub's signature of these bytes."""
    return f"sha256={hmac.new(secret, body, hashlib.sha256).hexdigest()}"


def headers(event: str, body: bytes) -> dict[str, str]:
    """The headers GitHub sends with the body."""
    return {
        "Content-Type": "application/json",
        "User-Agent": "GitHub-Hookshot/044aadd",
        "X-GitHub-Delivery": "72d3162e-cc78-11e3-81ab-4c9367dc0958",
        "X-GitHub-Event": event,
        "X-GitHub-Hook-ID": "292430182",
        "X-GitHub-Hook-Installation-Target-ID": str(APP_ID),
        "X-GitHub-Hook-Installation-Target-Type": "integration",
        "X-Hub-Signature-256": sign(body),
    }
