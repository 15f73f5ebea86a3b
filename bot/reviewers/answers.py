"""Findings read from what a model or a tool wrote: tolerant of the wrapping, strict about each item.

An answer is read whole, then from its fences, then from its first bracket to its last. One that breaks off keeps the
items that are complete, and says so. Whatever cannot be used is named with the reason.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bot.reviewers.protocol import Change, Remark
from scoring import severity
from scoring.judges.reply import MAX_CHARACTERS, ReplyError, brief, without_thought

Json = Any
CUT_OFF = "what the answer would have gone on to say: it breaks off"
_WRAPPERS = ("findings", "comments", "issues", "remarks", "results", "reviews", "review", "problems", "bugs")
_FENCE = re.compile(r"```[A-Za-z0-9_-]{0,20}[ \t]{0,8}\n(.*?)(?:\n[ \t]{0,8}```|\Z)", re.DOTALL)
_RANGE = re.compile(r"\s{0,4}L?([0-9]{1,7})(?:\s{0,4}(?:-|\u2013|to)\s{0,4}L?([0-9]{1,7}))?\s{0,4}\Z")
_MOST_ITEMS = 1_000
_LONGEST_TEXT = 20_000
_PATH = ("path", "file", "file_path", "filename")
_FIRST = ("start_line", "line_start", "startLine", "line", "lines")
_LAST = ("end_line", "line_end", "endLine")
_TEXT = ("description", "message", "text", "comment", "body")
_KIND = ("type", "kind", "category", "rule", "rule_id", "ruleId")
_SEVERITY = ("severity", "level", "priority")
_NEED = (*_PATH, *_TEXT)


@dataclass(frozen=True, slots=True)
class Answer:
    """What an answer holds."""

    remarks: tuple[Remark, ...]
    invalid: tuple[str, ...] = ()
    cut_off: bool = False


class _Unusable(Exception):
    """An item cannot be used; says why."""


def read(text: str, change: Change, only: str | None = None, longest: int = MAX_CHARACTERS) -> Answer:
    """The remarks in an answer.

    Args:
        text: What was written.
        change: What it is about: places must be in it.
        only: The one file that was shown, where only one was; every remark is then about it.
        longest: How many characters it may have.

    Raises:
        ReplyError: there is no list of findings in it.
    """
    items, cut_off = listed(text, longest)
    remarks: list[Remark] = []
    invalid: list[str] = []
    for number, item in enumerate(items[:_MOST_ITEMS], 1):
        try:
            remarks.append(_remark(item, change, only))
        except _Unusable as problem:
            invalid.append(f"item {number}: {problem}")
    if len(items) > _MOST_ITEMS:
        invalid.append(f"items {_MOST_ITEMS + 1} to {len(items)}: more than are read")
    return Answer(tuple(remarks), tuple(invalid), cut_off)


# --- the list


def listed(text: str, longest: int = MAX_CHARACTERS) -> tuple[list[Json], bool]:
    """The items of the list that an answer is or holds, and whether it breaks off within the list.

    Raises:
        ReplyError: there is none.
    """
    if len(text) > longest:
        raise ReplyError(f"the answer is {len(text)} characters long; at most {longest} are read")
    said = without_thought(text).strip()
    for piece in _pieces(said):
        found = _items(_value(piece))
        if found is not None:
            return found, False
    # What is JSON from end to end does not break off, whatever stands in it.
    if _value(said) is None and (saved := _complete_items(said)):
        return saved, True
    raise ReplyError("the answer holds no complete JSON list of findings")


def _pieces(text: str) -> Iterator[str]:
    yield text
    # A model that corrects itself gives its last word last.
    yield from reversed([found[1].strip() for found in _FENCE.finditer(text)])
    for opening, close in ("[]", "{}"):
        first, last = text.find(opening), text.rfind(close)
        # An object within a list is a part of what was said, and may be what the model only quotes.
        if 0 <= first < last and not (opening == "{" and text[:first].rstrip().endswith(("[", ","))):
            yield text[first : last + 1]


def _value(piece: str) -> Json:
    try:
        return json.loads(piece, parse_constant=_not_json)
    except (ValueError, RecursionError):
        return None


def _not_json(word: str) -> Json:
    raise ValueError(f"{word} is no JSON")


def _items(value: Json) -> list[Json] | None:
    """The list that a value is or wraps; None if it is neither."""
    if isinstance(value, dict):
        wrapped = next((value[name] for name in _WRAPPERS if isinstance(value.get(name), list)), None)
        if wrapped is None and any(name in value for name in _NEED):
            return [value]
        value = wrapped
    if not isinstance(value, list) or (value and not any(isinstance(one, dict) for one in value)):
        return None
    return value


def _complete_items(text: str) -> list[Json]:
    """The complete objects at the beginning of a list that breaks off."""
    start = next((found.end() for found in re.finditer(r"\[\s{0,50}(?=\{)", text)), None)
    if start is None:
        return []
    decoder = json.JSONDecoder(parse_constant=_not_json)
    found: list[Json] = []
    while start < len(text) and text[start] == "{":
        try:
            value, start = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            break
        found.append(value)
        while start < len(text) and text[start] in " \t\r\n,":
            start += 1
    # A list that ends is no answer that breaks off: it was quoted, or there are several.
    if text[start : start + 1] == "]":
        return []
    return [one for one in found if any(name in one for name in _NEED)]


# --- an item


def _remark(item: Json, change: Change, only: str | None) -> Remark:
    if not isinstance(item, dict):
        raise _Unusable(f"it is {brief(item)}, no object")
    text = _said(item, _TEXT)
    if not text:
        raise _Unusable(f"it says nothing: none of {', '.join(_TEXT)}")
    path = only if only is not None else _path(item, change)
    lines = _lines(item)
    if only is not None and lines is None:
        raise _Unusable("it names no lines")
    if path is not None and lines is not None:
        lines = _within(path, lines, change)
    return Remark(
        text,
        path,
        lines[0] if lines else None,
        lines[1] if lines else None,
        kind=_said(item, _KIND)[:80],
        severity=severity.said(_said(item, _SEVERITY)),
        failing_input=_said(item, ("failing_input",)),
        citation=_said(item, ("citation",)),
        suggestion=_said(item, ("suggestion", "fix", "suggested_code")),
        confidence=_confidence(item.get("confidence")),
    )


def _said(item: Mapping[str, Json], names: tuple[str, ...]) -> str:
    """The first of some texts that an item has; other than text is none."""
    found = next((item[name] for name in names if isinstance(item.get(name), str) and item[name].strip()), "")
    text: str = found.encode("utf-8", "replace").decode("utf-8").strip()
    return text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]} [cut]"


def _path(item: Mapping[str, Json], change: Change) -> str | None:
    """The file an item is about; None if it is about the whole change.

    Raises:
        _Unusable: it names a file that is not there.
    """
    given = next((item[name] for name in _PATH if item.get(name) is not None), None)
    if given is None or given == "":
        return None
    if not isinstance(given, str):
        raise _Unusable(f"its path is {brief(given)}, no text")
    path = given.strip().replace("\\", "/")
    for one in (path, path.removeprefix("./"), path.removeprefix("a/"), path.removeprefix("b/")):
        if one in change.head or one in change.base:
            return one
    tails = [one for one in change.head if one.endswith(f"/{path}")] if path else []
    if len(tails) == 1:
        return tails[0]
    if change.whole or not path or path.startswith("/") or ".." in path.split("/"):
        raise _Unusable(f"there is no file {brief(given)}")
    return path


def _lines(item: Mapping[str, Json]) -> tuple[int, int] | None:
    """The lines an item is about; None if it names none.

    Raises:
        _Unusable: what it names is no range of lines.
    """
    first = next((item[name] for name in _FIRST if item.get(name) is not None), None)
    last = next((item[name] for name in _LAST if item.get(name) is not None), None)
    if isinstance(first, list) and 1 <= len(first) <= 2 and last is None:
        first, last = first[0], first[-1]
    if first is None and last is None:
        return None
    start, end = _line(first), _line(last)
    low = start[0] if start else end[0] if end else 0
    high = end[1] if end else start[1] if start else 0
    if low < 1 or high < low:
        raise _Unusable(f"{brief(first)} to {brief(last)} are no lines")
    return low, high


def _line(value: Json) -> tuple[int, int] | None:
    """A line, or a range written as text.

    Raises:
        _Unusable: it is neither.
    """
    if value is None:
        return None
    if isinstance(value, str) and (match := _RANGE.match(value)):
        return int(match[1]), int(match[2] or match[1])
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value) or abs(value) > 10**9:
        raise _Unusable(f"{brief(value)} is no line")
    return int(value), int(value)


def _within(path: str, lines: tuple[int, int], change: Change) -> tuple[int, int]:
    """The lines, cut at the end of the file.

    Raises:
        _Unusable: they begin behind it.
    """
    content = change.head.get(path) or change.base.get(path)
    if content is None:
        return lines
    length = content.count(b"\n") + (not content.endswith(b"\n"))
    if lines[0] > length:
        raise _Unusable(f"line {lines[0]} is behind the end of {path} ({length} lines)")
    return lines[0], min(lines[1], length)


def _confidence(value: Json) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        return None
    return float(value)
