"""Aligned columns of plain text, for terminals, pipes and logs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len

from bot.analysis.sheet import Document, Sheet, written
from bot.render.figures import Footnotes
from bot.render.text import plain


def render(document: Document) -> str:
    """The document as text."""
    parts = [plain(document.title), *(plain(line) for line in document.lead)]
    for sheet in document.sheets:
        parts += ["", *_sheet(sheet)]
    if document.notes:
        parts += ["", *(f"- {plain(note)}" for note in document.notes)]
    return "\n".join(parts) + "\n"


def _sheet(sheet: Sheet) -> Iterator[str]:
    notes = Footnotes()
    rows = [[column.title for column in sheet.columns]]
    for row in sheet.rows:
        cells = (written(cell, column.kind, notes) for column, cell in zip(sheet.columns, row, strict=True))
        rows.append([f"{text} ({note})" if note else text for text, note in cells])
    yield plain(sheet.title)
    yield from _aligned(rows, [column.right for column in sheet.columns])
    yield from (f"({number}) {plain(reason)}" for number, reason in notes.items())
    yield from (plain(note) for note in sheet.notes)


def _aligned(rows: Sequence[Sequence[str]], right: Sequence[bool]) -> Iterator[str]:
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        padded = [
            " " * (width - cell_len(cell)) + cell if to_right else cell + " " * (width - cell_len(cell))
            for cell, width, to_right in zip(row, widths, right, strict=True)
        ]
        yield "  ".join(padded).rstrip()
