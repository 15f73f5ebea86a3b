"""A workbook: each table a sheet, numbers as numbers, and what the result does not prove on the last."""

from __future__ import annotations

import io
import re
from datetime import UTC, datetime

from bot.analysis.sheet import Document, Sheet, flat, header
from bot.render.text import clean

_NO_NAME = re.compile(r"[\[\]:*?/\\']")
_LONGEST_CELL = 32_000


def render(document: Document) -> bytes:
    """The document as a workbook."""
    import xlsxwriter  # type: ignore[import-untyped]

    held = io.BytesIO()
    safe = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    with xlsxwriter.Workbook(held, safe) as book:
        # A fixed date: the same result is the same file.
        book.set_properties({"title": clean(document.title), "created": datetime(1980, 1, 1, tzinfo=UTC)})
        bold = book.add_format({"bold": True})
        for sheet in document.sheets:
            _fill(book.add_worksheet(_NO_NAME.sub(" ", sheet.key)[:31]), sheet, bold)
        about = book.add_worksheet("about")
        lines = [document.title, *document.lead, *(note for sheet in document.sheets for note in sheet.notes)]
        for number, line in enumerate([*lines, *document.notes]):
            about.write_string(number, 0, clean(line)[:_LONGEST_CELL])
    return held.getvalue()


def _fill(page: object, sheet: Sheet, bold: object) -> None:
    write, freeze = page.write_string, page.freeze_panes  # type: ignore[attr-defined]
    names = header(sheet)
    for at, name in enumerate(names):
        write(0, at, name, bold)
    freeze(1, 1)
    for number, row in enumerate(flat(sheet), start=1):
        for at, cell in enumerate(row):
            if isinstance(cell, str):
                write(number, at, clean(cell)[:_LONGEST_CELL])
            elif cell is not None:
                page.write_number(number, at, cell)  # type: ignore[attr-defined]
