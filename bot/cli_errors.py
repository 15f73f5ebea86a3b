"""What goes wrong on the command line, in one line with the fix; the trace only for those who ask."""

from __future__ import annotations

import difflib
import re
import traceback
from collections.abc import Sequence
from types import TracebackType

import click

from bot.cli_common import BAD_INPUT, INTERRUPTED, NOT_CARRIED_OUT, Failure
from bot.cli_manner import MANNER, know_secrets

_NOT_ONE_OF = re.compile(r"'(.{0,200}?)' is not one of ")
_NO_COMMAND = re.compile(r"No such command '(.{0,500}?)'")
_MOST_GUESSED = 200


class Ending:
    """Turns everything that ends a command early into an exit code, and one line where it is an error."""

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, (click.Abort, KeyboardInterrupt)):
            raise SystemExit(INTERRUPTED)
        if isinstance(error, Exception):
            failure = as_failure(error)
            if MANNER.debug:
                click.echo(_trace(error), err=True, nl=False)
            failure.show()
            raise SystemExit(failure.code)


def as_failure(error: Exception) -> Failure:
    """The same in one line."""
    if isinstance(error, Failure):
        return error
    if isinstance(error, click.UsageError):
        return Failure(_usage(error), BAD_INPUT)
    if isinstance(error, click.ClickException):
        return Failure(error.format_message(), BAD_INPUT)
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return Failure(f"{error.filename}: {error.strerror.lower()}", NOT_CARRIED_OUT)
    told = " ".join(f"{type(error).__name__}: {error}".split())[:300]
    return Failure(f"internal error: {told}; run it again with --debug, and report what that shows", NOT_CARRIED_OUT)


# --- what click refuses ---------------------------------------------------------------------------------------------


def _usage(error: click.UsageError) -> str:
    """Which command, what is wrong with it, and what to write instead."""
    command = "assay" if error.ctx is None else error.ctx.command_path
    where = command.removeprefix("assay").strip()
    told, fix = _problem(error), f"see: {command} --help"
    if isinstance(error, click.MissingParameter) and error.ctx is not None:
        fix = _example(error.ctx.command) or fix
    ended = f"{told} {fix[:1].upper()}{fix[1:]}" if told.endswith("?") else f"{told}; {fix}"
    return f"{where}: {ended}" if where else ended


def _problem(error: click.UsageError) -> str:
    if isinstance(error, click.NoSuchOption):
        known = [name for param in error.ctx.command.params for name in param.opts] if error.ctx else []
        return f"there is no option {error.option_name[:60]}{guess(error.option_name, known)}"
    if isinstance(error, click.MissingParameter):
        hint = error.param_hint or (error.param.get_error_hint(error.ctx) if error.param and error.ctx else "something")
        return f"{_unquoted(hint)} is missing"
    text = error.format_message().rstrip(".")
    unknown = _NO_COMMAND.match(text)
    if unknown and error.ctx is not None and isinstance(error.ctx.command, click.Group):
        return f"there is no command {unknown[1][:60]}{guess(unknown[1], error.ctx.command.list_commands(error.ctx))}"
    if not isinstance(error, click.BadParameter):
        return text[:1].lower() + text[1:] if text[1:2].islower() else text
    text = re.sub(r"^Invalid value(?: for ([^:]{1,120}))?: ", lambda found: f"{_unquoted(found[1] or 'it')}: ", text)
    text = re.sub(r"a valid (integer|float) range$", r"a valid \1", text)
    wrong = _NOT_ONE_OF.search(text)
    if wrong and error.param is not None and isinstance(error.param.type, click.Choice):
        close = difflib.get_close_matches(wrong[1], list(map(str, error.param.type.choices)), n=1)
        text += f"; did you mean {close[0]}?" if close else ""
    return text


def _unquoted(hint: str | Sequence[str]) -> str:
    text = hint if isinstance(hint, str) else " / ".join(hint)
    return text.replace("'", "")


def guess(given: str, known: Sequence[str]) -> str:
    """`; did you mean ...?` where something that exists is near."""
    close = difflib.get_close_matches(given[:_MOST_GUESSED], known, n=1, cutoff=0.6)
    return f"; did you mean {close[0]}?" if close else ""


def _example(command: click.Command) -> str:
    lines = (command.help or "").splitlines()
    found = next((line.strip() for line in lines if line.strip().startswith("Example: ")), "")
    return found.replace("Example: ", "for example: ", 1)


# --- for those who ask ----------------------------------------------------------------------------------------------


def _trace(error: Exception) -> str:
    """The whole trace, also of what an error stands for, without the secrets of this process."""
    from bot import logs

    know_secrets()
    linked: BaseException | None = error
    while linked is not None:
        linked.__suppress_context__ = False
        linked = linked.__cause__ or linked.__context__
    text = "".join(traceback.format_exception(error))
    return "".join(
        one if one.isprintable() or one == "\n" else "\N{REPLACEMENT CHARACTER}" for one in logs.redact(text)
    )
