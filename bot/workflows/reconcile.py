"""Polling alone is enough: new issues and commands are looked for, and lost wakings are found and set again."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from bot import commands, render
from bot.model import Actor, ForkId, Installed, Raw, RepoName, RunId
from bot.ports import ForkRow, GitHub, GitHubError, RunRow
from bot.workflows import builtin_asks, deliveries, engine, raws
from bot.workflows.cleanup import archive_due
from bot.workflows.collect import last_wake, look_soon, nudge, waits_for_bots
from bot.workflows.ids import command_key, issue_key
from bot.workflows.once import Deferred, Refused, Write, try_again_in, write_once
from bot.workflows.services import Services, current

LOOK_BACK = timedelta(days=1)
"""Issues and comments older than this are not taken up by polling: they are history, not news."""
LATE = timedelta(seconds=30)
"""A wake this long past was lost."""
KEEP = timedelta(days=30)
"""How long the engine remembers what has ended. It must be longer than deliveries are sent again and `LOOK_BACK`."""
ROUNDS = ("sweep", "tidy", "collect", "refresh_progress")
KEEP_ROUNDS = timedelta(days=1)
"""The same for what runs over and over."""
TIDY_SECONDS = 3600.0

LOG = logging.getLogger("assay.workflows")


def _next_round(_error: Exception) -> None:
    engine.wake(sweep, "sweep", "sweep", current().timing.issue_poll)


@engine.workflow("sweep", mend=_next_round)
def sweep() -> None:
    """One round: news of every control repository, then every run that is under way. Sets its own next round."""
    for found in engine.step("news", lambda: _news(current())):
        engine.enqueue(found["queue"], found["workflow"], found["id"], *found["args"])
    lost = engine.step("deliveries", lambda: deliveries.missed(current()))
    for found in lost["events"]:
        engine.enqueue("events", "on_event", f"gh-{found['guid']}", found["event"])
    for run, fork in lost["forks"]:
        nudge(current().store.fork(run, fork))
    for run, fork in engine.step("late", lambda: _late(current())):
        look_soon(current().store.fork(run, fork))
    for found in engine.step("lost", lambda: _lost(current())):
        engine.enqueue(found["queue"], found["workflow"], found["id"], *found["args"])
    engine.wake(sweep, "sweep", "sweep", current().timing.issue_poll)


@engine.workflow("tidy", mend=lambda _error: _tidy_later())
def tidy() -> None:
    """Let the engine forget what ended long ago, and archive the forks of runs that did."""
    engine.step("forget", lambda: _forget(current()))
    archive_due()
    _tidy_later()


def _tidy_later() -> None:
    engine.wake(tidy, "sweep", "tidy", TIDY_SECONDS)


def _forget(services: Services) -> int:
    now = services.clock()
    return engine.forget(now - KEEP_ROUNDS, ROUNDS) + engine.forget(now - KEEP)


def _news(services: Services) -> engine.Json:
    found: list[engine.Json] = []
    for installation, account in _installations(services):
        control = services.control(account)
        if control.owner.lower() != account.lower():
            # Somebody else's control repository: readable if it is public, and yet not this installation's to serve.
            continue
        try:
            found += _news_of(services, services.github(installation), installation, control)
        except GitHubError as error:
            # One that is suspended or out of reach keeps nobody else waiting; the next round asks again.
            LOG.warning("no news of %s: %s", control, error)
    return found


def _installations(services: Services) -> tuple[tuple[int, str], ...]:
    try:
        return services.app.installations()
    except GitHubError as error:
        LOG.warning("no news: %s", error)
        return ()


def _news_of(services: Services, github: GitHub, installation: int, control: RepoName) -> list[engine.Json]:
    since = services.clock() - LOOK_BACK
    found: list[engine.Json] = []
    if github.repository(control) is None:
        return found
    for raw in _new(github.issues_since(control, since), since):
        args = [installation, str(control), raw["number"]]
        found.append(_queued("start", "consider_issue", issue_key(raw["id"], raw.get("body")), *args))
    for raw in _new(github.comments_since(control, since), since):
        issue = raws.issue_number(raw)
        if issue is not None and commands.read_command(raw.get("body") or "") is not None:
            found.append(
                _queued(
                    "events", "consider_command", command_key(raw["id"]), installation, str(control), issue, raw["id"]
                )
            )
    return found


def _new(items: Iterable[Raw], since: datetime) -> list[Raw]:
    """GitHub's `since` speaks of the last change: an old issue that somebody comments on is not news."""
    return [raw for raw in items if (raws.created(raw) or since) >= since]


def _queued(queue: str, workflow: str, workflow_id: str, *args: engine.Json) -> engine.Json:
    return {"queue": queue, "workflow": workflow, "id": workflow_id, "args": list(args)}


def _late(services: Services) -> list[tuple[RunId, ForkId]]:
    """Open forks whose waking was lost: it is past, or farther away than any is set."""
    now = services.clock()
    late, never = now - LATE, last_wake(services, now) + LATE
    return [
        (run.id, fork.id)
        for run in services.store.active_runs()
        for fork in services.store.forks(run.id)
        if fork.state == "open" and (fork.wake_at is None or not late <= fork.wake_at <= never)
        if waits_for_bots(services, run, fork)
    ]


def _lost(services: Services) -> list[engine.Json]:
    """What runs under way wait for and nothing that is queued or running will bring."""
    runs = services.store.active_runs()
    if not runs or engine.alive(name="consider_issue"):
        # A run that has just been written gets its first workflows from there.
        return []
    stamp = f"{services.clock().timestamp():.0f}"
    lost = [found for run in runs for found in _lost_of(run, services.store.forks(run.id), stamp)]
    reviewing = [run for run in runs if run.plan.request.built_in and run.stage in ("forking", "waiting")]
    for run in reviewing:
        lost += builtin_asks.lost(run, services.store.forks(run.id), services.store.trials(run.id), stamp)
    return lost


def _lost_of(run: RunRow, forks: Sequence[ForkRow], stamp: str) -> list[engine.Json]:
    again = f"revived-{stamp}"
    if run.stage == "publishing":
        if engine.alive(f"publish-{run.id}-") or engine.alive(f"close-{run.id}-") or engine.alive(f"finalize-{run.id}"):
            return []
        open_yet = [fork for fork in forks if fork.state not in ("published", "failed")]
        queued = [
            _queued("publish", "publish_fork", f"publish-{run.id}-{again}-{fork.id}", run.id, fork.id, 1)
            for fork in open_yet
        ]
        return queued or [_queued("publish", "close_run", f"close-{run.id}-{again}", run.id, 1)]
    if run.stage == "scoring" or all(fork.state in ("settled", "failed") for fork in forks):
        lost = not engine.alive(f"finalize-{run.id}")
        return [_queued("score", "finalize", f"finalize-{run.id}.{again}", run.id, 1)] if lost else []
    return [
        _queued("forks", "open_fork", f"open-{run.id}-{fork.id}.{again}", run.id, fork.id, 1)
        for fork in forks
        if fork.state == "planned" and not engine.alive(f"open-{run.id}-{fork.id}")
    ]


def _welcome_later(error: Exception, installation: int, account: str, attempt: int = 1) -> None:
    delay = try_again_in(error, attempt)
    if delay is not None:
        key, again = f"welcome-{installation}.{attempt + 1}", attempt + 1
        engine.enqueue("events", "welcome", key, installation, account, again, delay=delay)


@engine.workflow("welcome", mend=_welcome_later)
def welcome(installation: int, account: str, attempt: int = 1) -> None:
    """Answer a new installation with the next step, as an issue of the control repository where there is one."""
    services = current()
    github = services.github(installation)
    control = services.control(account)
    if engine.step("control", lambda: github.repository(control) is not None):
        form = f"{services.web_url}/{control}/issues/new?template=benchmark.yml"
        title, body = render.welcome_issue(Installed(installation, account, Actor(account, "User")), form_url=form)
        marker = body.partition("\n")[0]
        try:
            write_once(
                Write(
                    f"welcome {installation}",
                    "issue",
                    github.account(),
                    find=lambda: _found(github, control, marker),
                    make=lambda: {"number": github.open_issue(control, title, body)["number"]},
                )
            )
        except (Deferred, Refused):
            # A greeting is not worth a queue; README says the same.
            return


def _found(github: GitHub, control: RepoName, marker: str) -> engine.Json:
    raw = github.issue_by_us(control, marker)
    return None if raw is None else {"number": raw["number"]}
