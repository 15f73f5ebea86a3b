"""A body as blocks: lines, headings, fences, rows and marks, and where each stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What a block is."""

    TEXT = "text"
    HEADING = "heading"
    CODE = "code"
    ROW = "row"
    RULE = "rule"
    MARK = "mark"
    """An HTML comment: unseen, but it tells sections apart."""


class Style(StrEnum):
    """How a piece of text is set."""

    PLAIN = "plain"
    STRONG = "strong"
    EMPHASIS = "em"
    CODE = "code"
    IMAGE = "image"
    """An image; the text is its alternative text and its address, separated by a line end."""


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a line in one style."""

    text: str
    style: Style = Style.PLAIN
    href: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """A `<details>` element: the number of its appearance, and its summary."""

    number: int
    summary: tuple[Span, ...] = ()

    @property
    def title(self) -> str:
        """The summary as text."""
        return said(self.summary)


@dataclass(frozen=True, slots=True)
class Item:
    """A list item: which list (numbered by appearance), which place in it."""

    list: int
    index: int
    ordered: bool


@dataclass(frozen=True, slots=True)
class Block:
    """One line, heading, fence, table row, rule or mark, and where it stands."""

    kind: Kind
    spans: tuple[Span, ...]
    paragraph: int
    """Lines of one paragraph share the number."""
    sections: tuple[Section, ...] = ()
    items: tuple[Item, ...] = ()
    level: int = 0
    """Of a heading."""
    info: str = ""
    """A fence's language, or `|` for the head row of a table."""
    cells: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The line as read: styles are gone, code keeps its backticks, images leave no trace."""
        return said(self.spans)

    @property
    def lead(self) -> str:
        """The bold run the line begins with, or nothing."""
        visible = [span for span in self.spans if span.style is not Style.IMAGE and span.text.strip()]
        runs: list[Span] = []
        for span in visible:
            if span.style is not Style.STRONG and not (runs and span.style is Style.CODE and span.href == "strong"):
                break
            runs.append(span)
        return said(runs)

    @property
    def images(self) -> tuple[str, ...]:
        """Alternative text and address of each image, as one string with a line end between."""
        return tuple(span.text for span in self.spans if span.style is Style.IMAGE)

    @property
    def links(self) -> tuple[str, ...]:
        """Addresses the line links to."""
        return tuple(span.href for span in self.spans if span.href and span.href != "strong")


@dataclass(frozen=True, slots=True)
class Document:
    """A body as blocks, and the HTML comments it held."""

    blocks: tuple[Block, ...]
    comments: tuple[str, ...]


def said(spans: Sequence[Span]) -> str:
    """The text of spans, without images, with backticks around code and single spaces."""
    words = "".join(
        f"`{span.text}`" if span.style is Style.CODE else span.text for span in spans if span.style is not Style.IMAGE
    )
    return " ".join(words.split())
