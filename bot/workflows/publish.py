"""From the report to GitHub: a check run per trial and per fork, then the leaderboard on the issue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bot import render
from bot.model import CheckRun, ForkId, RepoName, RunId, Sha, Visibility
from bot.ports import ForkRow, Json, RunRow
from bot.render.checks import BUTTONS
from bot.render.surface import Surface
from bot.workflows import engine, raws
from bot.workflows.comments import say_once
from bot.workflows.judge import fail
from bot.workflows.once import Deferred, Refused, Write, try_again_in, write_once
from bot.workflows.progress import refresh
from bot.workflows.services import Services, current
from scoring import records
from scoring.model import PullId, Report, ReviewerId, TrialScore


def _publish_later(error: Exception, run: str, fork: str, attempt: int) -> None:
    delay = try_again_in(error, attempt)
    if delay is None:
        fail(error, run)
    else:
        _publish_again(run, fork, attempt + 1, delay)


def _publish_again(run: str, fork: str, attempt: int, delay: float) -> None:
    workflow_id = f"publish-{run}-{current().store.run(RunId(run)).report_hash}-{fork}.{engine.unique()}"
    engine.enqueue("publish", "publish_fork", workflow_id, run, fork, attempt, delay=delay)


@engine.workflow("publish_fork", mend=_publish_later)
def publish_fork(run: str, fork: str, attempt: int) -> None:
    """Write the check runs of one fork; with the last fork, queue the leaderboard."""
    row = current().store.fork(RunId(run), ForkId(fork))
    try:
        written = write_checks(row)
    except Deferred as deferred:
        # To wait for a turn is no failure, however often: `attempt` stays what it is.
        _publish_again(run, fork, attempt, (deferred.until - current().clock()).total_seconds())
        return
    if written.refusals:
        first = written.refusals[0]
        engine.step("unpublished", lambda: current().store.set_fork_state(row.run, row.id, row.state, first))
    if engine.step("published", lambda: _published(current(), row)):
        engine.enqueue("publish", "close_run", f"close-{run}-{current().store.run(row.run).report_hash}", run, 1)


def _close_later(error: Exception, run: str, attempt: int) -> None:
    delay = try_again_in(error, attempt)
    if delay is None:
        fail(error, run)
    else:
        _close_again(run, attempt + 1, delay)


def _close_again(run: str, attempt: int, delay: float) -> None:
    workflow_id = f"close-{run}-{current().store.run(RunId(run)).report_hash}.{engine.unique()}"
    engine.enqueue("publish", "close_run", workflow_id, run, attempt, delay=delay)


@engine.workflow("close_run", mend=_close_later)
def close_run(run: str, attempt: int) -> None:
    """Post the leaderboard and end the run."""
    row = current().store.run(RunId(run))
    body = engine.step("leaderboard", lambda: _leaderboard(current(), row))
    note = engine.step("unwritten", lambda: _unwritten(current().store.forks(row.id)))
    try:
        say_once(row.installation, row.control_repo, row.issue, body)
    except Deferred as deferred:
        _close_again(run, attempt, (deferred.until - current().clock()).total_seconds())
        return
    except Refused as refused:
        note = f"the leaderboard could not be posted: {refused}"
    engine.step("done", lambda: _end(current(), row.id, note))
    engine.wake(refresh, "progress", run, 0, run)


def _end(services: Services, run: RunId, note: str) -> None:
    services.store.set_stage(run, "done", note)
    services.store.mark_ended(services.clock())


def _unwritten(forks: Sequence[ForkRow]) -> str:
    lacking = sum(bool(fork.problem) for fork in forks if fork.state == "published")
    return f"Not every check run could be written on {lacking} of {len(forks)} pull requests." if lacking else ""


def stored_report(services: Services, run: RunId) -> Report:
    """The report of a run that has been scored.

    Raises:
        LookupError: the run has not been scored.
    """
    text = services.store.report(run)
    if text is None:
        raise LookupError(f"run {run} has no report yet")
    return records.loads(text)


@dataclass(frozen=True, slots=True)
class Written:
    """What came of a fork's check runs."""

    checks: int
    refusals: tuple[str, ...] = ()
    """What GitHub said to those that it would not have."""


def write_checks(fork: ForkRow) -> Written:
    """Write the check runs of a fork under the run's present report, each once.

    Raises:
        Deferred: see `write_once`; what is written stays.
    """
    if fork.commits is None or fork.pull is None or fork.repo is None:
        return Written(0)
    checks = _checks(current(), fork, public=_stays_public(fork))
    refusals: list[str] = []
    for check in checks:
        try:
            _write_check(fork, check)
        except Refused as refused:
            # One check run that GitHub will not have is no reason to keep the others back.
            refusals.append(str(refused))
    return Written(len(checks) - len(refusals), tuple(refusals))


def _stays_public(fork: ForkRow) -> bool:
    """Whether others can see the fork. One that may not hold what is to be written is made private first."""
    if not engine.step("visible", lambda: _is_public(current(), fork)):
        return False
    run = current().store.run(fork.run)
    if fork_surface(current(), run, public=True).all_identified(_reviewers_of(run, fork)):
        return True
    github, repo = current().github(run.installation), _repo(fork)

    def find() -> Json | None:
        return None if _is_public(current(), fork) else {"private": True}

    def make() -> Json:
        return {"private": bool(github.set_private(repo, True).get("private", True))}

    try:
        write_once(Write(f"private {fork.run} {fork.id}", "visibility", github.account(), find=find, make=make))
    except Refused:
        # Not every organisation may have private repositories: then only counts are written.
        return True
    return False


def _is_public(services: Services, fork: ForkRow) -> bool:
    raw = services.github(services.store.run(fork.run).installation).repository(_repo(fork))
    if raw is None:
        return False
    return not raw.get("private", services.store.run(fork.run).plan.request.visibility is not Visibility.PUBLIC)


def _checks(services: Services, fork: ForkRow, *, public: bool) -> Sequence[CheckRun]:
    assert fork.commits is not None
    run = services.store.run(fork.run)
    report = stored_report(services, fork.run)
    buttons = () if public or run.public else BUTTONS
    ref = render.ReportRef(fork.run, run.report_hash or "", report.judge, report.profile, buttons=buttons)
    surface = fork_surface(services, run, public=public)
    scores = [score for score in report.trials if _belongs(score, fork, run)]
    head = fork.commits.head_sha
    checks = [render.trial_check(score, ref, head_sha=head, surface=surface) for score in scores]
    summary = render.fork_check(scores, ref, fork=fork.id, head_sha=head, surface=surface)
    return [check for check in (*checks, summary) if check is not None]


def fork_surface(services: Services, run: RunRow, *, public: bool) -> Surface:
    """What may be said on a fork: everything on a private one, else what each reviewer's mode allows."""
    return Surface.of(services.registry_of(run).reviewers, run.plan.request.modes, public=public)


def _reviewers_of(run: RunRow, fork: ForkRow) -> Sequence[ReviewerId]:
    return next(plan.reviewers for plan in run.plan.forks if plan.id == fork.id)


def _belongs(score: TrialScore, fork: ForkRow, run: RunRow) -> bool:
    return score.trial.pull == fork.pull_id and score.trial.reviewer in _reviewers_of(run, fork)


def _write_check(fork: ForkRow, check: CheckRun) -> None:
    """Create a check run with its first annotations and append the rest, each batch once."""
    run = current().store.run(fork.run)
    github = current().github(run.installation)
    repo = _repo(fork)
    first, *rest = render.batches(check.annotations) or ((),)
    identity = github.account()
    found = lambda: _standing(fork, check)  # noqa: E731
    made = write_once(
        Write(
            f"check {fork.run} {check.external_id}",
            "check run",
            identity,
            find=found,
            make=lambda: _small(github.create_check(repo, check, first)),
        )
    )
    landed = len(first)
    for number, batch in enumerate(rest, start=2):
        landed += len(batch)
        write_once(_batch_write(fork, check, made["id"], number, batch, landed, identity))


def _batch_write(
    fork: ForkRow, check: CheckRun, check_id: int, number: int, batch: Sequence[Json], landed: int, identity: str
) -> Write:
    github = current().github(current().store.run(fork.run).installation)

    def find() -> Json | None:
        # Appending is not idempotent; the count that GitHub holds tells whether the batch has landed.
        standing = _standing(fork, check)
        return standing if standing and standing["annotations"] >= landed else None

    return Write(
        f"check {fork.run} {check.external_id} batch {number}",
        "annotations",
        identity,
        find=find,
        make=lambda: _small(github.add_annotations(_repo(fork), check_id, check, batch)),
    )


def _standing(fork: ForkRow, check: CheckRun) -> Json | None:
    github = current().github(current().store.run(fork.run).installation)
    for raw in github.check_runs(_repo(fork), Sha(check.head_sha), check.name):
        if raw.get("external_id") == check.external_id:
            return _small(raw)
    return None


def _small(raw: Mapping[str, Json]) -> Json:
    counted = (raw.get("output") or {}).get("annotations_count")
    return {"id": raw["id"], "url": raws.link(raw), "annotations": counted or 0}


def _repo(fork: ForkRow) -> RepoName:
    if fork.repo is None:
        raise ValueError(f"fork {fork.id} has no repository")
    return fork.repo


def _published(services: Services, fork: ForkRow) -> bool:
    services.store.set_fork_state(fork.run, fork.id, "published" if fork.commits else "failed")
    return all(row.state in ("published", "failed") for row in services.store.forks(fork.run))


def _leaderboard(services: Services, run: RunRow) -> str:
    return leaderboard(services, run, ())


def leaderboard(services: Services, run: RunRow, earlier: Sequence[Report]) -> str:
    """The leaderboard of a run as the control issue may hold it, beside what earlier judges made of the same."""
    report = stored_report(services, run.id)
    surface = result_surface(services, run)
    links = _links(services, run)
    return render.leaderboard_comment(
        report, run=run.id, links=links, surface=surface, report_url=None, earlier=earlier
    )


def result_surface(services: Services, run: RunRow) -> Surface:
    """What may be said of a result on the control issue: its repository may have been opened to others meanwhile."""
    control = services.github(run.installation).repository(run.control_repo)
    public = run.public or control is None or not control.get("private", False)
    return replace(services.surface(run), public=public)


def _links(services: Services, run: RunRow) -> Mapping[PullId | tuple[PullId, ReviewerId], str]:
    """Where each trial's check run, and each golden pull request's fork, is to be seen."""
    links: dict[PullId | tuple[PullId, ReviewerId], str] = {}
    for fork in services.store.forks(run.id):
        if fork.repo is None or fork.pull is None:
            continue
        links[fork.pull_id] = f"{services.web_url}/{fork.repo}/pull/{fork.pull}"
        for trial in services.store.trials(run.id, fork.id):
            made = services.ledger.result(f"check {run.id} {run.id}:{fork.pull_id}~{trial.reviewer}:{run.report_hash}")
            if made is not None:
                links[fork.pull_id, trial.reviewer] = made["url"]
    return links
