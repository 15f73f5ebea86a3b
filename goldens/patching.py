"""A patch applied to files, strictly: every line it names must be there, or nothing is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from goldens.diff import FileChange, LineKind
from goldens.diff_model import DiffLine, Hunk


class PatchError(ValueError):
    """A patch does not fit the files; the message says where."""


def applied(files: Mapping[str, bytes], changes: Sequence[FileChange]) -> dict[str, bytes]:
    """The files as the patch leaves them; those it does not name stay.

    Raises:
        PatchError: a file is missing, binary or there already, or a line is not what the patch says.
    """
    after = dict(files)
    for change in changes:
        if change.binary or change.combined or change.submodule or change.symlink:
            raise PatchError(f"{change.path}: not a plain text change")
        if change.old_path is not None and change.old_path not in files:
            raise PatchError(f"{change.old_path}: not there")
        if change.old_path is None and change.new_path in files:
            raise PatchError(f"{change.new_path}: there already")
        old = files[change.old_path] if change.old_path is not None else b""
        new = patched(old, change)
        if change.old_path is not None and change.old_path != change.new_path and change.kind != "copied":
            after.pop(change.old_path, None)
        if change.new_path is not None:
            after[change.new_path] = new
    return after


def patched(content: bytes, change: FileChange) -> bytes:
    """One file as its hunks leave it.

    Raises:
        PatchError: a line is not what a hunk says.
    """
    lines = _lines(content)
    out: list[str] = []
    at = 0
    for hunk in change.hunks:
        start = hunk.old_start - 1 + (not hunk.old_count)
        if start < at or start > len(lines):
            raise PatchError(f"{change.path}: line {hunk.old_start} is out of order or beyond the end")
        out += lines[at:start]
        at = _hunk(change.path, hunk, lines, start, out)
    out += lines[at:]
    return "".join(out).encode("utf-8", "surrogateescape")


def _lines(content: bytes) -> list[str]:
    parts = content.decode("utf-8", "surrogateescape").split("\n")
    return [f"{part}\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _hunk(path: str, hunk: Hunk, lines: list[str], at: int, out: list[str]) -> int:
    """Append what a hunk leaves to `out`; the place behind it."""
    for line in hunk.lines:
        if line.kind is not LineKind.ADDED:
            if at >= len(lines) or lines[at] != _ended(line):
                found = repr(lines[at][:60]) if at < len(lines) else "the end of the file"
                raise PatchError(f"{path}: line {at + 1} should be {line.text[:60]!r} and is {found}")
            at += 1
        if line.kind is not LineKind.REMOVED:
            out.append(_ended(line))
    return at


def _ended(line: DiffLine) -> str:
    return f"{line.text}\n" if line.newline else line.text
