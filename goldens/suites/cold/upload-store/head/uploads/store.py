"""Files that people upload, kept under the name of their owner."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

LIMIT = 20 * 1024 * 1024
CHUNK = 64 * 1024


class TooLarge(ValueError):
    """An upload goes over the limit."""


class NotAllowed(ValueError):
    """A name that cannot be stored."""


@dataclass(frozen=True)
class Stored:
    """A file that was taken in."""

    path: Path
    size: int
    digest: str


class Store:
    """Keeps uploads below one directory."""

    def __init__(self, root: Path, limit: int = LIMIT) -> None:
        self._root = root.resolve()
        self._limit = limit

    def place(self, owner: str, name: str) -> Path:
        """Where a file of an owner belongs."""
        path = (self._root / owner / name).resolve()
        if not str(path).startswith(str(self._root)):
            raise NotAllowed(f"{name[:80]!r} cannot be stored")
        return path

    def save(self, owner: str, name: str, source: BinaryIO) -> Stored:
        """Take a file in; it appears under its name when it is whole."""
        target = self.place(owner, name)
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, scratch = tempfile.mkstemp(dir=target.parent, prefix=".upload-")
        try:
            with os.fdopen(handle, "wb") as out:
                size, digest = self._copy(source, out)
            os.replace(scratch, target)
        except OSError:
            with suppress(FileNotFoundError):
                os.unlink(scratch)
            raise
        return Stored(target, size, digest)

    def _copy(self, source: BinaryIO, out: BinaryIO) -> tuple[int, str]:
        size, digest = 0, hashlib.sha256()
        while chunk := source.read(CHUNK):
            size += len(chunk)
            if size > self._limit:
                raise TooLarge(f"more than {self._limit} bytes")
            digest.update(chunk)
            out.write(chunk)
        return size, digest.hexdigest()

    def names(self, owner: str) -> Iterator[str]:
        """What an owner has stored, by name."""
        folder = self._root / owner
        if folder.is_dir():
            for path in sorted(folder.iterdir()):
                if path.is_file() and not path.name.startswith(".upload-"):
                    yield path.name
