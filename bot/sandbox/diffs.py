"""Unified diffs as GitHub numbers them: files, positions, and where a line went."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

Side = Literal["LEFT", "RIGHT"]
_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_ESCAPE = re.compile(r'\\([0-7]{3}|[abtnvfr"\\])')
_LETTERS = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "\\": 92}


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a hunk. `position` counts from the first hunk header of the file, which is 0."""

    position: int
    old: int | None
    new: int | None
    text: str
    """With its leading blank, plus or minus."""


@dataclass(slots=True)
class Hunk:
    """One hunk."""

    header: str
    old_start: int
    old_count: int
    new_start: int
    new_count: int
    lines: list[Line] = field(default_factory=list)


@dataclass(slots=True)
class FileDiff:
    """What a diff says about one file."""

    filename: str = ""
    previous: str | None = None
    status: Literal["added", "removed", "modified", "renamed"] = "modified"
    hunks: list[Hunk] = field(default_factory=list)
    patch_lines: list[str] = field(default_factory=list)

    @property
    def patch(self) -> str | None:
        """The hunks as GitHub's `patch` field, None for binary files and pure renames."""
        return "\n".join(self.patch_lines) if self.patch_lines else None

    @property
    def additions(self) -> int:
        """Added lines."""
        return sum(line.text.startswith("+") for hunk in self.hunks for line in hunk.lines)

    @property
    def deletions(self) -> int:
        """Removed lines."""
        return sum(line.text.startswith("-") for hunk in self.hunks for line in hunk.lines)

    def find(self, side: Side, number: int) -> tuple[Hunk, Line] | None:
        """The diff line that shows line `number` of the old (LEFT) or new (RIGHT) file."""
        for hunk in self.hunks:
            for line in hunk.lines:
                if number == (line.new if side == "RIGHT" else line.old):
                    return hunk, line
        return None

    def at(self, position: int) -> tuple[Hunk, Line] | None:
        """The diff line at a position."""
        return next(((h, line) for h in self.hunks for line in h.lines if line.position == position), None)


def parse(text: str) -> list[FileDiff]:
    """Read what `git diff` wrote with its default prefixes."""
    files: list[FileDiff] = []
    lines = text.split("\n")
    starts = [number for number, line in enumerate(lines) if line.startswith("diff --git ")]
    ends = [*starts[1:], len(lines)] if starts else []
    for start, end in zip(starts, ends, strict=True):
        files.append(_file(lines[start : end if end < len(lines) else end - 1]))
    return files


def _file(lines: list[str]) -> FileDiff:
    first = next((number for number, line in enumerate(lines) if line.startswith("@@ ")), len(lines))
    found = FileDiff()
    _read_head(found, lines[:first])
    found.patch_lines = lines[first:]
    _read_hunks(found)
    return found


def _read_head(found: FileDiff, head: list[str]) -> None:
    found.filename = _name_in_first_line(head[0])
    for line in head[1:]:
        if line.startswith("new file mode"):
            found.status = "added"
        elif line.startswith("deleted file mode"):
            found.status = "removed"
        elif line.startswith("rename from "):
            found.status, found.previous = "renamed", _unquote(line[12:])
        elif line.startswith("rename to "):
            found.filename = _unquote(line[10:])
        elif line.startswith(("+++ b/", '+++ "b/')) or (found.status == "removed" and line.startswith("--- ")):
            found.filename = _unquote(line[4:].rstrip("\t"))[2:]


def _name_in_first_line(line: str) -> str:
    """Of `diff --git a/X b/X`, X; both halves are equal where no other header line names the file."""
    rest = line.removeprefix("diff --git ")
    if rest.startswith('"'):
        return _unquote(rest[: (len(rest) - 1) // 2])[2:]
    return rest[2 : (len(rest) - 1) // 2]


def _unquote(name: str) -> str:
    if not (name.startswith('"') and name.endswith('"')):
        return name
    raw = _ESCAPE.sub(lambda found: chr(_LETTERS.get(found[1]) or int(found[1], 8)), name[1:-1])
    return raw.encode("latin-1", "replace").decode("utf-8", "replace")


def _read_hunks(found: FileDiff) -> None:
    old = new = 0
    for position, text in enumerate(found.patch_lines):
        header = _HUNK.match(text)
        if header and text.startswith("@@"):
            old, new = int(header[1]), int(header[3])
            found.hunks.append(Hunk(text, old, int(header[2] or 1), new, int(header[4] or 1)))
        elif text.startswith("+"):
            found.hunks[-1].lines.append(Line(position, None, new, text))
            new += 1
        elif text.startswith("-"):
            found.hunks[-1].lines.append(Line(position, old, None, text))
            old += 1
        elif text.startswith(" "):
            found.hunks[-1].lines.append(Line(position, old, new, text))
            old, new = old + 1, new + 1


def hunk_until(hunk: Hunk, last: Line) -> str:
    """GitHub's `diff_hunk`: the hunk from its header to the commented line."""
    shown: Iterator[str] = (line.text for line in hunk.lines if line.position <= last.position)
    return "\n".join([hunk.header, *shown])


def moved(hunks: list[Hunk], number: int) -> int | None:
    """Where line `number` of the old file is in the new one, or None if it was changed. Hunks have no context."""
    shift = 0
    for hunk in hunks:
        first = hunk.old_start if hunk.old_count else hunk.old_start + 1
        if number < first:
            break
        if number < first + hunk.old_count:
            return None
        shift += hunk.new_count - hunk.old_count
    return number + shift
