"""What the command line shows of stored runs. Reads; never writes to GitHub."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from bot import composition, issue_form
from bot.adapters import database
from bot.adapters.ledger import SqlLedger
from bot.adapters.store import FINISHED, SqlStore
from bot.model import WriteLimits
from bot.ports import RunRow
from bot.settings import Settings
from goldens.load import suite_names


def runs(settings: Settings, wanted: str | None) -> list[dict[str, Any]]:
    """The runs of the data directory, or the one asked for, as JSON values. There may be none yet.

    Raises:
        LookupError: there is no such run.
    """
    if settings.database_url is None and not (settings.data_dir / "app.db").exists():
        if wanted is not None:
            raise LookupError(f"{settings.data_dir} holds no runs; set ASSAY_DATA_DIR to the directory of the App")
        return []
    engine = database.open_engine(composition.database_url(settings))
    store, ledger = SqlStore(engine), SqlLedger(engine, WriteLimits())
    there = store.all_runs() if store.ready else ()
    found = [run for run in there if wanted in (None, run.id)]
    if wanted is not None and not found:
        known = ", ".join(run.id for run in there) or "none"
        raise LookupError(f"no run {wanted} in {settings.data_dir}; runs there: {known}")
    now = composition.utc_now()
    return [_run(store, ledger, run, now) for run in found]


def stages(settings: Settings) -> tuple[str, ...]:
    """The stage of every run there is, and nothing else of them."""
    store = SqlStore(database.open_engine(composition.database_url(settings)))
    return tuple(run.stage for run in store.all_runs()) if store.ready else ()


def _queue(ledger: SqlLedger, run: RunRow, now: datetime) -> dict[str, Any] | None:
    """What a run that is under way has still to write, and when it should be over."""
    if run.stage in FINISHED:
        return None
    queue = ledger.pending(now, run.id)
    planned = run.created_at + timedelta(minutes=run.plan.minutes)
    return {
        "pending": dict(queue.kinds),
        "next": queue.next_at.isoformat() if queue.next_at else None,
        "last": queue.last_at.isoformat() if queue.last_at else None,
        "expected_end": max(filter(None, (planned, queue.last_at))).isoformat(),
    }


def _run(store: SqlStore, ledger: SqlLedger, run: RunRow, now: datetime) -> dict[str, Any]:
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
        "writes": _queue(ledger, run, now),
        "budgets": [asdict(budget) for budget in run.plan.budgets],
        "warnings": list(run.plan.warnings),
        "report": json.loads(store.report(run.id) or "null"),
    }


def as_text(found: Sequence[dict[str, Any]]) -> str:
    """The same for people: a line each, and one more for what a run has still to write."""
    return "\n".join(line for run in found for line in _lines(run))


def none_yet(settings: Settings) -> str:
    """What to say where no run has begun."""
    return (
        f"No run yet in {settings.data_dir}. A run begins with an issue in the control repository; if the App keeps "
        "its data elsewhere, set ASSAY_DATA_DIR to that directory."
    )


def _lines(run: Mapping[str, Any]) -> Iterator[str]:
    trials = ", ".join(f"{count} {status}" for status, count in run["trials"].items())
    yield f"{run['run']}  {run['stage']}  {run['issue']}  suite {run['suite']}  {trials}"
    queue = run["writes"]
    if queue is not None:
        waiting = ", ".join(f"{count} {kind}" for kind, count in queue["pending"].items()) or "none"
        following = f", the next turn at {queue['next'][:19]}Z" if queue["next"] else ""
        yield f"  writes waiting: {waiting}{following}; expected end {queue['expected_end'][:19]}Z"


def issue_form_text(settings: Settings) -> str:
    """The issue form, with the suites and reviewers of this installation to choose from."""
    reviewers = [(entry.id, entry.name) for entry in composition.registry_of(settings).reviewers if not entry.retired]
    # GitHub joins several choices with commas, so a panel cannot be one; it judges where nothing is chosen.
    judges = [judge for judge in dict.fromkeys((settings.judge, *composition.JUDGES)) if "," not in judge]
    return issue_form.render_form(suite_names(), reviewers, judges)
