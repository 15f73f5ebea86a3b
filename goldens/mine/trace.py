"""Which pull request brought the lines that a fix removed, and where they are at its head."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from goldens.diff_names import DiffError, unquoted
from goldens.mine.draft import Reason, Rejected
from goldens.mine.lines import Carry, read, sites
from goldens.mine.pulls import PullRange
from goldens.mine.quarry import Fix, Quarry
from goldens.mine.reader import BlameAsk, Span

BATCH = 256
"""So many fixes are compared by one git process."""


@dataclass(frozen=True, slots=True)
class Blamed:
    """A run of lines, and the commit that wrote them."""

    commit: str
    path: str
    """As the file was called in that commit."""
    first: int
    """Its first line in that commit."""
    count: int
    boundary: bool
    """The history that is here begins with that commit, so who wrote the lines is not known."""


def read_blame(out: bytes) -> tuple[Blamed, ...]:
    """Read what `git blame --porcelain --incremental` prints.

    Raises:
        Rejected: it is in another form.
    """
    boundary, found = dict[str, bool](), list[Blamed]()
    head: list[str] = []
    for row in out.decode("utf-8", "surrogateescape").split("\n")[:-1]:
        word, _, rest = row.partition(" ")
        if not head:
            head = row.split(" ")
            if len(head) != 4 or not all(part.isdigit() for part in head[1:]):
                raise Rejected(Reason.UNREADABLE, f"not an entry of a blame: {row[:80]!r}")
            boundary.setdefault(head[0], False)
        elif word == "boundary":
            boundary[head[0]] = True
        elif word == "filename":
            found.append(Blamed(head[0], _name(rest), int(head[1]), int(head[3]), boundary[head[0]]))
            head = []
    return tuple(found)


def _name(raw: str) -> str:
    try:
        return unquoted(raw, 0)[0] if raw.startswith('"') else raw
    except DiffError as error:
        raise Rejected(Reason.UNREADABLE, f"a name in a blame: {error}") from None


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the lines that one fix removed came from."""

    fix: Fix
    pull: PullRange
    lines: tuple[tuple[str, int], ...]
    """(path, line) in the head of the introducing pull request."""


def trace(quarry: Quarry, fixes: Sequence[Fix], *, copies: bool = False) -> Iterator[tuple[Fix, Origin | Rejected]]:
    """Each fix with where its removed lines came from, or why that cannot be said."""
    for start in range(0, len(fixes), BATCH):
        batch = fixes[start : start + BATCH]
        pairs = [(fix.base, fix.head) for fix in batch]
        for fix, diff in zip(batch, quarry.diffs(pairs, context=0, ignore_blanks=True), strict=True):
            try:
                yield fix, _origin(quarry, fix, diff, copies)
            except Rejected as rejected:
                yield fix, rejected


def _origin(quarry: Quarry, fix: Fix, diff: bytes, copies: bool) -> Origin:
    blamed = list(_blamed(quarry, fix, diff, copies))
    if not blamed:
        raise Rejected(Reason.NO_SITE, "it removes or changes no code")
    known = [one for one in blamed if not one.boundary]
    if not known:
        raise Rejected(Reason.BOUNDARY, "the lines are as old as the history that is here")
    commits = {one.commit: quarry.history.number(one.commit) for one in known}
    numbers = {quarry.pulls.of(number) for number in commits.values()}
    if len(numbers) > 1:
        told = ", ".join(f"#{number}" for number in sorted(numbers))
        raise Rejected(Reason.SEVERAL_PULL_REQUESTS, f"its lines came with {told}")
    number = numbers.pop()
    if number == fix.number:
        raise Rejected(Reason.SAME_PULL_REQUEST, f"its lines came with #{number} itself")
    pull = quarry.pulls.range_of(number)
    return Origin(fix, pull, tuple(_at_head(quarry, pull, known)))


def _blamed(quarry: Quarry, fix: Fix, diff: bytes, copies: bool) -> Iterator[Blamed]:
    spans: dict[str, list[Span]] = {}
    for path, span in sites(read(diff, fix.subject)):
        spans.setdefault(path, []).append(span)
    for path, where in spans.items():
        # Looking into other files needs the whole history; one file's lineage would hide it.
        lineage = None if copies else quarry.lineage(path).grafts(fix.base)
        out = quarry.git.blame(BlameAsk(quarry.id(fix.base), path, tuple(where), lineage, copies))
        yield from read_blame(out)


def _at_head(quarry: Quarry, pull: PullRange, blamed: Sequence[Blamed]) -> Iterator[tuple[str, int]]:
    """The lines where they are at the head of the pull request that brought them."""
    history = quarry.history
    commits = sorted({history.number(one.commit) for one in blamed})
    others = [commit for commit in commits if commit != pull.head]
    for commit in others:
        if commit < pull.head or not history.is_ancestor(commit, pull.head):
            raise Rejected(Reason.WRITTEN_IN_MERGE, f"commit {history.ids[commit]} is not below the head")
    diffs = quarry.diffs([(commit, pull.head) for commit in others], ignore_blanks=True)
    carries = {commit: Carry(read(diff, "its head")) for commit, diff in zip(others, diffs, strict=True)}
    for one in blamed:
        carry = carries.get(history.number(one.commit))
        for number in range(one.first, one.first + one.count):
            there = carry.line(one.path, number) if carry else (one.path, number)
            if there:
                yield there
