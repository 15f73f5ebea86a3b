"""The names in a diff: git's quoting, and which part of a name is a prefix and which a path.

A prefix is decided for the whole diff. `rename` rows name paths without one and so prove it; otherwise the first pair
of prefixes that explains every file is taken, and a file that has the same name on both sides has none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

NOWHERE = "/dev/null"
_ESCAPES = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "\\": 92}
_USUAL = (("a/", "b/"), ("b/", "a/"))
"""The second is what `git diff -R` prints."""
_LETTERS = ("a", "b", "c", "i", "o", "w", "1", "2")
"""Of `diff.mnemonicPrefix`: commit, index, object, work tree, and two plain files."""
_SPLITS = 64
"""So many blanks of one header are tried where nothing else tells the names apart."""
_GUESSES = 32
"""So many pairs of unusual prefixes are tried on a whole diff."""


class DiffError(ValueError):
    """A diff cannot be read; says which of its rows is wrong."""

    def __init__(self, row: int, what: str) -> None:
        super().__init__(f"diff row {row}: {what}")
        self.row = row


@dataclass(slots=True)
class Names:
    """What one file of a diff says about its names, prefixes included except in `moved_*`."""

    row: int
    header: str | None = None
    """What stands behind `diff --git`: both names, with nothing but a separator between."""
    old: str | None = None
    new: str | None = None
    moved_from: str | None = None
    moved_to: str | None = None
    separator: str = " "
    one: bool = False
    """The header has one name, without a prefix, as combined diffs do."""


def unquoted(text: str, row: int) -> tuple[str, str]:
    """The name that a C-style quoted text starts with, and what stands behind it."""
    out, at = bytearray(), 1
    while at < len(text) and text[at] != '"':
        if text[at] != "\\":
            out += _encoded(text[at], row)
            at += 1
        elif text[at + 1 : at + 2] in _ESCAPES:
            out.append(_ESCAPES[text[at + 1]])
            at += 2
        else:
            out.append(_octal(text[at + 1 : at + 4], row))
            at += 4
    if at >= len(text):
        raise DiffError(row, f"a quoted name without its closing quote: {text[:60]!r}")
    return out.decode("utf-8", "surrogateescape"), text[at + 1 :]


def _encoded(character: str, row: int) -> bytes:
    try:
        return character.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise DiffError(row, f"a name with {character!r}, which is half a character") from None


def _octal(digits: str, row: int) -> int:
    if len(digits) != 3 or not set(digits) <= set("01234567") or digits[0] > "3":
        raise DiffError(row, f"a quoted name with an unknown escape \\{digits}")
    return int(digits, 8)


def _pairs(names: Names) -> Iterator[tuple[str, str]]:
    """The two names a header can be split into; only blanks in names make it more than one."""
    if names.header is None or names.one:
        return
    header, separator = names.header, names.separator
    if header.startswith('"'):
        first, rest = unquoted(header, names.row)
        if rest.startswith(separator):
            yield first, _second(rest.removeprefix(separator), names.row)
        return
    at = header.find(separator)
    for _ in range(_SPLITS):
        if at < 0:
            return
        yield header[:at], _second(header[at + len(separator) :], names.row)
        at = header.find(separator, at + 1)


def _second(text: str, row: int) -> str:
    return unquoted(text, row)[0] if text.startswith('"') else text


@dataclass(frozen=True, slots=True)
class Prefixes:
    """What stands before the paths on each side of one diff."""

    old: str
    new: str

    def paths(self, names: Names) -> tuple[str | None, str | None]:
        """The path on each side; None where the file does not exist.

        Raises:
            DiffError: the names cannot be told apart.
        """
        found = self.explained(names) or _own(names)
        if found is None:
            raise DiffError(names.row, f"the two names cannot be told apart: {(names.header or '')[:120]!r}")
        return found

    def explained(self, names: Names) -> tuple[str | None, str | None] | None:
        """The paths if these prefixes explain the names, else None."""
        if names.moved_from is not None and names.moved_to is not None:
            return self._moved(names.moved_from, names.moved_to, names)
        if names.one:
            return self._single(names)
        if names.old is not None and names.new is not None:
            return self._named(names.old, names.new, names)
        return self._header(names)

    def _moved(self, old: str, new: str, names: Names) -> tuple[str, str] | None:
        seen = [names.old or self.old + old, names.new or self.new + new]
        return (old, new) if seen == [self.old + old, self.new + new] else None

    def _single(self, names: Names) -> tuple[str | None, str | None]:
        header = names.header or ""
        path = unquoted(header, names.row)[0] if header.startswith('"') else header
        return None if names.old == NOWHERE else path, None if names.new == NOWHERE else path

    def _named(self, old: str, new: str, names: Names) -> tuple[str | None, str | None] | None:
        before, after = self._cut(old, self.old), self._cut(new, self.new)
        if (before is None and old != NOWHERE) or (after is None and new != NOWHERE):
            return None
        header = self._header(names)
        if names.header is not None and header is None:
            return None
        if before is not None and after is not None:
            return (before, after) if names.header is None or before == after else None
        path = before if after is None else after
        return (before, after) if header is None or header == (path, path) else None

    def _header(self, names: Names) -> tuple[str, str] | None:
        """One path on both sides: its length follows from the length of the header, however many blanks it has."""
        header, gap = names.header or "", names.separator
        twice = len(header) - len(self.old) - len(self.new) - len(gap)
        middle = len(self.old) + twice // 2
        plain = twice > 0 and not twice % 2 and header[middle : middle + len(gap)] == gap
        split = [(header[:middle], header[middle + len(gap) :])] if plain and not header.startswith('"') else []
        for old, new in [*split, *(_pairs(names) if header.startswith('"') else ())]:
            before, after = self._cut(old, self.old), self._cut(new, self.new)
            if before is not None and before == after:
                return before, before
        return None

    @staticmethod
    def _cut(name: str, prefix: str) -> str | None:
        path = name.removeprefix(prefix)
        return path if name != NOWHERE and name.startswith(prefix) and path and not path.startswith("/") else None


def decide_prefixes(files: Sequence[Names]) -> Prefixes:
    """The prefixes of a diff: the first that explain every file, or the most of them."""
    best, most = Prefixes("a/", "b/"), -1
    for old, new in dict.fromkeys(_candidates(files)):
        prefixes = Prefixes(old, new)
        explained = sum(prefixes.explained(names) is not None for names in files)
        if explained > most:
            best, most = prefixes, explained
        if most == len(files):
            break
    return best


def _candidates(files: Sequence[Names]) -> Iterator[tuple[str, str]]:
    yield from islice(dict.fromkeys(islice(_proven(files), 1000)), _GUESSES)
    if any(names.header is not None for names in files):
        yield from _USUAL
        yield from ((f"{old}/", f"{new}/") for old in _LETTERS for new in _LETTERS if old != new)
        yield from islice(dict.fromkeys(islice(_shared_ends(files), 1000)), _GUESSES)
    elif all(_usual(names) for names in files):
        yield from _USUAL[:1]
    yield "", ""


def _usual(names: Names) -> bool:
    old, new = names.old or NOWHERE, names.new or NOWHERE
    return old.startswith(("a/", NOWHERE)) and new.startswith(("b/", NOWHERE))


def _proven(files: Iterable[Names]) -> Iterator[tuple[str, str]]:
    """From files whose paths a `rename` row tells."""
    for names in files:
        old, new = names.moved_from, names.moved_to
        if old is None or new is None:
            continue
        for first, second in [(names.old or "", names.new or ""), *_pairs(names)]:
            if first.endswith(old) and second.endswith(new):
                yield first.removesuffix(old), second.removesuffix(new)


def _shared_ends(files: Iterable[Names]) -> Iterator[tuple[str, str]]:
    """From files that keep their path: what is left before the end that both names share, up to a slash."""
    for names in files:
        both = names.old is not None and names.new is not None and NOWHERE not in (names.old, names.new)
        for old, new in [(names.old or "", names.new or "")] if both else _pairs(names):
            shared = 0
            while shared < min(len(old), len(new)) and old[-1 - shared] == new[-1 - shared]:
                shared += 1
            slash = old.find("/", len(old) - shared)
            if old != new and slash >= 0:
                end = len(old) - slash - 1
                yield old[: len(old) - end], new[: len(new) - end]


def _own(names: Names) -> tuple[str | None, str | None] | None:
    """The paths of a file that differs from the rest of its diff, from what it alone says."""
    own = decide_prefixes([names]) if names.header is not None else Prefixes("", "")
    if (found := own.explained(names)) is not None:
        return found
    if names.old is not None and names.new is not None and names.header is None:
        return tuple(None if name == NOWHERE else name for name in (names.old, names.new))  # type: ignore[return-value]
    return None
