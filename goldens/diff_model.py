"""What a diff says, as values. `diff.py` reads them from text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

_SUBMODULE, _SYMLINK = "160000", "120000"


class LineKind(StrEnum):
    """What a line of a hunk is."""

    CONTEXT = "context"
    ADDED = "added"
    REMOVED = "removed"


class ChangeKind(StrEnum):
    """What happened to a file."""

    ADDED = "added"
    DELETED = "deleted"
    MODIFIED = "modified"
    RENAMED = "renamed"
    COPIED = "copied"


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line of a hunk, with its number on each side it exists on."""

    kind: LineKind
    old: int | None
    new: int | None
    text: str
    r"""Without its `\n`; a `\r` before it is content."""
    newline: bool = True
    """False for a last line that no newline ends."""


@dataclass(frozen=True, slots=True)
class Hunk:
    """One hunk. Of a combined diff the old side is unknown: it has several."""

    old_start: int
    old_count: int
    new_start: int
    new_count: int
    heading: str
    """What stands behind the second `@@`."""
    lines: tuple[DiffLine, ...]


@dataclass(frozen=True, slots=True)
class FileChange:
    """One changed file."""

    old_path: str | None
    """None for a new file."""
    new_path: str | None
    """None for a deleted file."""
    kind: ChangeKind
    hunks: tuple[Hunk, ...] = ()
    old_mode: str | None = None
    new_mode: str | None = None
    """Six octal digits, where the diff says them."""
    old_id: str | None = None
    new_id: str | None = None
    """Blob ids, shortened as the diff has them."""
    similarity: int | None = None
    """In percent, of a rename or copy."""
    binary: bool = False
    combined: bool = False
    """A merge compared with all its parents. Its added lines are those that no parent has; old sides are unknown."""

    @property
    def path(self) -> str:
        """The path in the head tree, or for a deleted file the one it had."""
        path = self.new_path or self.old_path
        assert path is not None
        return path

    @property
    def added(self) -> int | None:
        """Added lines; None where there are no lines to count."""
        return None if self.binary else len(self.added_lines)

    @property
    def removed(self) -> int | None:
        """Removed lines; None where there are no lines to count or several old sides."""
        return None if self.binary or self.combined else len(self.removed_lines)

    @property
    def added_lines(self) -> tuple[int, ...]:
        """Numbers of the added lines in the new file."""
        return tuple(line.new for line in self._lines(LineKind.ADDED) if line.new is not None)

    @property
    def removed_lines(self) -> tuple[int, ...]:
        """Numbers of the removed lines in the old file."""
        return tuple(line.old for line in self._lines(LineKind.REMOVED) if line.old is not None)

    @property
    def mode_only(self) -> bool:
        """Whether nothing but the mode differs."""
        plain = self.kind is ChangeKind.MODIFIED and not self.hunks and not self.binary
        return plain and self.old_mode != self.new_mode

    @property
    def submodule(self) -> bool:
        """Whether either side is a commit of another repository."""
        return _SUBMODULE in (self.old_mode, self.new_mode)

    @property
    def symlink(self) -> bool:
        """Whether either side is a symbolic link."""
        return _SYMLINK in (self.old_mode, self.new_mode)

    def _lines(self, kind: LineKind) -> Iterator[DiffLine]:
        return (line for hunk in self.hunks for line in hunk.lines if line.kind is kind)
