"""Which webhook events an actor takes up."""

from __future__ import annotations

from dataclasses import dataclass

from bot.model import Raw

_OPENING = ("opened", "reopened", "ready_for_review", "synchronize")


@dataclass(frozen=True, slots=True)
class Job:
    """One pull request to look at."""

    repo: str
    """`owner/name`."""
    pull: int
    head: str
    """Empty where the event does not say it: a comment's payload holds no commit."""
    ask: int = 0
    """The id of the comment that asked; 0 for the opening itself."""


def opened(event: str, payload: Raw) -> Job | None:
    """The pull request that was opened or pushed to. Drafts are left alone."""
    if event != "pull_request" or payload.get("action") not in _OPENING:
        return None
    pull = payload["pull_request"]
    return None if pull.get("draft") else Job(payload["repository"]["full_name"], pull["number"], pull["head"]["sha"])


def commanded(event: str, payload: Raw, command: str) -> Job | None:
    """The pull request on which a human account posted the command as a comment of its own.

    Commands of Apps are not taken: two bots that name each other would never come to an end.
    """
    if event != "issue_comment" or payload.get("action") != "created" or "pull_request" not in payload["issue"]:
        return None
    comment = payload["comment"]
    if not is_command(comment, command):
        return None
    return Job(payload["repository"]["full_name"], payload["issue"]["number"], "", comment["id"])


def is_command(comment: Raw, command: str) -> bool:
    """Whether the comment is that command, from a human account."""
    author = comment.get("user") or {}
    return author.get("type") == "User" and str(comment["body"]).strip().lower() == command.lower()
