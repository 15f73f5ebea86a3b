"""What all commands share: exit codes, errors of one line, and where output goes."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar

import click

from bot.cli_manner import MANNER, coloured, terminal, wide

if TYPE_CHECKING:
    from bot.settings import Settings

T = TypeVar("T")
DONE, CHECK_FAILED, BAD_INPUT, NOT_CARRIED_OUT, INTERRUPTED = 0, 1, 2, 3, 130
PATIENCE = 2.0
"""Seconds after which a command says what it is doing."""
MOST_PROBLEMS = 50
"""Lines of one error; a broken file of many entries has no more to teach after that."""
BAR = 20
"""Characters of a bar of progress."""
LOG_SECONDS = 10.0
"""Seconds between two lines of progress where they cannot be written over."""


class Failure(click.ClickException):
    """An error said in one line, with the exit code that fits it."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code

    @property
    def exit_code(self) -> int:  # type: ignore[override]
        """The same, where click looks for it."""
        return self.code

    def show(self, file: IO[Any] | None = None) -> None:
        """Say it on stderr, one line a problem. What is quoted of an input never steers the terminal."""
        lines = self.message.splitlines()
        for line in lines[:MOST_PROBLEMS]:
            click.echo(f"{coloured('assay:', fg='red')} {_harmless(line)}", err=True, file=file)
        if len(lines) > MOST_PROBLEMS:
            click.echo(f"assay: and {len(lines) - MOST_PROBLEMS} problems more", err=True, file=file)


def settings_now() -> Settings:
    """What the operator set.

    Raises:
        Failure: something of it cannot be used.
    """
    from bot.settings import SettingsError, load_settings

    try:
        return load_settings(os.environ, Path(".env"))
    except SettingsError as error:
        raise Failure(str(error), BAD_INPUT) from None


def ready_settings() -> Settings:
    """The same, with all that the App needs to start.

    Raises:
        Failure: with everything that keeps it from starting, a line each.
    """
    from bot.composition import judge_problem
    from bot.settings import SettingsError

    settings = settings_now()
    problems: list[str] = []
    for check in (lambda: settings.require("app_id", "webhook_secret"), settings.read_private_key):
        try:
            check()
        except SettingsError as error:
            problems += error.problems
    unfit = judge_problem(settings)
    problems += [f"ASSAY_JUDGE: {unfit}"] if unfit else []
    if problems:
        raise Failure("\n".join(problems), BAD_INPUT)
    return settings


def write(text: str) -> None:
    """Print a result."""
    click.echo(text)


def say(text: str) -> None:
    """Print what is not the result; to nobody who wants it quiet."""
    if not MANNER.quiet:
        click.echo(f"assay: {_harmless(text)}", err=True)


def _harmless(text: str) -> str:
    return "".join(one if one.isprintable() or one == "\n" else "\N{REPLACEMENT CHARACTER}" for one in text)


@contextmanager
def refusing() -> Iterator[None]:
    """Turn what is wrong with the input into a failure of one line."""
    from bot.analysis.problems import Unusable
    from goldens.importers.problems import ImportProblem
    from scoring.bundle import BundleError

    try:
        yield
    except (BundleError, ImportProblem, Unusable) as error:
        raise Failure(str(error), BAD_INPUT) from None


@contextmanager
def working(what: str) -> Iterator[Callable[[str], None]]:
    """Say on stderr what is being done, and for how long, once it has taken more than two seconds.

    Gives a function that names the next stage. On a terminal there is one line that is written over; elsewhere a line
    for each stage that is slow to end. With --verbose every stage is a line, at once.
    """
    begun = time.monotonic()
    if MANNER.quiet:
        yield lambda name: None
    elif MANNER.verbose or MANNER.debug:
        say(what)
        yield lambda name: say(f"{name} (after {time.monotonic() - begun:.1f} s)")
        say(f"{what}: {time.monotonic() - begun:.1f} s")
    else:
        with _following(what, begun) as stage:
            yield stage


@contextmanager
def _following(what: str, begun: float) -> Iterator[Callable[[str], None]]:
    stage, over, over_written = [what], threading.Event(), terminal()

    def follow() -> None:
        said = ""
        while not over.wait(PATIENCE if not said else 0.5):
            line = f"{_harmless(stage[0])} ({time.monotonic() - begun:.0f} s)"
            if over_written:
                said = stage[0]
                click.echo(f"\r{f'assay: {line}'[: wide()]}\x1b[K", err=True, nl=False)
            elif said != stage[0]:
                said = stage[0]
                say(line)
        if said and over_written:
            click.echo("\r\x1b[K", err=True, nl=False)

    thread = threading.Thread(target=follow, daemon=True)
    thread.start()
    try:
        yield lambda name: stage.__setitem__(0, name)
    finally:
        over.set()
        thread.join()


def counting(
    stage: Callable[[str], None], what: str, clock: Callable[[], float] = time.monotonic, unit: str = "calls"
) -> Callable[[int, int | None], None]:
    """Takes how many of how many units are done, and makes that the stage: with the rate, and the time left.

    None for how many there are where that is not known before.

    Where there is no terminal to write over, a log would get a line for every call; it gets one in ten seconds.
    """
    begun, last, told = clock(), 0, -math.inf
    drawn = terminal() and not MANNER.verbose and not MANNER.debug
    pause = 0.0 if drawn else LOG_SECONDS

    def progress(done: int, total: int | None) -> None:
        nonlocal begun, last, told
        now = clock()
        if done <= last:
            begun, told = now, -math.inf
        last = done
        if now - told < pause and done != total:
            return
        told, rate = now, done / max(now - begun, 0.001)
        if total is None:
            stage(f"{what}: {done} {unit} so far, {rate:.1f} a second")
            return
        left = f"about {math.ceil((total - done) / rate)} s left" if rate else "no telling how long"
        bar = f"{_bar(done, total)} " if drawn else ""
        stage(f"{bar}{what}: {done} of {total} {unit}, {rate:.1f} a second, {left}")

    return progress


def _bar(done: int, total: int) -> str:
    full = BAR * done // max(total, 1)
    return f"[{'#' * full}{'.' * (BAR - full)}]"


def each(things: Sequence[T], stage: Callable[[str], None], what: str, unit: str) -> Iterator[T]:
    """The things one after another; as each is taken, how many are done, at what rate, and the time left."""
    progress = counting(stage, what, unit=unit)
    for number, thing in enumerate(things):
        if number:
            progress(number, len(things))
        yield thing


def deliver(content: str | bytes, path: Path | None) -> None:
    """Put a result where it was asked for: a file, all of it or nothing, or stdout."""
    from goldens.importers.landing import land

    if path is None:
        click.echo(content, nl=isinstance(content, str) and not content.endswith("\n"))
        return
    with refusing():
        land(path, content.encode() if isinstance(content, str) else content, overwrite=True)
