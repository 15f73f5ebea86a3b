"""Freeze the evidence, judge it, count it: from the last settled trial to the report."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

from bot import bundle
from bot.model import RunId
from bot.registry import Registry
from bot.workflows import engine
from bot.workflows.progress import refresh_soon
from bot.workflows.services import Services, current
from scoring import records
from scoring.bundle import load, parts
from scoring.profiles.bundled import score_bundle


def fail(error: Exception, run: str, *_: object) -> None:
    """End a run that cannot be scored or published: visibly, with the reason."""
    note = f"{type(error).__name__}: {error}"
    engine.step("failed", lambda: current().store.set_stage(RunId(run), "failed", note))
    refresh_soon(RunId(run))


@engine.workflow("finalize", mend=fail)
def finalize(run: str) -> None:
    """Score a run whose trials are all over.

    Steps: 1. freeze the bundle; 2. judge and score it; 3. queue the publishing of each fork.
    """
    key = RunId(run)
    if not engine.step("scoring", lambda: current().store.advance(key, ["forking", "waiting", "scoring"], "scoring")):
        return
    refresh_soon(key)
    engine.step("freeze", lambda: str(freeze(current(), key)))
    report_hash = engine.step("score", lambda: _score(current(), key))
    engine.step("publishing", lambda: current().store.advance(key, ["scoring"], "publishing"))
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
    frozen = load(lambda name: (folder / name).read_bytes())
    report = score_bundle(frozen, services.judge(services.store.run(run).plan.request.judge))
    text = records.dumps(report)
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    services.store.save_report(run, text, digest)
    return digest
