"""Comments on the control issue, each found again by its hidden marker."""

from __future__ import annotations

import hashlib

from bot.model import RepoName
from bot.ports import GitHub, Json
from bot.workflows import raws
from bot.workflows.once import Write, write_once
from bot.workflows.services import current


def find_marked(github: GitHub, repo: RepoName, issue: int, marker: str) -> Json | None:
    """Our comment that begins with the marker, if it is there."""
    ours = github.identity().login
    for raw in github.issue_comments(repo, issue):
        if raws.written_by(raw, ours) and (raw.get("body") or "").startswith(marker):
            return {"id": raw["id"], "url": raws.link(raw)}
    return None


def say_once(installation: int, repo: RepoName, issue: int, body: str) -> Json:
    """Post a comment on an issue unless one with the same marker, the body's first line, stands there: {id, url}.

    Raises:
        Deferred: see `write_once`.
        Refused: see `write_once`.
    """
    github = current().github(installation)
    marker = body.partition("\n")[0]

    def make() -> Json:
        raw = github.comment(repo, issue, body)
        return {"id": raw["id"], "url": raws.link(raw)}

    return write_once(
        Write(
            key=f"comment {repo}#{issue} {marker}",
            kind="comment",
            identity=github.account(),
            find=lambda: find_marked(github, repo, issue, marker),
            make=make,
        )
    )


def say_latest(installation: int, repo: RepoName, issue: int, body: str, version: str) -> Json:
    """Post a comment, or bring the one with the same marker up to date: {id, url}.

    Args:
        installation: whose.
        repo: where.
        issue: where.
        body: the whole comment; its first line is the marker.
        version: what made it necessary, so that a text that stood there before can come back.

    Raises:
        Deferred: see `write_once`.
        Refused: see `write_once`.
    """
    posted = say_once(installation, repo, issue, body)
    github = current().github(installation)

    def find() -> Json | None:
        standing = (raw.get("body") for raw in github.issue_comments(repo, issue) if raw["id"] == posted["id"])
        return {} if next(standing, None) == body else None

    def make() -> Json:
        github.edit_comment(repo, posted["id"], body)
        return {}

    text = hashlib.sha256(body.encode()).hexdigest()[:16]
    write_once(Write(f"edit {repo} {posted['id']} {version} {text}", "edit", github.account(), find=find, make=make))
    return posted
