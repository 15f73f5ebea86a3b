"""From a planned fork to an open pull request with every reviewer asked. Each write is found before it is made."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from pydantic import TypeAdapter

from bot import pacing
from bot.model import ForkId, ForkPlan, Raw, RepoName, RunId, Settled, Sha, TriggerKind, Visibility
from bot.neutral_reviewers import action_problem
from bot.ports import ForkCommits, ForkRow, GitFailure, GitHub, Json, RunRow
from bot.workflows import builtin_asks, engine, raws
from bot.workflows.asks import ask
from bot.workflows.collect import look_soon, settle_fork_if_done
from bot.workflows.once import Deferred, Refused, Write, mend_seconds, take_turn, write_once
from bot.workflows.progress import refresh_soon
from bot.workflows.services import current
from bot.workflows.suites import upstream_token
from goldens.model import GoldenPull
from scoring.model import ReviewerId, TrialStatus

_COMMITS = TypeAdapter(ForkCommits)
_TAKEN = re.compile(r"^(?:409|422)\b.{0,300}\b(?:exists|taken)\b", re.IGNORECASE | re.DOTALL)

MOST_TRIES = 20
WRONG_CLOCK = timedelta(days=1)
"""How far ours may be ahead of GitHub's."""


def _try_again(error: Exception, run: str, fork: str, attempt: int) -> None:
    row = current().store.fork(RunId(run), ForkId(fork))
    if attempt < MOST_TRIES:
        again = attempt + 1
        engine.enqueue("forks", "open_fork", f"open-{run}-{fork}.{again}", run, fork, again, delay=mend_seconds(error))
        return
    reason = f"it failed {attempt} times, at last with {type(error).__name__}: {error}"
    engine.step("give up", lambda: _give_up(row, reason))
    settle_fork_if_done(row.run, row.id)


@engine.workflow("open_fork", mend=_try_again)
def open_fork(run: str, fork: str, attempt: int) -> None:
    """Make one fork.

    Steps: 1. build both commits and the proof; 2. create the repository; 3. push the two branches; 4. open the pull
    request; 5. ask each reviewer; 6. set the first wake.
    """
    row = current().store.fork(RunId(run), ForkId(fork))
    try:
        _open(row)
    except Deferred as deferred:
        # To wait for a turn is no failure, however often: `attempt` stays what it is.
        delay, name = (deferred.until - current().clock()).total_seconds(), f"open-{run}-{fork}.{engine.unique()}"
        engine.enqueue("forks", "open_fork", name, run, fork, attempt, delay=delay)
    except Refused as refused:
        reason = str(refused)
        engine.step("give up", lambda: _give_up(row, reason))
        settle_fork_if_done(row.run, row.id)
    except _Unwanted:
        # Its trials ended with the run.
        return
    refresh_soon(row.run)


class _Unwanted(Exception):
    """The run was ended meanwhile: nothing more is to be made for it."""


def _check_wanted(run: RunId) -> None:
    if engine.step("still wanted", lambda: current().store.run(run).stage) not in ("forking", "waiting"):
        raise _Unwanted


def _open(row: ForkRow) -> None:
    run = current().store.run(row.run)
    plan = next(fork for fork in run.plan.forks if fork.id == row.id)
    _check_wanted(row.run)
    _wait_to_create(run, plan)
    built = engine.step("build", lambda: _build(run, plan))
    if "refused" in built:
        raise Refused(built["refused"])
    commits = _COMMITS.validate_python(built)
    repo = _create_repository(run, plan, commits)
    name = RepoName.parse(repo["full_name"])
    _push(run, plan, name, repo["clone_url"], commits)
    _show(run, plan, name)
    _check_wanted(row.run)
    _wait_to_ask(run, plan)
    pull = _open_pull(run, plan, name)
    opened = replace(
        row,
        state="open",
        repo=name,
        repo_id=repo["id"],
        pull=pull["number"],
        commits=commits,
        opened_at=datetime.fromisoformat(pull["created_at"]),
    )
    asked = _ask_all(run, plan, opened)
    engine.step("opened", lambda: _opened(opened, asked))
    builtin_asks.queue_all(run, plan.id, plan.reviewers)
    look_soon(opened)


def _opened(fork: ForkRow, asked: Mapping[ReviewerId, datetime]) -> None:
    store = current().store
    store.fork_opened(fork, asked)
    _all_made(fork.run)


def _all_made(run: RunId) -> None:
    store = current().store
    if all(row.state != "planned" for row in store.forks(run)):
        store.advance(run, ["forking"], "waiting")


def _build(run: RunRow, plan: ForkPlan) -> Json:
    try:
        commits = built(run, plan)
    except GitFailure as failure:
        if failure.retryable:
            raise
        return {"refused": str(failure)}
    return _COMMITS.dump_python(commits, mode="json")


def built(run: RunRow, plan: ForkPlan) -> ForkCommits:
    """Both commits of a fork: the same however often they are made.

    Raises:
        GitFailure: they cannot be had or made.
    """
    services = current()
    needs = services.needs(run, plan.reviewers)
    pull = _pull(run, plan)
    token = upstream_token(services, run, pull)
    return services.builder.build(
        run.id, plan.id, pull, secret=run.secret, title=plan.title, needs=needs, upstream_token=token
    )


def _pull(run: RunRow, plan: ForkPlan) -> GoldenPull:
    suite = current().suite(run)
    return next(pull for pull in suite.pulls if pull.id == plan.pull)


def _wait_to_create(run: RunRow, plan: ForkPlan) -> None:
    limits, account = current().limits, _github(run).account()
    key = f"repository {run.id} {plan.id}"
    made = [f"{key} {number}" for number in range(1, len(plan.names) + 1)]
    take_turn(key, lambda: [pacing.repositories(account, limits.repositories_per_hour)], unless=made)


def _wait_to_ask(run: RunRow, plan: ForkPlan) -> None:
    """The opening asks some reviewers and the triggers follow at once, so one turn is taken with all of them."""
    services, opened = current(), _pull_key(run, plan)
    take_turn(f"ask {run.id} {plan.id}", lambda: services.quotas(run, plan.reviewers), unless=[opened])


def _pull_key(run: RunRow, plan: ForkPlan) -> str:
    return f"pull {run.id} {plan.id}"


def _create_repository(run: RunRow, plan: ForkPlan, commits: ForkCommits) -> Json:
    """Try the names in order. A repository that stood before our intent is somebody else's: the next name then."""
    for number, name in enumerate(plan.names, start=1):
        try:
            return write_once(_repository_write(run, plan, number, RepoName(run.plan.org, name)))
        except Refused as refused:
            if not _TAKEN.search(str(refused)):
                raise
    empty = engine.step("empty repository", lambda: _empty(run, plan, commits))
    if empty is None:
        raise Refused(f"all {len(plan.names)} names are taken")
    return empty


def _empty(run: RunRow, plan: ForkPlan, commits: ForkCommits) -> Json | None:
    """A repository under one of our names that holds nothing else: where none can be made, it was put there for us.

    It is not in the ledger as ours, so that cleaning up leaves it.
    """
    github = _github(run)
    for name in plan.names:
        raw = github.repository(RepoName(run.plan.org, name))
        if raw is not None:
            small = _small(raw)
            token = github.git_token(RepoName.parse(small["full_name"]))
            standing = current().builder.branches(small["clone_url"], token)
            if standing.items() <= _refs(plan, commits).items():
                return small
    return None


def _repository_write(run: RunRow, plan: ForkPlan, number: int, repo: RepoName) -> Write:
    private = run.plan.request.visibility is Visibility.PRIVATE or current().private_until_pushed
    key = f"repository {run.id} {plan.id} {number}"
    return Write(
        key=key,
        kind="repository",
        identity=_github(run).account(),
        find=lambda: _ours(run, repo, key),
        make=lambda: _small(_github(run).create_repository(repo, private=private)),
    )


def _ours(run: RunRow, repo: RepoName, key: str) -> Json | None:
    raw = _github(run).repository(repo)
    if raw is None or not is_ours(raws.created(raw), run.created_at, sent=current().ledger.attempts(key) > 0):
        return None
    return _small(raw)


def is_ours(made: datetime | None, planned: datetime, *, sent: bool) -> bool:
    """Whether a repository of one of our names is ours.

    Args:
        made: when, by GitHub's clock; None: nobody says, and it is ours only if we sent for it.
        planned: when the run was, by our clock.
        sent: whether we sent for it. GitHub refuses a name that is taken, so what is there then is ours, unless it is
            older than clocks are wrong. If we did not, it is ours if it is younger than the run: we may have forgotten.
    """
    if made is None:
        return sent
    return made >= planned.replace(microsecond=0) - (WRONG_CLOCK if sent else timedelta(0))


def _small(raw: Mapping[str, Json]) -> Json:
    return {"id": raw["id"], "full_name": raw["full_name"], "clone_url": raw["clone_url"]}


def _github(run: RunRow) -> GitHub:
    return current().github(run.installation)


def _refs(plan: ForkPlan, commits: ForkCommits) -> dict[str, Sha]:
    return {plan.base_branch: commits.base_sha, plan.head_branch: commits.head_sha}


def _push(run: RunRow, plan: ForkPlan, repo: RepoName, clone_url: str, commits: ForkCommits) -> None:
    refs = _refs(plan, commits)

    def make() -> Json:
        # Built again: it costs little, gives the same commits, and the scratch may have been lost since.
        built(run, plan)
        current().builder.push(run.id, plan.id, clone_url, _github(run).git_token(repo), refs)
        return dict(refs)

    # Pushing is its own look-up: branches that are there with these SHAs are left alone.
    account = _github(run).account(author=True)
    write_once(Write(f"push {run.id} {plan.id}", "push", account, find=lambda: None, make=make, fresh=True))


def _show(run: RunRow, plan: ForkPlan, repo: RepoName) -> None:
    """Make a public fork public, where it was private until its branches stood."""
    if run.plan.request.visibility is Visibility.PRIVATE or not current().private_until_pushed:
        return

    def find() -> Json | None:
        raw = _github(run).repository(repo)
        return None if raw is None or raw["private"] else {"private": False}

    def make() -> Json:
        _github(run).set_private(repo, False)
        return {"private": False}

    write_once(Write(f"show {run.id} {plan.id}", "visibility", _github(run).account(), find=find, make=make))


def _open_pull(run: RunRow, plan: ForkPlan, repo: RepoName) -> Json:
    def find() -> Json | None:
        found = _github(run).pulls_by_head(repo, plan.head_branch)
        return _opening(found[0]) if found else None

    def make() -> Json:
        raw = _github(run).open_pull(
            repo, title=plan.title, body=plan.body, head=plan.head_branch, base=plan.base_branch
        )
        return _opening(raw)

    account = _github(run).account(author=True)
    return write_once(Write(_pull_key(run, plan), "pull request", account, find=find, make=make, fresh=True))


def _opening(raw: Raw) -> Json:
    at = raws.created(raw) or current().clock()
    return {"number": raw["number"], "created_at": at.isoformat()}


def _ask_all(run: RunRow, plan: ForkPlan, fork: ForkRow) -> dict[ReviewerId, datetime]:
    """Ask every reviewer of the fork; one that cannot be asked is settled there and then."""
    asked: dict[ReviewerId, datetime] = {}
    for reviewer in plan.reviewers:
        entry = current().reviewer(reviewer, run)
        trigger = entry.trigger
        unfit = action_problem(entry, granted=current().workflows_granted)
        if unfit is not None:
            _unable(fork, reviewer, unfit)
            continue
        if trigger.kind is TriggerKind.AUTO and fork.opened_at is not None:
            asked[reviewer] = fork.opened_at
            continue
        _check_wanted(run.id)
        try:
            asked[reviewer] = ask(run, fork, trigger, 1)
        except Refused as refused:
            _unable(fork, reviewer, f"could not be asked: {refused}")
    return asked


def _unable(fork: ForkRow, reviewer: ReviewerId, reason: str) -> None:
    services = current()
    settled = Settled(TrialStatus.UNABLE, False, reason)
    engine.step("unable", lambda: services.store.settle(fork.run, fork.id, reviewer, settled, services.clock(), None))


def _give_up(row: ForkRow, reason: str) -> None:
    store = current().store
    store.set_fork_state(row.run, row.id, "failed", reason)
    settled = Settled(TrialStatus.NOT_FORKED, False, reason)
    for trial in store.trials(row.run, row.id):
        store.settle(row.run, row.id, trial.reviewer, settled, current().clock(), None)
    _all_made(row.run)
