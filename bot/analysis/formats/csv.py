"""The main table as comma-separated values: numbers in full, estimates in five columns."""

from __future__ import annotations

import csv
import io

from bot.analysis.sheet import Document, flat, header

_STARTS_A_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def render(document: Document) -> str:
    """The main table as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header(document.table))
    for row in flat(document.table):
        writer.writerow([_harmless(cell) if isinstance(cell, str) else cell for cell in row])
    return text.getvalue()


def _harmless(text: str) -> str:
    """A text that no spreadsheet takes for a formula: a reviewer's name may be made to be one."""
    return f"'{text}" if text.startswith(_STARTS_A_FORMULA) else text
