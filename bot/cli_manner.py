"""How the command line speaks: quiet, at length, with traces; and whether there is a terminal to write over."""

from __future__ import annotations

import logging
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import click

OURS = ("assay", "bot", "goldens", "scoring")
"""Whose log lines `--verbose` shows; other people's libraries have nothing to tell somebody who runs a command."""


@dataclass(slots=True)
class Manner:
    """What was asked for by options that every command takes."""

    quiet: bool = False
    verbose: bool = False
    debug: bool = False

    def reset(self) -> None:
        """Speak as one does where nothing is asked for."""
        self.quiet = self.verbose = self.debug = False

    @property
    def level(self) -> str:
        """The least that a log shows."""
        return "DEBUG" if self.verbose or self.debug else "WARNING" if self.quiet else "INFO"


MANNER = Manner()
"""Of this process, not of click's context: progress is told by a thread of its own, which has none."""


def _hear(context: click.Context, param: click.Parameter, given: bool) -> None:
    if not given:
        return
    setattr(MANNER, str(param.name), True)
    if MANNER.quiet and (MANNER.verbose or MANNER.debug):
        MANNER.reset()
        raise click.UsageError("--quiet goes with none of --verbose and --debug; leave it out", context)
    if MANNER.verbose or MANNER.debug:
        _log()


def _log() -> None:
    from bot import logs

    know_secrets()
    # What serves sets the log up anew, by its settings; these levels then still hold.
    logging.basicConfig(level="WARNING", handlers=[logs.stderr_handler("text")])
    for name in OURS:
        logging.getLogger(name).setLevel("DEBUG" if MANNER.debug else "INFO")


def know_secrets() -> None:
    """Have the secrets of this process blotted out of whatever is logged or traced."""
    from bot import logs
    from bot.secret_values import secrets_of
    from bot.settings import SettingsError, load_settings

    try:
        logs.know(secrets_of(load_settings(os.environ, Path(".env")), os.environ))
    except SettingsError:
        # Nothing of them is used then; what merely looks like a secret is blotted out all the same.
        logs.know(())


def _options(*, hidden: bool) -> tuple[click.Option, ...]:
    asked = {"is_flag": True, "expose_value": False, "callback": _hear, "hidden": hidden}
    return (
        click.Option(["--quiet", "-q"], help="Say nothing but results and errors.", **asked),  # type: ignore[arg-type]
        click.Option(["--verbose", "-v"], help="Say every step, and how long it took.", **asked),  # type: ignore[arg-type]
        click.Option(["--debug"], help="Also log in detail; show the trace of an error.", **asked),  # type: ignore[arg-type]
    )


def taught(command: click.Command, *, hidden: bool = True) -> click.Command:
    """The command, and all below it, with the options that everybody takes; hidden but at the top."""
    for option in _options(hidden=hidden):
        taken = {name for param in command.params for name in param.opts}
        if not taken & set(option.opts):
            command.params.append(option)
    if isinstance(command, click.Group):
        for one in command.commands.values():
            taught(one)
    return command


def terminal(stream: IO[Any] | None = None) -> bool:
    """Whether somebody looks at a terminal that can be written over; without a stream, at stderr."""
    return (stream or sys.stderr).isatty() and os.environ.get("TERM") != "dumb"


def coloured(text: str, **style: Any) -> str:
    """The text in colour where there is a terminal and nobody objects (https://no-color.org)."""
    return click.style(text, **style) if terminal() and not os.environ.get("NO_COLOR") else text


def wide() -> int:
    """Characters that fit into one line of the terminal."""
    import shutil

    return max(20, shutil.get_terminal_size().columns - 1)
