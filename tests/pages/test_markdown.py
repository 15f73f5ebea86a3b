"""Whatever a bot wrote: its words are shown, and a browser finds nothing in it to run or to load."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.pages.markdown import ATTRIBUTES, LONGEST, MOST, REL, TAGS, inert, visible
from tests.pages.world import read

ALLOWED = TAGS | {"details", "summary"}
PIECES = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "<!--",
    "-->",
    "<![CDATA[",
    "[a](javascript:alert(1))",
    "[a](JaVaScRiPt&colon;alert(1))",
    "[a](\tjavascript:alert(1))",
    "[a](data:text/html,x)",
    "[a](vbscript:x)",
    "[a](//forge.example)",
    "[a](http://user:word@forge.example)",
    "<javascript:alert(1)>",
    "![x](http://forge.example/pixel.png)",
    "![x](data:image/svg+xml,<svg onload=alert(1)>)",
    "[r]: javascript:alert(1)",
    "[r][r]",
    "<a href='javascript:x' style='x'>",
    "<style>*{display:none}</style>",
    "<iframe srcdoc='x'>",
    "<base href=x>",
    "<form action=x>",
    "<input autofocus onfocus=x>",
    "<details open ontoggle=alert(1)>",
    "&#x202e;",
    "&#0;",
    "&lt;script&gt;",
    "\N{RIGHT-TO-LEFT OVERRIDE}",
    "\N{ZERO WIDTH SPACE}",
    "\x00",
    "\ud800",
    "\U000e0041",
    "```",
    "~~~",
    "`",
    "> ",
    "| a | b |\n|-|-|\n",
    "# ",
    "- ",
    "1. ",
    "***",
    "[",
    "](",
    "![",
    "\\",
    "\n",
    "\n\n",
    "<http://forge.example/?a=b&c=d>",
    '" onmouseover="alert(1)',
)


def check(body: str) -> None:
    html = str(inert(body))
    page = read(html)
    for tag, attributes in page.tags:
        assert tag in ALLOWED, (tag, html)
        assert set(attributes) <= ATTRIBUTES.get(tag, set()) | ({"rel"} if tag == "a" else set()), (attributes, html)
    for link in page.all("a"):
        assert link["rel"] == REL
        assert link.get("href", "http://").startswith(("http://", "https://"))
        assert "@" not in link.get("href", "").split("/")[2:3]
    assert not [one for one in html if unicodedata.bidirectional(one) in ("RLO", "LRO", "RLE", "LRE", "RLI", "LRI")]
    html.encode()


@pytest.mark.parametrize("piece", PIECES)
def test_a_hostile_body_is_inert(piece: str) -> None:
    for body in (
        piece,
        f"before {piece} after",
        f"> {piece}",
        f"- {piece}\n\n{piece}",
        f"[{piece}](http://forge.example)",
    ):
        check(body)


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=12), max_size=14).map("".join))
@settings(max_examples=150, deadline=None)
def test_any_mixture_of_markup_is_inert(body: str) -> None:
    check(body)


def test_markup_that_is_meant_is_shown() -> None:
    page = read(str(inert("**bold** `code` [there](https://forge.example/x)\n\n| a |\n|-|\n| 1 |\n\n~~gone~~")))
    assert {"strong", "code", "a", "table", "s"} <= {tag for tag, _ in page.tags}
    assert page.all("a")[0]["href"] == "https://forge.example/x"


def test_a_picture_is_its_words_and_asks_nobody() -> None:
    html = str(inert("![a chart](https://forge.example/pixel.png)"))
    assert "[picture: a chart]" in html and "forge.example" not in html


def test_headings_of_a_comment_are_no_part_of_the_outline() -> None:
    assert "<h" not in str(inert("# One\n\nTwo\n===\n")) and "<strong>One</strong>" in str(inert("# One"))


def test_what_turns_text_around_is_named() -> None:
    assert visible("a\N{RIGHT-TO-LEFT OVERRIDE}b") == "a⟨U+202E⟩b"
    assert "⟨U+202E⟩" in str(inert("a&#x202e;b"))


@pytest.mark.parametrize("unit", ["[", "> ", "*a", "`", "![", "<", "a\n", "[a](", "|a", "- ", "_*", "&", "**a _b "])
def test_65_000_characters_are_shown_whole_and_soon(unit: str) -> None:
    body = unit * (65_000 // len(unit))
    begun = time.process_time()
    page = read(str(inert(body)))
    assert time.process_time() - begun < 3
    assert "more characters, as they were written" in page.text
    assert len(page.text) >= len("".join(body[LONGEST:].split()))


def test_beyond_what_github_takes_the_rest_is_counted_not_shown() -> None:
    text = str(inert("x" * (MOST + 500)))
    assert "(and 500 more)" in text and text.count("x") == MOST
