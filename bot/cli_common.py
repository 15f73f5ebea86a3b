"""What all commands share: exit codes, errors of one line, and where output goes."""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import click

DONE, CHECK_FAILED, BAD_INPUT, NOT_CARRIED_OUT, INTERRUPTED = 0, 1, 2, 3, 130
PATIENCE = 2.0
"""Seconds after which a command says what it is doing."""
MOST_PROBLEMS = 50
"""Lines of one error; a broken file of many entries has no more to teach after that."""
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
            click.echo(f"assay: {_harmless(line)}", err=True, file=file)
        if len(lines) > MOST_PROBLEMS:
            click.echo(f"assay: and {len(lines) - MOST_PROBLEMS} problems more", err=True, file=file)


def write(text: str) -> None:
    """Print a result."""
    click.echo(text)


def say(text: str) -> None:
    """Print what is not the result."""
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
    for each stage that is slow to end.
    """
    stage, begun, over = [what], time.monotonic(), threading.Event()

    def follow() -> None:
        said = ""
        while not over.wait(PATIENCE if not said else 0.5):
            seconds = time.monotonic() - begun
            if sys.stderr.isatty():
                said = f"\rassay: {stage[0]} ({seconds:.0f} s)\x1b[K"
                click.echo(said, err=True, nl=False)
            elif said != stage[0]:
                said = stage[0]
                say(f"{said} ({seconds:.0f} s)")
        if said.startswith("\r"):
            click.echo("\r\x1b[K", err=True, nl=False)

    thread = threading.Thread(target=follow, daemon=True)
    thread.start()
    try:
        yield lambda name: stage.__setitem__(0, name)
    finally:
        over.set()
        thread.join()


def counting(
    stage: Callable[[str], None], what: str, clock: Callable[[], float] = time.monotonic
) -> Callable[[int, int], None]:
    """Takes how many of how many calls are done, and makes that the stage: with the rate, and the time left.

    Where there is no terminal to write over, a log would get a line for every call; it gets one in ten seconds.
    """
    begun, last, told = clock(), 0, -math.inf
    pause = 0.0 if sys.stderr.isatty() else LOG_SECONDS

    def progress(done: int, total: int) -> None:
        nonlocal begun, last, told
        now = clock()
        if done <= last:
            begun, told = now, -math.inf
        last = done
        if now - told < pause and done < total:
            return
        told, rate = now, done / max(now - begun, 0.001)
        stage(f"{what}: {done} of {total} calls, {rate:.1f} a second, about {math.ceil((total - done) / rate)} s left")

    return progress


def deliver(content: str | bytes, path: Path | None) -> None:
    """Put a result where it was asked for: a file, all of it or nothing, or stdout."""
    from goldens.importers.landing import land

    if path is None:
        click.echo(content, nl=isinstance(content, str) and not content.endswith("\n"))
        return
    with refusing():
        land(path, content.encode() if isinstance(content, str) else content, overwrite=True)
