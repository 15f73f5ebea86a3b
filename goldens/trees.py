"""What changed between two trees: which files, and which lines of each side a reviewer is shown."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from scoring.model import Place, Side

CONTEXT = 3
"""Unchanged lines that a diff shows around a change; GitHub takes inline comments on them too."""
SIMILAR = 0.5
"""From this share of common lines on, a vanished file and a new one count as a rename, as in git."""
MAX_PAIRS = 10_000
"""Beyond so many (vanished, new) pairs only identical files are looked at."""

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Change:
    """One changed file."""

    old: str | None
    """Its path in the base tree; None for a new file."""
    new: str | None
    """Its path in the head tree; None for a deleted file."""
    left: tuple[Span, ...]
    """Closed line ranges of the old file that the diff shows, context included."""
    right: tuple[Span, ...]
    added: int
    removed: int

    def shows(self, place: Place) -> bool:
        """Whether some line of the place is in the diff. A place without lines is the file itself."""
        path, spans = (self.old, self.left) if place.side is Side.LEFT else (self.new, self.right)
        if path != place.path:
            return False
        return place.lines is None or any(a <= place.lines[1] and place.lines[0] <= b for a, b in spans)


@dataclass(frozen=True, slots=True)
class Size:
    """How large a change is."""

    files: int
    lines: int
    """Added and removed lines together."""


def size_between(base: Mapping[str, bytes], head: Mapping[str, bytes]) -> Size:
    """The size of the change from one tree to the other."""
    diff = changes(base, head)
    return Size(len(diff), sum(change.added + change.removed for change in diff))


class Reach(StrEnum):
    """Whether an inline comment can hit a place; only what is shown in the diff takes one."""

    IN_DIFF = "in_diff"
    LINES_NOT_SHOWN = "file_in_diff_lines_not_shown"
    FILE_NOT_IN_DIFF = "file_not_in_diff"
    NO_PLACE = "no_place"


def resolve(place: Place, diff: tuple[Change, ...]) -> Place:
    """The place under the path its side has, where it names a renamed file by the path of the other side.

    GitHub calls both sides by the new path; a golden mined from old code may know only the old one.
    """
    for change in diff:
        if change.old and change.new and place.path in (change.old, change.new):
            return replace(place, path=change.old if place.side is Side.LEFT else change.new)
    return place


def reach(place: Place | None, diff: tuple[Change, ...]) -> Reach:
    """How near an inline comment can come to a place."""
    if place is None:
        return Reach.NO_PLACE
    place = resolve(place, diff)
    if any(change.shows(place) for change in diff):
        return Reach.IN_DIFF
    named = {change.old if place.side is Side.LEFT else change.new for change in diff}
    return Reach.LINES_NOT_SHOWN if place.path in named else Reach.FILE_NOT_IN_DIFF


def split_lines(data: bytes) -> list[str]:
    r"""The lines of a file as git counts them: only `\n` ends one. Undecodable bytes become U+FFFD."""
    lines = data.decode("utf-8", errors="replace").split("\n")
    return lines if lines[-1] else lines[:-1]


def is_binary(data: bytes) -> bool:
    """Git's rule of thumb: a zero byte near the start."""
    return b"\0" in data[:8000]


def changes(base: Mapping[str, bytes], head: Mapping[str, bytes]) -> tuple[Change, ...]:
    """Every file that differs, by path; renamed files appear once."""
    renames = _renames(base, head)
    pairs = [(path, path) for path in base if path in head and base[path] != head[path]]
    pairs += [(old, new) for new, old in renames.items()]
    gone = [(path, None) for path in base if path not in head and path not in renames.values()]
    fresh = [(None, path) for path in head if path not in base and path not in renames]
    found = [_change(base, head, old, new) for old, new in [*pairs, *gone, *fresh]]
    return tuple(sorted(found, key=lambda change: change.new or change.old or ""))


def _change(base: Mapping[str, bytes], head: Mapping[str, bytes], old: str | None, new: str | None) -> Change:
    before, after = base[old] if old else b"", head[new] if new else b""
    if is_binary(before) or is_binary(after):
        return Change(old, new, (), (), 0, 0)
    left, right = split_lines(before), split_lines(after)
    blocks = list(_blocks(left, right))
    return Change(
        old,
        new,
        left=_spans([(a, b) for a, b, _, _ in blocks], len(left)),
        right=_spans([(c, d) for _, _, c, d in blocks], len(right)),
        added=sum(d - c for _, _, c, d in blocks),
        removed=sum(b - a for a, b, _, _ in blocks),
    )


def _blocks(left: list[str], right: list[str]) -> Iterator[tuple[int, int, int, int]]:
    """Half-open ranges that differ. Equal ends are cut off first: `difflib` is slow on long files."""
    start = 0
    while start < min(len(left), len(right)) and left[start] == right[start]:
        start += 1
    end = 0
    while end < min(len(left), len(right)) - start and left[-1 - end] == right[-1 - end]:
        end += 1
    middle = left[start : len(left) - end], right[start : len(right) - end]
    for tag, a, b, c, d in difflib.SequenceMatcher(None, *middle, autojunk=False).get_opcodes():
        if tag != "equal":
            yield a + start, b + start, c + start, d + start


def _spans(blocks: list[tuple[int, int]], length: int) -> tuple[Span, ...]:
    """Half-open blocks, widened by the context and joined, as closed ranges counted from 1."""
    joined: list[Span] = []
    for a, b in blocks:
        first, last = max(1, a + 1 - CONTEXT), min(length, b + CONTEXT)
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = joined[-1][0], last
        elif first <= last:
            joined.append((first, last))
    return tuple(joined)


def _renames(base: Mapping[str, bytes], head: Mapping[str, bytes]) -> dict[str, str]:
    """New path -> old path, the most similar pairs first."""
    gone = [path for path in base if path not in head]
    fresh = [path for path in head if path not in base]
    exact_only = len(gone) * len(fresh) > MAX_PAIRS
    scored = [(_similarity(base[old], head[new], exact_only), new, old) for new in fresh for old in gone]
    renames: dict[str, str] = {}
    for score, new, old in sorted(scored, key=lambda pair: (-pair[0], pair[1], pair[2])):
        if score >= SIMILAR and new not in renames and old not in renames.values():
            renames[new] = old
    return renames


def _similarity(old: bytes, new: bytes, exact_only: bool) -> float:
    if old == new:
        return 1.0 if old else 0.0
    if exact_only or is_binary(old) or is_binary(new):
        return 0.0
    before, after = Counter(split_lines(old)), Counter(split_lines(new))
    return 2 * (before & after).total() / (before.total() + after.total())
