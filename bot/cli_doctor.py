"""Seeing what is wrong with an installation of the App."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bot.cli_common import CHECK_FAILED, DONE, settings_now, working, write

if TYPE_CHECKING:
    from bot.doctor_model import Finding
    from bot.settings import Settings


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def doctor(as_json: bool) -> None:
    """See whether everything that a run needs is there; each finding says what to do.

    Exits with 1 if something fails; a warning is no failure.

    Example: assay doctor
    """
    from bot.doctor_model import Level, as_text

    settings = settings_now()
    with working("looking"):
        findings = [*_here(settings), *_there(settings)]
    failed = any(one.level is Level.FAIL for one in findings)
    if as_json:
        write(json.dumps({"ok": not failed, "findings": [one.as_json() for one in findings]}, indent=1))
    else:
        write(as_text(findings))
    sys.exit(CHECK_FAILED if failed else DONE)


# --- on this machine --------------------------------------------------------------------------------------------


def _here(settings: Settings) -> Iterator[Finding]:
    from bot.composition import judge_problem
    from bot.doctor_model import fail, ok

    yield _data_dir(settings.data_dir)
    yield from _databases(settings)
    unfit = judge_problem(settings)
    if unfit:
        yield fail("judge", unfit, "set ASSAY_JUDGE to another judge, or its provider's key")
    else:
        yield ok("judge", f"{settings.judge} can judge")
    if settings.webhook_secret is None:
        yield fail("webhook secret", "is not set", "set ASSAY_WEBHOOK_SECRET to what the App's settings say")
    env = Path(".env")
    if env.exists() and env.stat().st_mode & 0o077:
        yield fail(".env", "others on this machine can read it, and the keys in it", "chmod 600 .env")


def _data_dir(folder: Path) -> Finding:
    from bot.doctor_model import fail, ok

    there = folder if folder.exists() else next(parent for parent in folder.resolve().parents if parent.exists())
    try:
        with tempfile.TemporaryFile(dir=there):
            pass
    except OSError as problem:
        remedy = "let the user who runs the App write there, or set ASSAY_DATA_DIR"
        return fail("data", f"{folder} cannot be written: {(problem.strerror or 'it failed').lower()}", remedy)
    free = os.statvfs(there)
    gigabytes = free.f_bavail * free.f_frsize / 1e9
    if gigabytes < 1:
        return fail("data", f"{folder} has {gigabytes:.1f} GB left", "make room: forks and bundles need some")
    return ok("data", f"{folder} can be written; {gigabytes:.0f} GB are free")


def _databases(settings: Settings) -> Iterator[Finding]:
    """Whether those that stand answer; a SQLite file that is not there yet is made by the App."""
    from bot import composition
    from bot.doctor_model import fail, ok

    for name, url in (("database", composition.database_url(settings)), ("engine", composition.engine_url(settings))):
        file = url.removeprefix("sqlite:///")
        if file != url and not Path(file).exists():
            yield ok(name, "is made when the App starts")
            continue
        problem = composition.database_problem(url)
        setting = "ASSAY_DATABASE_URL" if name == "database" else "ASSAY_ENGINE_URL"
        if problem is None:
            yield ok(name, "answers")
        else:
            yield fail(name, f"does not answer: {problem}", f"see that it runs, and check {setting}")


# --- at GitHub --------------------------------------------------------------------------------------------------


def _there(settings: Settings) -> tuple[Finding, ...]:
    from bot import composition, inspect, webhooks
    from bot.adapters import github_permissions
    from bot.doctor import Expected, Patient, examine
    from bot.doctor_model import fail
    from bot.issue_form import FORM_PATH
    from bot.settings import SettingsError
    from bot.setup_manifest import HOOK_PATH

    try:
        app = composition.app_of(settings)
    except SettingsError as error:
        return tuple(fail("key", problem, "assay setup registers an App and sets this") for problem in error.problems)
    granted = {"workflows": "write"} if settings.workflows_granted else {}
    expected = Expected(
        permissions={**github_permissions.needed(), **granted},
        optional=github_permissions.OPTIONAL,
        events=webhooks.EVENTS,
        hook_path=HOOK_PATH,
        form_path=FORM_PATH,
        form=inspect.issue_form_text(settings).encode(),
    )
    return examine(
        Patient(
            app=app,
            app_id=settings.app_id or 0,
            registry=composition.registry_of(settings),
            public_url=settings.public_url,
            control_repo=settings.control_repo,
            now=composition.utc_now,
            expected=expected,
        )
    )


COMMANDS = (doctor,)
