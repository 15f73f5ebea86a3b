r"""Unified diffs as values, whoever printed them.

Inside a hunk the counts of its header decide what a line is, never its look. Only `\n` ends a line: form feeds, lone
carriage returns and Unicode's line separators are content. Prefixes such as `a/` and `b/` are decided once for the
whole diff, because `a/` may be a directory.

Text keeps undecodable bytes as surrogates, so `text.encode("utf-8", "surrogateescape")` gives the file's bytes back.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from goldens.diff_model import ChangeKind, DiffLine, FileChange, Hunk, LineKind
from goldens.diff_names import DiffError, Names, Prefixes, decide_prefixes, unquoted
from goldens.trees import Change

__all__ = ["ChangeKind", "DiffError", "DiffLine", "FileChange", "Hunk", "LineKind", "as_change", "read_diff"]

_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@(.*)", re.DOTALL)
_COMBINED = re.compile(r"(@{3,17})((?: -\d{1,9}(?:,\d{1,9})?){2,16}) \+(\d{1,9})(?:,(\d{1,9}))? \1(.*)", re.DOTALL)
_HEADERS = ("diff --git ", "diff --cc ", "diff --combined ")
_INDEX = re.compile(r"([0-9a-f]{1,64}(?:,[0-9a-f]{1,64})*)\.\.([0-9a-f]{1,64})(?: ([0-7]{6}))?")
_SIMILAR = re.compile(r"(dis)?similarity index (\d{1,3})%")


def read_diff(data: bytes | str) -> tuple[FileChange, ...]:
    """Every changed file of a diff, in its order.

    Text around the files (a mail's header, log messages, a signature) is passed over. An empty diff has no file.

    Raises:
        DiffError: text that is no diff, a hunk longer or shorter than it says, or names that cannot be told apart.
    """
    text = data.decode("utf-8", "surrogateescape") if isinstance(data, bytes) else data
    reader = _Reader(_rows(text))
    sections = reader.sections()
    if not sections and text.strip():
        raise DiffError(1, "no file of a diff is in this text")
    prefixes = decide_prefixes([section.names for section in sections])
    return tuple(_change(section, prefixes) for section in sections)


def as_change(change: FileChange) -> Change:
    """The change as a comparison of trees tells it, so that `goldens.trees.reach` can say what a comment can hit."""
    left = [(h.old_start, h.old_start + h.old_count - 1) for h in change.hunks if h.old_count]
    right = [(h.new_start, h.new_start + h.new_count - 1) for h in change.hunks if h.new_count]
    added, removed = change.added or 0, change.removed or 0
    return Change(change.old_path, change.new_path, tuple(left), tuple(right), added, removed)


def _rows(text: str) -> list[str]:
    rows = text.removesuffix("\n").split("\n") if text else []
    # Git quotes a path that ends in a carriage return, so one behind a header was put there on the way.
    first = next((row for row in rows if row.startswith((*_HEADERS, "--- "))), "")
    return [row.removesuffix("\r") for row in rows] if first.endswith("\r") else rows


@dataclass(slots=True)
class _Section:
    """What the text says about one file, before its names are understood."""

    names: Names
    combined: bool = False
    old_mode: str | None = None
    new_mode: str | None = None
    old_id: str | None = None
    new_id: str | None = None
    similarity: int | None = None
    created: bool = False
    deleted: bool = False
    copied: bool = False
    binary: bool = False
    hunks: list[Hunk] = field(default_factory=list)


class _Reader:
    """Walks over the rows once; `at` is the row it is on."""

    def __init__(self, rows: list[str]) -> None:
        self._rows = rows
        self._at = 0
        self._sections: list[_Section] = []

    def sections(self) -> list[_Section]:
        while self._at < len(self._rows):
            if not self._begin():
                self._at += 1
        return self._sections

    def _peek(self, ahead: int = 0) -> str:
        at = self._at + ahead
        return self._rows[at] if at < len(self._rows) else ""

    def _plain_pair(self) -> bool:
        hunk = self._peek(2)
        return self._peek().startswith("--- ") and self._peek(1).startswith("+++ ") and hunk.startswith("@@ -")

    def _begin(self) -> bool:
        """Read the file that starts here, if one does."""
        row = self._peek()
        header = next((start for start in _HEADERS if row.startswith(start)), None)
        if header:
            names = Names(self._at + 1, header=row.removeprefix(header), one=header != "diff --git ")
            section = _Section(names, combined=names.one)
            self._at += 1
        elif row.startswith("Binary files ") and row.endswith(" differ"):
            between = row.removeprefix("Binary files ").removesuffix(" differ")
            section = _Section(Names(self._at + 1, header=between, separator=" and "), binary=True)
            self._at += 1
        elif self._plain_pair():
            section = _Section(Names(self._at + 1))
        else:
            return False
        self._sections.append(section)
        self._extended(section)
        self._body(section)
        return True

    def _extended(self, section: _Section) -> None:
        """The rows between the first one and the hunks."""
        while self._at < len(self._rows):
            row = self._peek()
            if row.startswith(("@@", *_HEADERS)) or not row.strip():
                return
            if row.startswith("--- "):
                self._two_names(section)
                return
            _extended_row(section, row, self._at + 1)
            self._at += 1

    def _two_names(self, section: _Section) -> None:
        old, new = self._peek(), self._peek(1)
        if not new.startswith("+++ "):
            raise DiffError(self._at + 2, f"expected '+++ ' and a name, found {new[:60]!r}")
        section.names.old = _name(old[4:], self._at + 1)
        section.names.new = _name(new[4:], self._at + 2)
        self._at += 2

    def _body(self, section: _Section) -> None:
        while self._at < len(self._rows) and self._peek().startswith("@@"):
            section.hunks.append(self._hunk(section))
        row = self._peek()
        goes_on = section.hunks and row.startswith(("+", "-", " ", "\\")) and not self._plain_pair()
        # A mailed patch ends in a signature behind "-- ".
        if goes_on and row.rstrip() != "--":
            raise DiffError(self._at + 1, f"the hunk goes on where its header says it ends: {row[:60]!r}")

    def _hunk(self, section: _Section) -> Hunk:
        row = self._peek()
        found = (_COMBINED if section.combined else _HUNK).fullmatch(row)
        if found is None:
            raise DiffError(self._at + 1, f"not the header of a hunk: {row[:60]!r}")
        self._at += 1
        if section.combined:
            return self._combined(found)
        old_start, new_start = int(found[1]), int(found[3])
        old_count, new_count = int(found[2] or 1), int(found[4] or 1)
        lines = self._lines(old_start + (not old_count), old_count, new_start + (not new_count), new_count)
        return Hunk(old_start, old_count, new_start, new_count, found[5].strip(), tuple(lines))

    def _lines(self, old: int, old_left: int, new: int, new_left: int) -> list[DiffLine]:
        lines: list[DiffLine] = []
        while old_left > 0 or new_left > 0:
            row = self._next_row()
            # A mailer may have stripped the blank that marks an empty context line.
            mark, text = row[:1] or " ", row[1:]
            if mark == "\\":
                self._unended(lines)
            elif mark == "+" and new_left:
                lines.append(DiffLine(LineKind.ADDED, None, new, text))
                new, new_left = new + 1, new_left - 1
            elif mark == "-" and old_left:
                lines.append(DiffLine(LineKind.REMOVED, old, None, text))
                old, old_left = old + 1, old_left - 1
            elif mark == " " and old_left and new_left:
                lines.append(DiffLine(LineKind.CONTEXT, old, new, text))
                old, old_left, new, new_left = old + 1, old_left - 1, new + 1, new_left - 1
            else:
                rest = f"{old_left} old and {new_left} new lines to come"
                raise DiffError(self._at, f"no line of this hunk, with {rest}: {row[:60]!r}")
        self._trailing_mark(lines)
        return lines

    def _next_row(self) -> str:
        if self._at >= len(self._rows):
            raise DiffError(self._at, "the last hunk is shorter than its header says")
        self._at += 1
        return self._rows[self._at - 1]

    def _unended(self, lines: list[DiffLine]) -> None:
        if not lines:
            raise DiffError(self._at, "a line that marks a missing newline, with no line before it")
        last = lines[-1]
        lines[-1] = DiffLine(last.kind, last.old, last.new, last.text, newline=False)

    def _trailing_mark(self, lines: list[DiffLine]) -> None:
        if self._peek().startswith("\\"):
            self._at += 1
            self._unended(lines)

    def _combined(self, found: re.Match[str]) -> Hunk:
        """A hunk with one column of marks for each parent; only the new side has one numbering."""
        parents = len(found[1]) - 1
        ranges = [int(part.partition(",")[2] or 1) for part in found[2].split()]
        if len(ranges) != parents:
            raise DiffError(self._at, f"{parents} parents, but {len(ranges)} ranges of old lines")
        start, count = int(found[3]), int(found[4] or 1)
        new, left, lines = start + (not count), [*ranges, count], list[DiffLine]()
        while any(left):
            row = self._next_row()
            marks, text = row[:parents].ljust(parents), row[parents:]
            if marks.startswith("\\"):
                self._unended(lines)
                continue
            lost = "-" in marks
            kind = LineKind.REMOVED if lost else LineKind.ADDED if set(marks) == {"+"} else LineKind.CONTEXT
            lines.append(DiffLine(kind, None, None if lost else new, text))
            new += not lost
            gone = [mark == "-" if lost else mark != "+" for mark in marks]
            left = [rest - one for rest, one in zip(left, [*gone, not lost], strict=True)]
            if min(left) < 0 or not set(marks) <= set(" +-"):
                raise DiffError(self._at, f"no line of this hunk: {row[:60]!r}")
        self._trailing_mark(lines)
        return Hunk(0, 0, start, count, found[5].strip(), tuple(lines))


def _name(raw: str, row: int) -> str:
    """A name behind `---` or `+++`. Git puts a tab behind one with blanks, other tools a tab and a time."""
    if raw.startswith('"'):
        return unquoted(raw, row)[0]
    return raw.partition("\t")[0]


def _extended_row(section: _Section, row: str, number: int) -> None:
    """Note what a row of git's extended header says; other rows say nothing that is needed here."""
    names = section.names
    if row.startswith(("rename from ", "copy from ")):
        section.copied = row.startswith("copy")
        names.moved_from = _name(row.partition(" from ")[2], number)
    elif row.startswith(("rename to ", "copy to ")):
        names.moved_to = _name(row.partition(" to ")[2], number)
    elif row.startswith(("old mode ", "new file mode ", "new mode ", "deleted file mode ", "mode ")):
        _modes(section, row)
    elif found := _SIMILAR.fullmatch(row):
        section.similarity = None if found[1] else int(found[2])
    elif found := _INDEX.fullmatch(row.removeprefix("index ")):
        section.old_id, section.new_id = (None if section.combined else found[1]), found[2]
        if found[3]:
            section.old_mode = section.new_mode = found[3]
    elif row.startswith("Binary files ") or row == "GIT binary patch":
        section.binary = True


def _modes(section: _Section, row: str) -> None:
    mode = row.rpartition(" ")[2].rpartition("..")[2][:6]
    if row.startswith("old mode"):
        section.old_mode = mode
    elif row.startswith(("new mode", "mode")):
        section.new_mode = mode
    elif row.startswith("new file"):
        section.created, section.new_mode = True, mode
    else:
        section.deleted, section.old_mode = True, mode


def _change(section: _Section, prefixes: Prefixes) -> FileChange:
    old, new = prefixes.paths(section.names)
    created, deleted = section.created or old is None, section.deleted or new is None
    kind = ChangeKind.MODIFIED
    if created or deleted:
        kind = ChangeKind.ADDED if created else ChangeKind.DELETED
    elif section.names.moved_from is not None:
        kind = ChangeKind.COPIED if section.copied else ChangeKind.RENAMED
    elif old != new:
        kind = ChangeKind.RENAMED
    return FileChange(
        None if created else old,
        None if deleted else new,
        kind,
        tuple(section.hunks),
        section.old_mode,
        section.new_mode,
        section.old_id,
        section.new_id,
        section.similarity,
        section.binary,
        section.combined,
    )
