"""Regular expressions that hostile text cannot make slow: checked before use, searched in a window of the text.

Three rules together bound a search. The text is cut to a head and a tail, and runs of spaces or digits in it are
shortened. A repeat without an upper bound may only repeat spaces or digits, so a shortened run bounds it. The number
of ways one start position can be tried, computed from the parsed pattern, has a budget.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

HEAD, TAIL = 24_000, 8_000
"""Characters searched from the start and from the end of a text. What lies between is never looked at."""
RUN = 32
"""Longer runs of white space, or of digits and commas, are shortened to this before a search."""
MOST_REPEATS = 300
MOST_GROUP_REPEATS = 8
MOST_PATHS = 4_000
MOST_CHARACTERS = 400
FLAGS = re.IGNORECASE | re.MULTILINE

Nodes = Sequence[tuple[Any, Any]]

_parser: Any = importlib.import_module("re._parser")
_REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")
_SINGLE = ("LITERAL", "NOT_LITERAL", "ANY", "IN")
_CATEGORIES = {"DIGIT": r"\d", "SPACE": r"\s", "WORD": r"\w"}
_COMMON = frozenset(map(chr, range(128))) | frozenset("\u00e9\u00df\u2014\u2019\u00a0\u2028\u0663\U0001f534")
_LONG_SPACE = re.compile(rf"(\s{{{RUN}}})\s+")
_LONG_NUMBER = re.compile(rf"([\d,]{{{RUN}}})[\d,]+")


class UnboundedPattern(ValueError):
    """A pattern that a hostile text could make slow, or that is no pattern; the message says what to write instead."""


def window(text: str) -> str:
    """The part of a text that patterns are searched in."""
    if len(text) > HEAD + TAIL:
        text = f"{text[:HEAD]}\n{text[-TAIL:]}"
    return _LONG_NUMBER.sub(r"\1", _LONG_SPACE.sub(r"\1", text))


@lru_cache(maxsize=4096)
def bounded(pattern: str, flags: re.RegexFlag = FLAGS) -> re.Pattern[str]:
    """Compile a pattern, case-insensitive and with line anchors unless told otherwise.

    Raises:
        UnboundedPattern: it does not compile, or a search with it could be slow.
    """
    if len(pattern) > MOST_CHARACTERS:
        raise UnboundedPattern(f"is {len(pattern)} characters long; at most {MOST_CHARACTERS} are allowed")
    try:
        compiled = re.compile(pattern, flags)
    except (re.error, ValueError, OverflowError, RecursionError) as error:
        raise UnboundedPattern(f"is not a regular expression: {error}") from error
    paths = ways(pattern)
    if paths > MOST_PATHS:
        raise UnboundedPattern(
            f"can be tried in {paths} ways from one position; at most {MOST_PATHS}: use fewer or narrower repeats"
        )
    return compiled


@lru_cache(maxsize=4096)
def ways(pattern: str) -> int:
    """In how many ways a pattern that compiles can be tried from one position: what a search with it can cost.

    Raises:
        UnboundedPattern: there is no bound.
    """
    return _paths(_flat(_parser.parse(pattern, FLAGS)), (), _COMMON | frozenset(pattern))


def found(patterns: Sequence[str], text: str) -> re.Match[str] | None:
    """The first match of any of the patterns; `text` is what `window` returned."""
    return next((match for pattern in patterns if (match := bounded(pattern).search(text))), None)


def _flat(nodes: Any) -> list[tuple[Any, Any]]:
    """The nodes with plain groups opened: a group changes nothing about what follows what."""
    flat: list[tuple[Any, Any]] = []
    for op, value in nodes:
        inner = value[-1] if str(op) == "SUBPATTERN" else value if str(op) == "ATOMIC_GROUP" else None
        flat += [(op, value)] if inner is None else _flat(inner)
    return flat


def _paths(nodes: Nodes, after: Nodes, probes: frozenset[str]) -> int:
    total = 1
    for index, (op, value) in enumerate(nodes):
        total *= _ways(str(op), value, [*nodes[index + 1 :], *after], probes)
    return total


def _ways(op: str, value: Any, after: Nodes, probes: frozenset[str]) -> int:
    """In how many ways one node can be passed."""
    if op in _SINGLE or op == "AT":
        return 1
    if op == "BRANCH":
        return sum(_paths(_flat(branch), after, probes) for branch in value[1])
    if op in ("ASSERT", "ASSERT_NOT"):
        return _paths(_flat(value[1]), (), probes)
    if op in _REPEATS:
        return _repeat_ways(value[0], value[1], _flat(value[2]), after, probes)
    raise UnboundedPattern("holds a back-reference or another construct that cannot be bounded")


def _repeat_ways(least: int, most: int, inner: Nodes, after: Nodes, probes: frozenset[str]) -> int:
    unbounded = most == int(_parser.MAXREPEAT)
    if len(inner) == 1 and str(inner[0][0]) in _SINGLE:
        repeated = _chars(*inner[0], probes)
        if unbounded and not _shortened(repeated):
            raise UnboundedPattern("repeats without an upper bound; write {0,80} for *, or {1,80} for +")
        if not unbounded and most > MOST_REPEATS:
            raise UnboundedPattern(f"repeats up to {most} times; at most {MOST_REPEATS} are allowed")
        following = _first(after, probes)
        if least != most and following is not None and not _alike(repeated, following):
            return 1
        return (max(RUN, least) if unbounded else most) - least + 1
    if unbounded or most > MOST_GROUP_REPEATS:
        raise UnboundedPattern(f"repeats a group more than {MOST_GROUP_REPEATS} times; write a bound such as {{0,4}}")
    once = _paths(inner, [*inner, *after] if most > 1 else after, probes)
    return sum(once**times for times in range(least, most + 1))


def _first(nodes: Nodes, probes: frozenset[str]) -> frozenset[str] | None:
    """The characters that can come first; None where that is not known. At the end nothing can fail, so none."""
    opening = _opening(nodes, probes)
    return None if opening is None else opening[0]


def _opening(nodes: Nodes, probes: frozenset[str]) -> tuple[frozenset[str], bool] | None:
    """The same, and whether all of the nodes can be passed without a character. Looks at each node once."""
    seen: frozenset[str] = frozenset()
    for op, value in nodes:
        opening = _opening_of(str(op), op, value, probes)
        if opening is None:
            return None
        seen |= opening[0]
        if not opening[1]:
            return seen, False
    return seen, True


def _opening_of(name: str, op: Any, value: Any, probes: frozenset[str]) -> tuple[frozenset[str], bool] | None:
    if name in _SINGLE:
        return _chars(op, value, probes), False
    if name in _REPEATS:
        inner = _opening(_flat(value[2]), probes)
        return None if inner is None else (inner[0], inner[1] or not value[0])
    if name != "BRANCH":
        return None
    branches = [_opening(_flat(branch), probes) for branch in value[1]]
    known = [branch for branch in branches if branch is not None]
    if len(known) < len(branches):
        return None
    return frozenset().union(*(chars for chars, _ in known)), any(passable for _, passable in known)


def _chars(op: Any, value: Any, probes: frozenset[str]) -> frozenset[str]:
    """The probes that a one-character node matches."""
    name = str(op)
    if name == "LITERAL":
        return frozenset(chr(value))
    if name == "NOT_LITERAL":
        return probes - frozenset(chr(value))
    if name == "ANY":
        return probes
    named = [item for item in value if str(item[0]) != "NEGATE"]
    members = frozenset().union(*(_members(str(kind), what, probes) for kind, what in named))
    return probes - members if len(named) < len(value) else members


def _members(kind: str, what: Any, probes: frozenset[str]) -> frozenset[str]:
    if kind == "LITERAL":
        return frozenset(chr(what))
    if kind == "RANGE":
        return frozenset(char for char in probes if what[0] <= ord(char) <= what[1]) | {chr(what[0]), chr(what[1])}
    negated = "_NOT_" in str(what)
    word = _CATEGORIES[str(what).rsplit("_", 1)[1]]
    members = frozenset(char for char in probes if re.fullmatch(word, char))
    return probes - members if negated else members


def _alike(left: frozenset[str], right: frozenset[str]) -> bool:
    """Whether some character can be both, case aside."""
    return bool({char.lower() for char in left} & {char.lower() for char in right})


def _shortened(chars: frozenset[str]) -> bool:
    """Whether `window` shortens runs of these."""
    return all(char.isspace() for char in chars) or all(char.isdecimal() or char == "," for char in chars)
