"""Judging a run's evidence again, by another judge: no reviewer is asked, and what was posted before stays."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from bot.logs import redact
from bot.model import ForkId, RunId
from bot.ports import RunRow
from bot.render import replies
from bot.render.issue import OVER
from bot.workflows import engine
from bot.workflows.comments import say_latest
from bot.workflows.judge import judged_report, keep_report
from bot.workflows.once import Deferred, Refused, try_again_in
from bot.workflows.publish import Written, leaderboard, result_surface, stored_report, write_checks
from bot.workflows.services import Services, current
from bot.workflows.start import say
from scoring import records
from scoring.bundle import load
from scoring.model import Report
from scoring.profiles import replay

RETIRED = ("archived", "deleted", "gone")
"""What has become of a repository that takes no check run any more."""


@dataclass(frozen=True, slots=True)
class _Order:
    """What is to be judged, and where that is said."""

    installation: int
    repo: str
    issue: int
    key: str
    run: RunId
    judge: str

    def answer(self, body: str, version: str) -> None:
        """Say it in the one answer to the command."""
        say(self.installation, self.repo, self.issue, body, 1, version)

    def again(self, attempt: int, delay: float) -> None:
        """Go on later."""
        args = [self.installation, self.repo, self.issue, self.key, self.run, self.judge, attempt]
        engine.enqueue("score", "rejudge", f"rejudge-{self.key}.{attempt}", *args, delay=delay)


def _rejudge_later(
    error: Exception, installation: int, repo: str, issue: int, key: str, run: str, judge: str, attempt: int = 1
) -> None:
    order = _Order(installation, repo, issue, key, RunId(run), judge)
    delay = try_again_in(error, attempt)
    if delay is not None:
        order.again(attempt + 1, delay)
        return
    surface = current().surface(current().store.run(order.run))
    note = f"it failed {attempt} times, at last with {type(error).__name__}."
    order.answer(replies.not_rejudged_reply(order.run, note, key=key, surface=surface), "end")


@engine.workflow("rejudge", mend=_rejudge_later)
def rejudge(installation: int, repo: str, issue: int, key: str, run: str, judge: str, attempt: int = 1) -> None:
    """Judge a run that is over again.

    Steps: 1. say that it has begun; 2. judge; 3. write the new check runs and the leaderboard; 4. say what came of it.
    """
    order = _Order(installation, repo, issue, key, RunId(run), judge)
    surface = engine.step("public", lambda: result_surface(current(), current().store.run(order.run)).public)
    here = current().surface(current().store.run(order.run))
    if attempt == 1:
        order.answer(replies.rejudging_reply(order.run, judge, key=key, surface=here), "begun")
    judged = engine.step("judge again", lambda: _judge(current(), order))
    if "problem" in judged:
        order.answer(replies.not_rejudged_reply(order.run, judged["problem"], key=key, surface=here), "end")
        return
    try:
        checks, unwritten = _publish(order)
    except Deferred as deferred:
        order.again(attempt + 1, (deferred.until - current().clock()).total_seconds())
        return
    done = replies.Rejudged(judged["judge"], checks, unwritten, 0 if surface else judged["unscored"])
    order.answer(replies.rejudged_reply(order.run, done, key=key, surface=here), "end")


def _judge(services: Services, order: _Order) -> engine.Json:
    """{judge, unscored}, or {problem} where there is no result that could take the place of the one that stands."""
    run = services.store.run(order.run)
    if run.stage not in OVER or not (services.bundles / order.run).exists():
        return {"problem": f"the run is {run.stage}, and nothing of it was kept to judge."}
    text = services.store.report(order.run)
    before = None if text is None else records.loads(text)
    try:
        report = judged_report(services, order.run, order.judge)
    except ValueError as error:
        return {"problem": redact(str(error))}
    if not _decided(report) and (before is None or _decided(before)):
        return {"problem": _why_not(report)}
    services.store.judged_by(order.run, [one.judge for one in (before, report) if one is not None])
    keep_report(services, order.run, report)
    unscored = sum(row.counts.unscored + row.counts.goldens_unscored for row in report.reviewers)
    return {"judge": report.judge, "unscored": unscored}


def _decided(report: Report) -> int:
    """How many claims and defects the judge decided."""
    counts = (row.counts for row in report.reviewers)
    return sum(one.tp + one.fp + one.fn + one.valid + one.duplicate for one in counts)


def _why_not(report: Report) -> str:
    reasons = (outcome.reason for score in report.trials for outcome in score.outcomes if outcome.reason)
    return f"nothing could be judged. The first reason: {next(reasons, 'there was nothing to judge')}"


def _publish(order: _Order) -> tuple[int, int]:
    """Write what is new: (check runs, pull requests that took none)."""
    store = current().store
    run = store.run(order.run)
    checks = unwritten = 0
    for fork, writable in engine.step("forks", lambda: _forks(current(), order.run)):
        written = write_checks(store.fork(order.run, ForkId(fork))) if writable else Written(0, ("retired",))
        checks += written.checks
        unwritten += bool(written.refusals)
    body = engine.step("leaderboard", lambda: _leaderboard(current(), store.run(order.run)))
    with suppress(Refused):
        # Somebody may have taken the leaderboard away; the answer to the command still tells.
        say_latest(run.installation, run.control_repo, run.issue, body, order.key)
    engine.step("done", lambda: _done(current(), order))
    return checks, unwritten


def _forks(services: Services, run: RunId) -> list[tuple[ForkId, bool]]:
    """Every fork that was made, and whether it still takes check runs."""
    made = [fork for fork in services.store.forks(run) if fork.commits is not None]
    return [(fork.id, fork.retired not in RETIRED) for fork in made]


def _leaderboard(services: Services, run: RunRow) -> str:
    """The leaderboard under the newest judge, with what the earlier ones made of the same evidence."""
    now = stored_report(services, run.id)
    bundle = load(lambda name: (services.bundles / run.id / name).read_bytes())
    held = {one.judge for one in bundle.judgements}
    earlier = [replay.report(bundle, name) for name in run.orders.judges if name in held and name != now.judge]
    return leaderboard(services, run, earlier)


def _done(services: Services, order: _Order) -> None:
    """A run that failed for want of a judge has a result now."""
    if services.store.advance(order.run, ["failed"], "done"):
        services.store.set_stage(order.run, "done", f"judged again by {order.judge}")
