"""Ids of workflows that several doors lead to: webhook and poll meet in them."""

from __future__ import annotations


def issue_key(issue_id: int) -> str:
    """The workflow id of an issue's consideration."""
    return f"issue-{issue_id}"


def command_key(comment_id: int) -> str:
    """The workflow id of a command comment."""
    return f"command-{comment_id}"
