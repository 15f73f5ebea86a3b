"""Results as tables, before anybody decides how they look."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from enum import Enum, StrEnum
from math import isfinite
from typing import Any

from bot.render.figures import UNDEFINED, Footnotes, figure
from bot.render.text import plain
from scoring.model import Estimate

Json = Any
Cell = str | int | float | Estimate | None


class Kind(StrEnum):
    """What a column holds, and so how it is written."""

    TEXT = "text"
    COUNT = "count"
    NUMBER = "number"
    """A share or another number; two decimals are enough."""
    SMALL = "small"
    """A number that may be very small, such as a p-value; three digits."""
    ESTIMATE = "estimate"
    DIFFERENCE = "difference"
    """An estimate whose sign matters."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column."""

    key: str
    """Its name in files for machines."""
    title: str
    kind: Kind = Kind.TEXT

    @property
    def right(self) -> bool:
        """Whether it is aligned to the right."""
        return self.kind in (Kind.COUNT, Kind.NUMBER, Kind.SMALL)


@dataclass(frozen=True, slots=True)
class Sheet:
    """One table."""

    key: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """What a command has to say: sentences, tables, caveats; and the same for machines."""

    title: str
    sheets: tuple[Sheet, ...]
    record: Mapping[str, Json]
    """The whole as JSON values."""
    main: str
    """The table that stands for the whole where a format holds only one."""
    lead: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=())

    @property
    def table(self) -> Sheet:
        """The main table."""
        return next(sheet for sheet in self.sheets if sheet.key == self.main)


def without_empty(sheet: Sheet) -> Sheet:
    """The table without columns of figures that hold nothing in any row; a note says which, and why if known.

    A table without rows stays as it is: nobody knows what its columns would hold.
    """
    gone = [at for at, column in enumerate(sheet.columns) if sheet.rows and column.kind is not Kind.TEXT]
    gone = [at for at in gone if all(_empty(row[at]) for row in sheet.rows)]
    if not gone:
        return sheet
    told = ", ".join(_why_empty(sheet, at) for at in gone)
    return replace(
        sheet,
        columns=tuple(column for at, column in enumerate(sheet.columns) if at not in gone),
        rows=tuple(tuple(cell for at, cell in enumerate(row) if at not in gone) for row in sheet.rows),
        notes=(*sheet.notes, f"Left out, for nothing of it is known here: {told}."),
    )


def _empty(cell: Cell) -> bool:
    return cell is None or (isinstance(cell, Estimate) and cell.value is None)


def _why_empty(sheet: Sheet, at: int) -> str:
    reasons = {row[at].reason for row in sheet.rows if isinstance(row[at], Estimate)}  # type: ignore[union-attr]
    title, why = sheet.columns[at].title, next(iter(reasons)) if len(reasons) == 1 else None
    return f"{title} ({why})" if why else title


def written(cell: Cell, kind: Kind, notes: Footnotes) -> tuple[str, int | None]:
    """A cell as people read it, without markup, and the number of the footnote that says why something is missing."""
    if isinstance(cell, Estimate):
        return _signed(cell, notes) if kind is Kind.DIFFERENCE else figure(cell, notes)
    if cell is None:
        return UNDEFINED, None
    if isinstance(cell, float):
        return (f"{cell:.3g}" if kind is Kind.SMALL else f"{cell:.2f}"), None
    return plain(str(cell)), None


def _signed(estimate: Estimate, notes: Footnotes) -> tuple[str, int | None]:
    if estimate.value is None:
        return UNDEFINED, notes.number(estimate.reason or "undefined")
    value = f"{estimate.value:+.3f}"
    if estimate.low is None or estimate.high is None:
        return value, notes.number(estimate.reason or "no interval could be computed")
    return f"{value} [{estimate.low:+.3f} to {estimate.high:+.3f}]", None


def header(sheet: Sheet) -> list[str]:
    """The names of the columns for machines: an estimate takes five."""
    return [name for column in sheet.columns for name in _names(column)]


def _names(column: Column) -> list[str]:
    if column.kind not in (Kind.ESTIMATE, Kind.DIFFERENCE):
        return [column.key]
    return [column.key, *(f"{column.key}_{part}" for part in ("low", "high", "n", "reason"))]


def flat(sheet: Sheet) -> Iterable[list[str | int | float | None]]:
    """The rows for machines: numbers in full, nothing where there is nothing."""
    for row in sheet.rows:
        cells: list[str | int | float | None] = []
        for column, cell in zip(sheet.columns, row, strict=True):
            if isinstance(cell, Estimate):
                cells += [cell.value, cell.low, cell.high, cell.n, cell.reason]
            else:
                cells += [cell, *[None] * (len(_names(column)) - 1)]
        yield cells


def as_json(value: Json) -> Json:
    """Values of ours as JSON has them.

    Raises:
        ValueError: a number is not finite.
    """
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: as_json(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        return {str(as_json(key)): as_json(one) for key, one in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [as_json(one) for one in value]
    if isinstance(value, float) and not isfinite(value):
        raise ValueError(f"a figure is {value}, which JSON cannot hold")
    return value
