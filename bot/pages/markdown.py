"""What bots and people wrote, as HTML that shows their words and does nothing else.

Two walls: the renderer is told to make no HTML of HTML, no picture and no address but a web page's; and what it made is
cleaned by a list of what may stand in a page of ours, whatever the renderer did.
"""

from __future__ import annotations

import functools
import re
from collections.abc import MutableMapping, Sequence
from typing import Any

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup, escape

from bot.render.text import web_address

LONGEST = 10_000
"""Characters that are read as Markdown; what comes after them is shown as it was written."""
MOST = 70_000
"""Characters that are shown at all; no comment on GitHub is longer than 65,536."""
TAGS = frozenset(
    "a blockquote br code del em hr li ol p pre s strong table tbody td th thead tr ul".split()  # noqa: SIM905
)
ATTRIBUTES = {"a": {"href"}, "ol": {"start"}}
"""Beside `rel`, which every link gets."""
REL = "nofollow noopener noreferrer"
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_Env = MutableMapping[str, Any]


def visible(text: str) -> str:
    """The text with what hides or turns other text shown by its number; line ends and tabs stay."""
    plain = _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n").replace("\r", "\n"))
    return _UNSEEN.sub(lambda found: f"⟨U+{ord(found.group()):04X}⟩", plain)


def inert(body: str) -> Markup:
    """A comment's body for a page. The start is rendered; of a very long one the rest is shown as it was written."""
    shown, rest = body[:LONGEST], body[LONGEST:MOST]
    made = _rendered(shown)
    if not rest:
        return made
    told = f"{len(body) - LONGEST:,} more characters, as they were written"
    cut = f"\n(and {len(body) - MOST:,} more)" if len(body) > MOST else ""
    return Markup("{}<details><summary>{}</summary><pre>{}</pre></details>").format(made, told, visible(rest) + cut)


@functools.lru_cache(maxsize=4096)
def _rendered(text: str) -> Markup:
    """The walls. What is remembered is bounded by `LONGEST` characters each."""
    html = _renderer().render(visible(text))
    clean = nh3.clean(html, tags=set(TAGS), attributes=ATTRIBUTES, url_schemes={"http", "https"}, link_rel=REL)
    # Once more: Markdown writes characters as `&#x202e;` too.
    safe = visible(clean)
    return Markup(safe)  # nosec B704 # the sanitizer made it


class _Words(RendererHTML):
    """Renders pictures as words and headings as strong lines: a comment has no part in the outline of a page."""

    def image(self, tokens: Sequence[Token], at: int, options: Any, env: _Env) -> str:
        """A picture would ask another host for something; its description stands for it."""
        words = self.renderInlineAsText(tokens[at].children or [], options, env)
        return str(escape(f"[picture: {words}]"))

    def heading_open(self, _tokens: Sequence[Token], _at: int, _options: Any, _env: _Env) -> str:
        """A heading is a strong line."""
        return "<p><strong>"

    def heading_close(self, _tokens: Sequence[Token], _at: int, _options: Any, _env: _Env) -> str:
        """Its end."""
        return "</strong></p>\n"

    def link_open(self, tokens: Sequence[Token], at: int, options: Any, env: _Env) -> str:
        """A link that leads to a web page, or only its words."""
        target = web_address(str(tokens[at].attrGet("href") or ""))
        tokens[at].attrs = {} if target is None else {"href": target}
        return self.renderToken(tokens, at, options, env)


@functools.cache
def _renderer() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": False}, renderer_cls=_Words)
    return made.enable(["table", "strikethrough"])
