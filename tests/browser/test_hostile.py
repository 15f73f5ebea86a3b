"""What bots and users wrote is text: nothing of it runs, loads, leads anywhere it hides, or breaks a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import pytest
from playwright.sync_api import Browser, expect

from scoring.bundle import Bundle, BundleTrial
from scoring.model import CandidateId
from tests.browser.watching import PHONE, tab
from tests.pages.served import Desk, desk
from tests.pages.world import made_bundle

RLO = "\N{RIGHT-TO-LEFT OVERRIDE}"
BODIES: Mapping[str, str] = {
    "script": "<script>window.pwned = 1</script><img src=x onerror='window.pwned = 2'><svg onload=window.pwned=3>",
    "html": "<h1 style='position:fixed;inset:0'>Gone</h1><iframe src='https://evil.example'></iframe>"
    "<form action='https://evil.example'><input name=csrf><button>Go</button></form><base href='//evil.example/'>",
    "links": "[a](javascript:window.pwned=4) [b](JaVaScRiPt:window.pwned=5) [c](data:text/html,<b>x</b>) "
    "[d](vbscript:x) [e](&#106;avascript:window.pwned=7) <javascript:window.pwned=8> [f](https://evil.example/ok)",
    "pictures": "![beacon](https://evil.example/seen.gif) ![](//evil.example/x) ![x](data:image/svg+xml,<svg/>)",
    "bidi": f"the token is {RLO}drowssap{RLO} and \N{LEFT-TO-RIGHT ISOLATE}this\N{POP DIRECTIONAL ISOLATE} "
    "\N{ZERO WIDTH SPACE}is hidden",
    "long": "x" * 65_000,
    "words": "lorem ipsum " * 5_400,
    "markdown": f"```\nnever closed\n| a | b\n|--\n> > > > {'[' * 500}{'](' * 500}{'*' * 500}\n{'- ' * 200}{'`' * 99}",
    "template": "{{ 7 * 7 }} {% raw %} ${alert(1)} <% x %> &lt;script&gt; </textarea></title></main></body></html>",
    "htmx": "<div hx-get='https://evil.example' hx-trigger='load'></div> <a data-hx-on:click='window.pwned=10'>x</a>",
    "control": "\x00\x1b[31mred\x1b[0m\u2028\u2029\ud7ff\uffff",
}


def hostile() -> Bundle:
    """Every reviewer says all of it, in comments and in claims."""
    made = made_bundle(1, ("revbot-aa",), title="<script>window.pwned = 20</script>")
    trial = next(one for one in made_bundle(8, ("revbot-aa",)).trials if len(one.comments) >= 2 and one.candidates)
    first, claim = trial.comments[0], (trial.candidates or ())[0]
    comments = tuple(
        replace(first, id=f"review_comment/{at}", body=text, permalink=f"javascript:window.pwned={at}")
        for at, text in enumerate(BODIES.values())
    )
    claims = tuple(
        replace(
            claim,
            id=CandidateId(f"c{at}"),
            comment_id=one.id,
            title=one.body[:200],
            text=one.body,
            permalink=one.permalink,
        )
        for at, one in enumerate(comments)
    )
    said: BundleTrial = replace(trial, pull=made.pulls[0].id, comments=comments, candidates=claims)
    judged = tuple(replace(one, trials=()) for one in made.judgements)
    return replace(made, trials=(said,), judgements=judged)


@pytest.fixture(scope="module")
def mine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    with desk(tmp_path_factory.mktemp("mine"), {"ASSAY_LOCAL_USER": "mira-lund"}) as made:
        made.add_run("700-1", hostile())
        yield made


_FOUND = """() => ({
  pwned: window.pwned ?? null,
  addresses: [...document.querySelectorAll("main a[href], main area[href]")].map(one => one.href),
  loose: [...document.querySelectorAll("main a[href*=evil]")]
    .filter(one => one.host !== location.host && !/noopener/.test(one.rel)).length,
  foreign: document.querySelectorAll(
    "main :is(script, iframe, object, embed, style, base, [onload], [onerror], [style])"
  ).length,
  hx: document.querySelectorAll("main :is(blockquote, article) [hx-get]").length,
  images: [...document.images].map(one => one.src).filter(one => !one.startsWith(location.origin)),
  width: document.documentElement.scrollWidth,
  title: document.title,
  foot: document.querySelector("footer.foot") !== null,
})"""


@pytest.mark.parametrize("path", ["/", "/runs/700-1", "/runs/700-1/pulls/change-0", "/runs/700-1/adjudicate"])
def test_what_bots_wrote_does_nothing(browser: Browser, mine: Desk, path: str) -> None:
    with tab(browser, PHONE) as shown:
        page = shown.go(mine.url + path)
        expect(page.locator("footer.foot")).to_be_visible()
        for one in page.locator("main details:not([open]) > summary").all()[:40]:
            if one.is_visible():
                one.click()
        found = page.evaluate(_FOUND)
        assert found["pwned"] is None
        assert [one for one in found["addresses"] if not one.startswith(("http://", "https://"))] == []
        assert (found["foreign"], found["hx"], found["loose"], found["images"]) == (0, 0, 0, [])
        assert found["width"] <= PHONE[0], "nothing pushes the page wider than the phone"
        assert found["foot"]
        assert "Gone" not in found["title"]
        assert RLO not in page.locator("main").inner_text(), "what turns text around is made visible"


def test_what_bots_wrote_is_there_to_read(browser: Browser, mine: Desk) -> None:
    with tab(browser) as shown:
        page = shown.go(f"{mine.url}/runs/700-1/pulls/change-0")
        text = page.locator("main").inner_text()
        for piece in ("window.pwned = 1", "{{ 7 * 7 }}", "drowssap"):
            assert piece in text
        assert "49" not in text.split("{{ 7 * 7 }}")[0][-20:]
