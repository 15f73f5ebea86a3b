"""Tables of a report as comma-separated values that office programs open."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal

Cell = str | int | float | Decimal | date | bool | None


class Layout:
    """Which columns a table has, and under which headings."""

    def __init__(self, columns: Mapping[str, str]) -> None:
        if not columns:
            raise ValueError("a table needs a column")
        self.columns = dict(columns)

    @property
    def headings(self) -> Sequence[str]:
        return tuple(self.columns.values())

    def row(self, record: Mapping[str, Cell]) -> list[str]:
        """One record as texts, in the order of the columns."""
        return [shown(record.get(name)) for name in self.columns]


def shown(value: Cell) -> str:
    """A value as it stands in a cell."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="seconds")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, (int, float, Decimal)):
        return str(value)
    return f"'{value}" if value.startswith(("=", "+", "-", "@", "\t", "\r")) else value


def lines(layout: Layout, records: Iterable[Mapping[str, Cell]]) -> Iterator[str]:
    """The table line by line, the headings first."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow(layout.headings)
    yield buffer.getvalue()
    for record in records:
        buffer.seek(0)
        buffer.truncate()
        writer.writerow(layout.row(record))
        yield buffer.getvalue()


def document(layout: Layout, records: Iterable[Mapping[str, Cell]]) -> bytes:
    """The whole table; the mark at its start tells office programs that it is UTF-8."""
    return "".join(lines(layout, records)).encode("utf-8-sig")


def read_back(data: bytes) -> list[dict[str, str]]:
    """The records of a table that `document` wrote."""
    return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))
