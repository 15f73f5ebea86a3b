"""The HTML that comments carry inside their Markdown, read leniently and in linear time."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

_TAG_NAMES = (
    "a abbr b blockquote br center cite code dd del details div dl dt em font h1 h2 h3 h4 h5 h6 hr i img ins kbd li "
    "ol p picture pre q s samp small source span strike strong sub summary sup table tbody td tfoot th thead tr tt u "
    "ul var video"
)
KNOWN_TAGS = frozenset(_TAG_NAMES.split())
"""Tags that mean markup; any other (`<String>`, `</candidate>`) is text that someone forgot to escape."""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,30}")
_ATTRIBUTE = re.compile(r"([A-Za-z_:][\w:.-]{0,40})\s{0,4}=\s{0,4}(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))")


@dataclass(frozen=True, slots=True)
class Markup:
    """One piece of HTML: a tag, a comment, or the text between."""

    kind: Literal["open", "close", "comment", "text"]
    text: str
    """The tag's name in lower case, the comment's inside, or the text with entities resolved."""
    attributes: tuple[tuple[str, str], ...] = ()

    def attribute(self, name: str) -> str:
        """The value of an attribute; empty where it is absent."""
        return next((value for key, value in self.attributes if key == name), "")


def pieces(source: str) -> Iterator[Markup]:
    """Split HTML into tags, comments and text. What is no tag stays text; an open comment runs to the end."""
    at = 0
    while at < len(source):
        start = source.find("<", at)
        if start < 0:
            break
        if start > at:
            yield Markup("text", html.unescape(source[at:start]))
        piece, at = _piece(source, start)
        yield piece
    if at < len(source):
        yield Markup("text", html.unescape(source[at:]))


def _piece(source: str, start: int) -> tuple[Markup, int]:
    if source.startswith("<!--", start):
        end = source.find("-->", start + 4)
        inside_end, after = (len(source), len(source)) if end < 0 else (end, end + 3)
        return Markup("comment", source[start + 4 : inside_end].strip()), after
    closing = source.startswith("</", start)
    name = _NAME.match(source, start + (2 if closing else 1))
    end = _tag_end(source, name.end()) if name else -1
    if not name or end < 0 or name.group().lower() not in KNOWN_TAGS:
        return Markup("text", source[start]), start + 1
    if closing:
        return Markup("close", name.group().lower()), end
    return Markup("open", name.group().lower(), _attributes(source[name.end() : end - 1])), end


def _tag_end(source: str, at: int) -> int:
    """Where the tag that has begun ends: the first `>` outside quotes, or the first at all if a quote never closes."""
    plain = source.find(">", at)
    while plain >= 0:
        quotes = [found for found in (source.find('"', at, plain), source.find("'", at, plain)) if found >= 0]
        if not quotes:
            return plain + 1
        closed = source.find(source[min(quotes)], min(quotes) + 1)
        if closed < 0:
            return plain + 1
        at = closed + 1
        plain = source.find(">", at) if at > plain else plain
    return -1


def _attributes(inside: str) -> tuple[tuple[str, str], ...]:
    found = _ATTRIBUTE.finditer(inside)
    return tuple((hit[1].lower(), html.unescape(next(v for v in hit.groups()[1:] if v is not None))) for hit in found)
