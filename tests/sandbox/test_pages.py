"""The pages for people: bodies look as on GitHub, and nothing in them acts, loads or pretends."""

from __future__ import annotations

import time
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.sandbox.markup import TAGS, render, straight

from .conftest import Town

VOID = {"br", "hr"}
ALLOWED = {"href", "rel", "align", "nowrap", "open", "start"}


class Marks(HTMLParser):
    """The elements of a fragment, and whether it closes what it opens and nothing else."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.attributes: set[tuple[str, str]] = set()
        self.text = ""
        self.open: list[str] = []
        self.balanced = True
        self.other: list[str] = []
        self.feed(html)
        self.close()
        self.balanced = self.balanced and not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {(name, value or "") for name, value in attrs}
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        self.balanced = self.balanced and bool(self.open) and self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        self.other.append(data)

    def handle_decl(self, decl: str) -> None:
        self.other.append(decl)

    def handle_pi(self, data: str) -> None:
        self.other.append(data)


def inert(html: str) -> Marks:
    """The marks of a fragment, which is proven to be harmless."""
    marks = Marks(html)
    assert marks.tags <= TAGS, marks.tags - TAGS
    assert {name for name, _ in marks.attributes} <= ALLOWED, marks.attributes
    for name, value in marks.attributes:
        assert name != "href" or value.startswith(("http://", "https://")), value
    assert marks.other == []
    assert marks.balanced, html
    return marks


HOSTILE = [
    "<script>alert(1)</script>",
    "<scr<script>ipt>alert(1)</scr</script>ipt>",
    "<img src=x onerror=alert(1)>",
    "![x](http://127.0.0.1/pixel.png)",
    "<b onclick=alert(1) onmouseover='alert(1)'>b</b>",
    "[x](javascript:alert(1)) [y](JaVaScRiPt:alert(1)) [z](data:text/html,<script>alert(1)</script>)",
    '<a href="javascript:alert(1)">x</a><a href=" &#106;avascript:alert(1)">y</a><a href="data:text/html,x">z</a>',
    '<a href="//127.0.0.1/x">r</a><a href="/etc">s</a><a href="#issue" target=_top download>t</a>',
    "<svg onload=alert(1)><a xlink:href='javascript:alert(1)'><text>x</text></a></svg>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)></style></mglyph></table></mtext></math>",
    "<style>body{display:none}</style><p style='position:fixed;inset:0' class=check id=issue>over it all</p>",
    "<link rel=stylesheet href=http://127.0.0.1/x.css><meta http-equiv=refresh content='0;url=http://127.0.0.1/'>",
    "<iframe src=http://127.0.0.1/></iframe><object data=x></object><embed src=x><video src=x></video>",
    "<form action=http://127.0.0.1/><input name=password><button>Log in</button></form>",
    "<base href=http://127.0.0.1/><title>x</title><noscript><p title='</noscript><script>alert(1)</script>'>",
    "<details><summary>never closed<details><summary>nor this",
    "</article></main></body></html><h1>A page of my own</h1>",
    "<!-- --!><script>alert(1)</script> --> <!--><img src=x onerror=alert(1)>-->",
    "<![CDATA[<script>alert(1)</script>]]> <?php x ?> <!DOCTYPE html>",
    "<textarea></textarea><script>alert(1)</script><plaintext>the rest",
    "`<script>` and\n\n```html\n<script>alert(1)</script>\n```\n",
    "| a |\n|---|\n| <script>x</script> |\n| <td style='x:y'></table> |",
    "<table><tr><td align='x\" onload=1' nowrap>x</td></tr><script>x</script></table>",
    "> [!WARNING]<script>alert(1)</script>\n> [!NOTE]\n> <b>",
    "\x00<scr\x00ipt>alert(1)</script>\x0b\x0c",
    "&lt;script&gt;alert(1)&lt;/script&gt; &#60;script&#62;",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_body_is_inert(text: str) -> None:
    inert(render(text))
    inert(render(f"before\n\n{text}\n\nafter"))
    inert(render(f"<details><summary>{text}</summary>\n\n{text}\n\n</details>"))


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.sampled_from([*HOSTILE, "\n", "\n\n", "<", ">", '"', "'", "`", "> ", "| ", "- ", "<!--", "-->", "</", "<a "])
        | st.text(max_size=8),
        max_size=8,
    )
)
def test_no_mixture_of_hostile_pieces_gets_out(pieces: list[str]) -> None:
    inert(render("".join(pieces)))


def test_what_reviewers_write_looks_as_on_github() -> None:
    marks = inert(
        render(
            "<!-- a marker -->\n<details open>\n<summary>More <sub>of</sub> <kbd>it</kbd></summary>\n\n"
            "1. one<br>two\n\n| n |\n|--:|\n| **7** |\n\n~~old~~ [ok](https://a.test/b?c=d&e=f)\n\n</details>\n"
        )
    )
    assert marks.tags >= {"details", "summary", "sub", "kbd", "br", "table", "th", "td", "strong", "s", "a", "ol", "li"}
    assert marks.attributes >= {("open", ""), ("align", "right"), ("href", "https://a.test/b?c=d&e=f")}
    assert "marker" not in marks.text
    assert "<" not in marks.text


def test_a_line_break_is_one() -> None:
    assert render("one\ntwo").count("<br>") == 1


def test_pictures_are_their_descriptions() -> None:
    text = "![a *b*](http://127.0.0.1/x.png) <img alt='c &lt; d' src=x> <img src=x>|"
    assert inert(render(text)).text.strip() == "a b c < d |"


@pytest.mark.parametrize("kind", ["NOTE", "TIP", "IMPORTANT", "WARNING", "CAUTION", "warning"])
def test_an_alert_begins_with_its_word(kind: str) -> None:
    html = render(f"> [!{kind}]\n> Mind **this**.")
    assert f"<strong>{kind.capitalize()}</strong><br>\nMind <strong>this</strong>" in html


def test_only_an_alert_is_one() -> None:
    assert "[!DANGER]" in render("> [!DANGER]\n> x")
    assert "[!NOTE]" in render("[!NOTE]\nx")
    assert "[!NOTE] x" in render("> [!NOTE] x")


def test_short_cells_stay_on_one_line_and_long_ones_wrap() -> None:
    html = render(f"| F1 | why |\n|---|---|\n| 0.67 [0.21-0.94] | {'a long reason ' * 5} |")
    assert 'nowrap="">0.67' in html
    assert "<td>a long reason" in html


@pytest.mark.parametrize("turn", ["\u202e", "\u2066", "\u2067", "\u200f", "\u061c"])
def test_a_character_that_turns_the_text_is_shown_by_its_number(turn: str) -> None:
    assert straight(f"a{turn}b") == f"a[U+{ord(turn):04X}]b"
    assert turn not in render(f"**a{turn}b** `c{turn}`")


def test_a_huge_body_is_rendered_in_a_moment() -> None:
    bodies = ["<b>" * 21000, "<details>" * 7000, ">" * 65000, "<img " * 13000, "<table><tr><td>" * 4300]
    bodies += ["<a><b><p>" * 7000, "*a **" * 13000, "<img" + " alt=" * 13000 + ">", "[" * 20000]
    for body in bodies:
        began = time.process_time()
        render(body)
        assert time.process_time() - began < 10, body[:20]


# --- whole pages --------------------------------------------------------------------------------------------------

NOTE: dict[str, Any] = {"path": "a.py", "start_line": 1, "end_line": 3, "annotation_level": "notice", "message": "m"}


def _page(town: Town, path: str) -> str:
    answer = town.call("GET", path)
    assert answer.status_code == 200
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    return answer.text


def test_no_body_reaches_out_of_its_place_on_a_page(town: Town) -> None:
    evil, sha = "\n\n".join(HOSTILE), town.pull()["head"]["sha"]
    town.gh.comment("acme/code", 1, evil, by="alice")
    inline = {"path": "a.py", "line": 10, "body": evil}
    town.ok("POST", "/repos/acme/code/pulls/1/reviews", town.token(), body=evil, event="COMMENT", comments=[inline])
    note = {**NOTE, "message": evil, "title": evil, "path": "<script>x</script>"}
    output = {"title": evil, "summary": evil, "text": evil, "annotations": [note]}
    run = town.ok("POST", "/repos/acme/code/check-runs", town.token(), name=evil, head_sha=sha, output=output)
    number = town.gh.open_issue("acme/code", "\u202e<b>t", evil, by="alice")
    for path in ("/acme/code", f"/acme/code/issues/{number}", "/acme/code/pull/1", f"/acme/code/runs/{run['id']}"):
        html = _page(town, path)
        marks = Marks(html)
        own = {
            "html",
            "head",
            "meta",
            "title",
            "style",
            "body",
            "nav",
            "main",
            "article",
            "header",
            "time",
            "span",
            "bdi",
        }
        assert marks.tags <= TAGS | own
        assert html.count("<style>") == html.count("</main>") == html.count("</html>") == 1
        assert not {name for name, _ in marks.attributes if name.startswith("on")}
        assert {"id", "class"} >= {name for name, value in marks.attributes if value in {"issue", "check"}}
        assert html.count('id="issue"') <= 1
        assert "\u202e" not in html


def test_check_runs_fold_with_their_annotations_and_unfold_on_their_own_page(town: Town) -> None:
    sha = town.pull()["head"]["sha"]
    output = {"title": "1 TP", "summary": "**sum**", "annotations": [NOTE, {**NOTE, "message": "two\nlines"}]}
    made = town.ok(
        "POST",
        "/repos/acme/code/check-runs",
        town.token(),
        name="lint",
        head_sha=sha,
        conclusion="neutral",
        output=output,
    )
    folded = _page(town, "/acme/code/pull/1")
    start = f'<details class="check" id="run-{made["id"]}">'
    assert start in folded
    whole = folded[folded.index(start) :].partition("</details>")[0]
    assert "1 TP" in whole
    assert "<strong>sum</strong>" in whole
    assert "a.py</bdi>:1-3" in whole
    assert "two\nlines" in whole
    assert f'id="run-{made["id"]}" open>' in _page(town, f"/acme/code/runs/{made['id']}")
