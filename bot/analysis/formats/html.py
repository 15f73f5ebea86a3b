"""One page that stands alone: no script, no request, light and dark."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

from bot.analysis.sheet import Column, Document, Sheet, written
from bot.render.figures import Footnotes
from bot.render.text import plain

_TICKED = re.compile(r"`([^`]{1,200})`")
_STYLE = """
:root { color-scheme: light dark; --ink: #1f2328; --quiet: #59636e; --line: #d1d9e0; --back: #ffffff; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #f0f6fc; --quiet: #9198a1; --line: #3d444d; --back: #0d1117; }
}
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--back); margin: 2rem auto;
  max-width: 75rem; padding: 0 1rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding: 1rem 0 .5rem; }
th, td { text-align: left; padding: .3rem .75rem .3rem 0; border-bottom: 1px solid var(--line); white-space: nowrap; }
.right { text-align: right; }
.notes { color: var(--quiet); }
"""


def render(document: Document) -> str:
    """The document as a page."""
    title = escape(plain(document.title))
    return "\n".join(
        (
            "<!doctype html>",
            '<html lang="en">',
            '<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{title}</title><style>{_STYLE}</style></head>",
            f"<body><main><h1>{title}</h1>",
            *(f"<p>{_sentence(line)}</p>" for line in document.lead),
            *(part for sheet in document.sheets for part in _sheet(sheet)),
            *_list(document.notes),
            "</main></body></html>\n",
        )
    )


def _sheet(sheet: Sheet) -> Iterator[str]:
    notes = Footnotes()
    yield f'<div class="wide" role="region" tabindex="0" aria-label="{escape(plain(sheet.title))}"><table>'
    yield f"<caption>{escape(plain(sheet.title))}</caption>"
    yield "<thead><tr>" + "".join(_head(column) for column in sheet.columns) + "</tr></thead><tbody>"
    for row in sheet.rows:
        cells = []
        for column, cell in zip(sheet.columns, row, strict=True):
            text, note = written(cell, column.kind, notes)
            mark = f"<sup>{note}</sup>" if note else ""
            cells.append(f"<td{_class(column)}>{escape(text)}{mark}</td>")
        yield "<tr>" + "".join(cells) + "</tr>"
    yield "</tbody></table></div>"
    yield from _list([f"{number}: {reason}" for number, reason in notes.items()] + list(sheet.notes))


def _head(column: Column) -> str:
    return f'<th scope="col"{_class(column)}>{escape(column.title)}</th>'


def _class(column: Column) -> str:
    return ' class="right"' if column.right else ""


def _sentence(line: str) -> str:
    """A line as HTML, what stands between backticks as code."""
    return _TICKED.sub(r"<code>\1</code>", escape(plain(line)))


def _list(lines: list[str] | tuple[str, ...]) -> Iterator[str]:
    if lines:
        yield '<ul class="notes">' + "".join(f"<li>{_sentence(line)}</li>" for line in lines) + "</ul>"
