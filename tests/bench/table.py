"""What every benchmark gives back, and how it is shown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement. `against` is the same work done another way, or a smaller amount of it; `limit` a promise."""

    what: str
    ours: float
    unit: str
    against: float | None = None
    limit: float | None = None
    least: float | None = None
    """A promise the other way round: no less than this."""

    @property
    def ratio(self) -> float | None:
        return self.ours / self.against if self.against else None

    @property
    def kept(self) -> bool | None:
        if self.limit is None and self.least is None:
            return None
        return (self.limit is None or self.ours <= self.limit) and (self.least is None or self.ours >= self.least)


def markdown(rows: Iterable[Row]) -> str:
    """The rows as one Markdown table, columns padded so that it reads as text too."""
    cells = [("what", "ours", "against", "ratio", "limit"), *map(_cells, rows)]
    widths = [max(len(row[at]) for row in cells) for at in range(5)]
    lines = [_line(row, widths) for row in cells]
    rule = "|".join(["-" * (widths[0] + 2), *("-" * (width + 1) + ":" for width in widths[1:])])
    return "\n".join([lines[0], f"|{rule}|", *lines[1:]]) + "\n"


def _line(row: tuple[str, ...], widths: list[int]) -> str:
    first, *rest = (cell.ljust(width) if not at else cell.rjust(width) for at, (cell, width) in _numbered(row, widths))
    return "| " + " | ".join([first, *rest]) + " |"


def _numbered(row: tuple[str, ...], widths: list[int]) -> Iterable[tuple[int, tuple[str, int]]]:
    return enumerate(zip(row, widths, strict=True))


def _cells(row: Row) -> tuple[str, ...]:
    ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
    limit = "" if row.kept is None else _promise(row)
    against = "" if row.against is None else _figure(row.against, row.unit)
    return row.what.replace("|", "/"), _figure(row.ours, row.unit), against, ratio, limit


def _promise(row: Row) -> str:
    if row.limit is not None:
        return _figure(row.limit, row.unit) + ("" if row.kept else " (exceeded)")
    assert row.least is not None
    return "from " + _figure(row.least, row.unit) + ("" if row.kept else " (missed)")


def _figure(value: float, unit: str) -> str:
    digits = 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 1 else 3
    return f"{value:.{digits}f} {unit}".rstrip()
