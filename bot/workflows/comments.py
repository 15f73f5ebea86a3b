"""Comments on the control issue, each found again by its hidden marker."""

from __future__ import annotations

from bot.model import RepoName
from bot.ports import GitHub, Json
from bot.workflows.once import Write, write_once
from bot.workflows.services import current


def find_marked(github: GitHub, repo: RepoName, issue: int, marker: str) -> Json | None:
    """Our comment that begins with the marker, if it is there."""
    ours = github.identity().login.lower()
    for raw in github.issue_comments(repo, issue):
        author = (raw["user"] or {}).get("login", "").lower()
        if author == ours and (raw["body"] or "").startswith(marker):
            return {"id": raw["id"], "url": raw["html_url"]}
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
        return {"id": raw["id"], "url": raw["html_url"]}

    return write_once(
        Write(
            key=f"comment {repo}#{issue} {marker}",
            kind="comment",
            identity=github.account(),
            find=lambda: find_marked(github, repo, issue, marker),
            make=make,
        )
    )
