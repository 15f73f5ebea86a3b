"""No regular expression of ours runs away: each is held against texts made from its own repeats."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from types import ModuleType
from typing import Any

import pytest

import bot
import goldens
import scoring

SIZES = tuple(12 * 2**power for power in range(10))
"""Characters of the texts: each twice the one before, so that what runs away is seen before it is out of sight."""
FLOOR = 0.008
"""Seconds of the processor below which a ratio says nothing."""
MOST = 6.5
"""Of twice the text: what is cubic takes eight times as long, what runs away more than anybody waits."""
_parser: Any = importlib.import_module("re._parser")


@dataclass(frozen=True, slots=True)
class Found:
    """A compiled pattern, where it stands, and how it is used there."""

    name: str
    pattern: re.Pattern[Any]
    anchored: bool
    """Whether it is only ever tried at one place: `match` and `fullmatch`."""


def _modules() -> Iterator[ModuleType]:
    for package in (bot, goldens, scoring):
        for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if ".suites." in info.name or info.name.endswith("__main__") or ".migrations" in info.name:
                continue
            yield importlib.import_module(info.name)


def _inside(value: Any, depth: int = 0) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif depth < 4 and isinstance(value, Mapping):
        for inner in value.values():
            yield from _inside(inner, depth + 1)
    elif depth < 4 and isinstance(value, list | tuple | set | frozenset):
        for inner in value:
            yield from _inside(inner, depth + 1)
    elif depth < 4 and is_dataclass(value) and not isinstance(value, type):
        for one in fields(value):
            yield from _inside(getattr(value, one.name, None), depth + 1)


def _anchored(module: ModuleType) -> frozenset[str]:
    """The names in a module that are only matched at a fixed place."""
    source = module.__spec__ and module.__spec__.origin
    if not source:
        return frozenset()
    with open(source, encoding="utf-8") as file:  # noqa: PTH123
        tree = ast.parse(file.read())
    used: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            used.setdefault(node.value.id, set()).add(node.attr)
    return frozenset(name for name, how in used.items() if how <= {"match", "fullmatch"})


@cache
def patterns() -> tuple[Found, ...]:
    """Every compiled pattern that a module holds."""
    found: dict[tuple[Any, int], Found] = {}
    for module in _modules():
        anchored = _anchored(module)
        for name, value in list(vars(module).items()):
            for pattern in _inside(value):
                key = pattern.pattern, pattern.flags
                held = found.get(key)
                alone = name in anchored and (held is None or held.anchored)
                found[key] = Found(held.name if held else f"{module.__name__}.{name}", pattern, alone)
    return tuple(sorted(found.values(), key=lambda one: one.name))


# --- texts made of a pattern


def _example(nodes: Any, times: int = 1) -> str:
    """A text that the nodes could match, roughly: what stands in for look-arounds is nothing."""
    return "".join(_one(str(op), value, times) for op, value in nodes)


def _one(op: str, value: Any, times: int) -> str:
    match op:
        case "LITERAL":
            return str(chr(value))
        case "NOT_LITERAL":
            return "b" if value == ord("a") else "a"
        case "ANY":
            return "a"
        case "IN":
            return _member(value)
        case "BRANCH":
            return _example(value[1][0], times)
        case "SUBPATTERN":
            return _example(value[3], times)
        case "ATOMIC_GROUP":
            return _example(value, times)
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            count: int = max(value[0], min(value[1], times))
            return _example(value[2], times) * count
        case _:
            return ""


def _member(items: Any) -> str:
    negated = str(items[0][0]) == "NEGATE"
    bodies = [_class(items)] if negated else [_class([item]) for item in items]
    wanted = re.compile("|".join(bodies))
    return next((char for char in "a1 -_.:/\n\t'\"`*#>[<(A\\,;!" if wanted.fullmatch(char)), "\u200b")


def _class(items: Any) -> str:
    names = {"CATEGORY_DIGIT": r"\d", "CATEGORY_SPACE": r"\s", "CATEGORY_WORD": r"\w"}
    names |= {key.replace("_", "_NOT_", 1): value.upper() for key, value in names.items()}
    inner = ""
    for kind, value in items:
        match str(kind):
            case "LITERAL":
                inner += re.escape(chr(value))
            case "RANGE":
                inner += f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}"
            case "CATEGORY":
                inner += names[str(value)]
    return f"[{'^' if str(items[0][0]) == 'NEGATE' else ''}{inner}]"


def _pumps(nodes: Any, before: str = "") -> Iterator[tuple[str, str]]:
    """(what comes before, what is repeated) for every repeat that has no small bound."""
    for op, value in nodes:
        name = str(op)
        if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            body = _example(value[2])
            if value[1] > 40 and body:
                yield before, body
            yield from _pumps(value[2], before)
        elif name in ("SUBPATTERN", "ATOMIC_GROUP"):
            yield from _pumps(value[3] if name == "SUBPATTERN" else value, before)
        elif name == "BRANCH":
            for branch in value[1]:
                yield from _pumps(branch, before)
        before += _one(name, value, 1)


def hostile(pattern: re.Pattern[Any], size: int) -> list[Any]:
    """Texts of about that many characters that almost match, again and again."""
    text = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    nodes = _parser.parse(text, pattern.flags & ~re.UNICODE if isinstance(pattern.pattern, bytes) else pattern.flags)
    whole = _example(nodes) or "a"
    found = [whole * (size // len(whole))]
    for before, body in dict.fromkeys(_pumps(nodes)):
        found.append(before + body * (size // len(body)) + "\x01")
        unit = before + body * 3
        found.append(unit * (size // len(unit)) + "\x01")
    made = found
    return [one.encode("utf-8") for one in made] if isinstance(pattern.pattern, bytes) else made


def _seconds(one: Found, text: Any) -> float:
    begun = time.process_time()
    if one.anchored:
        one.pattern.match(text)
        one.pattern.fullmatch(text)
    else:
        one.pattern.sub(text[:0], text)
    return time.process_time() - begun


def grows(one: Found) -> str:
    """Which text makes a pattern run away; empty if none does."""
    for texts in zip(*(hostile(one.pattern, size) for size in SIZES), strict=False):
        shorter = texts[0]
        for text in texts:
            after = _seconds(one, text)
            if after > FLOOR and after > MOST * max(_seconds(one, shorter), FLOOR / 20):
                before = max(min(_seconds(one, shorter) for _ in range(3)), FLOOR / 20)
                after = min(after, _seconds(one, text), _seconds(one, text))
                if after > FLOOR and after > MOST * before:
                    return f"{one.name}: {len(text)} characters {text[:60]!r}: {before:.4f} s, then {after:.4f} s"
            if after > 10 * FLOOR:
                break
            shorter = text
    return ""


def test_every_pattern_of_the_code_is_looked_at() -> None:
    names = {one.name.rpartition(".")[0] for one in patterns()}
    assert len(patterns()) > 150
    assert {"bot.webhooks", "bot.commands", "scoring.hostile", "scoring.judges.reply", "bot.logs"} <= names


def test_no_pattern_runs_away_on_a_text_that_is_made_for_it() -> None:
    slow = [told for one in patterns() if (told := grows(one))]
    assert not slow, "\n".join(slow)


@pytest.mark.parametrize(
    "bad", [r"(a+)+$", r"(?:a|aa)+$", r"(\w+\s?)*:", r"(x+x+)+y", r"no\s+(?:\w+\s+)?bugs?\s*\s*\s*x"]
)
def test_the_test_itself_tells_one_that_does(bad: str) -> None:
    assert grows(Found("it", re.compile(bad), False))


@pytest.mark.parametrize("good", [r"(?:ab)+c", r"\d{1,9} of \d{1,9}", r"[^\n]{0,80}x", r"a?b?c?d"])
def test_and_finds_nothing_in_one_that_does_not(good: str) -> None:
    assert not grows(Found("it", re.compile(good), False))
