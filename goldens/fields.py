"""The fields of a suite file: what each kind of text or number may be, and the sentence that says so when it is not."""

from __future__ import annotations

import re
from datetime import date
from pathlib import PurePosixPath
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, Field, GetCoreSchemaHandler, GetJsonSchemaHandler, StrictInt
from pydantic_core import CoreSchema, PydanticCustomError
from pydantic_core.core_schema import no_info_after_validator_function

T = TypeVar("T")


def wrong(what: str) -> PydanticCustomError:
    """A problem in our own words."""
    return PydanticCustomError("suite", "{what}", {"what": what})


class Matching:
    """Text of one form. Not pydantic's own `pattern`: that says the rule instead of what is meant."""

    def __init__(self, pattern: str, what: str) -> None:
        self._pattern = re.compile(pattern)
        self._what = what

    def _check(self, text: str) -> str:
        if not self._pattern.fullmatch(text):
            raise wrong(f"{text[:80]!r} is not {self._what}")
        return text

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return no_info_after_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {**handler(schema), "pattern": f"^(?:{self._pattern.pattern})$"}


def safe_path(path: str) -> str:
    """Check a path inside a tree.

    Raises:
        ValueError: it is absolute, leaves the tree, has a backslash, an empty or dot part, or a control character.
    """
    parts = path.split("/")
    if PurePosixPath(path).is_absolute() or "\\" in path or not {"", ".", "..", ".git"}.isdisjoint(parts):
        raise ValueError(f"{path[:200]!r} is not a path inside the tree; write it like src/app/cart.py")
    if any(ord(character) < 32 or ord(character) == 127 for character in path):
        raise ValueError(f"{path[:200]!r} has a control character")
    return path


def printable(text: str) -> str:
    """Text that every YAML reader takes and no terminal obeys."""
    plain = text.replace("\r\n", "\n")
    return "".join(one if one in "\n\t" or one.isprintable() else "\ufffd" for one in plain)


def _tree_path(path: str) -> str:
    try:
        return safe_path(path)
    except ValueError as error:
        raise wrong(str(error)) from None


def _not_blank(text: str) -> str:
    if not text.strip():
        raise wrong("must not be blank")
    return text.strip()


def not_empty(entries: tuple[T, ...]) -> tuple[T, ...]:
    """Check that a list has entries."""
    # Not pydantic's min_length: that also complains when every entry has a problem of its own.
    if not entries:
        raise wrong("must not be empty")
    return entries


def _day(text: str) -> str:
    # fromisoformat alone takes 20260131 and week dates as well.
    try:
        plain = date.fromisoformat(text).isoformat() == text
    except ValueError:
        plain = False
    if not plain:
        raise wrong(f"{text[:80]!r} is not a day such as 2026-01-31")
    return text


def _from_zero(number: int) -> int:
    if number < 0:
        raise wrong(f"a count is not negative: {number}")
    return number


def from_one(number: int) -> int:
    """Check a number that counts from one."""
    if number < 1:
        raise wrong(f"numbers start at 1, not {number}")
    return number


def _line_range(lines: tuple[int, int]) -> tuple[int, int]:
    first, last = lines
    if first < 1:
        raise wrong(f"lines start at 1, not {first}")
    if last < first:
        raise wrong(f"the range [{first}, {last}] ends before it starts")
    return lines


Slug = Annotated[str, Matching(r"[a-z0-9][a-z0-9-]{0,62}", "an id: small letters, digits and dashes, at most 63")]
Version = Annotated[str, Matching(r"[0-9A-Za-z][0-9A-Za-z.+-]{0,31}", "a version such as 1.0.0")]
Sha = Annotated[str, Matching(r"[0-9a-f]{40}|[0-9a-f]{64}", "a full commit id in small hex digits")]
Upstream = Annotated[
    str,
    Matching(r"[A-Za-z0-9][A-Za-z0-9-]{0,38}/(?![.]{1,2}$)[A-Za-z0-9._-]{1,100}", "a repository; write owner/name"),
]
Word = Annotated[str, Matching(r"[a-z][a-z0-9_]{0,62}", "a word: small letters, digits and underscores, at most 63")]
Day = Annotated[str, AfterValidator(_day), Field(json_schema_extra={"format": "date"})]
Text = Annotated[str, AfterValidator(_not_blank), Field(json_schema_extra={"pattern": r"\S"})]
TreePath = Annotated[str, AfterValidator(_tree_path)]
Count = Annotated[StrictInt, AfterValidator(_from_zero), Field(json_schema_extra={"minimum": 0})]
Lines = Annotated[tuple[StrictInt, StrictInt], AfterValidator(_line_range)]
Number = Annotated[StrictInt, AfterValidator(from_one), Field(json_schema_extra={"minimum": 1})]
