"""`/assay ...` in an issue: permission first, then the deed, answered in place once."""

from __future__ import annotations

from bot import commands, render
from bot.model import Actor, Command, CommandKind, Problems, RepoName, Settled
from bot.ports import RunRow
from bot.workflows import engine
from bot.workflows.ids import command_key
from bot.workflows.once import try_again_in
from bot.workflows.progress import refresh
from bot.workflows.services import Services, current
from bot.workflows.start import form_url, is_of, say
from scoring.model import TrialStatus


def _consider_later(error: Exception, installation: int, repo: str, issue: int, comment: int, attempt: int = 1) -> None:
    delay = try_again_in(error, attempt)
    if delay is not None:
        at = engine.step("now", lambda: current().clock().timestamp())
        key, again = f"{command_key(comment)}-{at:.0f}", attempt + 1
        engine.enqueue("events", "consider_command", key, installation, repo, issue, comment, again, delay=delay)


@engine.workflow("consider_command", mend=_consider_later)
def consider_command(installation: int, repo: str, issue: int, comment: int, attempt: int = 1) -> None:
    """Do what a comment asks, and answer it."""
    found = engine.step("command", lambda: _consider(current(), installation, RepoName.parse(repo), issue, comment))
    if "answer" in found:
        say(installation, repo, issue, found["answer"])
    if "refresh" in found:
        engine.wake(refresh, "progress", found["refresh"], 0, found["refresh"])


def _consider(services: Services, installation: int, repo: RepoName, issue: int, comment: int) -> engine.Json:
    if not services.control(repo.owner).same_as(repo):
        return {}
    github = services.github(installation)
    raw = next((raw for raw in github.issue_comments(repo, issue) if raw["id"] == comment), None)
    ours = github.identity()
    if raw is None or raw["user"] is None or raw["user"]["login"].lower() == ours.login.lower():
        return {}
    command = commands.read_command(raw["body"])
    if command is None:
        return {}
    sender = Actor(raw["user"]["login"], raw["user"]["type"])
    refusal = commands.may_start(github.permission(repo, sender.login), sender, ours.slug)
    surface = services.surface()
    if refusal is not None:
        return {"answer": render.refusal_comment(refusal, issue=comment, surface=surface)}
    if isinstance(command, Problems):
        return {"answer": render.problems_comment(command, form_url(services, repo), issue=comment, surface=surface)}
    about = github.issue(repo, issue)
    if not is_of(about, repo):
        return {}
    runs = services.store.runs_of_issue(int(about["id"]))
    return _do(services, command, runs[-1] if runs else None, comment)


def _do(services: Services, command: Command, run: RunRow | None, comment: int) -> engine.Json:
    before = None if run is None else services.store.progress(run.id)
    answer = render.command_reply(command, before, comment_id=comment, surface=services.surface(run))
    if command.kind is CommandKind.CANCEL and run is not None and cancel(services, run):
        return {"answer": answer, "refresh": run.id}
    return {"answer": answer}


def cancel(services: Services, run: RunRow) -> bool:
    """Stop a run that is not over: its open trials end as cancelled, and looks that were set find nothing to do."""
    # One that is cancelled already may have been killed on the way to its trials.
    if not services.store.advance(run.id, ["forking", "waiting", "scoring", "cancelled"], "cancelled"):
        return False
    over = Settled(TrialStatus.CANCELLED, False, "the run was cancelled")
    for trial in services.store.trials(run.id):
        services.store.settle(run.id, trial.fork, trial.reviewer, over, services.clock(), None)
    return True
