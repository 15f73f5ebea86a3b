"""Waiting for reviewers: read everything afresh, decide by rule, settle or set the next wake. Webhooks only nudge."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

from bot import settle
from bot.answers import LONGEST_WAIT
from bot.model import Asks, ForkId, RepoName, RunId, Settled, Snapshot, TriggerKind, Waiting
from bot.ports import ForkRow, GitHubError, Json, RunRow, TrialRow
from bot.registry import Reviewer, TriggerSpec
from bot.workflows import engine
from bot.workflows.asks import ask
from bot.workflows.census import evidence
from bot.workflows.once import Deferred, Refused, mend_seconds, retry_seconds, take_turn
from bot.workflows.progress import refresh_soon
from bot.workflows.services import Services, current
from scoring.model import ReviewerId, TrialStatus

LOG = logging.getLogger("assay.workflows")
PATIENCE = timedelta(minutes=30)
"""How long past the last deadline a fork that cannot be read is tried."""
LOOKS_AT_A_TIME = 6
"""As many as the queue of looks runs at a time."""
HOURLY_LIMIT = 5000
"""GitHub's least hourly request limit of an installation."""


def _look_again(error: Exception, run: str, fork: str) -> None:
    row = current().store.fork(RunId(run), ForkId(fork))
    if engine.step("hopeless", lambda: _hopeless(current(), row)):
        reason = f"looking failed past every deadline, at last with {type(error).__name__}: {error}"
        engine.step("give up", lambda: _end_all(current(), row, reason))
        settle_fork_if_done(row.run, row.id)
    else:
        _wake(row, mend_seconds(error))


@engine.workflow("collect", mend=_look_again)
def collect(run: str, fork: str) -> None:
    """Look at one fork.

    Steps: 1. read, keep the snapshot, decide and settle what is over; 2. ask again whom the rules say to; 3. end the
    fork if all its trials are over, else set the next wake.
    """
    row = current().store.fork(RunId(run), ForkId(fork))
    seen = engine.step("look", lambda: _look(current(), row))
    for reviewer in seen["ask"]:
        _ask_again(row, ReviewerId(reviewer))
    if seen["settled"]:
        refresh_soon(row.run)
    if seen["wake"] is None:
        settle_fork_if_done(row.run, row.id)
    else:
        _wake(row, seen["wake"])


def look_soon(fork: ForkRow) -> None:
    """The first look at a fork that has just been opened."""
    _wake(fork, _poll_seconds(current()))


def nudge(fork: ForkRow) -> None:
    """Something happened on a fork: look soon, and not later than was set."""
    if fork.state == "open":
        timing, now = current().timing, current().clock()
        known = fork.wake_at is not None and fork.wake_at <= last_wake(current(), now)
        cap = (fork.wake_at - now).total_seconds() if fork.wake_at and known else timing.nudge
        engine.wake(collect, "collect", f"{fork.run}/{fork.id}", timing.nudge, fork.run, fork.id, cap=max(cap, 1))


def last_wake(services: Services, now: datetime) -> datetime:
    """No look is put off for longer: one that seems to be was set before the clock was set back."""
    return now + timedelta(seconds=max(LONGEST_WAIT, settle.LONGEST_POLL, services.timing.poll or 0))


def _wake(fork: ForkRow, seconds: float) -> None:
    at = current().clock() + timedelta(seconds=seconds)
    engine.step("wake at", lambda: current().store.set_wake(fork.run, fork.id, at))
    engine.wake(collect, "collect", f"{fork.run}/{fork.id}", seconds, fork.run, fork.id)


def _look(services: Services, fork: ForkRow) -> Json:
    """{settled: how many trials ended, ask: whom to ask again, wake: seconds, or None if nothing is open}."""
    run = services.store.run(fork.run)
    if fork.state != "open" or run.stage not in ("forking", "waiting") or fork.repo is None or fork.pull is None:
        return {"settled": 0, "ask": [], "wake": None}
    if not waits_for_bots(services, run, fork):
        return {"settled": 0, "ask": [], "wake": None}
    try:
        snapshot = _read(services, run, fork.repo, fork.pull)
    except GitHubError as error:
        return _unreadable(services, fork, error)
    version = services.store.keep_snapshot(fork.run, fork.id, snapshot)
    if version is None:
        # A look that began later has been kept: its decisions stand, and it has set the wake.
        return {"settled": 0, "ask": [], "wake": _poll_seconds(services)}
    return _decide(services, run, fork, snapshot, version)


def waits_for_bots(services: Services, run: RunRow, fork: ForkRow) -> bool:
    """Whether GitHub will tell more of a fork that counts: built-in reviewers end their trials themselves."""
    trials = services.store.trials(fork.run, fork.id)
    return any(one.status is None and one.reviewer not in run.plan.request.built_in for one in trials)


def _read(services: Services, run: RunRow, repo: RepoName, pull: int) -> Snapshot:
    """Read a fork; a no is believed only when it stands, since it ends every trial of the fork."""
    for pause in services.timing.rechecks:
        try:
            return services.github(run.installation).snapshot(repo, pull)
        except GitHubError as error:
            if retry_seconds(services, error) is not None:
                raise
            services.sleep(pause)
    return services.github(run.installation).snapshot(repo, pull)


def _decide(services: Services, run: RunRow, fork: ForkRow, snapshot: Snapshot, version: int) -> Json:
    now = snapshot.read_started
    settled = 0
    again: list[ReviewerId] = []
    waits: list[Waiting] = []
    installed = evidence(services, run)
    for trial in services.store.trials(fork.run, fork.id):
        if trial.status is not None or trial.reviewer in run.plan.request.built_in:
            continue
        reviewer, asks = services.reviewer(trial.reviewer, run), trial.asks or Asks((_opened(fork, now),))
        limit = limit_seconds(run, reviewer)
        decision = settle.decide(snapshot, reviewer, asks, now, deadline_override_seconds=limit)
        if isinstance(decision, Settled) and decision.status is TrialStatus.TIMEOUT:
            there = installed(trial.reviewer)
            decision = settle.decide(snapshot, reviewer, asks, now, deadline_override_seconds=limit, installed=there)
        if isinstance(decision, Settled):
            settled += services.store.settle(fork.run, fork.id, trial.reviewer, decision, now, version)
            continue
        waits.append(decision)
        if decision.ask_again and _may_ask_again(reviewer, trial):
            again.append(trial.reviewer)
    return {"settled": settled, "ask": again, "wake": _next_wake(services, waits, now) if waits else None}


def _opened(fork: ForkRow, now: datetime) -> datetime:
    return fork.opened_at or now


def limit_seconds(run: RunRow, reviewer: Reviewer) -> float:
    """How long a reviewer is waited for, from its first ask: as planned, and what was commanded since."""
    minutes = run.plan.request.wait_minutes
    return (reviewer.wait.deadline if minutes is None else minutes * 60) + run.orders.extra_seconds


def _may_ask_again(reviewer: Reviewer, trial: TrialRow) -> bool:
    return trial.asks is not None and rerun(reviewer) is not None and len(trial.asks.at) < reviewer.wait.max_asks


def rerun(reviewer: Reviewer) -> TriggerSpec | None:
    """How a reviewer is asked once more; None where there is no way."""
    spec = reviewer.rerun or reviewer.trigger
    return None if spec.kind is TriggerKind.AUTO else spec


def _next_wake(services: Services, waits: list[Waiting], now: datetime) -> float:
    poll = _poll_seconds(services)
    due = settle.wake(waits, now, poll)
    # GitHub stamps whole seconds, so what is due now may be seen as due only at the next one.
    return poll if due is None else max((due - now).total_seconds(), 0.5)


def _poll_seconds(services: Services) -> float:
    if services.timing.poll is not None:
        return services.timing.poll
    waiting = sum(fork.state == "open" for run in services.store.active_runs() for fork in services.store.forks(run.id))
    return settle.poll_interval(waiting, HOURLY_LIMIT)


def _unreadable(services: Services, fork: ForkRow, error: GitHubError) -> Json:
    seconds = retry_seconds(services, error)
    if seconds is not None:
        return {"settled": 0, "ask": [], "wake": max(seconds, 1.0)}
    settled = _end_all(services, fork, f"the fork cannot be read any more: {error.message}")
    return {"settled": settled, "ask": [], "wake": None}


def _end_all(services: Services, fork: ForkRow, reason: str) -> int:
    over = Settled(TrialStatus.ERROR, False, reason)
    built_in = services.store.run(fork.run).plan.request.built_in
    trials = [one for one in services.store.trials(fork.run, fork.id) if one.reviewer not in built_in]
    return sum(services.store.settle(fork.run, fork.id, t.reviewer, over, services.clock(), None) for t in trials)


def _hopeless(services: Services, fork: ForkRow) -> bool:
    run = services.store.run(fork.run)
    # A reviewer may have left the registry since, and this is the way out of every other error.
    entries = (services.registry_of(run).get(reviewer) for reviewer in run.plan.request.reviewers)
    asked = (run.plan.request.wait_minutes or 0) * 60 + run.orders.extra_seconds
    longest = max((limit_seconds(run, entry) for entry in entries if entry is not None), default=asked)
    return services.clock() > (fork.opened_at or run.created_at) + timedelta(seconds=longest) + PATIENCE


def _ask_again(fork: ForkRow, reviewer: ReviewerId) -> None:
    services = current()
    spec = rerun(services.reviewer(reviewer, services.store.run(fork.run)))
    trial = next(row for row in services.store.trials(fork.run, fork.id) if row.reviewer == reviewer)
    if spec is None or trial.asks is None:
        return
    run, number = services.store.run(fork.run), len(trial.asks.at) + 1
    try:
        take_turn(f"ask {run.id} {fork.id} {reviewer} {number}", lambda: services.quotas(run, [reviewer]))
        at = ask(run, fork, spec, number)
    except (Deferred, Refused):
        # The next look decides anew: the deadline still ends the trial.
        return
    engine.step("asked", lambda: services.store.asked(fork.run, fork.id, reviewer, at))


def last_look(services: Services, run: RunId) -> int:
    """Keep what every fork says at the very end: what came after the trials were over is flagged, and never scored."""
    row = services.store.run(run)
    with ThreadPoolExecutor(LOOKS_AT_A_TIME) as looks:
        return sum(looks.map(lambda fork: _last_look(services, row, fork), services.store.forks(run)))


def _last_look(services: Services, run: RunRow, fork: ForkRow) -> bool:
    if fork.repo is None or fork.pull is None or not services.store.snapshots(run.id, fork.id):
        return False
    try:
        snapshot = services.github(run.installation).snapshot(fork.repo, fork.pull)
    except GitHubError as error:
        LOG.info("no last look at %s: %s", fork.repo, error)
        return False
    return services.store.keep_snapshot(run.id, fork.id, snapshot) is not None


def settle_fork_if_done(run: RunId, fork: ForkId) -> None:
    """End a fork whose trials are all over; with the last fork of the run, go on to scoring."""
    if engine.step("close fork", lambda: _close_fork(current(), run, fork)):
        engine.enqueue("score", "finalize", f"finalize-{run}", run)


def _close_fork(services: Services, run: RunId, fork: ForkId) -> bool:
    store = services.store
    if any(trial.status is None for trial in store.trials(run, fork)):
        return False
    if store.fork(run, fork).state == "open":
        store.set_fork_state(run, fork, "settled")
    return all(row.state in ("settled", "failed") for row in store.forks(run)) and store.run(run).stage in (
        "forking",
        "waiting",
    )
