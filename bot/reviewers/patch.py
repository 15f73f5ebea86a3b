"""The `patch` of one changed file, as the REST API gives it: which head lines are new, which can carry a comment."""

from __future__ import annotations

import re
from dataclasses import dataclass

_HUNK = re.compile(r"@@ -\d{1,9}(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")


class PatchError(ValueError):
    """The text is not a patch; says which line of it is wrong."""


@dataclass(frozen=True, slots=True)
class Patch:
    """The head side of one file's diff."""

    added: frozenset[int] = frozenset()
    """Head lines that the change added or rewrote."""
    hunks: tuple[tuple[int, int], ...] = ()
    """Closed ranges of head lines that the diff shows; only these can carry an inline comment."""

    def shows(self, line: int, end: int | None = None) -> bool:
        """Whether one hunk shows the whole range, which is what GitHub asks of an inline comment."""
        last = line if end is None else end
        return any(first <= line <= last <= final for first, final in self.hunks)


def read_patch(text: str) -> Patch:
    """Read the hunks of one file.

    Raises:
        PatchError: a line outside any hunk, a line that is no diff line, or a hunk shorter than its header says.
    """
    added: set[int] = set()
    hunks: list[tuple[int, int]] = []
    old_left = new_left = line = 0
    # Only "\n" ends a diff line; content may hold form feeds and carriage returns.
    for number, row in enumerate(text.removesuffix("\n").split("\n") if text else (), start=1):
        if row.startswith("\\"):
            continue
        if not (old_left or new_left):
            found = _HUNK.match(row)
            if found is None:
                raise PatchError(f"patch line {number}: expected a hunk header, found {row[:60]!r}")
            old_left, line, new_left = int(found[1] or 1), int(found[2]), int(found[3] or 1)
            hunks.extend([(line, line + new_left - 1)] if new_left else [])
            continue
        mark = row[:1] or " "
        if mark not in " +-":
            raise PatchError(f"patch line {number}: expected ' ', '+' or '-', found {row[:60]!r}")
        if mark != "+":
            old_left -= 1
        if mark != "-":
            added.update([line] if mark == "+" else [])
            new_left -= 1
            line += 1
        if old_left < 0 or new_left < 0:
            raise PatchError(f"patch line {number}: the hunk is longer than its header says")
    if old_left or new_left:
        raise PatchError("the last hunk is shorter than its header says")
    return Patch(frozenset(added), tuple(hunks))
