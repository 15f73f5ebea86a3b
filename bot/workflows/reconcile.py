"""Polling alone is enough: new issues and commands are looked for, and lost wakings are found and set again."""

from __future__ import annotations

from datetime import timedelta

from bot import commands, render
from bot.model import Actor, Installed, RepoName
from bot.ports import GitHub, GitHubError
from bot.workflows import engine
from bot.workflows.collect import nudge
from bot.workflows.ids import command_key, issue_key
from bot.workflows.once import Deferred, Refused, Write, write_once
from bot.workflows.services import Services, current

LOOK_BACK = timedelta(days=1)
"""Issues and comments older than this are not taken up by polling: they are history, not news."""
LATE = timedelta(seconds=30)
"""A wake this long past was lost."""


def _next_round(_error: Exception) -> None:
    engine.wake(sweep, "events", "sweep", current().timing.issue_poll)


@engine.workflow("sweep", mend=_next_round)
def sweep() -> None:
    """One round: news of every control repository, then every run that is under way. Sets its own next round."""
    for found in engine.step("news", lambda: _news(current())):
        engine.enqueue("events", found["workflow"], found["id"], *found["args"])
    engine.step("lost", lambda: _revive(current()))
    engine.wake(sweep, "events", "sweep", current().timing.issue_poll)


def _news(services: Services) -> engine.Json:
    found: list[engine.Json] = []
    try:
        for installation, account in services.app.installations():
            found += _news_of(services, services.github(installation), installation, services.control(account))
    except GitHubError:
        # GitHub is out: the next round asks again, and nothing was missed meanwhile.
        return found
    return found


def _news_of(services: Services, github: GitHub, installation: int, control: RepoName) -> list[engine.Json]:
    since = services.clock() - LOOK_BACK
    found: list[engine.Json] = []
    if github.repository(control) is None:
        return found
    for raw in github.issues_since(control, since):
        args = [installation, str(control), raw["number"]]
        found.append({"workflow": "consider_issue", "id": issue_key(raw["id"]), "args": args})
    for raw in github.comments_since(control, since):
        if commands.read_command(raw["body"]) is not None:
            issue = int(raw["issue_url"].rpartition("/")[2])
            args = [installation, str(control), issue, raw["id"]]
            found.append({"workflow": "consider_command", "id": command_key(raw["id"]), "args": args})
    return found


def _revive(services: Services) -> None:
    late = services.clock() - LATE
    for run in services.store.active_runs():
        for fork in services.store.forks(run.id):
            if fork.state == "open" and (fork.wake_at is None or fork.wake_at < late):
                nudge(fork)


@engine.workflow("welcome")
def welcome(installation: int, account: str) -> None:
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
                    f"installation {installation}",
                    find=lambda: _found(github, control, marker),
                    make=lambda: {"number": github.open_issue(control, title, body)["number"]},
                )
            )
        except (Deferred, Refused):
            # A greeting is not worth a queue; `assay doctor` says the same.
            return


def _found(github: GitHub, control: RepoName, marker: str) -> engine.Json:
    raw = github.issue_by_us(control, marker)
    return None if raw is None else {"number": raw["number"]}
