"""From a planned fork to an open pull request with every reviewer asked. Each write is found before it is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from pydantic import TypeAdapter

from bot.model import ForkId, ForkPlan, RepoName, RunId, Settled, TriggerKind, Visibility
from bot.ports import ForkCommits, ForkRow, GitFailure, GitHub, Json, RunRow
from bot.workflows import engine
from bot.workflows.asks import ask
from bot.workflows.collect import look_soon, settle_fork_if_done
from bot.workflows.once import Deferred, Refused, Write, mend_seconds, write_once
from bot.workflows.progress import refresh_soon
from bot.workflows.services import current
from goldens.model import GoldenPull
from scoring.model import ReviewerId, TrialStatus

_COMMITS = TypeAdapter(ForkCommits)


MOST_TRIES = 20


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
        again = attempt + 1
        delay = (deferred.until - current().clock()).total_seconds()
        engine.enqueue("forks", "open_fork", f"open-{run}-{fork}.{again}", run, fork, again, delay=delay)
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
    built = engine.step("build", lambda: _build(run, plan))
    if "refused" in built:
        raise Refused(built["refused"])
    commits = _COMMITS.validate_python(built)
    repo = _create_repository(run, plan)
    name = RepoName.parse(repo["full_name"])
    _push(run, plan, name, repo["clone_url"], commits)
    _check_wanted(row.run)
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
    services = current()
    try:
        commits = services.builder.build(run.id, plan.id, _pull(run, plan), secret=run.secret, title=plan.title)
    except GitFailure as failure:
        if failure.retryable:
            raise
        return {"refused": str(failure)}
    return _COMMITS.dump_python(commits, mode="json")


def _pull(run: RunRow, plan: ForkPlan) -> GoldenPull:
    suite = current().load_suite(run.plan.request.suite)
    return next(pull for pull in suite.pulls if pull.id == plan.pull)


def _create_repository(run: RunRow, plan: ForkPlan) -> Json:
    """Try the names in order. A repository that stood before our intent is somebody else's: the next name then."""
    for number, name in enumerate(plan.names, start=1):
        try:
            return write_once(_repository_write(run, plan, number, RepoName(run.plan.org, name)))
        except Refused as refused:
            if "name already exists" not in str(refused):
                raise
    raise Refused(f"all {len(plan.names)} names are taken")


def _repository_write(run: RunRow, plan: ForkPlan, number: int, repo: RepoName) -> Write:
    private = run.plan.request.visibility is Visibility.PRIVATE
    return Write(
        key=f"repository {run.id} {plan.id} {number}",
        kind="repository",
        identity=_github(run).account(),
        find=lambda: _ours(run, repo),
        make=lambda: _small(_github(run).create_repository(repo, private=private)),
    )


def _ours(run: RunRow, repo: RepoName) -> Json | None:
    """The repository, if it is there and was made after this run was planned."""
    raw = _github(run).repository(repo)
    if raw is None or datetime.fromisoformat(raw["created_at"]) < run.created_at.replace(microsecond=0):
        return None
    return _small(raw)


def _small(raw: Mapping[str, Json]) -> Json:
    return {"id": raw["id"], "full_name": raw["full_name"], "clone_url": raw["clone_url"]}


def _github(run: RunRow) -> GitHub:
    return current().github(run.installation)


def _push(run: RunRow, plan: ForkPlan, repo: RepoName, clone_url: str, commits: ForkCommits) -> None:
    refs = {plan.base_branch: commits.base_sha, plan.head_branch: commits.head_sha}

    def make() -> Json:
        services = current()
        # Built again: it costs little, gives the same commits, and the scratch may have been lost since.
        services.builder.build(run.id, plan.id, _pull(run, plan), secret=run.secret, title=plan.title)
        services.builder.push(run.id, plan.id, clone_url, _github(run).git_token(repo), refs)
        return dict(refs)

    # Pushing is its own look-up: branches that are there with these SHAs are left alone.
    account = _github(run).account(author=True)
    write_once(Write(f"push {run.id} {plan.id}", "push", account, find=lambda: None, make=make, fresh=True))


def _open_pull(run: RunRow, plan: ForkPlan, repo: RepoName) -> Json:
    def find() -> Json | None:
        found = _github(run).pulls_by_head(repo, plan.head_branch)
        return {"number": found[0]["number"], "created_at": found[0]["created_at"]} if found else None

    def make() -> Json:
        raw = _github(run).open_pull(
            repo, title=plan.title, body=plan.body, head=plan.head_branch, base=plan.base_branch
        )
        return {"number": raw["number"], "created_at": raw["created_at"]}

    account = _github(run).account(author=True)
    return write_once(Write(f"pull {run.id} {plan.id}", "pull request", account, find=find, make=make, fresh=True))


def _ask_all(run: RunRow, plan: ForkPlan, fork: ForkRow) -> dict[ReviewerId, datetime]:
    """Ask every reviewer of the fork; one that cannot be asked is settled there and then."""
    asked: dict[ReviewerId, datetime] = {}
    for reviewer in plan.reviewers:
        trigger = current().reviewer(reviewer).trigger
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
