"""The one progress comment of a run, rendered from the database and edited in place. One writer."""

from __future__ import annotations

from bot import render
from bot.model import RunId
from bot.ports import GitHubError
from bot.workflows import engine
from bot.workflows.comments import say_once
from bot.workflows.once import Deferred, Refused, mend_seconds, retry_seconds
from bot.workflows.services import current

LONG_PAUSE = 600.0
"""Seconds until another try where nothing says that one helps: the next change of the run tries sooner."""


def refresh_soon(run: RunId) -> None:
    """Have the progress comment brought up to date, at most once in the configured time."""
    engine.wake(refresh, "progress", run, current().timing.progress, run)


def _later(error: Exception, run: str) -> None:
    outage = isinstance(error, GitHubError) or engine.is_replay(error)
    engine.wake(refresh, "progress", run, mend_seconds(error) if outage else LONG_PAUSE, run)


@engine.workflow("refresh_progress", mend=_later)
def refresh(run: str) -> None:
    """Post or edit the progress comment. Nothing else of the run depends on it."""
    try:
        seconds = _refresh(RunId(run))
    except Deferred as deferred:
        seconds = (deferred.until - current().clock()).total_seconds()
    except Refused:
        # The run goes on without its comment: the issue may have been deleted or locked.
        return
    if seconds is not None:
        engine.wake(refresh, "progress", run, seconds, run)


def _refresh(run: RunId) -> float | None:
    """Seconds until another try is due, None if all is well."""
    row = current().store.run(run)
    body = engine.step("render", lambda: _body(run))
    posted = say_once(row.installation, row.control_repo, row.issue, body)
    wait: float | None = engine.step("edit", lambda: _edit(run, posted["id"]))
    return wait


def _body(run: RunId) -> str:
    services = current()
    row = services.store.run(run)
    return render.progress_comment(services.store.progress(run), row.plan, services.surface(row))


def _edit(run: RunId, comment: int) -> float | None:
    services = current()
    row = services.store.run(run)
    github = services.github(row.installation)
    body = _body(run)
    try:
        standing = {raw["id"]: raw["body"] for raw in github.issue_comments(row.control_repo, row.issue)}
        if standing.get(comment, body) != body:
            github.edit_comment(row.control_repo, comment, body)
    except GitHubError as error:
        return retry_seconds(services, error)
    return None
