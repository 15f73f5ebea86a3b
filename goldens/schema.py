"""What a suite file may say. Bytes become `SuiteFile` here; every problem is told with its line and the way out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    StrictBool,
    StrictInt,
    Tag,
    ValidationError,
    model_validator,
)
from pydantic_core import ErrorDetails, PydanticCustomError

from goldens.located import Document, Loc, Problem, SuiteError, read_document
from scoring.model import Category, Severity, Side

__all__ = ["GoldenEntry", "Pin", "PullEntry", "SuiteError", "SuiteFile", "parse_suite", "safe_path"]

FILES = "files"
T = TypeVar("T")


def _wrong(what: str) -> PydanticCustomError:
    return PydanticCustomError("suite", "{what}", {"what": what})


def _matching(pattern: str, what: str) -> AfterValidator:
    compiled = re.compile(pattern)

    def check(text: str) -> str:
        if not compiled.fullmatch(text):
            raise _wrong(f"{text[:80]!r} is not {what}")
        return text

    return AfterValidator(check)


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


def _tree_path(path: str) -> str:
    try:
        return safe_path(path)
    except ValueError as error:
        raise _wrong(str(error)) from None


def _not_blank(text: str) -> str:
    if not text.strip():
        raise _wrong("must not be blank")
    return text.strip()


def _not_empty(entries: tuple[T, ...]) -> tuple[T, ...]:
    # Not pydantic's min_length: that also complains when every entry has a problem of its own.
    if not entries:
        raise _wrong("must not be empty")
    return entries


def _from_one(number: int) -> int:
    if number < 1:
        raise _wrong(f"numbers start at 1, not {number}")
    return number


def _line_range(lines: tuple[int, int]) -> tuple[int, int]:
    first, last = lines
    if first < 1:
        raise _wrong(f"lines start at 1, not {first}")
    if last < first:
        raise _wrong(f"the range [{first}, {last}] ends before it starts")
    return lines


Slug = Annotated[str, _matching(r"[a-z0-9][a-z0-9-]{0,62}", "an id: small letters, digits and dashes, at most 63")]
Version = Annotated[str, _matching(r"[0-9A-Za-z][0-9A-Za-z.+-]{0,31}", "a version such as 1.0.0")]
Sha = Annotated[str, _matching(r"[0-9a-f]{40}|[0-9a-f]{64}", "a full commit id in small hex digits")]
Upstream = Annotated[str, _matching(r"[A-Za-z0-9-]{1,39}/[A-Za-z0-9._-]{1,100}", "a repository; write owner/name")]
Text = Annotated[str, AfterValidator(_not_blank)]
TreePath = Annotated[str, AfterValidator(_tree_path)]
Lines = Annotated[tuple[StrictInt, StrictInt], AfterValidator(_line_range)]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class GoldenEntry(_Entry):
    """One golden as it is written."""

    id: Slug
    """Unique in the whole suite."""
    path: TreePath | None = None
    """The file in the head tree (in the base tree for side LEFT). None: the defect has no single place."""
    lines: Lines | None = None
    """First and last line, both included. None: the whole file."""
    side: Side = Side.RIGHT
    category: Category
    severity: Severity
    finding: Text
    """What is wrong and what comes of it, in one or two sentences."""
    evidence: str = ""
    """A snippet that stands on those lines, and not in the other tree's file."""
    group: Slug | None = None
    """Shared by the goldens that are one mistake seen at several places."""

    @model_validator(mode="after")
    def _lines_need_a_path(self) -> GoldenEntry:
        if self.path is None and (self.lines is not None or self.evidence):
            raise _wrong("lines and evidence need a path")
        return self


class Pin(_Entry):
    """Where the trees of an upstream pull request are."""

    upstream: Upstream
    number: Annotated[StrictInt, AfterValidator(_from_one)]
    base_sha: Sha
    """The merge base that the pull request is compared with, not the tip of the base branch."""
    head_sha: Sha

    @model_validator(mode="after")
    def _two_commits(self) -> Pin:
        if self.base_sha == self.head_sha:
            raise _wrong("base_sha and head_sha are the same commit")
        return self


def _source_kind(value: object) -> str:
    return "git" if isinstance(value, Mapping | Pin) else FILES


Source = Annotated[
    Annotated[Literal["files"], Tag(FILES)] | Annotated[Pin, Tag("git")],
    Discriminator(_source_kind),
]


class PullEntry(_Entry):
    """One golden pull request as it is written."""

    id: Slug
    """Unique in the suite; with `source: files` also the name of the directory that holds `base/` and `head/`."""
    language: Slug
    title: Text
    body: Text
    source: Source
    clean: StrictBool = False
    """Said aloud, so that a forgotten list of goldens cannot pass for a clean pull request."""
    goldens: tuple[GoldenEntry, ...] = ()

    @model_validator(mode="after")
    def _clean_or_goldens(self) -> PullEntry:
        if self.clean and self.goldens:
            raise _wrong("clean: true, but there are goldens")
        if not self.clean and not self.goldens:
            raise _wrong("no goldens; write clean: true if the pull request has no known defect")
        return self


class SuiteFile(_Entry):
    """A suite file as it is written."""

    suite: Slug
    version: Version
    title: Text
    licence: Text
    """SPDX expression of the code and texts that ship with the suite."""
    provenance: Text
    """Where the pull requests and goldens come from, and who checked them."""
    pulls: Annotated[tuple[PullEntry, ...], AfterValidator(_not_empty)]


_ENTRIES: dict[str, type[_Entry]] = {"": SuiteFile, "pulls": PullEntry, "goldens": GoldenEntry, "source": Pin}
_ENUMS: dict[str, type[StrEnum]] = {"severity": Severity, "category": Category, "side": Side}
_TAGS = (FILES, "git")
_PLAIN = {
    "string_type": "must be text; put it in quotes",
    "int_type": "must be a whole number",
    "bool_type": "must be true or false",
    "tuple_type": "must be a list",
    "model_type": "must be a mapping of fields",
}


def parse_suite(data: bytes, name: str) -> tuple[SuiteFile, Document]:
    """Read a suite file; `name` is what problems call it. The document tells later checks on which line things are.

    Raises:
        SuiteError: listing every problem of the file.
    """
    document = read_document(data, name)
    try:
        suite = SuiteFile.model_validate(document.value)
    except ValidationError as error:
        raise SuiteError(_explain(document, detail) for detail in error.errors()) from None
    problems = [*_repeated(document, _pull_ids(suite)), *_repeated(document, _golden_ids(suite))]
    if problems:
        raise SuiteError(problems)
    return suite, document


def _explain(document: Document, detail: ErrorDetails) -> Problem:
    """Our words for what pydantic found."""
    loc = tuple(part for index, part in enumerate(detail["loc"]) if not _is_tag(detail["loc"], index))
    kind, given = detail["type"], detail["input"]
    field = str(loc[-1]) if loc else ""
    if kind == "extra_forbidden":
        return document.problem(loc, "unknown field", _fields_at(loc[:-1]), field)
    if kind == "missing" and loc and not isinstance(loc[-1], int):
        return document.problem(loc, "missing")
    if field in _ENUMS and kind == "enum":
        allowed = [member.value for member in _ENUMS[field]]
        return document.problem(loc, f"{_shown(given)} is not a {field}", allowed, str(given))
    if kind == "literal_error":
        return document.problem(
            loc, f"{_shown(given)} is not a source", (FILES, "a pin of " + ", ".join(Pin.model_fields))
        )
    if field == "lines" or (len(loc) > 1 and loc[-2] == "lines"):
        return document.problem(loc, detail["msg"] if kind == "suite" else "must be two line numbers: [first, last]")
    return document.problem(loc, _PLAIN.get(kind, detail["msg"]))


def _is_tag(loc: tuple[str | int, ...], index: int) -> bool:
    """Whether a part is the name of a union branch, which pydantic puts after `source`."""
    return index > 0 and loc[index - 1] == "source" and loc[index] in _TAGS


def _fields_at(loc: Loc) -> tuple[str, ...]:
    names = [part for part in loc if isinstance(part, str)]
    return tuple(_ENTRIES[names[-1] if names else ""].model_fields)


def _shown(value: Any) -> str:
    return repr(value)[:80]


def _pull_ids(suite: SuiteFile) -> Iterator[tuple[Loc, str]]:
    for index, pull in enumerate(suite.pulls):
        yield ("pulls", index, "id"), pull.id


def _golden_ids(suite: SuiteFile) -> Iterator[tuple[Loc, str]]:
    for index, pull in enumerate(suite.pulls):
        for number, golden in enumerate(pull.goldens):
            yield ("pulls", index, "goldens", number, "id"), golden.id


def _repeated(document: Document, ids: Iterator[tuple[Loc, str]]) -> Iterator[Problem]:
    first: dict[str, int] = {}
    for loc, name in ids:
        line, _ = document.locate(loc)
        if name in first:
            yield document.problem(loc, f"{name!r} is already used on line {first[name]}; ids are unique in a suite")
        first.setdefault(name, line)
