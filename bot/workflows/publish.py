"""From the report to GitHub: a check run per trial and per fork, then the leaderboard on the issue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot import render
from bot.model import CheckRun, ForkId, Publish, RepoName, RunId, Sha, Visibility
from bot.ports import ForkRow, Json, RunRow
from bot.render.surface import Surface
from bot.workflows import engine
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
    workflow_id = f"publish-{run}-{current().store.run(RunId(run)).report_hash}-{fork}.{attempt}"
    engine.enqueue("publish", "publish_fork", workflow_id, run, fork, attempt, delay=delay)


@engine.workflow("publish_fork", mend=_publish_later)
def publish_fork(run: str, fork: str, attempt: int) -> None:
    """Write the check runs of one fork; with the last fork, queue the leaderboard."""
    row = current().store.fork(RunId(run), ForkId(fork))
    refusals: list[str] = []
    try:
        for check in _checks(current(), row):
            try:
                _write_check(row, check)
            except Refused as refused:
                # One check run that GitHub will not have is no reason to keep the others back.
                refusals.append(str(refused))
    except Deferred as deferred:
        _publish_again(run, fork, attempt + 1, (deferred.until - current().clock()).total_seconds())
        return
    if refusals:
        engine.step("unpublished", lambda: current().store.set_fork_state(row.run, row.id, row.state, refusals[0]))
    if engine.step("published", lambda: _published(current(), row)):
        engine.enqueue("publish", "close_run", f"close-{run}-{current().store.run(row.run).report_hash}", run, 1)


def _close_later(error: Exception, run: str, attempt: int) -> None:
    delay = try_again_in(error, attempt)
    if delay is None:
        fail(error, run)
    else:
        _close_again(run, attempt + 1, delay)


def _close_again(run: str, attempt: int, delay: float) -> None:
    workflow_id = f"close-{run}-{current().store.run(RunId(run)).report_hash}.{attempt}"
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
        _close_again(run, attempt + 1, (deferred.until - current().clock()).total_seconds())
        return
    except Refused as refused:
        note = f"the leaderboard could not be posted: {refused}"
    engine.step("done", lambda: current().store.set_stage(row.id, "done", note))
    engine.wake(refresh, "progress", run, 0, run)


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


def _checks(services: Services, fork: ForkRow) -> Sequence[CheckRun]:
    if fork.commits is None or fork.pull is None:
        return ()
    run = services.store.run(fork.run)
    report = stored_report(services, fork.run)
    ref = render.ReportRef(fork.run, run.report_hash or "", report.judge, report.profile)
    surface = fork_surface(services, run)
    scores = [score for score in report.trials if _belongs(score, fork, run)]
    head = fork.commits.head_sha
    checks = [render.trial_check(score, ref, head_sha=head, surface=surface) for score in scores]
    summary = render.fork_check(scores, ref, fork=fork.id, head_sha=head, surface=surface)
    return [check for check in (*checks, summary) if check is not None]


def fork_surface(services: Services, run: RunRow) -> Surface:
    """What may be said on a fork: everything on a private one, else what the publish mode allows."""
    modes: Mapping[ReviewerId, Publish] = dict.fromkeys(run.plan.request.reviewers, run.plan.request.publish)
    public = run.plan.request.visibility is Visibility.PUBLIC
    return Surface.of(services.registry.reviewers, modes, public=public)


def _belongs(score: TrialScore, fork: ForkRow, run: RunRow) -> bool:
    plan = next(plan for plan in run.plan.forks if plan.id == fork.id)
    return score.trial.pull == fork.pull_id and score.trial.reviewer in plan.reviewers


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
        if raw["external_id"] == check.external_id:
            return _small(raw)
    return None


def _small(raw: Mapping[str, Json]) -> Json:
    return {"id": raw["id"], "url": raw["html_url"], "annotations": raw["output"]["annotations_count"]}


def _repo(fork: ForkRow) -> RepoName:
    if fork.repo is None:
        raise ValueError(f"fork {fork.id} has no repository")
    return fork.repo


def _published(services: Services, fork: ForkRow) -> bool:
    services.store.set_fork_state(fork.run, fork.id, "published" if fork.commits else "failed")
    return all(row.state in ("published", "failed") for row in services.store.forks(fork.run))


def _leaderboard(services: Services, run: RunRow) -> str:
    report = stored_report(services, run.id)
    surface = services.surface(run)
    return render.leaderboard_comment(report, run=run.id, links=_links(services, run), surface=surface, report_url=None)


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
