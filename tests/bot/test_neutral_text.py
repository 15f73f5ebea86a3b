"""Titles and bodies that point nowhere, notify nobody, and still say what they said."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from bot.neutral import Told, forbidden_for, fork_leaks, leaks, links_back, neutral_text
from tests.shared import case


def outside_code(text: str) -> str:
    """What a reader sees that is not code, by a parser that shares nothing with the rewriting."""
    seen = []
    for token in MarkdownIt("commonmark").parse(text):
        for part in token.children if token.children is not None else [token]:
            if part.type in ("text", "html_inline", "html_block"):
                seen.append(part.content)
            seen += [str(value) for value in part.attrs.values()]
    return "\n".join(seen)


def test_the_shared_case_of_a_description_that_pings_and_leaks() -> None:
    shared = case("66")
    neutral = "\n\n".join(neutral_text(shared["input"][part]) for part in ("title", "body"))
    assert not [bad for bad in shared["expected"]["must_not_contain"] if bad.lower() in neutral.lower()]
    assert not [good for good in shared["expected"]["must_keep"] if good not in neutral]
    assert "`@not_a_mention`" in neutral
    assert not re.search(r"(?i)co-authored|signed-off|redirect\.example|dev1@|\bcloses?\b|\bfixes\b", neutral)


@pytest.mark.parametrize(
    ("text", "neutral"),
    [
        ("Fix #12: crash on empty input", "crash on empty input"),
        ("Bump parser (#4711)", "Bump parser"),
        ("Regression from o/r#5, o/r#6 and #7", "Regression from an earlier change"),
        ("Resolves: GH-31\n\nKeep this.", "Keep this."),
        ("closes https://github.com/o/r/issues/5\nand more", "and more"),
        ("Fixes 1a2b3c4 in the parser", "in the parser"),
        ("Since 1a2b3c4d5e it fails", "Since an earlier commit it fails"),
        ("This reverts commit 1a2b3c4d5e6f7a8b9c0d1e2f3a4b5c6d7e8f9a0b.", "This reverts an earlier commit."),
        ("See 1a2b3c4..5d6e7f8", "See an earlier commit"),
        ("As @dev-one and @o/team suggested, cache it", "As a colleague suggested, cache it"),
        ("Done.\n\n/cc @a @b\n", "Done."),
        ("Thanks (@a, @b)!", "Thanks!"),
        ("Cache it, as in https://x.example/y.", "Cache it."),
        ("The [docs](https://x.example/y \"t\") say `a < b`", "The docs say `a < b`"),
        ("![shot](https://x.example/y.png)\nText", "shot\nText"),
        ("[`f()`](../blob/main/a.py#L3) loops", "`f()` loops"),
        ('<a href="https://x.example">site</a> is slow', "site is slow"),
        ("Text\n\n[1]: https://x.example/y\n", "Text"),
        ("clone git@github.com:o/r.git first", "clone first"),
        ("read github.com/o/r/wiki first", "read first"),
        ("Reviewed-by: A B <a@b.co>\nAcked-by: C\nChange-Id: I12\n\nText", "Text"),
        ("Text\n(cherry picked from commit 1a2b3c4d5e6f)", "Text"),
        ("Ask bob.smith+x@mail.example.co.uk about it", "Ask about it"),
        ("<!-- template\n\nPlease @mention #5 -->\nText", "Text"),
        ("- one\n- #2\n- three", "- one\n- an earlier change\n- three"),
        ("&#64;bob and \\@eve and &num;5", "a colleague and an earlier change"),
        ("@Override and @types/node change", "`@Override` and `@types/node` change"),
        ("`f(https://acme.dev)`", "`f(https://example.com)`"),
        ("an open ` and @Override", "an open ` and a colleague"),
        ("a ` b\n<p>c ` @Override</p>\n\n`@x`", "a ` b\n<p>c ` a colleague</p>\n\n`@x`"),
        ("text\n\n```\n@x\n```\n\n@bob", "text\n\n```\n@x\n```\n\na colleague"),
        ("a\nb\n\nFixes #5\n\nc", "a\nb\n\nc"),
        ("a\nFixes #5\n\n\nb", "a\n\nb"),
        ("a\nFixes #5\nb\n\n\nc", "a\nb\n\n\nc"),
        ("<b title=\"`\">[x](https://y.example) `z`", "<b title=\"`\">x `z`"),
        ("<b title=\"`\">![x](y.png) `z`", "<b title=\"`\">x `z`"),
        ("a\r\nb\rc\0", "a\nb\nc\ufffd"),
        ("Like `1a2b3c4d` and `#55` did", "Like an earlier commit and an earlier change did"),
    ],
)  # fmt: skip
def test_what_points_somewhere_goes_and_the_meaning_stays(text: str, neutral: str) -> None:
    assert neutral_text(text) == neutral
    assert neutral_text(neutral) == neutral


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Fix double discount",
        "Use C#12 and F#7, not C",
        "Fixes the parser: closes the file at last",
        "id 1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed, defaced, 1234567, 0x1a2b3c4d, colour #a1b2c3d",
        "a@b, x @ y, 5 # 6, a[0][1], foo(bar), `git log @{u}`, `@decorator`",
        "# Heading\n\n1. one\n2. two\n\n> quote -- said\n\n* a\n\n---\n\nend,",
        "```python\n@decorator  # 12\ndef f(): ...\n```\n\n    @indented\n\ntext",
        "``a ` @x ` b`` and `` ` ``",
        "an escaped \\` and `@x`, \\\\`@x`, \\\\\\` and `@x`",
        "an escaped \\``@x` before a span",
        "`X1a2b3c4X` is no commit",
        "`get(http://localhost)`, `[http://127.0.0.1]`, `a = http://localhost, b` and `http://localhost; b`",
        "\n\ntext",
        "text\n\n~~~\n@x # 5\n~~~",
        "a ` b\n\n`@x` c",
        "| a | b |\n|---|---|\n| `@x` | 5 |",
        "trailing spaces  \nstay\n\n\n\nand so do blanks",
        "caf\u00e9 \u2013 na\u00efve \U0001f600",
    ],
)
def test_neutral_text_comes_back_as_it_is(text: str) -> None:
    assert neutral_text(text) == text
    assert links_back([("body", text)]) == ()


def test_code_keeps_its_mentions_but_leads_nowhere() -> None:
    text = (
        "```\n@app.get\ncurl https://acme.dev/x -u a@acme.dev\ncurl http://localhost:80/ https://api.example.com/v1\n"
        "git clone git@github.com:acme/widgets.git\nacme/widgets#5 1a2b3c4d5e6f7a8b9c0d1e2f3a4b5c6d7e8f9a0b #5\n```"
    )
    neutral = neutral_text(text)
    assert neutral == (
        "```\n@app.get\ncurl https://example.com -u user@example.com\n"
        "curl http://localhost:80/ https://api.example.com/v1\ngit clone https://example.com\n"
        " 0000000000000000000000000000000000000000 #5\n```"
    )
    assert neutral_text(neutral) == neutral


@pytest.mark.parametrize(
    "text",
    [
        "`open @bob",
        "a `b\n\nc` @bob",
        "- a `b\n- c` @bob `d`",
        "\\`@bob`",
        "<a title=\"`\"> @bob `x`",
        "<!-- ` --> @bob `",
        "``@bob`",
        "> `a\n\n@bob`",
        "a*@bob*",
        "<b title=\"`\">@bob `x`",
        "<b title=\"` @bob `\">",
        "x <b title=\"` @bob `\">",
        "**@bob**'s",
        "[x]( <y z> ) @bob",
        "| a ` | @bob |\n|---|---|\n| ` | c |",
    ],
)  # fmt: skip
def test_a_mention_cannot_hide_behind_what_only_looks_like_code(text: str) -> None:
    assert "@bob" not in outside_code(neutral_text(text))


def test_a_text_that_never_settles_is_an_error_and_no_endless_rewriting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.neutral_text._MOST_PASSES", 1)
    told = "the text still changes after 1 rewritings; it cannot be made neutral"
    with pytest.raises(ValueError, match=f"\\A{told}\\Z"):
        neutral_text("Fixes #5")


PIECES = st.sampled_from(
    ["@bob", "@o/t", "#12", "o/r#3", "https://x.example/a_(b)", "Fixes ", "closes", "1a2b3c4", "a@b.co", "`", "``",
     "```", "\n", "\n\n", " ", "    ", "- ", "> ", "(", ")", "[", "](", "]", "<", ">", "<!--", "-->", "\\", "&#64;",
     "text", "cc ", ", ", "and ", ": ", ".", "~~~", "@Override", "\r\n", "|", "*", "_", "\ue000", "\ue0010\ue002",
     "www.a.b", "-", "\0"]
)  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(st.lists(PIECES, max_size=14).map("".join))
def test_any_text_becomes_one_that_pings_nobody_and_is_a_fixed_point(text: str) -> None:
    neutral = neutral_text(text)
    assert neutral_text(neutral) == neutral
    shown = outside_code(neutral)
    assert not re.search(r"(?<!\w)@(?:bob|o/t)\b", shown)
    assert not re.search(r"(?<![A-Za-z0-9&#])#12(?![A-Za-z0-9])|o/r#3(?![A-Za-z0-9])", shown)
    assert "a@b.co" not in neutral and not re.search("[\ue000-\ue002\r]", neutral)


@pytest.mark.parametrize(
    "unit", ["a.", "@a", "#1,", "<!--", "](", "`", "\\`", "a@b.", "fixes ", "see #1 ", "(((", "- "]
)
def test_hostile_repetition_costs_no_more_than_a_moment(unit: str) -> None:
    begun = time.process_time()
    neutral_text((unit * 20_000)[:20_000])
    assert time.process_time() - begun < 5


# --- the audit --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["acme/widgets", "see ACME-Widgets", "acme widgets", "an acme_widgets.git", "myacmewidgets2", "ac\u200bme/widgets",
     "\uff41\uff43\uff4d\uff45/widgets"],
)  # fmt: skip
def test_a_forbidden_name_is_found_in_every_spelling(text: str) -> None:
    assert leaks([("body", text)], ["acme/widgets"]) == ("body: contains 'acme/widgets'",)


def test_a_short_name_is_found_as_a_word_only() -> None:
    assert leaks([("t", "good cargo")], ["go"]) == ()
    for spelt in ("Go, then", "g\u200bo", "g\u0336o"):
        assert leaks([("t", spelt)], ["go"]) == ("t: contains 'go'",)


def test_a_name_of_five_letters_or_more_is_found_inside_words_and_across_separators() -> None:
    assert leaks([("t", "mygizmo2")], ["gizmo"]) == ("t: contains 'gizmo'",)
    assert leaks([("t", "mygizm2")], ["gizm"]) == ()
    assert leaks([("t", "the-giz-mo")], ["gizmo"]) == ("t: contains 'gizmo'",)


def test_leaks_are_told_text_by_text_and_empty_words_forbid_nothing() -> None:
    forbidden = ["", " ", "-", *forbidden_for("acme/widgets", ["zeta-review", "acme"])]
    found = leaks([("title", "Fix widgets"), ("branch", "update/calm-bay"), ("body", "by Zeta Review")], forbidden)
    assert found == ("title: contains 'widgets'", "body: contains 'zeta-review'")


def test_a_leak_is_told_by_its_place_and_its_kind_and_never_by_its_words() -> None:
    told = Told("octo/gizmos", "77001-1", derived_only=("zeta",))
    derived, pinned = (
        [("the branch", "work/zeta-bay")],
        [("the title", "Zeta: fix it"), ("the body", "Keep: it. Fixes #5")],
    )
    assert fork_leaks(derived, pinned, told) == (
        "the branch names the suite or a reviewer",
        "the body points back to somewhere",
    )


def test_a_pinned_text_that_still_points_somewhere_is_reported() -> None:
    (told,) = links_back([("pulls[3].body", "Fixes #5"), ("pulls[4].body", "Fixes it")])
    why = "has a reference, link, mention, address or trailer; neutral would be ''"
    assert told == f"pulls[3].body: {why}"
