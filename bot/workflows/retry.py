"""Asking a reviewer again: in a run that is under way where it has not answered, else in a follow-up run.

A trial that has ended never begins again. What could not be measured is measured anew, in new repositories, with
figures of its own; those of the first run stay what they were.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bot import builtin_runs
from bot.model import ForkId, RepoName, RunId, RunRequest
from bot.ports import RunRow, TrialRow
from bot.render import replies
from bot.workflows import builtin_asks, engine
from bot.workflows.asks import ask
from bot.workflows.collect import rerun
from bot.workflows.once import Deferred, Refused, take_turn, try_again_in
from bot.workflows.services import Services, current
from bot.workflows.start import begin, clash, record, say
from scoring.model import PullId, ReviewerId

MOST_ASKS = 10
"""How often one trial's reviewer can be asked, by itself and by people."""

Place = tuple[int, str, int, str]
"""Installation, control repository, issue, and what is answered."""


def _retry_later(
    error: Exception, installation: int, repo: str, issue: int, key: str, run: str, reviewer: str, attempt: int = 1
) -> None:
    delay = try_again_in(error, attempt)
    if delay is not None:
        args = [installation, repo, issue, key, run, reviewer, attempt + 1]
        engine.enqueue("forks", "retry", f"retry-{key}.{attempt + 1}", *args, delay=delay)


@engine.workflow("retry", mend=_retry_later)
def retry(installation: int, repo: str, issue: int, key: str, run: str, reviewer: str, attempt: int = 1) -> None:
    """Ask a reviewer again wherever it has not answered, and say where."""
    found = engine.step("whom to ask", lambda: _open_trials(current(), RunId(run), ReviewerId(reviewer), key))
    say(installation, repo, issue, found["answer"])
    _ask(run, reviewer, key, found["ask"], 1)


def _open_trials(services: Services, run_id: RunId, reviewer: ReviewerId, key: str) -> engine.Json:
    run = services.store.run(run_id)
    trials = [trial for trial in services.store.trials(run_id) if trial.reviewer == reviewer]
    waiting = [trial for trial in trials if trial.status is None]
    way = reviewer in run.plan.request.built_in or rerun(services.reviewer(reviewer, run)) is not None
    asked = [trial for trial in waiting if trial.asks is not None]
    can = [trial for trial in asked if way and trial.asks and len(trial.asks.at) < MOST_ASKS]
    done = replies.Retried(
        asked=len(can),
        unaskable=len(asked) - len(can),
        ended=sum(trial.status is not None and not _measured(trial) for trial in trials),
        coming=len(waiting) - len(asked),
    )
    return {
        "answer": replies.retried_reply(reviewer, done, key=key, surface=services.surface(run)),
        "ask": [[trial.fork, len(trial.asks.at) + 1] for trial in can if trial.asks],
    }


def _measured(trial: TrialRow) -> bool:
    return trial.status is not None and trial.status.scored and trial.complete


def _ask(run: str, reviewer: str, key: str, asks: Sequence[Sequence[engine.Json]], attempt: int) -> None:
    for position, (fork, number) in enumerate(asks):
        try:
            _ask_one(RunId(run), ForkId(fork), ReviewerId(reviewer), number)
        except Deferred as deferred:
            delay = (deferred.until - current().clock()).total_seconds()
            args = [run, reviewer, key, list(asks[position:]), attempt + 1]
            engine.enqueue("forks", "retry_asks", f"retry-{key}-rest.{attempt + 1}", *args, delay=delay)
            return
        except Refused:
            # The trial ends at its deadline as it would have without this.
            continue


def _ask_one(run_id: RunId, fork_id: ForkId, reviewer: ReviewerId, number: int) -> None:
    services = current()
    run, fork = services.store.run(run_id), services.store.fork(run_id, fork_id)
    if reviewer in run.plan.request.built_in:
        if not engine.step("under way", lambda: engine.alive(builtin_asks.review_id(run_id, fork_id, reviewer))):
            builtin_asks.queue(run_id, fork_id, reviewer, again=f".asked-{number}")
            engine.step("asked", lambda: services.store.asked(run_id, fork_id, reviewer, services.clock()))
        return
    way = rerun(services.reviewer(reviewer, run))
    if way is None or not engine.step("still open", lambda: _is_open(current(), run_id, fork_id, reviewer)):
        return
    take_turn(f"ask {run_id} {fork_id} {reviewer} {number}", lambda: services.quotas(run, [reviewer]))
    at = ask(run, fork, way, number)
    engine.step("asked", lambda: services.store.asked(run_id, fork_id, reviewer, at))


def _is_open(services: Services, run: RunId, fork: ForkId, reviewer: ReviewerId) -> bool:
    trials = services.store.trials(run, fork)
    return any(trial.reviewer == reviewer and trial.status is None for trial in trials)


def _rest_later(
    error: Exception, run: str, reviewer: str, key: str, asks: Sequence[Sequence[engine.Json]], attempt: int
) -> None:
    delay = try_again_in(error, attempt)
    if delay is not None:
        args = [run, reviewer, key, list(asks), attempt + 1]
        engine.enqueue("forks", "retry_asks", f"retry-{key}-rest.{attempt + 1}", *args, delay=delay)


@engine.workflow("retry_asks", mend=_rest_later)
def retry_asks(run: str, reviewer: str, key: str, asks: Sequence[Sequence[engine.Json]], attempt: int) -> None:
    """Go on with asks whose turn had not come."""
    _ask(run, reviewer, key, asks, attempt)


# --- once the run is over ---------------------------------------------------------------------------------------


def _follow_later(
    error: Exception, installation: int, repo: str, issue: int, key: str, run: str, reviewer: str, attempt: int = 1
) -> None:
    delay = try_again_in(error, attempt)
    if delay is not None:
        args = [installation, repo, issue, key, run, reviewer, attempt + 1]
        engine.enqueue("start", "follow_up", f"retry-{key}.{attempt + 1}", *args, delay=delay)


@engine.workflow("follow_up", mend=_follow_later)
def follow_up(installation: int, repo: str, issue: int, key: str, run: str, reviewer: str, attempt: int = 1) -> None:
    """Start a run that repeats what could not be measured of a reviewer.

    Steps: 1. see what that is, and whether it may start; 2. record it; 3. say so, and queue its forks.
    """
    plan = engine.step("what failed", lambda: _what_failed(current(), RunId(run), ReviewerId(reviewer), key))
    if "answer" not in plan:
        plan |= engine.step("record", lambda: _record(current(), RepoName.parse(repo), RunId(run), plan, key))
    say(installation, repo, issue, plan["answer"])
    if "begun" in plan:
        begin(plan["begun"])


def _what_failed(services: Services, run_id: RunId, reviewer: ReviewerId, key: str) -> engine.Json:
    run = services.store.run(run_id)
    runs = services.store.runs_of_issue(run.issue_id)
    surface = services.surface(run)
    pulls = _unmeasured(services, runs, reviewer)
    if not pulls:
        said = "nothing is left to retry: every pull request of this reviewer was measured."
        return {"answer": replies.not_now_reply(said, key=key, surface=surface)}
    busy = clash(services, run.control_repo, run.plan.request)
    if busy is not None:
        return {"answer": replies.problems_reply(busy, key=key, surface=surface)}
    return {"id": f"{run.issue_id}-{len(runs) + 1}", "reviewer": reviewer, "pulls": list(pulls)}


def _unmeasured(services: Services, runs: Sequence[RunRow], reviewer: ReviewerId) -> tuple[PullId, ...]:
    """Pull requests on which no run of the issue has measured the reviewer, in the first run's order."""
    tried: dict[PullId, bool] = {}
    for run in runs:
        pull_of = {fork.id: fork.pull_id for fork in services.store.forks(run.id)}
        for trial in services.store.trials(run.id):
            if trial.reviewer == reviewer:
                pull = pull_of[trial.fork]
                tried[pull] = tried.get(pull, False) or _measured(trial)
    return tuple(pull for pull, measured in tried.items() if not measured)


def _record(services: Services, repo: RepoName, of: RunId, plan: engine.Json, key: str) -> engine.Json:
    first, reviewer = services.store.run(of), ReviewerId(plan["reviewer"])
    surface = services.surface(first)
    pulls = tuple(PullId(pull) for pull in plan["pulls"])
    request = _narrowed(first.plan.request, reviewer, pulls)
    try:
        made = record(services, first, RunId(plan["id"]), request)
    except ValueError as error:
        # The suite or the registry has changed since, and no longer holds what would be repeated.
        return {"answer": replies.not_now_reply(f"{error}.", key=key, surface=surface)}
    said = replies.follow_up_reply(made, of, reviewer, len(pulls), request.max_cost, key=key, surface=surface)
    return {"answer": said, "begun": made}


def _narrowed(request: RunRequest, reviewer: ReviewerId, pulls: tuple[PullId, ...]) -> RunRequest:
    mode = request.modes[reviewer]
    built_in = builtin_runs.only(request.built_in, (reviewer,))
    return replace(request, reviewers=(reviewer,), pulls=pulls, publish=mode, publish_each=(), built_in=built_in)
