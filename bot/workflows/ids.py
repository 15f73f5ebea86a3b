"""Ids of workflows that several doors lead to: webhook and poll meet in them."""

from __future__ import annotations

import hashlib


def issue_key(issue_id: int, body: str | None) -> str:
    """The workflow id of the consideration of an issue as it reads now: another text is considered anew."""
    return f"issue-{issue_id}-{text_key(body)}"


def text_key(body: str | None) -> str:
    """A short name of an issue's text, whatever its line ends are."""
    text = (body or "").replace("\r\n", "\n").strip()
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def command_key(comment_id: int) -> str:
    """The workflow id of a command comment."""
    return f"command-{comment_id}"


def button_key(check: int, identifier: str, at: float) -> str:
    """The workflow id of one press of a button."""
    return f"button-{check}-{identifier}-{at:.0f}"
