"""Which head lines a patch makes new, and on which a comment can stand."""

from __future__ import annotations

import pytest

from bot.reviewers.patch import Patch, PatchError, read_patch
from tests.shared import case


def test_added_lines_are_counted_on_the_head_side() -> None:
    patch = read_patch("@@ -3,3 +3,4 @@ def f():\n a\n-b\n+B\n+c\n d")
    assert patch == Patch(frozenset({4, 5}), ((3, 6),))


def test_content_that_looks_like_diff_headers_is_content() -> None:
    text = "@@ -1,3 +1,3 @@\n---- a/x.py\n-@@ -1 +1 @@\n+++ b/x.py\n+@@ -9,9 +9,9 @@\n keep"
    assert read_patch(text).added == {1, 2}
    assert read_patch(text).hunks == ((1, 3),)


def test_the_no_newline_note_is_no_line() -> None:
    patch = read_patch("@@ -1 +1,2 @@\n-old\n\\ No newline at end of file\n+old\n+new\n\\ No newline at end of file")
    assert patch.added == {1, 2}


def test_form_feeds_and_carriage_returns_end_no_line() -> None:
    assert read_patch("@@ -0,0 +1,2 @@\n+a\x0cb\x85c\u2028d\r\n+e\r").added == {1, 2}


def test_a_pure_deletion_shows_no_head_line_that_could_carry_a_comment() -> None:
    patch = read_patch("@@ -4,2 +3,0 @@\n-a\n-b")
    assert not patch.added
    assert not patch.shows(3)


def test_a_range_over_two_hunks_cannot_carry_one_comment() -> None:
    patch = read_patch("@@ -1,2 +1,2 @@\n a\n-b\n+c\n@@ -9,2 +9,2 @@\n-x\n+y\n z")
    assert patch.shows(1, 2)
    assert patch.shows(9, 10)
    assert not patch.shows(2, 9)
    assert not patch.shows(3)


def test_an_empty_patch_has_no_lines() -> None:
    assert read_patch("") == Patch()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("+a", "patch line 1: expected a hunk header"),
        ("@@ -1 +1 @@\n-a\n+b\nrest", "patch line 4: expected a hunk header"),
        ("@@ -1,2 +1,2 @@\n a\n*b", "patch line 3: expected ' ', '+' or '-'"),
        ("@@ -1,2 +1,2 @@\n a", "shorter than its header"),
        ("@@ -1,2 +1 @@\n+a\n+b\n-c", "longer than its header"),
    ],
)
def test_a_broken_patch_is_refused_and_says_where(text: str, says: str) -> None:
    with pytest.raises(PatchError, match=says.replace("+", r"\+")):
        read_patch(text)


def test_the_patch_of_the_shared_case_reads() -> None:
    files = case("69")["input"]["answers"]["files"]
    assert read_patch(files[0]["patch"]).added == {2, 3, 4}
