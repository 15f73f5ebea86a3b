"""A change cut to what a model can take: at the borders of files and hunks, and with word of what was left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from bot.reviewers.diffs import numbered
from bot.reviewers.protocol import Change
from bot.reviewers.sheet import Part, named
from goldens.diff import FileChange, Hunk
from goldens.trees import is_binary

Count = Callable[[str], int]
_CONVENTIONS = (
    "CONTRIBUTING.md",
    "AGENTS.md",
    "CLAUDE.md",
    "STYLE.md",
    "STYLEGUIDE.md",
    ".editorconfig",
    "docs/CONTRIBUTING.md",
    ".github/CONTRIBUTING.md",
    "README.md",
)
"""Where repositories say how code is written, the most telling first."""
_PART_TOKENS = 24
"""What a part takes besides its text."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """What of a change fits."""

    text: str
    unread: tuple[str, ...]
    tokens: int


def fit(files: Sequence[FileChange], room: int, count: Count) -> Fitted:
    """As much of a diff as fits, file after file."""
    shown: list[str] = []
    unread: list[str] = []
    left = room
    for one in files:
        taken, missing = _of_file(one, left, count)
        if taken is not None:
            text = numbered(taken)
            left -= count(text)
            shown.append(text)
        unread += missing
    return Fitted("".join(shown), tuple(unread), room - left)


def _of_file(change: FileChange, room: int, count: Count) -> tuple[FileChange | None, list[str]]:
    """The file as far as it fits, and what does not."""
    if change.binary:
        return change, [f"{change.path}: binary"]
    if count(numbered(change)) <= room:
        return change, []
    kept: list[Hunk] = []
    missing: list[Hunk] = []
    for hunk in change.hunks:
        fits = not missing and count(numbered(replace(change, hunks=(*kept, hunk)))) <= room
        (kept if fits else missing).append(hunk)
    if not kept:
        return None, [f"{change.path}: the whole file"]
    first, last = missing[0], missing[-1]
    return replace(change, hunks=tuple(kept)), [
        f"{change.path}: lines {first.new_start} to {last.new_start + max(0, last.new_count - 1)}"
    ]


def context_parts(change: Change, files: Iterable[FileChange], room: int, count: Count) -> list[Part]:
    """Conventions of the repository and the files around the change, as far as they fit."""
    parts: list[Part] = []
    left = room
    for kind, path in _around(change, list(files)):
        data = change.head[path]
        if is_binary(data):
            continue
        text = data.decode("utf-8", "replace")
        size = count(text) + _PART_TOKENS
        if size <= left:
            parts.append((named(kind, path), text))
            left -= size
    return parts


def _around(change: Change, files: Sequence[FileChange]) -> Iterator[tuple[str, str]]:
    """What may be shown beside a diff, the most telling first: conventions, the changed files, their neighbours."""
    said = set[str]()
    touched = [one.new_path for one in files if one.new_path is not None]
    folders = {PurePosixPath(path).parent for path in touched}
    beside = [path for path in sorted(change.head) if PurePosixPath(path).parent in folders]
    for kind, paths in (("conventions", _CONVENTIONS), ("file", touched), ("file", beside)):
        for path in paths:
            if path in change.head and path not in said:
                said.add(path)
                yield kind, path
