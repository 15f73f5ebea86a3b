"""JSON from files that may be wrong or hostile, read so that every value knows where it stands."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from goldens.importers.problems import ImportProblem, Problem, allowed, fail, meant, missing, shown

MAX_BYTES = 256 * 1024 * 1024
MAX_DEPTH = 64
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,60}\Z")
_ESCAPED_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


class _Doubled(dict[str, Any]):
    """An object that names a key twice; `key` is the first such."""

    key = ""


def decode(data: bytes, file: str) -> str:
    """The text of a file.

    Raises:
        ImportProblem: it is larger than any file of these formats, or no UTF-8.
    """
    if len(data) > MAX_BYTES:
        raise fail(file, "$", f"at most {MAX_BYTES} bytes", f"{len(data)} bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise fail(file, "$", "UTF-8 text", f"byte 0x{data[error.start]:02x} at offset {error.start}") from None


def load(data: bytes, file: str) -> Any:
    """Parse JSON: UTF-8, no key twice, no NaN, no lone surrogate, not nested deeper than `MAX_DEPTH`.

    Raises:
        ImportProblem: the data is something else; the message says where.
    """
    text = decode(data, file)
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_constant, parse_float=_float)
    except json.JSONDecodeError as error:
        found = shown(text[error.pos : error.pos + 20]) if error.pos < len(text) else "the end of the file"
        raise fail(file, f"line {error.lineno}, column {error.colno}", f"JSON ({error.msg})", found) from None
    except RecursionError:
        raise fail(file, "$", f"at most {MAX_DEPTH} levels of nesting", "deeper nesting") from None
    except ValueError as error:
        raise fail(file, "$", "finite numbers of a sane length", str(error)[:100]) from None
    _check(value, file, surrogates=bool(_ESCAPED_SURROGATE.search(data)))
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    doubled = _Doubled(found)
    seen: set[str] = set()
    doubled.key = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
    return doubled


def _constant(word: str) -> float:
    raise ValueError(f"{word} is no JSON number")


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:40]} is too large")
    return value


def _check(root: Any, file: str, *, surrogates: bool) -> None:
    """Walk without recursion: what may be nested without end must not end the walk."""
    stack: list[tuple[Any, str, int]] = [(root, "$", 1)]
    while stack:
        value, path, depth = stack.pop()
        if depth > MAX_DEPTH:
            raise fail(file, path[:200], f"at most {MAX_DEPTH} levels of nesting", "deeper nesting")
        if isinstance(value, _Doubled):
            raise fail(file, path, "each key once", f"key {shown(value.key)} twice")
        if surrogates:
            _whole_characters(value, file, path)
        stack.extend(
            (child, path + step(key), depth + 1)
            for key, child in _children(value)
            if isinstance(child, dict | list) or (surrogates and isinstance(child, str))
        )


def _whole_characters(value: Any, file: str, path: str) -> None:
    texts = [value] if isinstance(value, str) else list(value) if isinstance(value, dict) else []
    for text in texts:
        if any("\ud800" <= letter <= "\udfff" for letter in text):
            raise fail(file, path, "Unicode text", "half of a surrogate pair")


def _children(value: Any) -> Iterable[tuple[str | int, Any]]:
    if isinstance(value, dict):
        return value.items()
    return enumerate(value) if isinstance(value, list) else ()


def step(key: str | int) -> str:
    """One step of a JSON path."""
    if isinstance(key, int):
        return f"[{key}]"
    return f".{key}" if _PLAIN_KEY.match(key) else f"[{json.dumps(key[:120], ensure_ascii=False)}]"


def dump(value: Any) -> bytes:
    """JSON as these formats are written: readable, Unicode as it is, one space of indent."""
    return json.dumps(value, indent=1, ensure_ascii=False).encode() + b"\n"


@dataclass(frozen=True, slots=True)
class Node:
    """A JSON value with its place. Reading a wrong value notes a problem and goes on with a harmless one.

    Whoever reads must call `finish` before trusting what was read.
    """

    value: Any
    file: str
    path: str = "$"
    problems: list[Problem] = field(default_factory=list)

    @classmethod
    def of(cls, data: bytes, file: str) -> Node:
        """Parse a file."""
        return cls(load(data, file), file)

    def wrong(self, expected: str, found: str | None = None, hint: str = "") -> None:
        """Note that this value is not what was expected."""
        self.problems.append(Problem(self.file, self.path, expected, found or shown(self.value), hint))

    def finish(self) -> None:
        """End reading.

        Raises:
            ImportProblem: anything was wrong.
        """
        if self.problems:
            raise ImportProblem(dict.fromkeys(self.problems))

    def items(self) -> list[Node]:
        """The entries of a list."""
        if not isinstance(self.value, list):
            self.wrong("a list")
            return []
        return [self._child(at, child) for at, child in enumerate(self.value)]

    def fields(self) -> Iterator[tuple[str, Node]]:
        """The entries of an object, in order."""
        if not isinstance(self.value, dict):
            self.wrong("an object")
            return
        for key, child in self.value.items():
            yield key, self._child(key, child)

    def get(self, key: str) -> Node:
        """The value under a key; its `value` is None where the key is absent."""
        if not isinstance(self.value, dict):
            self.wrong("an object")
            return self._muted(key)
        return self._child(key, self.value.get(key))

    def has(self, key: str) -> bool:
        """Whether there is a value under a key; null is none."""
        return isinstance(self.value, dict) and self.value.get(key) is not None

    def need(self, key: str, known: Iterable[str] = ()) -> Node:
        """The value under a key that must be there; `known` keys are never taken for a misspelling of it."""
        if isinstance(self.value, dict) and key not in self.value:
            self.wrong(f"a key {key!r}", *missing(key, self.value, known))
            return self._muted(key)
        return self.get(key)

    def text(self, default: str | None = None) -> str:
        """A text; `default` stands for null."""
        if isinstance(self.value, str):
            return self.value
        if self.value is not None or default is None:
            self.wrong("a text")
        return default or ""

    def whole(self, *, least: int = 0) -> int | None:
        """A whole number or null."""
        if self.value is None:
            return None
        if isinstance(self.value, int) and not isinstance(self.value, bool) and self.value >= least:
            return self.value
        self.wrong(f"a whole number from {least}, or null")
        return None

    def number(self) -> float | None:
        """A number or null."""
        if self.value is None or (isinstance(self.value, int | float) and not isinstance(self.value, bool)):
            return self.value
        self.wrong("a number, or null")
        return None

    def one_of(self, words: Iterable[str]) -> str:
        """One of some words, whatever the case; returned as written in `words`."""
        options = {word.lower(): str(word) for word in words}
        word = self.value.lower() if isinstance(self.value, str) else ""
        if word in options:
            return options[word]
        self.wrong(allowed(options.values()), hint=meant(word, options.values()) if word else "")
        return next(iter(options.values()))

    def _muted(self, key: str) -> Node:
        """A value that is missing, which has been said: nothing more is noted about it."""
        return Node(None, self.file, self.path + step(key), [])

    def _child(self, key: str | int, value: Any) -> Node:
        return Node(value, self.file, self.path + step(key), self.problems)


def finish(nodes: Iterable[Node]) -> None:
    """End reading several files at once.

    Raises:
        ImportProblem: anything in any of them was wrong.
    """
    if problems := [problem for node in nodes for problem in node.problems]:
        raise ImportProblem(dict.fromkeys(problems))
