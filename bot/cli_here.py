"""What `assay` alone says: what there is here, and what to do next. It reads; it asks nobody."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bot.settings import Settings

INDEX, SUITE = "index.json", "suite.yaml"
_SCHEMA = b'"assay.bundle/'
MOST_LOOKED_AT = 500
"""Things in a folder that are looked at: an answer at once is worth more than a whole one."""


def here(env: Mapping[str, str] | None = None) -> list[str]:
    """Lines for people: where one is, then commands that fit."""
    env = os.environ if env is None else env
    lines = ["Assay measures AI code-review bots.", ""]
    lines += [*_installation(env), *_files(Path())]
    return [*lines, "All commands: assay --help"]


def _next(what: str, command: str) -> str:
    return f"{what}:  {command}"


def _installation(env: Mapping[str, str]) -> Iterator[str]:
    """The App, as far as settings and the data directory tell."""
    from bot.settings import PREFIX, SettingsError, load_settings

    file = Path(".env")
    sources = [".env"] if file.exists() else []
    sources += ["the environment"] if any(name.startswith(PREFIX) for name in env) else []
    try:
        settings = load_settings(env, file)
    except SettingsError as error:
        yield f"The settings in {' and '.join(sources)} cannot be used:"
        yield from (f"  {problem}" for problem in error.problems[:5])
        yield _next("Put that right, and look again", "assay doctor")
        return
    if not sources:
        yield "No settings here: there is no .env, and no ASSAY_ variable is set."
        yield _next("See the whole loop on this machine, without keys or network", "assay demo")
        yield _next("Register the App for an organisation of yours", "assay setup --org YOUR-ORG")
    else:
        yield from _app(settings, " and ".join(sources))
    yield from _runs(settings)


def _app(settings: Settings, source: str) -> Iterator[str]:
    if settings.app_id is None:
        yield f"Settings in {source}, but no App: ASSAY_APP_ID is not set."
        yield _next("Register the App, which sets it", "assay setup --org YOUR-ORG")
        return
    control = f", control repository {settings.control_repo}" if settings.control_repo else ""
    yield f"Settings in {source}: App {settings.app_id}{control}, judge {settings.judge}."
    missing = [
        name
        for name, there in (
            ("ASSAY_WEBHOOK_SECRET", settings.webhook_secret),
            ("ASSAY_PRIVATE_KEY", settings.private_key or settings.private_key_file),
        )
        if there is None
    ]
    if missing:
        yield f"  Not set, and needed to serve: {', '.join(missing)}."
    yield _next("See what is missing", "assay doctor") if missing else _next("Check it, then run it", "assay doctor")


def _runs(settings: Settings) -> Iterator[str]:
    """What has been run, from SQLite alone: a database elsewhere would have to be asked over the network."""
    if settings.database_url is not None and not settings.database_url.get_secret_value().startswith("sqlite"):
        yield _next("Runs are in the database of ASSAY_DATABASE_URL", "assay status")
        return
    if settings.database_url is None and not (settings.data_dir / "app.db").exists():
        if settings.data_dir.exists():
            yield f"No run yet in {settings.data_dir}."
        elif settings.app_id is not None:
            yield _next(f"No run yet: {settings.data_dir} is made when the App starts", "assay serve")
        return
    yield from _counted(settings)


def _counted(settings: Settings) -> Iterator[str]:
    from bot import inspect
    from bot.adapters.database import DatabaseError
    from bot.adapters.store import FINISHED

    try:
        stages = Counter(inspect.stages(settings))
    except DatabaseError:
        yield _next(f"{settings.data_dir}: the database cannot be read", "assay db check")
        return
    under_way = sum(count for stage, count in stages.items() if stage not in FINISHED)
    many = sum(stages.values())
    runs = f"{many} run{'' if many == 1 else 's'}" if many else "no run yet"
    told = f"{settings.data_dir}: {runs}, {under_way} under way" if many else f"{settings.data_dir}: {runs}"
    yield _next(told, "assay status") if many else f"{told}."
    bundles = sorted(_bundles(settings.data_dir / "bundles"))
    if bundles:
        yield _next(f"{len(bundles)} of them left a bundle", f"assay leaderboard {bundles[-1]}")


def _files(folder: Path) -> Iterator[str]:
    """Bundles and suites that lie here."""
    found = sorted(_bundles(folder))
    if _is_bundle(folder):
        yield _next("This folder is a bundle", "assay leaderboard .")
    elif found:
        others = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        yield _next(f"A bundle here{others}", f"assay leaderboard {found[0]}")
    suites = [one for one in (folder, *_folders(folder)) if (one / SUITE).is_file()]
    if suites:
        yield _next("A suite here", f"assay goldens verify {suites[0] / SUITE}")


def _folders(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return sorted(one for one in islice(folder.iterdir(), MOST_LOOKED_AT) if one.is_dir())


def _bundles(folder: Path) -> Iterator[Path]:
    return (one for one in _folders(folder) if _is_bundle(one))


def _is_bundle(folder: Path) -> bool:
    index = folder / INDEX
    if not index.is_file():
        return False
    with index.open("rb") as file:
        return _SCHEMA in file.read(200)
