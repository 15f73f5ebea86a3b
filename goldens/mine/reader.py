"""What the miners ask of git. They get bytes; only the adapter behind this runs it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class BlameAsk:
    """Who wrote these lines of a file, as it is at a commit."""

    commit: str
    path: str
    spans: tuple[Span, ...]
    """Closed line ranges."""
    lineage: bytes | None = None
    """The commits that matter to the file with their parents, one commit a line, so that git need not look at every
    other commit of the history. None: git looks for itself."""
    copies: bool = False
    """Whether lines moved or copied from other files are followed to where they were first."""


class GitReader(Protocol):
    """Reads one repository; never writes to it and never goes to the network."""

    def resolve(self, name: str) -> str:
        """The full id of the commit that a branch, tag or id names."""
        ...

    def log(self, tips: Sequence[str]) -> Iterator[bytes]:
        """The history below the tips in pieces of any size, children before parents.

        For each commit, ended by a NUL each: id, parents, commit time, subject; then what differs from its first
        parent, as `git log --raw -z -M --no-abbrev` prints it.
        """
        ...

    def diffs(
        self, pairs: Sequence[tuple[str, str]], *, context: int = 3, ignore_blanks: bool = False
    ) -> tuple[bytes, ...]:
        """The difference from the first to the second commit of each pair, renames found, by one process."""
        ...

    def blame(self, ask: BlameAsk) -> bytes:
        """`git blame --porcelain --incremental` with whitespace ignored."""
        ...

    def blobs(self, names: Sequence[tuple[str, str]]) -> tuple[bytes | None, ...]:
        """The files at (commit, path), by one process; None for one that is not there."""
        ...
