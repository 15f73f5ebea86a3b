"""Asking a reviewer, the n-th time, once. Bots read what we write: an ask is the bare trigger and carries no marker."""

from __future__ import annotations

from datetime import datetime

from bot.model import Raw, RepoName, TriggerKind
from bot.ports import ForkRow, GitHub, Json, RunRow
from bot.registry import TriggerSpec
from bot.workflows import raws
from bot.workflows.once import Refused, Write, write_once
from bot.workflows.services import current


def ask(run: RunRow, fork: ForkRow, trigger: TriggerSpec, number: int) -> datetime:
    """Ask for the `number`-th time, and give GitHub's time of it.

    The n-th comment of a text exists if the author has n comments with exactly that text on the fork, so two
    reviewers that share a trigger share the comment.

    Raises:
        Deferred: see `write_once`.
        Refused: GitHub says no, or ignored the request for a review without a word.
    """
    github = current().github(run.installation)
    comment = trigger.kind is TriggerKind.COMMENT
    done = write_once(
        Write(
            key=f"ask {run.id} {fork.id} {trigger.text} {number}",
            kind="trigger" if comment else "review request",
            identity=github.account(author=True),
            find=lambda: (_comment if comment else _request)(github, fork, trigger.text, number),
            make=lambda: (_post if comment else _ask_review)(github, fork, trigger.text),
            fresh=True,
        )
    )
    if done.get("ignored"):
        raise Refused(f"GitHub ignored the request for a review by {trigger.text}")
    return datetime.fromisoformat(done["at"])


def _comment(github: GitHub, fork: ForkRow, text: str, number: int) -> Json | None:
    repo, pull = _address(fork)
    author = github.author().login
    said = [
        raw for raw in github.issue_comments(repo, pull) if raws.written_by(raw, author) and raw.get("body") == text
    ]
    return _at(said[number - 1]) if len(said) >= number else None


def _post(github: GitHub, fork: ForkRow, text: str) -> Json:
    repo, pull = _address(fork)
    return _at(github.comment(repo, pull, text, as_author=True))


def _at(raw: Raw) -> Json:
    at = raws.created(raw)
    return {"at": at.isoformat() if at else _now()}


def _request(github: GitHub, fork: ForkRow, login: str, number: int) -> Json | None:
    repo, pull = _address(fork)
    return {"at": _now()} if github.review_asks(repo, pull, login) >= number else None


def _ask_review(github: GitHub, fork: ForkRow, login: str) -> Json:
    repo, pull = _address(fork)
    requested = github.request_review(repo, pull, login)
    return {"at": _now(), "ignored": not requested}


def _now() -> str:
    return current().clock().isoformat()


def _address(fork: ForkRow) -> tuple[RepoName, int]:
    if fork.repo is None or fork.pull is None:
        raise ValueError(f"fork {fork.id} has no pull request yet")
    return fork.repo, fork.pull
