"""What a reviewer must never be shown: the fix, its tests, the report it answers, and where it is.

A leak would lower or raise a score without anybody seeing why. So it is no score at all: it raises, and the run ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from pydantic import TypeAdapter, ValidationError

from goldens.diff import DiffError, LineKind, read_diff

WITHHELD_FILE = "withheld.json"
"""Beside a suite that was made of fixes: what its reviewers must not see."""
LEAST = 32
"""Shorter texts may stand in any code by chance."""
NEAR = 2
"""Numbers so near to a place's lines give it away too."""

_MARKS = re.compile(r"(?m)^(?:@@|--- a/|\+\+\+ b/)")
_NAMED = re.compile(r"\s*(?:async\s{1,8})?(?:def|class)\s{1,8}(\w{1,200})")
_NUMBERED = re.compile(r"[ \t]{0,8}\d{1,7}[ \t]{0,4}[:|\t](.*)")
_NUMBER = re.compile(r"(?<!\w)(?<!\d\.)\d{1,7}(?!\w|\.\d)")
_COUNTING = "1-indexed"


class Leak(Exception):
    """A reviewer would have been shown what it must find. The run ends; this is no low score."""

    def __init__(self, subject: str, leaks: Iterable[str]) -> None:
        self.leaks = tuple(leaks)
        super().__init__(f"{subject}: the reviewer would be shown {'; '.join(self.leaks)}")


@dataclass(frozen=True, slots=True)
class Withheld:
    """What belongs to one pull request and is kept from its reviewers."""

    statement: str = ""
    """The report that the fix answers."""
    hints: str = ""
    fix: str = ""
    """The patch."""
    tests: str = ""
    """The patch of the tests that came with the fix."""
    lines: tuple[tuple[int, int], ...] = ()
    """Where the defect is: closed ranges."""
    names: tuple[str, ...] = ()
    """Ids of the instance and its commit."""


_TABLE = TypeAdapter(dict[str, Withheld])


def write_withheld(found: Mapping[str, Withheld]) -> bytes:
    """As the bytes of a `withheld.json`: by pull request."""
    return _TABLE.dump_json(dict(sorted(found.items())), indent=1) + b"\n"


def read_withheld(data: bytes) -> dict[str, Withheld]:
    """Read a `withheld.json`.

    Raises:
        ValueError: it is something else.
    """
    try:
        return _TABLE.validate_json(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise ValueError(f"{WITHHELD_FILE}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None


def guard(subject: str, shown: str, source: str, withheld: Withheld) -> None:
    """Let a reviewer's whole input pass, or end the run.

    Args:
        subject: whose input it is, for the message.
        shown: everything that the reviewer is given.
        source: the source text within it, which may have any names and numbers of its own.
        withheld: what it must not hold.

    Raises:
        Leak: it does.
    """
    if found := tuple(leaks(shown, source, withheld)):
        raise Leak(subject, found)


def leaks(shown: str, source: str, withheld: Withheld) -> Iterator[str]:
    """What of the withheld is in a reviewer's input, in words."""
    texts = (
        ("report", withheld.statement),
        ("hints", withheld.hints),
        ("fix", withheld.fix),
        ("tests", withheld.tests),
    )
    for name, text in texts:
        if len(text.strip()) >= LEAST and text.strip() in shown:
            yield f"the {name}"
    around = shown.replace(source, "\n") if source else shown
    if _MARKS.search(around):
        yield "lines of a patch"
    for name in sorted(_new_names(withheld.tests)):
        word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
        if word.search(around) and not word.search(source):
            yield f"{name}, which the tests name"
    for name in withheld.names:
        if name and name in around:
            yield f"the id {name}"
    yield from _numbers(_without_listing(around, source), withheld.lines)


def _new_names(tests: str) -> set[str]:
    """Functions and classes that a patch of tests brings."""
    if not tests.strip():
        return set()
    try:
        changes = read_diff(tests)
    except DiffError as error:
        raise Leak("the tests", (f"anything: their patch cannot be read ({error})",)) from None
    added = (line.text for c in changes for hunk in c.hunks for line in hunk.lines if line.kind is LineKind.ADDED)
    return {found[1] for text in added if (found := _NAMED.match(text))}


def _without_listing(around: str, source: str) -> str:
    """The text without lines of the source that are shown with their numbers; a number before anything else stays."""
    own = {line.strip() for line in source.splitlines()} - {""}
    rows = ((row, _NUMBERED.fullmatch(row)) for row in around.splitlines())
    return "\n".join(row for row, found in rows if found is None or found[1].strip() not in own)


def _numbers(around: str, lines: Iterable[tuple[int, int]]) -> Iterator[str]:
    """Bare numbers at or next to a place's first or last line."""
    told = {int(number) for number in _NUMBER.findall(around.replace(_COUNTING, ""))}
    for first, last in lines:
        near = {end + step for end in (first, last) for step in range(-NEAR, NEAR + 1)}
        if hit := sorted(told & near):
            yield f"the number {hit[0]}, at or next to lines {first}-{last}"
