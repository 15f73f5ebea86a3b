"""Turns page values into HTML. Templates hold layout only; everything they print is escaped."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from bot.analysis.sheet import Kind, Sheet, written
from bot.pages.helping import HELPERS
from bot.pages.links import Links
from bot.render.figures import Footnotes, status_words

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
"""No inline script or style, no third party, no frame."""
PICTURE_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""A picture is a document of its own when it is opened by itself; it may style itself and nothing else."""


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who looks."""

    login: str = ""
    """Empty where nobody has signed in, and on static pages."""
    may_write: bool = False
    csrf: str = ""
    """What forms carry; empty where there are none."""
    stays: bool = False
    """Whether there is no signing out, because whoever uses this machine is the visitor."""


NOBODY = Visitor()


_TURNING = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def _upright(value: Any) -> Any:
    """What a template prints: text with the characters that turn the direction of other text shown by their number."""
    if isinstance(value, str) and not isinstance(value, Markup) and not value.isascii():
        return _TURNING.sub(
            lambda found: f"\N{LEFT-POINTING ANGLE BRACKET}U+{ord(found.group()):04X}\N{RIGHT-POINTING ANGLE BRACKET}",
            value,
        )
    return value


@functools.cache
def _templates() -> Environment:
    made = Environment(
        loader=PackageLoader("bot.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        finalize=_upright,
    )
    made.globals.update(table=table, status_words=status_words, **HELPERS)
    return made


def render(template: str, links: Links, visitor: Visitor = NOBODY, **values: Any) -> str:
    """One page.

    Args:
        template: Its file in `templates`.
        links: Where other pages are.
        visitor: Who looks.
        values: What the template prints.
    """
    return _templates().get_template(template).render(links=links, visitor=visitor, **values)


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a table, as people read it."""

    text: str
    footnote: int | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """A sheet, written out."""

    key: str
    title: str
    heads: tuple[tuple[str, bool], ...]
    """Title of each column, and whether it holds numbers."""
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...]
    footnotes: Mapping[int, str]


def table(sheet: Sheet) -> Table:
    """A sheet as a template prints it."""
    notes = Footnotes()
    rows = tuple(
        tuple(Cell(*written(cell, column.kind, notes)) for column, cell in zip(sheet.columns, row, strict=True))
        for row in sheet.rows
    )
    heads = tuple((column.title, column.kind is not Kind.TEXT) for column in sheet.columns)
    return Table(sheet.key, sheet.title, heads, rows, sheet.notes, dict(notes.items()))


def static_file(name: str) -> bytes:
    """A file of ours.

    Raises:
        FileNotFoundError: there is none of that name.
    """
    if name not in static_names():
        raise FileNotFoundError(name)
    return (resources.files("bot.pages") / "static" / name).read_bytes()


@functools.cache
def static_names() -> frozenset[str]:
    """The files that may be asked for."""
    return frozenset(one.name for one in (resources.files("bot.pages") / "static").iterdir() if one.is_file())
