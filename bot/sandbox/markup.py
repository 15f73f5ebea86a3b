"""Markdown as GitHub shows it, made inert: whatever a body says, only harmless marks come out."""

from __future__ import annotations

import re
from collections.abc import Mapping, MutableMapping, Sequence
from functools import cache
from html import escape, unescape
from typing import Any

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

TAGS = frozenset(
    (
        *("a", "b", "blockquote", "br", "code", "del", "details", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i"),
        *("kbd", "li", "ol", "p", "pre", "s", "strong", "sub", "summary", "sup", "ul"),
        *("table", "tbody", "td", "tfoot", "th", "thead", "tr"),
    )
)
_ATTRIBUTES = {
    "a": {"href"},
    "details": {"open"},
    "ol": {"start"},
    "td": {"align", "nowrap"},
    "th": {"align", "nowrap"},
}
_SIDES = frozenset({"left", "center", "right"})
_SHORT = {"td": 17, "th": 12}
"""Cells of a table with at most so many characters stay on one line."""
_ALERT = re.compile(r"\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]", re.IGNORECASE)
_STYLE = re.compile(r"text-align:(left|center|right)")
_PICTURE = re.compile(r"<img\b([^<>]{0,2000})>", re.IGNORECASE)
_ALT = re.compile(r"""\balt\s{0,9}=\s{0,9}(?:"([^"]*)"|'([^']*)'|([^\s"'<>]+))""", re.IGNORECASE)
_TURNING = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def render(text: str | None) -> str:
    """A body as HTML with the tags above and nothing else: no picture, script, style, class, id or comment."""
    html = str(_markdown().render(straight(text or "")))
    return nh3.clean(
        _PICTURE.sub(_alt_text, html),
        tags=set(TAGS),
        attributes=_ATTRIBUTES,
        attribute_filter=_kept,
        url_schemes={"http", "https"},
        link_rel="nofollow noopener noreferrer",
    )


def straight(text: str) -> str:
    """The text with every character that turns the direction of writing shown by its number."""
    return _TURNING.sub(lambda found: f"[U+{ord(found[0]):04X}]", text)


def _kept(tag: str, name: str, value: str) -> str | None:
    if name == "href":
        return value if value.lower().startswith(("http://", "https://")) else None
    if name == "align":
        return value if value in _SIDES else None
    return value


def _alt_text(found: re.Match[str]) -> str:
    alt = _ALT.search(found[1])
    told = next((text for text in alt.groups() if text), "") if alt else ""
    return escape(unescape(told))


@cache
def _markdown() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": True, "breaks": True}).enable(["table", "strikethrough"])
    made.core.ruler.push("alerts", _alerts)
    for name in ("td_open", "th_open"):
        made.add_render_rule(name, _cell)
    made.add_render_rule("image", _image)
    return made


def _alerts(state: StateCore) -> None:
    """`> [!WARNING]` becomes a quotation that begins with the word."""
    kinds = ("blockquote_open", "paragraph_open", "inline")
    for at in range(len(state.tokens) - 2):
        three = state.tokens[at : at + 3]
        children = three[2].children if tuple(one.type for one in three) == kinds else None
        found = _ALERT.fullmatch(children[0].content.strip()) if children else None
        if children and found:
            children[0] = Token("html_inline", "", 0, content=f"<strong>{found[1].capitalize()}</strong>")


def _cell(
    renderer: RendererHTML,
    tokens: Sequence[Token],
    at: int,
    _options: Mapping[str, Any],
    _env: MutableMapping[str, Any],
) -> str:
    """A cell with its alignment as an attribute, since no style is let through."""
    tag = tokens[at].tag
    side = _STYLE.fullmatch(str(tokens[at].attrs.get("style", "")))
    aligned = f' align="{side[1]}"' if side else ""
    whole = " nowrap" if len(tokens[at + 1].content) <= _SHORT[tag] else ""
    return f"<{tag}{aligned}{whole}>"


def _image(
    renderer: RendererHTML, tokens: Sequence[Token], at: int, options: Any, env: MutableMapping[str, Any]
) -> str:
    """A picture is its description: the page fetches nothing."""
    return escape(renderer.renderInlineAsText(tokens[at].children, options, env))
