"""CSV tables from files that may be wrong: every cell knows its row and column."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence

from goldens.importers.problems import Problem, fail, missing
from goldens.importers.strict import Node, decode

_LONGEST_CELL = 1024 * 1024
_LONGEST_NUMBER = 9


def read(data: bytes, file: str, required: Sequence[str]) -> tuple[list[str], list[Node]]:
    """The columns of a table, and its rows as nodes whose fields are texts.

    Raises:
        ImportProblem: it is no CSV, a column is missing or there twice, or a row has another number of cells.
    """
    rows = _rows(decode(data, file), file)
    if not rows:
        raise fail(file, "row 1", "column names", "an empty file")
    columns = rows[0]
    if twice := sorted({name for name in columns if columns.count(name) > 1}):
        raise fail(file, "row 1", "each column once", f"{twice[0]!r} twice")
    for name in required:
        if name not in columns:
            raise fail(file, "row 1", f"a column {name!r}", *missing(name, columns, required))
    problems: list[Problem] = []
    filled = [(at, row) for at, row in enumerate(rows[1:], start=2) if row]
    for at, row in filled:
        if len(row) != len(columns):
            raise fail(file, f"row {at}", f"{len(columns)} cells", f"{len(row)}")
    return columns, [Node(dict(zip(columns, row, strict=True)), file, f"row {at}", problems) for at, row in filled]


def _rows(text: str, file: str) -> list[list[str]]:
    before = csv.field_size_limit(_LONGEST_CELL)
    try:
        return list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error as error:
        raise fail(file, "$", "a table of comma-separated values", str(error)[:100]) from None
    finally:
        csv.field_size_limit(before)


def number(node: Node, *, least: int = 0) -> int | None:
    """A cell as a whole number; None where it is empty."""
    text = node.text("").strip()
    if not text:
        return None
    if text.isascii() and text.isdigit() and len(text) <= _LONGEST_NUMBER and int(text) >= least:
        return int(text)
    node.wrong(f"a whole number from {least}")
    return None


def write(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> bytes:
    """A table; a column that a row lacks is empty."""
    target = io.StringIO(newline="")
    writer = csv.DictWriter(target, columns, restval="", extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return target.getvalue().encode()
