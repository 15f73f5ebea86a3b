"""Lines through changes: which a fix removed, where they were later or before, and what stands on them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from goldens.diff import ChangeKind, DiffError, FileChange, Hunk, LineKind, read_diff
from goldens.mine.draft import Reason, Rejected
from goldens.mine.labels import is_code
from goldens.mine.reader import Span
from goldens.trees import Size

_SAYS_SOMETHING = re.compile(r"\w")


def read(diff: bytes, what: str) -> tuple[FileChange, ...]:
    """The changes of a difference between two commits.

    Raises:
        Rejected: it cannot be read.
    """
    try:
        return read_diff(diff)
    except DiffError as error:
        raise Rejected(Reason.UNREADABLE, f"{what}: {error}") from None


def size_of(changes: Iterable[FileChange]) -> Size:
    """How large a change is; binary files count as files without lines."""
    listed = tuple(changes)
    return Size(len(listed), sum((change.added or 0) + (change.removed or 0) for change in listed))


def runs(numbers: Iterable[int]) -> tuple[Span, ...]:
    """Consecutive numbers as closed ranges."""
    found: list[Span] = []
    for number in sorted(set(numbers)):
        if found and number == found[-1][1] + 1:
            found[-1] = found[-1][0], number
        else:
            found.append((number, number))
    return tuple(found)


def sites(changes: Iterable[FileChange]) -> Iterator[tuple[str, Span]]:
    """Where a fix removed or changed code: (old path, run of removed lines). Runs of braces and blanks say nothing."""
    for change in changes:
        path = change.old_path
        if path is None or change.binary or change.submodule or change.symlink or not is_code(path):
            continue
        for hunk in change.hunks:
            removed = {line.old: line.text for line in hunk.lines if line.kind is LineKind.REMOVED and line.old}
            for first, last in runs(removed):
                if any(_SAYS_SOMETHING.search(removed[number]) for number in range(first, last + 1)):
                    yield path, (first, last)


def oracle_sites(changes: Iterable[FileChange], *, strict: bool = False) -> tuple[tuple[str, Span], ...]:
    """Places of a defect by its fix as published file-and-line oracles have them: (old path, closed range).

    A hunk with its context is one site; strict, each run of removed lines is one, and a hunk without any is one line.
    New and binary files give none, nor do insertions without context.
    """
    found: list[tuple[str, Span]] = []
    for change in changes:
        if change.old_path is None or change.binary:
            continue
        for hunk in change.hunks:
            found += [(change.old_path, span) for span in _hunk_sites(hunk, strict)]
    return tuple(found)


def _hunk_sites(hunk: Hunk, strict: bool) -> Iterator[Span]:
    first, last = hunk.old_start, hunk.old_start + hunk.old_count - 1
    removed = [line.old for line in hunk.lines if line.kind is LineKind.REMOVED and line.old is not None]
    if strict:
        yield from runs(removed) if removed else ([(first, first)] if first >= 1 else ())
    elif last >= first > 0:
        yield first, last


class Carry:
    """Carries lines of old files into new ones, through one difference."""

    def __init__(self, changes: Iterable[FileChange]) -> None:
        self._by_old = {c.old_path: c for c in changes if c.old_path is not None and c.kind is not ChangeKind.COPIED}

    def line(self, path: str, number: int) -> tuple[str, int] | None:
        """Where an old line is now; None if it was removed or changed."""
        change = self._by_old.get(path)
        if change is None:
            return path, number
        if change.new_path is None or change.binary:
            return None
        shift = 0
        for hunk in change.hunks:
            start = hunk.old_start + (not hunk.old_count)
            if number < start:
                break
            if number < start + hunk.old_count:
                return next(((change.new_path, x.new) for x in hunk.lines if x.old == number and x.new), None)
            shift = (hunk.new_start + (not hunk.new_count) + hunk.new_count) - (start + hunk.old_count)
        return change.new_path, number + shift


def shown(changes: Iterable[FileChange], path: str, numbers: Sequence[int]) -> tuple[int, ...]:
    """Those of a new file's lines that the difference added."""
    added = {number for change in changes if change.new_path == path for number in change.added_lines}
    return tuple(number for number in numbers if number in added)


_MARKS = {LineKind.CONTEXT: " ", LineKind.ADDED: "+", LineKind.REMOVED: "-"}


def excerpt(changes: Iterable[FileChange], places: Sequence[tuple[str, Span]]) -> str:
    """The hunks of a difference that show these places of the new side, with new line numbers at their heads."""
    parts: list[str] = []
    for change in changes:
        spans = [span for path, span in places if path == change.new_path]
        for hunk in change.hunks:
            last = hunk.new_start + hunk.new_count - 1
            if any(first <= last and hunk.new_start <= end for first, end in spans):
                parts.append(f"{change.path}, from line {hunk.new_start}:")
                parts += [_MARKS[line.kind] + line.text for line in hunk.lines]
    return "\n".join(parts)


def text_at(content: bytes, span: Span, limit: int = 2000) -> str:
    """The lines of a file, as a suite tells them: undecodable bytes as U+FFFD."""
    lines = content.decode("utf-8", "replace").split("\n")[span[0] - 1 : span[1]]
    return "\n".join(line.removesuffix("\r") for line in lines)[:limit].strip("\n")
