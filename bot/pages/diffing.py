"""A diff as rows of a table, in one column of code or two, with what was said at its lines."""

from __future__ import annotations

import difflib
import functools
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup, escape

from bot.pages.colouring import coloured
from bot.pages.markdown import visible
from goldens.diff import DiffError, DiffLine, FileChange, Hunk, LineKind, read_diff
from goldens.trees import is_binary, split_lines
from scoring.model import Place, Side

MOST = 1200
"""Lines that are shown before somebody asks for all."""
ALL = 20_000
"""Lines that are shown at all."""
AROUND = 12
"""Lines beside a remark that are shown however long the diff is."""
SIGNS = {LineKind.CONTEXT: "", LineKind.ADDED: "+", LineKind.REMOVED: "-"}


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that was said at a place."""

    key: str
    place: Place
    loud: bool = False
    """Whether its lines are set off: those of a golden are."""


@dataclass(frozen=True, slots=True)
class Half:
    """A line on one side."""

    number: int | None
    sign: str
    code: Markup


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the diff, or what separates two parts of it."""

    kind: str
    """`context`, `added`, `removed`, `changed` (two columns only), `heading` or `gap`."""
    old: Half | None = None
    new: Half | None = None
    text: str = ""
    """Of a heading or a gap."""
    loud: bool = False
    notes: tuple[str, ...] = ()
    """Keys of the marks that end here."""


@dataclass(frozen=True, slots=True)
class File:
    """One changed file."""

    path: str
    said: str
    """What became of it, where more than lines changed."""
    added: int | None
    removed: int | None
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    """Keys of the marks on the file as a whole, or on lines that the diff does not show."""


@dataclass(frozen=True, slots=True)
class View:
    """A diff with its marks."""

    files: tuple[File, ...] = ()
    elsewhere: tuple[str, ...] = ()
    """Keys of the marks on no file of the diff."""
    left_out: int = 0
    """Lines that are not shown."""
    problem: str = ""


@dataclass(slots=True)
class _Line:
    """A line before it is known whether it is shown."""

    line: DiffLine
    code: Markup
    loud: bool = False
    notes: list[str] = field(default_factory=list)
    kept: bool = True


@dataclass(slots=True)
class _Part:
    """A hunk with its lines."""

    heading: str
    lines: list[_Line]


def view(text: str, marks: Sequence[Mark] = (), *, split: bool = False, everything: bool = False) -> View:
    """A diff as rows.

    Args:
        text: The unified diff.
        marks: What was said, and where.
        split: Two columns of code: before and after.
        everything: Whether a long diff is shown whole, up to `ALL` lines.
    """
    try:
        changes = _read(text)
    except DiffError as error:
        return View(elsewhere=tuple(mark.key for mark in marks), problem=f"The diff cannot be read: {error}")
    parts = {change.path: _parts(change, codes) for change, codes in changes}
    placed = _placed([change for change, _ in changes], parts, marks)
    left_out = _shorten([one for own in parts.values() for part in own for one in part.lines], everything)
    files = tuple(
        File(
            visible(change.path),
            _said(change),
            change.added,
            change.removed,
            tuple(_rows(parts[change.path], split=split)),
            tuple(placed[change.path]),
        )
        for change, _ in changes
    )
    return View(files, tuple(placed[""]), left_out)


def excerpt(text: str, marks: Sequence[Mark], around: int = AROUND) -> View:
    """Only the lines around the marks."""
    try:
        changes = _read(text)
    except DiffError:
        return View(elsewhere=tuple(mark.key for mark in marks))
    files = []
    for change, codes in changes:
        parts = _parts(change, codes)
        _placed([change], {change.path: parts}, [one for one in marks if _of(change, one)])
        _keep_near([one for part in parts for one in part.lines], around)
        parts = [part for part in parts if any(one.kept for one in part.lines)]
        for one in (one for part in parts for one in part.lines):
            one.notes.clear()
        if parts:
            files.append(File(visible(change.path), _said(change), None, None, tuple(_rows(parts, split=False))))
    return View(tuple(files))


def between(base: Mapping[str, bytes], head: Mapping[str, bytes]) -> str:
    """The diff of two trees whose files ship with a suite."""
    found = []
    for path in sorted(base.keys() | head.keys()):
        before, after = base.get(path), head.get(path)
        if before == after:
            continue
        names = (f"a/{path}" if before is not None else "/dev/null", f"b/{path}" if after is not None else "/dev/null")
        found.append(f"diff --git a/{path} b/{path}")
        if is_binary((before or b"") + (after or b"")):
            found.append(f"Binary files {names[0]} and {names[1]} differ")
        else:
            old, new = split_lines(before or b""), split_lines(after or b"")
            found += list(difflib.unified_diff(old, new, *names, lineterm=""))
    return "\n".join(found) + "\n" if found else ""


# --- reading


@functools.lru_cache(maxsize=128)
def _read(text: str) -> tuple[tuple[FileChange, tuple[tuple[Markup, ...], ...]], ...]:
    """Each file with the code of its hunks, coloured once."""
    return tuple((change, tuple(_codes(change, hunk) for hunk in change.hunks)) for change in read_diff(text))


def _codes(change: FileChange, hunk: Hunk) -> tuple[Markup, ...]:
    """Both sides are coloured by themselves: together they are no program."""
    old = [line for line in hunk.lines if line.kind is not LineKind.ADDED]
    new = [line for line in hunk.lines if line.kind is not LineKind.REMOVED]
    olds = iter(coloured(change.old_path or change.path, [line.text for line in old]))
    news = iter(coloured(change.path, [line.text for line in new]))
    found = []
    for line in hunk.lines:
        if line.kind is LineKind.REMOVED:
            found.append(next(olds))
        else:
            found.append(next(news))
            if line.kind is LineKind.CONTEXT:
                next(olds)
    return tuple(found)


def _parts(change: FileChange, codes: Sequence[Sequence[Markup]]) -> list[_Part]:
    return [
        _Part(
            f"line {hunk.new_start or hunk.old_start}"
            + (f": {visible(hunk.heading.strip())}" if hunk.heading.strip() else ""),
            [_Line(line, code) for line, code in zip(hunk.lines, own, strict=True)],
        )
        for hunk, own in zip(change.hunks, codes, strict=True)
    ]


def _said(change: FileChange) -> str:
    said = []
    if change.old_path is None:
        said.append("new file")
    elif change.new_path is None:
        said.append("deleted")
    elif change.old_path != change.new_path:
        said.append(f"{change.kind.value} from {visible(change.old_path)}")
    if change.binary:
        said.append("binary")
    if change.mode_only:
        said.append(f"mode {change.old_mode} to {change.new_mode}")
    return ", ".join(said)


# --- marks


def _of(change: FileChange, mark: Mark) -> bool:
    path = change.old_path if mark.place.side is Side.LEFT and change.old_path else change.path
    return mark.place.path in (path, change.path)


def _placed(
    changes: Sequence[FileChange], parts: Mapping[str, Sequence[_Part]], marks: Sequence[Mark]
) -> defaultdict[str, list[str]]:
    """Put each mark at its last line; what has none there goes to its file, and what has no file elsewhere."""
    left: defaultdict[str, list[str]] = defaultdict(list)
    for mark in marks:
        change = next((one for one in changes if _of(one, mark)), None)
        if change is None:
            left[""].append(mark.key)
        elif not _at_lines([one for part in parts[change.path] for one in part.lines], mark):
            left[change.path].append(mark.key)
    return left


def _at_lines(lines: Sequence[_Line], mark: Mark) -> bool:
    if mark.place.lines is None:
        return False
    first, last = mark.place.lines
    old = mark.place.side is Side.LEFT
    there = [one for one in lines if (number := one.line.old if old else one.line.new) and first <= number <= last]
    if not there:
        return False
    there[-1].notes.append(mark.key)
    for one in there if mark.loud else ():
        one.loud = True
    return True


# --- bounds


def _shorten(lines: Sequence[_Line], everything: bool) -> int:
    """Leave lines out of a long diff: never one with a remark, nor those beside it. How many are left out."""
    most = ALL if everything else MOST
    if len(lines) <= most:
        return 0
    _keep_near(lines, AROUND)
    room = most - sum(one.kept for one in lines)
    for one in lines:
        if not one.kept and room > 0:
            one.kept, room = True, room - 1
    return sum(not one.kept for one in lines)


def _keep_near(lines: Sequence[_Line], around: int) -> None:
    for one in lines:
        one.kept = False
    for at, one in enumerate(lines):
        if one.notes or one.loud:
            for near in lines[max(0, at - around) : at + around + 1]:
                near.kept = True


# --- rows


def _rows(parts: Sequence[_Part], *, split: bool) -> Iterator[Row]:
    for part in parts:
        if any(one.kept for one in part.lines):
            yield Row("heading", text=part.heading)
        for shown, lines in _runs(part.lines):
            if not shown:
                yield Row("gap", text=f"{len(lines):,} {'line is' if len(lines) == 1 else 'lines are'} not shown")
            elif split:
                yield from _paired(lines)
            else:
                yield from map(_single, lines)


def _runs(lines: Sequence[_Line]) -> Iterator[tuple[bool, list[_Line]]]:
    run: list[_Line] = []
    for one in lines:
        if run and run[-1].kept != one.kept:
            yield run[-1].kept, run
            run = []
        run.append(one)
    if run:
        yield run[-1].kept, run


def _single(one: _Line) -> Row:
    return Row(one.line.kind.value, _half(one, old=True), _half(one, old=False), "", one.loud, tuple(one.notes))


def _half(one: _Line, *, old: bool) -> Half:
    code = one.code if one.line.newline else one.code + escape(" (no newline at the end)")
    return Half(one.line.old if old else one.line.new, SIGNS[one.line.kind], code)


def _paired(lines: Sequence[_Line]) -> Iterator[Row]:
    """Removed lines beside the added ones that stand in their place."""
    removed: list[_Line] = []
    added: list[_Line] = []
    for one in lines:
        if one.line.kind is LineKind.CONTEXT or (one.line.kind is LineKind.REMOVED and added):
            yield from _beside(removed, added)
            removed, added = [], []
        if one.line.kind is LineKind.CONTEXT:
            yield _single(one)
        else:
            (removed if one.line.kind is LineKind.REMOVED else added).append(one)
    yield from _beside(removed, added)


def _beside(removed: Sequence[_Line], added: Sequence[_Line]) -> Iterator[Row]:
    for at in range(max(len(removed), len(added))):
        pair = [own[at] if at < len(own) else None for own in (removed, added)]
        there = [one for one in pair if one is not None]
        yield Row(
            "changed",
            None if pair[0] is None else _half(pair[0], old=True),
            None if pair[1] is None else _half(pair[1], old=False),
            "",
            any(one.loud for one in there),
            tuple(key for one in there for key in one.notes),
        )
