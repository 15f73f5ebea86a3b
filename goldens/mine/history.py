"""A repository's history as values: read once, then every question about it is answered without git.

Commits are numbers, children before parents. Each lies on one chain: a run of first parents. The main line is the
first chain; a side branch is a chain that hangs on another. So "the last commit at or before this one that touched
that file" takes a look at a few chains instead of a walk.
"""

from __future__ import annotations

import heapq
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

_HEADER = 4


class HistoryError(ValueError):
    """The history cannot be read, or lacks what is asked."""


@dataclass(slots=True)
class History:
    """Commits below some tips. Numbers index all lists."""

    ids: list[str] = field(default_factory=list)
    parents: list[tuple[int, ...]] = field(default_factory=list)
    times: array[int] = field(default_factory=lambda: array("q"))
    subjects: list[str] = field(default_factory=list)
    touched: dict[str, array[int]] = field(default_factory=dict)
    """By path: the commits that changed it against their first parent."""
    moved: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    """By new path: (commit, old path) of renames and copies."""
    created: set[tuple[int, str]] = field(default_factory=set)
    """(commit, path) where a path is not in the first parent."""
    numbers: dict[str, int] = field(default_factory=dict)
    children: list[list[int]] = field(default_factory=list)
    chain: array[int] = field(default_factory=lambda: array("l"))
    place: array[int] = field(default_factory=lambda: array("l"))
    """Where on its chain a commit is; older ones have greater places."""
    below: list[int | None] = field(default_factory=list)
    """By chain: the commit its oldest one stands on, on another chain."""

    def number(self, commit: str) -> int:
        """The number of a commit.

        Raises:
            HistoryError: it is not below the tips.
        """
        found = self.numbers.get(commit)
        if found is None:
            raise HistoryError(f"commit {commit[:64]} is not in the history that was read")
        return found

    def on_main(self, commit: int) -> bool:
        """Whether a commit is on the main line: the first tip's first parents."""
        return self.chain[commit] == 0

    def merge_bases(self, one: int, two: int) -> tuple[int, ...]:
        """The best common ancestors: more than one where branches crossed, none where they never met."""
        flags, queue, found = {one: 1}, [one], list[int]()
        flags[two] = flags.get(two, 0) | 2
        queue = sorted({one, two})
        fresh = len(queue)
        while queue and fresh:
            commit = heapq.heappop(queue)
            flag = flags[commit]
            fresh -= flag < 4
            if flag == 3:
                found.append(commit)
                flag |= 4
            for parent in self.parents[commit]:
                before = flags.get(parent, 0)
                after = before | flag
                if before == after:
                    continue
                flags[parent] = after
                if not before:
                    heapq.heappush(queue, parent)
                    fresh += after < 4
                elif before < 4 <= after:
                    fresh -= 1
        return tuple(found)

    def is_ancestor(self, old: int, new: int) -> bool:
        """Whether one commit is the other or below it."""
        return old >= new and self.merge_bases(old, new) == (old,)


def read_history(pieces: Iterable[bytes]) -> History:
    """Read what `GitReader.log` gives.

    Raises:
        HistoryError: it is cut off or in another form.
    """
    history, parents = History(), list[list[str]]()
    tokens = _tokens(pieces)
    token = next(tokens, None)
    while token is not None:
        token = token.lstrip(b"\n")
        token = _commit(history, parents, token, tokens) if token else next(tokens, None)
    _link(history, parents)
    _lay_chains(history)
    return history


def _tokens(pieces: Iterable[bytes]) -> Iterator[bytes]:
    rest = b""
    for piece in pieces:
        *whole, rest = (rest + piece).split(b"\0")
        yield from whole
    if rest.strip():
        raise HistoryError("the history is cut off")


def _path(tokens: Iterator[bytes]) -> str:
    raw = next(tokens, None)
    if raw is None:
        raise HistoryError("the history is cut off")
    return raw.decode("utf-8", "surrogateescape")


def _commit(history: History, parents: list[list[str]], first: bytes, tokens: Iterator[bytes]) -> bytes | None:
    """Note one commit; the answer is the token behind it."""
    head = [first, *(token for _, token in zip(range(_HEADER - 1), tokens, strict=False))]
    if len(head) != _HEADER or len(first) not in (40, 64) or not head[2].lstrip(b"-").isdigit():
        raise HistoryError(f"not a commit: {first[:80]!r}")
    number = len(history.ids)
    history.ids.append(first.decode("ascii"))
    parents.append(head[1].decode("ascii").split())
    history.times.append(int(head[2]))
    history.subjects.append(head[3].decode("utf-8", "replace"))
    for token in tokens:
        entry = token.lstrip(b"\n")
        if entry[:1] != b":":
            return token
        _entry(history, number, entry.rpartition(b" ")[2], tokens)
    return None


def _entry(history: History, number: int, status: bytes, tokens: Iterator[bytes]) -> None:
    path = _path(tokens)
    if status[:1] in b"RC":
        old, path = path, _path(tokens)
        history.moved.setdefault(path, []).append((number, old))
        if status[:1] == b"R":
            history.touched.setdefault(old, array("l")).append(number)
    if status[:1] in b"ARC":
        history.created.add((number, path))
    history.touched.setdefault(path, array("l")).append(number)


def _link(history: History, parents: list[list[str]]) -> None:
    history.numbers = {commit: number for number, commit in enumerate(history.ids)}
    history.children = [[] for _ in history.ids]
    for number, above in enumerate(parents):
        # A parent that is not here lies behind the edge of a shallow clone.
        known = tuple(history.numbers[parent] for parent in above if parent in history.numbers)
        if any(parent <= number for parent in known):
            raise HistoryError(f"commit {history.ids[number]} stands behind one of its parents")
        history.parents.append(known)
        for parent in known:
            history.children[parent].append(number)


def _lay_chains(history: History) -> None:
    count = len(history.ids)
    history.chain, history.place = array("l", [-1]) * count, array("l", [0]) * count
    for tip in range(count):
        if history.chain[tip] >= 0:
            continue
        chain, place, at = len(history.below), 0, tip
        history.below.append(None)
        while True:
            history.chain[at], history.place[at] = chain, place
            if not history.parents[at]:
                break
            at, place = history.parents[at][0], place + 1
            if history.chain[at] >= 0:
                history.below[chain] = at
                break


class Lineage:
    """The commits that matter to one file and to what it was called before, and git's view of only those."""

    def __init__(self, history: History, path: str) -> None:
        self._history = history
        self.paths = _all_names(history, path)
        by_chain: dict[int, list[tuple[int, int]]] = {}
        for number in sorted({n for name in self.paths for n in history.touched.get(name, ())}):
            by_chain.setdefault(history.chain[number], []).append((history.place[number], number))
        self._by_chain = {chain: sorted(rows) for chain, rows in by_chain.items()}
        self._text: bytes | None = None

    def last(self, commit: int) -> int | None:
        """The last commit at or below this one, by first parents, that touched the file."""
        history, at = self._history, commit
        while True:
            chain = history.chain[at]
            rows = self._by_chain.get(chain, [])
            index = bisect_left(rows, (history.place[at], -1))
            if index < len(rows):
                return rows[index][1]
            below = history.below[chain]
            if below is None:
                return None
            at = below

    def grafts(self, commit: int) -> bytes:
        """Parents for `git blame -S`, for a blame that starts at this commit."""
        if self._text is None:
            self._text = b"".join(self._lines())
        own = self._row(commit, (self.last(commit),)) if self.last(commit) != commit else b""
        return self._text + own

    def _lines(self) -> Iterator[bytes]:
        history = self._history
        for rows in self._by_chain.values():
            for _, number in rows:
                parents = history.parents[number]
                if len(parents) > 1 or any((number, name) in history.created for name in self.paths):
                    # Git looks for another name of a new file in the real parent's tree.
                    yield self._row(number, parents)
                    yield from (self._row(one, (self.last(one),)) for one in parents if self.last(one) != one)
                else:
                    yield self._row(number, tuple(self.last(one) for one in parents))

    def _row(self, commit: int, parents: Iterable[int | None]) -> bytes:
        ids = self._history.ids
        return " ".join([ids[commit], *(ids[one] for one in parents if one is not None)]).encode("ascii") + b"\n"


def _all_names(history: History, path: str) -> tuple[str, ...]:
    names, todo = dict.fromkeys([path]), [path]
    while todo:
        for _, old in history.moved.get(todo.pop(), ()):
            if old not in names:
                names[old] = None
                todo.append(old)
    return tuple(names)
