"""Freeze the evidence, judge it, count it: from the last settled trial to the report."""

from __future__ import annotations

import hashlib
import os
import shutil
from dataclasses import replace
from pathlib import Path

from bot import bundle
from bot.judging.bundles import judge_plainly
from bot.judging.choosing import Plain
from bot.judging.keeping import keep
from bot.judging.store import judge_run
from bot.logs import redact
from bot.model import RunId
from bot.ports import Store
from bot.registry import Registry
from bot.versions import versions
from bot.workflows import engine
from bot.workflows.once import try_again_in
from bot.workflows.progress import refresh_soon
from bot.workflows.services import Services, current
from scoring import records
from scoring.bundle import load, parts
from scoring.profiles import replay


def fail(error: Exception, run: str) -> None:
    """End a run that cannot be scored or published: visibly, with the reason."""
    note = redact(f"{type(error).__name__}: {error}")
    engine.step("failed", lambda: _fail(current().store, RunId(run), note))
    refresh_soon(RunId(run))


def _fail(store: Store, run: RunId, note: str) -> None:
    if store.advance(run, ["forking", "waiting", "scoring", "publishing"], "failed"):
        store.set_stage(run, "failed", note)


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
        suite=services.load_suite(row.plan.request.suite),
        plan=row.plan,
        our_logins=(github.identity().login, github.author().login),
        registry=Registry(tuple(services.reviewer(reviewer) for reviewer in row.plan.request.reviewers)),
        forks=forks,
        trials=services.store.trials(run),
        snapshots={fork.id: services.store.snapshots(run, fork.id) for fork in forks},
    )


def freeze(services: Services, run: RunId) -> Path:
    """Write the bundle of a run, whole or not at all. A bundle that stands is never changed."""
    target = services.bundles / run
    if target.exists():
        return target
    scratch = services.bundles / f".{run}.{os.getpid()}"
    shutil.rmtree(scratch, ignore_errors=True)
    for name, data in parts(bundle.freeze(evidence(services, run))).items():
        path = scratch / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    scratch.rename(target)
    return target


def _score(services: Services, run: RunId) -> str:
    folder = services.bundles / run
    request = services.store.run(run).plan.request
    chosen = services.judge(request.judge)
    if isinstance(chosen, Plain):
        # Kept in the bundle, so that the figures do not hang on which version of a judge is installed later.
        judged = judge_plainly(load(lambda name: (folder / name).read_bytes()), chosen.judge).said
        keep(folder, [judged], replace=True)
        report = replay.report(load(lambda name: (folder / name).read_bytes()), judged.judge)
    else:
        report = judge_run(folder, chosen, services.judging(request.max_cost, run)).report
    text = records.dumps(replace(report, versions=versions()))
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    services.store.save_report(run, text, digest)
    return digest
