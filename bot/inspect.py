"""What the command line shows of stored runs, bundles and suites. Reads; never writes to GitHub."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from bot import composition, issue_form
from bot.adapters import database
from bot.adapters.store import SqlStore
from bot.ports import RunRow
from bot.render import terminal
from bot.render.surface import Surface
from bot.settings import Settings
from goldens.load import load_suite, suite_names
from goldens.verify import Level, verify
from scoring import records
from scoring.bundle import load
from scoring.model import Report
from scoring.profiles.bundled import score_bundle


def runs(settings: Settings, wanted: str | None) -> list[dict[str, Any]]:
    """The runs of the data directory, or the one asked for, as JSON values.

    Raises:
        LookupError: there is no such run, or no run at all.
    """
    store = _store(settings)
    found = [run for run in store.all_runs() if wanted in (None, run.id)]
    if not found:
        known = ", ".join(run.id for run in store.all_runs()) or "none"
        raise LookupError(f"no run {wanted or ''} in {settings.data_dir}; runs there: {known}")
    return [_run(store, run) for run in found]


def _store(settings: Settings) -> SqlStore:
    if settings.database_url is None and not (settings.data_dir / "app.db").exists():
        raise LookupError(f"{settings.data_dir} holds no runs; set ASSAY_DATA_DIR to the directory of the App")
    return SqlStore(database.open_engine(composition.database_url(settings)))


def _run(store: SqlStore, run: RunRow) -> dict[str, Any]:
    progress = store.progress(run.id)
    return {
        "run": run.id,
        "stage": run.stage,
        "note": run.note,
        "issue": f"{run.control_repo}#{run.issue}",
        "suite": run.plan.request.suite,
        "forks": progress.forks,
        "forks_open": progress.forks_open,
        "trials": dict(progress.trials_by_status),
        "warnings": list(run.plan.warnings),
        "report": json.loads(store.report(run.id) or "null"),
    }


def as_text(found: Sequence[dict[str, Any]]) -> str:
    """The same for people, a line each."""
    return "\n".join(
        f"{run['run']}  {run['stage']}  {run['issue']}  suite {run['suite']}  "
        + ", ".join(f"{count} {status}" for status, count in run["trials"].items())
        for run in found
    )


def rescore(folder: Path, judge: str) -> tuple[str, str]:
    """Score a bundle again: the report as JSON text, and as a table.

    Raises:
        BundleError: the bundle cannot be read, or a part was changed.
        ValueError: there is no judge of that name.
    """
    bundle = load(lambda name: (folder / name).read_bytes())
    report = score_bundle(bundle, composition.judge_named(judge))
    names = {reviewer.id: reviewer.name for reviewer in bundle.reviewers if reviewer.name}
    return records.dumps(report), table(report, Surface(names, public=False))


def table(report: Report, surface: Surface) -> str:
    """The leaderboard as plain text."""
    text = io.StringIO()
    terminal.show_leaderboard(report, surface, Console(file=text))
    return text.getvalue().rstrip("\n")


def issue_form_text(settings: Settings) -> str:
    """The issue form, with the suites and reviewers of this installation to choose from."""
    reviewers = [(entry.id, entry.name) for entry in composition.registry_of(settings).reviewers if not entry.retired]
    return issue_form.render_form(suite_names(), reviewers, composition.JUDGES)


def verify_suite(which: str, as_json: bool) -> tuple[str, bool]:
    """What verification finds in a suite, and whether it is sound.

    Raises:
        SuiteError: the suite cannot be read.
    """
    suite = load_suite(Path(which) if "/" in which or which.endswith((".yaml", ".yml")) else which)
    findings = verify(suite)
    sound = not any(finding.level is Level.ERROR for finding in findings)
    rows = [
        {"level": f.level.value, "rule": f.rule, "pull": f.pull, "golden": f.golden, "message": f.message}
        for f in findings
    ]
    if as_json:
        return json.dumps(rows, indent=1), sound
    counts = f"{len(suite.pulls)} pull requests, {sum(len(pull.goldens) for pull in suite.pulls)} goldens"
    lines = [" ".join(str(value) for value in row.values() if value) for row in rows]
    return "\n".join(
        [*lines, f"{suite.ref.id} {suite.ref.version}: {counts}, {'sound' if sound else 'not sound'}"]
    ), sound
