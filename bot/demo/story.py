"""The story that `assay demo` tells: start everything, ask for a run, follow it, show what came of it."""

from __future__ import annotations

import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from bot import render
from bot.adapters.database import open_engine
from bot.adapters.store import FINISHED, SqlStore
from bot.demo import app as app_process
from bot.demo import world as demo_world
from bot.demo.app import AppProcess
from bot.demo.world import DemoWorld
from bot.model import RunId
from bot.render import terminal
from bot.render.surface import Surface
from scoring import records
from scoring.model import Report

TIMEOUT = 300.0
"""Seconds after which the demo is given up on."""


class DemoError(Exception):
    """The demo could not be carried out."""


class BadOption(DemoError):
    """The demo was asked for something that cannot be; nothing was started."""


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line asks for."""

    keep: bool = False
    json_file: Path | None = None
    port: int = 0
    data: Path | None = None
    svg: Path | None = None
    webhooks: bool = True
    quiet: bool = False
    """Say nothing but the result and what is missing."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a followed run came to."""

    run: RunId
    stage: str
    report: str | None


def run(options: Options) -> bool:
    """Run the demo; whether every fork has its check runs and the issue its leaderboard.

    Raises:
        DemoError: it could not be carried out.
    """
    console = Console(stderr=True, quiet=options.quiet)
    _check_files(options)
    with ExitStack() as stack:
        stack.enter_context(_ended_tidily())
        folder = options.data or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="assay-demo-")))
        if any((folder / name).exists() for name in ("github", "app")):
            raise DemoError(f"{folder} holds an earlier demo; name another folder, or remove that one")
        world = stack.enter_context(demo_world.running(folder / "github", options.port, webhooks=options.webhooks))
        taken = (
            f" (port {options.port} is taken)" if options.port and not world.url.endswith(f":{options.port}") else ""
        )
        console.print(f"GitHub stand-in: {world.url}{taken}")
        app = stack.enter_context(app_process.running(world.app_settings(folder / "app"), folder / "app" / "log.txt"))
        issue = world.ask_for_run()
        console.print(f"Benchmark issue: {issue.url}")
        console.print(f"Pages: {world.pages}")
        outcome = follow(folder / "app", app, _show(console))
        complaints = finish(world, folder / "app", outcome, console)
        _write_files(options, outcome)
        if options.keep:
            _stay(console)
    return not complaints


def _check_files(options: Options) -> None:
    for path in (options.json_file, options.svg):
        if path is not None and not path.absolute().parent.is_dir():
            raise BadOption(f"{path} cannot be written: there is no folder {path.absolute().parent}")
    if options.svg is not None and options.svg.suffix != ".svg":
        raise BadOption(f"{options.svg}: the picture is SVG; name it .svg")


@contextmanager
def _ended_tidily() -> Iterator[None]:
    """Being told to end ends the App as well: it is a process of its own and would outlive its world."""

    def leave(number: int, _frame: object) -> None:
        sys.exit(128 + number)

    before = signal.signal(signal.SIGTERM, leave) if threading.current_thread() is threading.main_thread() else None
    try:
        yield
    finally:
        if before is not None:
            signal.signal(signal.SIGTERM, before)


def follow(data: Path | str, app: AppProcess, show: Callable[[str], None], timeout: float = TIMEOUT) -> Outcome:
    """Follow the newest run of a data directory, or of a database by its address, to its end.

    Raises:
        DemoError: the App ended, or the run did not end in time.
    """
    give_up = time.monotonic() + timeout
    while time.monotonic() < give_up:
        if app.exited is not None:
            raise DemoError(f"the App ended with {app.exited}:\n{app.tail()}")
        outcome = _glance(data, show)
        if outcome is not None:
            return outcome
        time.sleep(0.25)
    raise DemoError(f"the run did not end in {timeout:.0f} seconds:\n{app.tail()}")


def _glance(data: Path | str, show: Callable[[str], None]) -> Outcome | None:
    if isinstance(data, Path) and not (data / "app.db").exists():
        return None
    engine = open_engine(demo_world.database_of(data))
    try:
        store = SqlStore(engine)
        runs = store.all_runs() if store.ready else ()
        if not runs:
            return None
        last = runs[-1]
        show(terminal.progress_line(store.progress(last.id)))
        return Outcome(last.id, last.stage, store.report(last.id)) if last.stage in FINISHED else None
    finally:
        engine.dispose()


def _show(console: Console) -> Callable[[str], None]:
    """Print a line when it differs from the one before."""
    last = ""

    def show(line: str) -> None:
        nonlocal last
        if line != last:
            console.print(line, markup=False, highlight=False, soft_wrap=True)
            last = line

    return show


def finish(world: DemoWorld, data: Path, outcome: Outcome, console: Console) -> tuple[str, ...]:
    """Show the result and where to look at it; what is missing on GitHub, if anything is."""
    complaints = list(world.complaints(data, outcome.run))
    if outcome.stage != "done" or outcome.report is None:
        complaints.append(f"the run ended as {outcome.stage}")
    else:
        _show_result(records.loads(outcome.report))
        console.print("Addresses, which answer while the demo is up (--keep stays up):")
        for label, address in world.addresses(data, outcome.run).items():
            console.print(f"  {label}: {address}", markup=False, highlight=False, soft_wrap=True)
    for complaint in complaints:
        Console(stderr=True).print(f"missing: {complaint}", markup=False, style="red")
    return tuple(complaints)


def _show_result(report: Report) -> None:
    terminal.show_leaderboard(report, _surface(), Console())


def _surface() -> Surface:
    return Surface.of(demo_world.demo_registry().reviewers, {}, public=False)


def _write_files(options: Options, outcome: Outcome) -> None:
    if outcome.report is None:
        return
    files: Mapping[Path | None, Callable[[str], str]] = {
        options.json_file: lambda text: text,
        options.svg: lambda text: render.leaderboard_svg(records.loads(text), _surface()),
    }
    for path, content in files.items():
        if path is not None:
            path.write_text(content(outcome.report), encoding="utf-8")


def _stay(console: Console) -> None:
    console.print("Everything stays up. End with Ctrl-C.")
    with suppress(KeyboardInterrupt):
        while True:
            time.sleep(3600)
