"""Tables as GitHub shows them. Everything that others wrote is inert."""

from __future__ import annotations

from collections.abc import Iterator

from bot.analysis.sheet import Cell, Column, Document, Sheet, written
from bot.render.figures import Footnotes
from bot.render.text import inert


def render(document: Document) -> str:
    """The document as Markdown."""
    parts = [f"### {inert(document.title)}", *(f"\n{inert(line, 2000)}" for line in document.lead)]
    for sheet in document.sheets:
        parts += ["", *_sheet(sheet)]
    if document.notes:
        parts += ["", *(f"- {inert(note, 2000)}" for note in document.notes)]
    return "\n".join(parts) + "\n"


def _sheet(sheet: Sheet) -> Iterator[str]:
    notes = Footnotes()
    yield f"#### {inert(sheet.title)}"
    yield ""
    yield _row([inert(column.title) for column in sheet.columns])
    yield _row(["--:" if column.right else "---" for column in sheet.columns])
    for row in sheet.rows:
        yield _row([_cell(cell, column, notes) for column, cell in zip(sheet.columns, row, strict=True)])
    below = [f"<sup>{number}</sup> {inert(reason, 2000)}" for number, reason in notes.items()]
    below += [inert(note, 2000) for note in sheet.notes]
    yield from ("", *(f"- {line}" for line in below)) if below else ()


def _cell(cell: Cell, column: Column, notes: Footnotes) -> str:
    """Numbers are ours and stand as they are; words may be anybody's."""
    if isinstance(cell, str):
        return inert(cell)
    text, note = written(cell, column.kind, notes)
    return text + (f"<sup>{note}</sup>" if note else "")


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
