"""A `.env` file with some settings changed: everything else in it stays as it is, byte for byte."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from io import StringIO
from pathlib import Path

from dotenv.parser import parse_stream

from bot.settings import PREFIX


class EnvError(Exception):
    """The file cannot be read or written; the message names it."""


def read(path: Path) -> str:
    """The file's text; empty where there is none.

    Raises:
        EnvError: it cannot be read, or holds what is no assignment.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as problem:
        raise EnvError(f"{path}: cannot be read: {_reason(problem)}") from None
    for binding in parse_stream(StringIO(text)):
        if binding.error:
            line = binding.original.line
            raise EnvError(f"{path}:{line}: is not NAME=value; for example {PREFIX}BIND=127.0.0.1:8000")
    return text


def values(text: str) -> dict[str, str]:
    """The settings in a text."""
    return {one.key: one.value or "" for one in parse_stream(StringIO(text)) if one.key and not one.error}


def changed(text: str, new: Mapping[str, str], *, without: frozenset[str] = frozenset()) -> str:
    """The text with these settings: in the place of the old ones, or at the end; and without some others."""
    left, parts = dict(new), []
    for binding in parse_stream(StringIO(text)):
        original = binding.original.string
        if binding.key in without:
            continue
        if binding.key in left:
            head = original[: len(original) - len(original.lstrip())]
            original = f"{head}{line(binding.key, left.pop(binding.key))}\n"
        elif binding.key in new:
            continue  # the same name a second time, which would win over the new value
        parts.append(original)
    whole = "".join(parts)
    if whole and not whole.endswith("\n"):
        whole += "\n"
    return whole + "".join(f"{line(name, value)}\n" for name, value in left.items())


def line(name: str, value: str) -> str:
    """One assignment, quoted as needed, in one line."""
    plain = value and all(one.isalnum() or one in "._:/@+-" for one in value)
    if plain:
        return f"{name}={value}"
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'{name}="{escaped}"'


def write(path: Path, text: str) -> None:
    """Put the text there, all of it or nothing, for the owner's eyes only.

    Raises:
        EnvError: it cannot be written.
    """
    target = path.resolve()
    try:
        # mkstemp makes it readable by its owner alone, before there is anything in it.
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=".env-", suffix=".new")
    except OSError as problem:
        raise EnvError(f"{target.parent}: cannot be written: {_reason(problem)}") from None
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(target)
    except OSError as problem:
        Path(name).unlink(missing_ok=True)
        raise EnvError(f"{target}: cannot be written: {_reason(problem)}") from None


def check_writable(path: Path) -> None:
    """Make sure that `write` will do, before there is something to lose.

    Raises:
        EnvError: it will not.
    """
    target = path.resolve()
    if target.is_dir():
        raise EnvError(f"{path}: is a directory")
    try:
        with tempfile.NamedTemporaryFile(dir=target.parent, prefix=".env-", suffix=".new"):
            return
    except OSError as problem:
        raise EnvError(f"{target.parent}: cannot be written: {_reason(problem)}") from None


def _reason(problem: OSError | UnicodeDecodeError) -> str:
    return (problem.strerror or "it failed").lower() if isinstance(problem, OSError) else "it is not text"
