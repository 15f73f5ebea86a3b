"""What the command line shows of stored runs. Reads; never writes to GitHub."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from bot import composition, issue_form
from bot.adapters import database
from bot.adapters.store import SqlStore
from bot.ports import RunRow
from bot.settings import Settings
from goldens.load import suite_names


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


def issue_form_text(settings: Settings) -> str:
    """The issue form, with the suites and reviewers of this installation to choose from."""
    reviewers = [(entry.id, entry.name) for entry in composition.registry_of(settings).reviewers if not entry.retired]
    # GitHub joins several choices with commas, so a panel cannot be one; it judges where nothing is chosen.
    judges = [judge for judge in dict.fromkeys((settings.judge, *composition.JUDGES)) if "," not in judge]
    return issue_form.render_form(suite_names(), reviewers, judges)
