"""Unified diffs written: from two trees, or from parts of a diff that was read."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from bot.adapters.git_bytes import quoted_path
from goldens.diff import ChangeKind, DiffLine, FileChange, Hunk, LineKind
from goldens.trees import CONTEXT, changes, is_binary

_SIGNS = {LineKind.CONTEXT: " ", LineKind.ADDED: "+", LineKind.REMOVED: "-"}
_PLAIN_MODE = "100644"
_NO_NEWLINE = "\\ No newline at end of file"

Block = tuple[int, int, int, int]
"""Half-open ranges of the old and the new lines."""


def between(base: Mapping[str, bytes], head: Mapping[str, bytes], *, context: int = CONTEXT) -> tuple[FileChange, ...]:
    """Every file that differs between two trees, renames found, as a diff tells it."""
    return tuple(_file(base, head, one.old, one.new, context) for one in changes(base, head))


def _file(
    base: Mapping[str, bytes], head: Mapping[str, bytes], old: str | None, new: str | None, context: int
) -> FileChange:
    before, after = base[old] if old else b"", head[new] if new else b""
    binary = is_binary(before) or is_binary(after)
    return FileChange(
        old,
        new,
        _kind(old, new),
        hunks=() if binary or before == after else tuple(hunks(before, after, context)),
        old_mode=_PLAIN_MODE if old is None or new is None else None,
        new_mode=_PLAIN_MODE if old is None or new is None else None,
        binary=binary,
    )


def _kind(old: str | None, new: str | None) -> ChangeKind:
    if old is None:
        return ChangeKind.ADDED
    if new is None:
        return ChangeKind.DELETED
    return ChangeKind.MODIFIED if old == new else ChangeKind.RENAMED


def hunks(before: bytes, after: bytes, context: int = CONTEXT) -> Iterator[Hunk]:
    """The hunks between two texts."""
    left, right = _lines(before), _lines(after)
    for group in _grouped(_blocks(left, right), context):
        yield _hunk(left, right, group, context)


def _lines(data: bytes) -> list[str]:
    r"""The lines with their ends, so that a last line without `\n` differs from one with it."""
    parts = data.decode("utf-8", "replace").split("\n")
    return [f"{part}\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _blocks(left: list[str], right: list[str]) -> list[Block]:
    """What differs. Equal ends are cut off first: `difflib` is slow on long files."""
    start = 0
    while start < min(len(left), len(right)) and left[start] == right[start]:
        start += 1
    end = 0
    while end < min(len(left), len(right)) - start and left[-1 - end] == right[-1 - end]:
        end += 1
    middle = left[start : len(left) - end], right[start : len(right) - end]
    codes = difflib.SequenceMatcher(None, *middle, autojunk=False).get_opcodes()
    return [(a + start, b + start, c + start, d + start) for tag, a, b, c, d in codes if tag != "equal"]


def _grouped(blocks: Sequence[Block], context: int) -> list[list[Block]]:
    """Blocks so near to each other that their contexts touch belong to one hunk."""
    groups: list[list[Block]] = []
    for block in blocks:
        if groups and block[0] - groups[-1][-1][1] <= 2 * context:
            groups[-1].append(block)
        else:
            groups.append([block])
    return groups


def _hunk(left: list[str], right: list[str], blocks: Sequence[Block], context: int) -> Hunk:
    at_old, at_new = (max(0, blocks[0][side] - context) for side in (0, 2))
    # The same number of lines stands before the first block on both sides, unless one side begins there.
    lead = min(blocks[0][0] - at_old, blocks[0][2] - at_new)
    old, new = blocks[0][0] - lead, blocks[0][2] - lead
    starts, lines = (old, new), list[DiffLine]()
    for a, b, c, d in blocks:
        lines += [_row(LineKind.CONTEXT, left[old + i], old + i, new + i) for i in range(a - old)]
        lines += [_row(LineKind.REMOVED, left[i], i, None) for i in range(a, b)]
        lines += [_row(LineKind.ADDED, right[i], None, i) for i in range(c, d)]
        old, new = b, d
    tail = min(context, len(left) - old, len(right) - new)
    lines += [_row(LineKind.CONTEXT, left[old + i], old + i, new + i) for i in range(tail)]
    return hunk_of(lines, starts)


def _row(kind: LineKind, text: str, old: int | None, new: int | None) -> DiffLine:
    ended = text.endswith("\n")
    return DiffLine(
        kind,
        None if old is None else old + 1,
        None if new is None else new + 1,
        text.removesuffix("\n"),
        ended,
    )


def hunk_of(lines: Sequence[DiffLine], before: tuple[int, int]) -> Hunk:
    """A hunk of these lines.

    Args:
        lines: Its lines, in order.
        before: How many lines of the old and of the new file stand before it.
    """
    olds = sum(line.kind is not LineKind.ADDED for line in lines)
    news = sum(line.kind is not LineKind.REMOVED for line in lines)
    return Hunk(before[0] + bool(olds), olds, before[1] + bool(news), news, "", tuple(lines))


def part_of(hunk: Hunk, first: int, last: int) -> Hunk | None:
    """The part of a hunk about the lines `first` to `last` of the new file; None if nothing changes there.

    A removed line stands where the next line of the new file does.
    """
    old, new = hunk.old_start - bool(hunk.old_count), hunk.new_start - bool(hunk.new_count)
    before: tuple[int, int] | None = None
    taken: list[DiffLine] = []
    for line in hunk.lines:
        if first <= new + 1 <= last:
            before = before or (old, new)
            taken.append(line)
        old += line.kind is not LineKind.ADDED
        new += line.kind is not LineKind.REMOVED
    if before is None or all(line.kind is LineKind.CONTEXT for line in taken):
        return None
    return hunk_of(taken, before)


# --- text


def written(files: Iterable[FileChange]) -> str:
    """The diff as text, with `a/` and `b/` before the paths."""
    return "".join(text_of(one) for one in files)


def text_of(change: FileChange) -> str:
    """One file of a diff as text."""
    return "".join(f"{row}\n" for row in (*_header(change), *(row for hunk in change.hunks for row in _rows(hunk))))


def _header(change: FileChange) -> Iterator[str]:
    old, new = change.old_path or change.path, change.new_path or change.path
    yield f"diff --git {_name('a/', old)} {_name('b/', new)}"
    if change.kind is ChangeKind.ADDED:
        yield f"new file mode {change.new_mode or _PLAIN_MODE}"
    elif change.kind is ChangeKind.DELETED:
        yield f"deleted file mode {change.old_mode or _PLAIN_MODE}"
    elif change.kind is ChangeKind.RENAMED:
        yield f"rename from {_name('', old)}"
        yield f"rename to {_name('', new)}"
    sides = (
        ("/dev/null" if change.old_path is None else _name("a/", old)),
        ("/dev/null" if change.new_path is None else _name("b/", new)),
    )
    if change.binary:
        yield f"Binary files {sides[0]} and {sides[1]} differ"
    elif change.hunks:
        yield f"--- {_ended(sides[0])}"
        yield f"+++ {_ended(sides[1])}"


def _name(prefix: str, path: str) -> str:
    """A path as git writes it: quoted where it holds anything a line of a diff could be misread by."""
    odd = any(ord(letter) < 32 or letter in '"\\\x7f' or 0xDC80 <= ord(letter) <= 0xDCFF for letter in path)
    return quoted_path(prefix + path).decode("ascii", "surrogateescape") if odd else prefix + path


def _ended(name: str) -> str:
    """Git puts a tab behind a name with a blank, so that nobody takes what follows for a time stamp."""
    return f"{name}\t" if " " in name and not name.startswith('"') else name


def _rows(hunk: Hunk) -> Iterator[str]:
    heading = f" {hunk.heading.strip()}" if hunk.heading.strip() else ""
    yield f"@@ -{_span(hunk.old_start, hunk.old_count)} +{_span(hunk.new_start, hunk.new_count)} @@{heading}"
    for line in hunk.lines:
        yield f"{_SIGNS[line.kind]}{line.text}"
        if not line.newline:
            yield _NO_NEWLINE


def _span(start: int, count: int) -> str:
    return f"{start}" if count == 1 else f"{start},{count}"


def numbered(change: FileChange) -> str:
    """One file of a diff for a model to read: each line of the new file behind its number.

    Models that count lines from a hunk's header count wrong.
    """
    rows = list(_header(replace(change, hunks=())))
    for hunk in change.hunks:
        rows.append(next(_rows(hunk)))
        width = len(str(hunk.new_start + hunk.new_count))
        for line in hunk.lines:
            number = "" if line.new is None else str(line.new)
            rows.append(f"{number:>{width}} {_SIGNS[line.kind]}{line.text}")
    return "".join(f"{row}\n" for row in rows)
