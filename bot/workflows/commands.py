"""`/assay ...` in an issue, and buttons on check runs: permission first, then the deed, answered in the issue once."""

from __future__ import annotations

import hashlib

from bot import commands, commands_arguments
from bot.judging.choosing import Plain
from bot.judging.store import name_of
from bot.model import Actor, ButtonPressed, Command, CommandKind, Problem, Problems, RepoName, RunId, Settled
from bot.ports import RunRow
from bot.render import replies
from bot.render.issue import OVER
from bot.workflows import engine, raws
from bot.workflows.ids import command_key
from bot.workflows.once import try_again_in
from bot.workflows.progress import refresh
from bot.workflows.services import Services, current
from bot.workflows.start import is_of, judge_problem, say, unpriced
from scoring import records
from scoring.model import TrialStatus

UNDER_WAY = ("forking", "waiting")
USUAL_JUDGES = ("lexical",)


def _consider_later(error: Exception, installation: int, repo: str, issue: int, comment: int, attempt: int = 1) -> None:
    delay = try_again_in(error, attempt)
    if delay is not None:
        at = engine.step("now", lambda: current().clock().timestamp())
        key, again = f"{command_key(comment)}-{at:.0f}", attempt + 1
        engine.enqueue("events", "consider_command", key, installation, repo, issue, comment, again, delay=delay)


@engine.workflow("consider_command", mend=_consider_later)
def consider_command(installation: int, repo: str, issue: int, comment: int, attempt: int = 1) -> None:
    """Do what a comment asks, and answer it.

    Steps: 1. read it, and decide what it comes to; 2. do that; 3. answer.
    """
    found = engine.step("command", lambda: _consider(current(), installation, RepoName.parse(repo), issue, comment))
    _carry_out(installation, repo, issue, str(comment), found)


def _press_later(
    error: Exception,
    installation: int,
    repo: str,
    head: str,
    button: str,
    login: str,
    kind: str,
    key: str,
    attempt: int = 1,
) -> None:
    delay = try_again_in(error, attempt)
    if delay is not None:
        args = [installation, repo, head, button, login, kind, key, attempt + 1]
        engine.enqueue("events", "consider_button", f"{key}.{attempt + 1}", *args, delay=delay)


@engine.workflow("consider_button", mend=_press_later)
def consider_button(
    installation: int, repo: str, head: str, button: str, login: str, kind: str, key: str, attempt: int = 1
) -> None:
    """Do what a button on one of our check runs asks, and answer on the issue of its run."""
    pressed = ButtonPressed(installation, RepoName.parse(repo), 0, head, button, Actor(login, kind))
    found = engine.step("button", lambda: _press(current(), pressed, key))
    if found:
        _carry_out(installation, found["control"], found["issue"], key, found)


# --- deciding ---------------------------------------------------------------------------------------------------


def _consider(services: Services, installation: int, repo: RepoName, issue: int, comment: int) -> engine.Json:
    if not services.control(repo.owner).same_as(repo):
        return {}
    github = services.github(installation)
    raw = next((raw for raw in github.issue_comments(repo, issue) if raw["id"] == comment), None)
    ours = github.identity()
    sender = None if raw is None else raws.author(raw)
    if raw is None or sender is None or sender.login.lower() == ours.login.lower():
        return {}
    command = commands.read_command(raw.get("body") or "")
    if command is None:
        return {}
    refusal = commands.may_start(github.permission(repo, sender.login), sender, ours.slug)
    if refusal is not None:
        # Once for each of them: whoever may not command must not be able to have us write without end.
        key = f"refused-{hashlib.sha256(sender.login.lower().encode()).hexdigest()[:12]}"
        return {"answer": replies.refusal_reply(refusal, key=key, surface=services.surface())}
    if isinstance(command, Problems):
        return {"answer": replies.problems_reply(command, key=comment, surface=services.surface())}
    about = github.issue(repo, issue)
    if not is_of(about, repo):
        return {}
    runs = services.store.runs_of_issue(int(about["id"]))
    return _decide(services, command, runs[-1] if runs else None, str(comment))


def _press(services: Services, pressed: ButtonPressed, key: str) -> engine.Json:
    """A button stands on a fork, whose people need not be those who may command: the control repository's are asked."""
    fork = services.store.fork_by_repo(pressed.repo)
    wanted = {"rejudge": CommandKind.REJUDGE, "cleanup": CommandKind.CLEANUP}.get(pressed.identifier)
    if fork is None or wanted is None or fork.commits is None or fork.commits.head_sha != pressed.head_sha:
        return {}
    run = services.store.run(fork.run)
    if run.installation != pressed.installation:
        return {}
    place = {"control": str(run.control_repo), "issue": run.issue}
    github = services.github(run.installation)
    login = pressed.sender.login
    allowed = github.permission(run.control_repo, login)
    refusal = commands.may_start(allowed, pressed.sender, github.identity().slug)
    if refusal is not None:
        return place | {"answer": replies.refusal_reply(refusal, key=key, surface=services.surface(run))}
    argument = services.default_judge if wanted is CommandKind.REJUDGE else ""
    return place | _decide(services, Command(wanted, argument), run, key)


def _decide(services: Services, command: Command, run: RunRow | None, key: str) -> engine.Json:
    """What a command comes to: an answer, or a deed with what it needs. Changes nothing."""
    if command.kind is CommandKind.HELP:
        return {"answer": replies.help_reply(key)}
    if run is None:
        if command.kind is CommandKind.STATUS:
            return {"answer": replies.status_reply(None, key=key, surface=services.surface())}
        return {"answer": replies.no_run_reply(command.kind.value, key=key)}
    surface = services.surface(run)
    if command.kind is CommandKind.STATUS:
        return {"answer": replies.status_reply(services.store.progress(run.id), key=key, surface=surface)}
    found = _argument(services, command, run)
    if isinstance(found, Problems):
        return {"answer": replies.problems_reply(found, key=key, surface=surface)}
    reason = _too_early_or_late(services, command.kind, run, found)
    if reason:
        return {"answer": replies.not_now_reply(reason, key=key, surface=surface)}
    return {"deed": command.kind.value, "run": run.id, "stage": run.stage, "argument": found}


def _argument(services: Services, command: Command, run: RunRow) -> str | float | Problems:
    match command.kind:
        case CommandKind.RETRY:
            known = services.registry_of(run).reviewers
            return commands_arguments.one_reviewer(command.argument, run.plan.request.reviewers, known)
        case CommandKind.EXTEND:
            return commands_arguments.more_minutes(command.argument, run.orders.extra_seconds / 60)
        case CommandKind.CLEANUP:
            return commands_arguments.cleaning(command.argument)
        case CommandKind.REJUDGE:
            usual = tuple(dict.fromkeys((services.default_judge, *USUAL_JUDGES)))
            named = commands_arguments.judge_named(command.argument, lambda one: judge_problem(services, one), usual)
            return named if isinstance(named, Problems) else _affordable(services, run, named)
        case _:
            return ""


def _affordable(services: Services, run: RunRow, judge: str) -> str | Problems:
    unknown = unpriced(services, run.plan.request.max_cost, judge)
    return judge if unknown is None else Problems((Problem(f"{commands.COMMAND} rejudge", unknown),))


def _too_early_or_late(services: Services, kind: CommandKind, run: RunRow, found: str | float) -> str:
    """Why the run's stage does not allow a command; empty where it does."""
    if kind is CommandKind.EXTEND:
        return _cannot_extend(services, run)
    if kind is CommandKind.RETRY and run.stage in ("scoring", "publishing"):
        return f"the run is {run.stage}, and no reviewer is asked any more. Once it is over, retry repeats what failed."
    if kind is CommandKind.REJUDGE:
        return _cannot_rejudge(services, run, str(found))
    return ""


def _cannot_extend(services: Services, run: RunRow) -> str:
    if run.stage not in UNDER_WAY:
        return f"the run is {run.stage}, and no reviewer is waited for any more."
    if all(trial.status is not None for trial in services.store.trials(run.id)):
        return "every trial has ended, and one that has ended does not begin again."
    return ""


def _cannot_rejudge(services: Services, run: RunRow, judge: str) -> str:
    if run.stage not in OVER:
        return f"the run is {run.stage}; it can be judged again once it is over."
    if not (services.bundles / run.id).exists():
        return f"the run is {run.stage}, and nothing of it was kept to judge."
    text = services.store.report(run.id)
    if text is None:
        return ""
    report, chosen = records.loads(text), services.judge(judge)
    open_yet = sum(row.counts.unscored + row.counts.goldens_unscored for row in report.reviewers)
    # One that asks a model may decide today what it could not for want of money or an answer.
    if report.judge == name_of(chosen) and (isinstance(chosen, Plain) or not open_yet):
        return f"{judge} is who judged the run, and would say the same; name another: /assay rejudge <judge>."
    return ""


# --- doing ------------------------------------------------------------------------------------------------------


def _carry_out(installation: int, repo: str, issue: int, key: str, found: engine.Json) -> None:
    if "answer" in found:
        say(installation, repo, issue, found["answer"])
    if "deed" not in found:
        return
    run, argument, place = found["run"], found["argument"], [installation, repo, issue, key]
    match CommandKind(found["deed"]):
        case CommandKind.CANCEL:
            done = engine.step("cancel", lambda: _cancel(current(), RunId(run), found["stage"], key))
            say(installation, repo, issue, done["answer"])
            if done["cancelled"]:
                engine.wake(refresh, "progress", run, 0, run)
        case CommandKind.EXTEND:
            say(installation, repo, issue, engine.step("extend", lambda: _extend(current(), run, key, argument)))
        case CommandKind.RETRY if found["stage"] in UNDER_WAY:
            engine.enqueue("forks", "retry", f"retry-{key}", *place, run, argument)
        case CommandKind.RETRY:
            # Where runs begin one after another, so that each sees those before it.
            engine.enqueue("start", "follow_up", f"retry-{key}", *place, run, argument)
        case CommandKind.REJUDGE:
            engine.enqueue("score", "rejudge", f"rejudge-{key}", *place, run, argument)
        case CommandKind.CLEANUP:
            engine.enqueue("publish", "cleanup", f"cleanup-{key}", *place, run, argument)
        case _:
            return


def _cancel(services: Services, key_run: RunId, stage: str, key: str) -> engine.Json:
    """`stage` is what the run was in when the command was read: cancelled by this very command is not over before."""
    store, run = services.store, services.store.run(key_run)
    surface = services.surface(run)
    if stage in OVER:
        return {"answer": replies.over_reply(stage, key=key, surface=surface), "cancelled": False}
    if cancel(services, run):
        return {"answer": replies.cancelled_reply(key=key), "cancelled": True}
    now = store.run(run.id).stage
    if now != "publishing":
        return {"answer": replies.over_reply(now, key=key, surface=surface), "cancelled": False}
    forks = store.forks(run.id)
    written = sum(fork.state == "published" for fork in forks)
    return {"answer": replies.too_late_reply(written, len(forks), key=key), "cancelled": False}


def cancel(services: Services, run: RunRow) -> bool:
    """Stop a run that is not over: its open trials end as cancelled, and looks that were set find nothing to do."""
    # One that is cancelled already may have been killed on the way to its trials.
    if not services.store.advance(run.id, ["forking", "waiting", "scoring", "cancelled"], "cancelled"):
        return False
    over = Settled(TrialStatus.CANCELLED, False, "the run was cancelled")
    for trial in services.store.trials(run.id):
        services.store.settle(run.id, trial.fork, trial.reviewer, over, services.clock(), None)
    services.store.mark_ended(services.clock())
    return True


def _extend(services: Services, run: RunId, key: str, minutes: float) -> str:
    now = services.store.extend(run, key, minutes)
    waiting = sum(trial.status is None for trial in services.store.trials(run))
    return replies.extended_reply(minutes, now.orders.extra_seconds / 60, waiting, key=key)
