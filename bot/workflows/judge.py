"""Freeze the evidence, judge it, count it: from the last settled trial to the report."""

from __future__ import annotations

import hashlib
import logging
import secrets
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from bot import bundle
from bot.judging.bundles import judge_plainly
from bot.judging.choosing import Plain
from bot.judging.keeping import keep
from bot.judging.store import judge_run
from bot.logs import redact
from bot.model import RunId
from bot.ports import ForkRow, GitFailure, Store
from bot.registry import Registry
from bot.versions import versions
from bot.workflows import builtin, engine
from bot.workflows.collect import last_look
from bot.workflows.once import try_again_in
from bot.workflows.progress import refresh_soon
from bot.workflows.services import Services, current
from scoring import records
from scoring.bundle import load, parts
from scoring.model import PullId, Report
from scoring.profiles import replay

LOG = logging.getLogger("assay.evidence")
LONGEST_DIFF = 2_000_000
"""Characters of a diff that goes into a bundle; nobody looks at a longer one on a page."""


def fail(error: Exception, run: str) -> None:
    """End a run that cannot be scored or published: visibly, with the reason."""
    note = redact(f"{type(error).__name__}: {error}")
    engine.step("failed", lambda: _fail(current().store, RunId(run), note))
    refresh_soon(RunId(run))


def _fail(store: Store, run: RunId, note: str) -> None:
    if store.advance(run, ["forking", "waiting", "scoring", "publishing"], "failed"):
        store.set_stage(run, "failed", note)
        store.mark_ended(current().clock())


def _score_later(error: Exception, run: str, attempt: int = 1) -> None:
    delay = try_again_in(error, attempt)
    if delay is None:
        fail(error, run)
    else:
        engine.enqueue("score", "finalize", f"finalize-{run}.{attempt + 1}", run, attempt + 1, delay=delay)


@engine.workflow("finalize", mend=_score_later)
def finalize(run: str, attempt: int = 1) -> None:
    """Score a run whose trials are all over.

    Steps: 1. freeze the bundle; 2. judge and score it; 3. queue the publishing of each fork.
    """
    key = RunId(run)
    if not engine.step("scoring", lambda: current().store.advance(key, ["forking", "waiting", "scoring"], "scoring")):
        return
    refresh_soon(key)
    engine.step("last look", lambda: last_look(current(), key))
    engine.step("freeze", lambda: str(freeze(current(), key)))
    report_hash = engine.step("score", lambda: _score(current(), key))
    if not engine.step("publishing", lambda: current().store.advance(key, ["scoring", "publishing"], "publishing")):
        # Cancelled while it was judged.
        return
    for fork in engine.step("forks", lambda: [row.id for row in current().store.forks(key)]):
        engine.enqueue("publish", "publish_fork", f"publish-{run}-{report_hash}-{fork}", run, fork, 1)


def evidence(services: Services, run: RunId) -> bundle.Evidence:
    """Everything that is stored of a run, as a bundle holds it."""
    row = services.store.run(run)
    github = services.github(row.installation)
    forks = services.store.forks(run)
    return bundle.Evidence(
        suite=services.suite(row),
        plan=row.plan,
        our_logins=(github.identity().login, github.author().login),
        registry=Registry(tuple(services.reviewer(reviewer, row) for reviewer in row.plan.request.reviewers)),
        forks=forks,
        trials=services.store.trials(run),
        snapshots={fork.id: services.store.snapshots(run, fork.id) for fork in forks},
        reviews=builtin.kept(services, run),
        extra_seconds=row.orders.extra_seconds,
        diffs=dict(_diffs(services, run, forks)),
    )


def _diffs(services: Services, run: RunId, forks: Sequence[ForkRow]) -> Iterator[tuple[PullId, str]]:
    """What each fork shows reviewers. It is for people to look at, so that no run fails for want of it."""
    for fork in forks:
        if fork.commits is None:
            continue
        try:
            diff = services.builder.diff(run, fork.id, fork.commits)
        except GitFailure as error:
            LOG.info("no diff of %s for the evidence: %s", fork.id, error)
            continue
        if len(diff) <= LONGEST_DIFF:
            yield fork.pull_id, diff


def freeze(services: Services, run: RunId) -> Path:
    """Write the bundle of a run, whole or not at all. A bundle that stands is never changed."""
    target = services.bundles / run
    if not target.exists():
        # A name of its own: workers on other machines share the folder, and have the same process ids.
        scratch = services.bundles / f".{run}.{secrets.token_hex(4)}"
        for name, data in parts(bundle.freeze(evidence(services, run))).items():
            path = scratch / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        try:
            scratch.rename(target)
        except OSError:
            # A worker that was taken for dead may have been quicker: one bundle stands, and the first one stays.
            if not target.exists():
                raise
    for half in services.bundles.glob(f".{run}.*"):
        # Of whoever died while writing it; who still writes one will find this bundle here.
        shutil.rmtree(half, ignore_errors=True)
    return target


def _score(services: Services, run: RunId) -> str:
    return keep_report(services, run, judged_report(services, run, services.store.run(run).plan.request.judge))


def judged_report(services: Services, run: RunId, judge: str) -> Report:
    """Have a run's bundle judged, and count. What the judge said is kept in the bundle, beside what others said.

    Raises:
        ValueError: there is no such judge, or a limit cannot be kept.
    """
    folder = services.bundles / run
    request = services.store.run(run).plan.request
    chosen = services.judge(judge)
    if isinstance(chosen, Plain):
        # Kept in the bundle, so that the figures do not hang on which version of a judge is installed later.
        judged = judge_plainly(load(lambda name: (folder / name).read_bytes()), chosen.judge).said
        keep(folder, [judged], replace=True)
        report = replay.report(load(lambda name: (folder / name).read_bytes()), judged.judge)
    else:
        report = judge_run(folder, chosen, services.judging(request.max_cost, run)).report
    return replace(report, versions=versions())


def keep_report(services: Services, run: RunId, report: Report) -> str:
    """Make a report the run's, and give its hash."""
    text = records.dumps(report)
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    services.store.save_report(run, text, digest)
    return digest
