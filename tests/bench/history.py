"""A long history, made by one `git fast-import`: many files, many commits, and a pull request at its end.

Its proportions are meant to be those of a large application: most files are small and seldom changed; each commit
touches a few of them; and some large files (lock files, generated bundles, pictures) are written anew again and again,
which is what such histories are heavy with.
"""

from __future__ import annotations

import random
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from tests.bench.wire import bare

_FOLDERS = 200
_TEXT_LINES = (6, 40)
_HEAVY = 200
_HEAVY_BYTES = 8_000
_HEAVY_EVERY = 4
"""A heavy file is written anew in every so-many-th commit."""
_TOUCHED = 5


@dataclass(frozen=True, slots=True)
class Shape:
    """How large a history is."""

    commits: int
    files: int


@dataclass(frozen=True, slots=True)
class Made:
    """A history that stands."""

    path: Path
    base: str
    head: str
    """The tip of pull request 1: one commit upon `base`."""


class _Writer:
    """Writes content that compresses as code does, fast."""

    def __init__(self, shape: Shape, seed: int) -> None:
        self._random = random.Random(seed)
        words = ["".join(self._random.choices("abcdefghijklmnopqrstuvwxyz", k=size)) for size in (3, 5, 6, 8, 11) * 400]
        self._lines = [("    " + " ".join(self._random.choices(words, k=6)) + "\n").encode() for _ in range(20_000)]
        self.paths = [f"src/p{number % _FOLDERS:03d}/f{number:05d}.py".encode() for number in range(shape.files)]
        self.heavy = self.paths[: min(_HEAVY, shape.files // 10)]
        self.text = self.paths[len(self.heavy) :]
        self._heavy = frozenset(self.heavy)

    def content(self, path: bytes) -> bytes:
        if path in self._heavy:
            return self._random.randbytes(_HEAVY_BYTES)
        return b"".join(self._random.choices(self._lines, k=self._random.randint(*_TEXT_LINES)))

    def touched(self, number: int) -> list[bytes]:
        # A few files are changed far more often than the rest.
        chosen = {self.text[int(len(self.text) * self._random.random() ** 3)] for _ in range(_TOUCHED)}
        return [*sorted(chosen), *([self._random.choice(self.heavy)] if number % _HEAVY_EVERY == 0 else [])]


def _commit(sink: IO[bytes], ref: bytes, number: int, changes: Iterator[tuple[bytes, bytes]], parent: bytes) -> None:
    when = 1_500_000_000 + number * 3_600
    message = b"Change %d: what was done and why, in a line or two as people write them\n" % number
    sink.write(b"commit %s\ncommitter Dev %d <dev%d@example.com> %d +0000\n" % (ref, number % 90, number % 90, when))
    sink.write(b"data %d\n%s" % (len(message), message) + parent)
    for path, content in changes:
        sink.write(b"M 100644 inline %s\ndata %d\n%s\n" % (path, len(content), content))


def build(path: Path, shape: Shape, seed: int = 1) -> Made:
    """Make the repository."""
    bare(path)
    writer = _Writer(shape, seed)
    importing = subprocess.Popen(
        ["git", "-C", str(path), "-c", "pack.compression=1", "fast-import", "--quiet"], stdin=subprocess.PIPE
    )
    with importing:
        assert importing.stdin is not None
        sink = importing.stdin
        main, pull = b"refs/heads/main", b"refs/pull/1/head"
        _commit(sink, main, 0, ((one, writer.content(one)) for one in writer.paths), b"")
        for number in range(1, shape.commits):
            changes = ((one, writer.content(one)) for one in writer.touched(number))
            _commit(sink, main, number, changes, b"")
        changes = ((one, writer.content(one)) for one in writer.touched(1))
        _commit(sink, pull, shape.commits, changes, b"from refs/heads/main\n")
    if importing.returncode:
        raise RuntimeError(f"git fast-import ended with {importing.returncode}")
    base, head = (_git(path, "rev-parse", ref) for ref in ("refs/heads/main", "refs/pull/1/head"))
    _git(path, "symbolic-ref", "HEAD", "refs/heads/main")
    return Made(path, base, head)


def _git(path: Path, *args: str) -> str:
    return subprocess.run(["git", "-C", str(path), *args], check=True, capture_output=True, text=True).stdout.strip()
