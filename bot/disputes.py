"""Doubts about goldens that people raise on the pages.

What ships is never changed there: a doubt is noted, and the owner of a suite puts it in with `assay goldens disputes`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pydantic import TypeAdapter, ValidationError

from goldens.edit import EditError, SuiteText
from goldens.keeping import Who, dispute

LONGEST = 1_000
"""Characters of a reason."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """One doubt."""

    suite: str
    version: str
    hash: str
    pull: str
    golden: str
    reason: str
    who: str
    when: str
    """ISO 8601, UTC."""


_DOUBT = TypeAdapter(Doubt)


def line_of(doubt: Doubt) -> bytes:
    """A doubt as one line of a file."""
    return _DOUBT.dump_json(doubt) + b"\n"


def read(data: bytes, name: str) -> tuple[Doubt, ...]:
    """The doubts of a file, oldest first.

    Raises:
        EditError: a line is none.
    """
    return tuple(_read(data, name))


def _read(data: bytes, name: str) -> Iterator[Doubt]:
    for number, line in enumerate(data.split(b"\n"), start=1):
        if line.strip():
            try:
                yield _DOUBT.validate_json(line)
            except ValidationError as error:
                problem = error.errors()[0]
                field = ".".join(map(str, problem["loc"])) or "the line"
                raise EditError(f"{name}:{number}: {field}: {problem['msg']}") from None


def put(text: SuiteText, doubts: Sequence[Doubt]) -> tuple[str, ...]:
    """Put doubts into the text of a suite; gives why some could not be, by golden.

    Raises:
        EditError: none could.
    """
    refused = []
    for doubt in doubts:
        try:
            dispute(text, doubt.golden, doubt.reason, Who(doubt.who, doubt.when[:10]))
        except EditError as error:
            refused.append(f"{doubt.golden}: {error}")
    if len(refused) == len(doubts):
        raise EditError("; ".join(refused) or "there is no doubt to put in")
    return tuple(refused)
