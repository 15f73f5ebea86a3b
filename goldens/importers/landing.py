"""Putting files where they belong: all of them or none, and never over something that is there unless told."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from goldens.importers.problems import fail


def land(path: Path, content: bytes | Mapping[str, bytes], *, overwrite: bool = False) -> None:
    """Write one file, or a folder of files by name, in one step.

    Everything is written beside `path` first and moved there when it is complete, so that an interruption leaves
    either the old state or the new one.

    Raises:
        ImportProblem: `path` is there already and `overwrite` was not asked for, a name would leave the folder, or the
            place cannot be written.
    """
    if os.path.lexists(path) and not overwrite:
        raise fail(str(path), "$", "a new path (or leave to overwrite)", "something there already")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{path.name[:40]}.", dir=path.parent) as scratch:
            fresh = Path(scratch) / "new"
            _write(fresh, content)
            _swap(fresh, path, Path(scratch) / "old")
    except OSError as error:
        raise fail(str(path), "$", "a place that can be written", str(error.strerror or error)) from None


def _write(fresh: Path, content: bytes | Mapping[str, bytes]) -> None:
    if isinstance(content, bytes):
        fresh.write_bytes(content)
        return
    for name, data in content.items():
        target = fresh / safe_name(name)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)


def safe_name(name: str) -> PurePosixPath:
    """A name that stays inside its folder.

    Raises:
        ImportProblem: it is absolute, climbs, or is none that every file system takes.
    """
    steps = name.split("/")
    odd = any(step in ("", ".", "..") or step.endswith((" ", ".")) or len(step.encode()) > 200 for step in steps)
    if odd or len(name) > 1000 or any(letter in '\\:*?"<>|' or ord(letter) < 32 for letter in name):
        raise fail(name[:200], "$", "a relative name without `..`, backslash, colon or control characters", "this")
    return PurePosixPath(*steps)


def _swap(fresh: Path, path: Path, old: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        path.rename(old)
        try:
            fresh.rename(path)
        except OSError:
            old.rename(path)
            raise
        shutil.rmtree(old)
    elif fresh.is_dir() and os.path.lexists(path):
        path.rename(old)
        fresh.rename(path)
    else:
        fresh.replace(path)
