"""One document in the form somebody can use: read, pasted, computed with, or opened in a spreadsheet."""

from __future__ import annotations

import json
from enum import StrEnum

from bot.analysis.formats import csv, html, markdown, text
from bot.analysis.sheet import Document


class Form(StrEnum):
    """The formats."""

    TABLE = "table"
    MARKDOWN = "markdown"
    CSV = "csv"
    JSON = "json"
    HTML = "html"
    XLSX = "xlsx"


BY_SUFFIX = {
    ".txt": Form.TABLE,
    ".md": Form.MARKDOWN,
    ".csv": Form.CSV,
    ".json": Form.JSON,
    ".html": Form.HTML,
    ".htm": Form.HTML,
    ".xlsx": Form.XLSX,
}
"""The format that a file's name asks for."""


def render(document: Document, form: Form) -> str | bytes:
    """The document in a format; the same document always gives the same bytes."""
    if form is Form.JSON:
        return json.dumps(document.record, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    if form is Form.XLSX:
        from bot.analysis.formats import xlsx

        return xlsx.render(document)
    writers = {Form.TABLE: text.render, Form.MARKDOWN: markdown.render, Form.CSV: csv.render, Form.HTML: html.render}
    return writers[form](document)
