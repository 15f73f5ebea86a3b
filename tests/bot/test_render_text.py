"""Hostile text shows its words and does nothing else; a cut text is still a whole one."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.render import clean, code, cut, forbidden, inert, link, plain, trigger_leaks
from bot.render.text import CHECK_BYTES, web_address
from tests.bot.render_world import EVIL, WAKERS, alive, read, registry
from tests.shared import case

TRIGGERS = forbidden(registry())

DEADLY = (
    "@octocat",
    "thanks,@octocat!",
    "(@org/team)",
    "\\@octocat",
    "&#64;octocat",
    "&commat;octocat",
    "@\u200boctocat",
    "#1",
    "fixes #12.",
    "owner/repo#1",
    "owner/repo@0123456",
    "GH-7",
    "gh-7",
    "GHSA-jfh8-c2jp-5v3q",
    "https://github.com/o/r/issues/1",
    "HTTP://github.com/o/r/pull/2",
    "(www.example.com)",
    "mail a@example.com now",
    "commit 0123456789abcdef0123456789abcdef01234567",
    "range 0123456...89abcde",
    "![x](https://evil.test/a.png)",
    "[click](javascript:alert(1))",
    "[ref]: https://evil.test",
    "<img src=x onerror=alert(1)>",
    "<script>alert(1)</script>",
    "<!-- hidden",
    "a | b",
    "\\| x",
    "`",
    "``a` @octocat",
    "```\n@octocat",
    "~~~",
    "# heading",
    "- item",
    "1. item",
    "2) item",
    "> quote",
    "---",
    "===",
    "    indented @octocat",
    "| a | b |\n| - | - |",
    "*em* **strong** _em_ ~~del~~",
    "$$\\href{javascript:1}{x}$$",
    ":tada: :+1:",
    "[^1] [ ] [x]",
    "a\\",
    "!",
    EVIL,
)


@pytest.mark.parametrize("text", DEADLY)
@pytest.mark.parametrize("frame", ["{}", "- **x**: {} end", "| a | b |\n| - | - |\n| {} | last |", "**{}** ok"])
def test_hostile_text_becomes_nothing_but_words(text: str, frame: str) -> None:
    plainly = read(frame.replace("{}", "word"))
    page = read(frame.replace("{}", inert(text, 0)))
    assert [tag for tag, _ in page.tags if tag != "code"] == [tag for tag, _ in plainly.tags]
    assert page.links == []
    assert page.comments == []
    assert alive(page) == []


@pytest.mark.parametrize("text", DEADLY)
def test_the_words_stay_readable(text: str) -> None:
    seen = " ".join("".join(read(inert(text, 0)).text).split())
    assert seen == re.sub(r"(?<!\S)`([^`\s]+)`(?!\S)", r"\1", clean(text))


def test_prose_stays_prose_and_names_become_code() -> None:
    said = inert("The value of `user_id` isn't checked - see src/db.py:12 (twice), 100% of calls.")
    assert said == r"The value of `user_id` isn't checked \- see `src/db.py:12` (twice), 100% of calls."


@given(st.text(alphabet=st.one_of(st.characters(), st.sampled_from("@#`|<>[]()!*_~\\/&:;-.= \n")), max_size=60))
@example("`a` `b`|`")
@example("``")
def test_any_text_at_all_is_inert_in_a_table(text: str) -> None:
    page = read(f"| a | b |\n| - | - |\n| {inert(text, 0)} | last |")
    assert [tag for tag, _ in page.tags].count("td") == 2
    assert {tag for tag, _ in page.tags} <= {"table", "thead", "tbody", "tr", "th", "td", "code"}
    assert "".join(page.text).rstrip().endswith("last")
    assert alive(page) == []


@given(st.text(alphabet=st.one_of(st.characters(), st.sampled_from("`| \\")), max_size=40))
def test_a_code_span_shows_exactly_the_cleaned_text(text: str) -> None:
    page = read(f"| a |\n| - |\n| x{code(text)}y |")
    assert "".join(page.text).split("x", 1)[1].rstrip() == clean(text) + "y"


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("safe\u202etxt.exe", "safetxt.exe"),
        ("a\u200bb\u2060c\ufeffd\u00ade", "abcde"),
        ("tag\U000e0041\U000e0042s", "tags"),
        ("\x1b[31mred\x07", "[31mred"),
        ("a\r\n\tb\u2028c\u0085d", "a b c d"),
        ("lone \ud800 surrogate", "lone \ufffd surrogate"),
        ("हिन्दी العربية 日本語 🐇", "हिन्दी العربية 日本語 🐇"),
    ],
)
def test_what_cannot_be_seen_is_not_written(text: str, seen: str) -> None:
    assert clean(text) == seen


def test_a_limit_counts_the_ellipsis() -> None:
    assert clean("abcdef", 4) == "abc…"
    assert clean("abcd", 4) == "abcd"


@pytest.mark.parametrize(
    "text", [*WAKERS, "x".join(WAKERS), " ".join(WAKERS), "@acme\u200b review", "omega \n\u2060 run"]
)
def test_a_quoted_command_wakes_nobody(text: str) -> None:
    for said in (inert(text, 0, TRIGGERS), plain(text, 0, TRIGGERS), code(text, TRIGGERS)):
        assert trigger_leaks(said, registry()) == ()


@pytest.mark.parametrize("waker", WAKERS)
def test_the_leak_check_sees_every_way_of_asking(waker: str) -> None:
    assert trigger_leaks(f"Dear all,\n{waker} now", registry())


def test_shortening_cannot_make_a_command_of_a_longer_word() -> None:
    text = "omega running"
    assert trigger_leaks(text, registry()) == ()
    for limit in range(1, len(text)):
        assert trigger_leaks(plain(text, limit, TRIGGERS), registry()) == ()


def test_two_code_words_do_not_join_into_a_command() -> None:
    assert trigger_leaks(inert("`omega` `run` now", 0, TRIGGERS), registry()) == ()


def test_a_path_is_no_command_and_a_longer_word_neither() -> None:
    assert trigger_leaks("src/review.py and a /reviewer, omega runs", registry()) == ()


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "JavaScript:alert(1)",
        "data:text/html,x",
        "//evil.test/x",
        "/relative",
        "https://",
        "https://github.com@evil.test/",
        "http://[::1",
        "",
        "https://h.test/" + "a" * 3000,
    ],
)
def test_only_plain_web_addresses_are_links(url: str) -> None:
    assert link("label", url) == "label"


def test_an_address_cannot_end_its_link_or_name_anybody() -> None:
    target = web_address('https://h.test/a) [x](javascript:1) "t" <b> | `c` @octocat\\')
    assert target is not None
    assert not set(target) & set(" ()<>\"'`|@\\[]")
    assert read(link("label", target)).links == [target]


# --- cutting -----------------------------------------------------------------------------------------------------


def test_case_62_a_summary_is_measured_in_bytes() -> None:
    expected = case("62")["expected"]
    text = "# Result\n\n" + "| acme-reviewer 🐇 | 12 | 3 | 5 | ✅ |\n" * 1700
    assert len(text) < CHECK_BYTES < len(text.encode())
    sent = cut(text, CHECK_BYTES, "https://assay.test/r/1")
    assert len(sent.encode()) <= expected["sent_bytes_max"]
    rows, _, note = sent.rpartition("\n\n")
    assert rows.endswith("| acme-reviewer 🐇 | 12 | 3 | 5 | ✅ |")
    assert note == "_Cut, full report: https://assay.test/r/1_"
    assert len(sent.encode()) > CHECK_BYTES - 120


def test_a_text_that_fits_is_not_touched() -> None:
    text = "é" * 10
    assert cut(text, 20, None) == text


@pytest.mark.parametrize("fence", ["```", "~~~~", "```python"])
def test_a_cut_fence_is_closed_and_the_note_stays_outside(fence: str) -> None:
    text = f"before\n{fence}\n" + "line of code\n" * 50 + fence[:3] + "\nafter"
    for limit in range(100, 500, 7):
        page = read(cut(text, limit, "https://assay.test/r"))
        assert "Cut, full report" in "".join(page.prose)


def test_cut_details_blocks_are_closed() -> None:
    text = "<details><summary>more</summary>\n\n" + "- item\n" * 100 + "\n</details>"
    sent = cut(text, 300, "https://assay.test/r")
    assert sent.count("<details>") == sent.count("</details>") == 1
    assert sent.index("</details>") < sent.index("Cut, full")


@pytest.mark.parametrize("unit", ["🐇", "é", "word ", "`@octocat` ", "[a](https://x.test) ", "<code>&#124;</code> "])
def test_one_endless_line_is_cut_between_its_parts(unit: str) -> None:
    for limit in range(80, 130):
        sent = cut(unit * 400, limit, "https://assay.test/r")
        assert len(sent.encode()) <= limit
        assert alive(read(sent.partition("\n\n_Cut")[0])) == []


@given(st.text(alphabet=st.sampled_from("a🐇é`~\n |-"), max_size=400), st.integers(60, 300))
def test_no_cut_is_too_long_or_leaves_a_fence_open(text: str, limit: int) -> None:
    sent = cut(text, limit, "https://assay.test/r")
    assert len(sent.encode()) <= limit
    if sent != text:
        assert sent.endswith("\n\n_Cut, full report: https://assay.test/r_")


def test_a_limit_without_room_for_the_note_is_refused() -> None:
    with pytest.raises(ValueError, match="leave no room for the note"):
        cut("x" * 100, 10, "https://assay.test/r")
