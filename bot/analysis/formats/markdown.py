"""Tables as GitHub shows them. Everything that others wrote is inert."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.analysis.sheet import Cell, Column, Document, Sheet, written
from bot.render.figures import Footnotes
from bot.render.text import clean, code, inert

_LONGEST = 2000
"""Characters of a sentence."""
# A span has space around it, or two of them would run into each other and show what they hold as Markdown.
_TICKED = re.compile(r"(?<!\S)`([^`]{1,200})`(?=[).,;:!?]{0,2}(?:\s|$))")
_PEEL = re.compile(r"([(\"']{0,3})(.+?)([)\"'.,;:!?]{0,3})")


def render(document: Document) -> str:
    """The document as Markdown."""
    parts = [f"### {_sentence(document.title)}", *(f"\n{_sentence(line)}" for line in document.lead)]
    for sheet in document.sheets:
        parts += ["", *_sheet(sheet)]
    if document.notes:
        parts += ["", *(f"- {_sentence(note)}" for note in document.notes)]
    return "\n".join(parts) + "\n"


def _sheet(sheet: Sheet) -> Iterator[str]:
    notes = Footnotes()
    yield f"#### {inert(sheet.title)}"
    yield ""
    yield _row([inert(column.title) for column in sheet.columns])
    yield _row(["--:" if column.right else "---" for column in sheet.columns])
    for row in sheet.rows:
        yield _row([_cell(cell, column, notes) for column, cell in zip(sheet.columns, row, strict=True)])
    below = [f"<sup>{number}</sup> {_sentence(reason)}" for number, reason in notes.items()]
    below += [_sentence(note) for note in sheet.notes]
    yield from ("", *(f"- {line}" for line in below)) if below else ()


def _sentence(line: str) -> str:
    """A sentence, which may quote anybody: inert, with code where it says so, and no punctuation drawn into code."""
    pieces = _TICKED.split(clean(line, _LONGEST))
    return "".join(code(piece) if at % 2 else _prose(piece, first=at == 0) for at, piece in enumerate(pieces))


def _prose(text: str, *, first: bool) -> str:
    words = text.split(" ")
    return " ".join(inert(word) if first and not at else _word(word) for at, word in enumerate(words))


def _word(word: str) -> str:
    shown = inert(word, _LONGEST)
    peeled = _PEEL.fullmatch(word)
    if shown in (word, "\\" + word) or peeled is None:
        return word if shown == "\\" + word else shown
    before, core, after = peeled.groups()
    return f"{before}{inert(core, _LONGEST)}{after}"


def _cell(cell: Cell, column: Column, notes: Footnotes) -> str:
    """Numbers are ours and stand as they are; words may be anybody's."""
    if isinstance(cell, str):
        return inert(cell)
    text, note = written(cell, column.kind, notes)
    return text + (f"<sup>{note}</sup>" if note else "")


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
