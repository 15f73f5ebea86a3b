from __future__ import annotations

from scoring.candidates import examine, extract
from scoring.model import Severity
from tests.scoring.make import inline, rows, text


def test_labels_are_taken_off_and_unknown_ones_are_said_to_be_unknown() -> None:
    found = {
        one.comment_id: one
        for one in extract(
            [
                inline(1, "Severity: spicy\n\nThe lock is held."),
                inline(2, "issue (blocking): The lock is held."),
                inline(3, "nitpick (non-blocking): rename foo"),
                inline(4, "🔴 **Critical**: SQL injection"),
                inline(5, "**Possible null dereference** (high)\n\nfoo"),
                inline(6, "[Security] The secret is logged."),
            ]
        )
    }
    said = {name.split("/")[1]: (one.severity, one.category_said, one.title) for name, one in found.items()}
    assert said == {
        "1": (None, None, "The lock is held."),
        "2": (None, "issue", "The lock is held."),
        "3": (Severity.LOW, "nitpick", "rename foo"),
        "4": (Severity.CRITICAL, None, "SQL injection"),
        "5": (Severity.HIGH, None, "Possible null dereference"),
        "6": (None, "Security", "[Security] The secret is logged."),
    }
    assert "severity_unknown" in found["review_comment/1"].flags
    assert "severity_unknown" not in found["review_comment/2"].flags


def test_patterns_of_the_reviewer_drop_its_chatter_and_say_so() -> None:
    comments = [text(1, "Beep, the robot has opinions about lunch."), inline(2, "The lock is held on error.")]
    result = examine(comments, not_findings=[r"\blunch\b"])
    assert [one.comment_id for one in result.candidates] == ["review_comment/2"]
    assert [one.comment_id for one in result.no_claims] == ["issue_comment/1"]


def test_praise_and_nothing_found_are_no_claims_however_they_are_worded() -> None:
    for body in (
        "LGTM",
        "LGTM! Great work 🎉",
        "Looks good to me.",
        "✅ No issues found.",
        "No issues were found in this pull request.",
        "I have reviewed the changes and found no issues.",
        "Acme Review: Didn't find any major issues. Keep them coming!",
        "**Actionable comments posted: 0**\n\nNo actionable comments were generated in the recent review.",
        "This PR refactors the parser and adds tests.",
        "👍",
        "Nice catch, thanks!",
    ):
        assert rows(text(1, body)) == [], body


def test_criticism_that_begins_kindly_is_still_a_claim() -> None:
    for body in (
        "Nice approach, but the lock is never released.",
        "Good start; however `close()` is missing on the error path.",
        "This PR adds a cache that is never invalidated.",
        "Clean up the temporary file when parsing fails.",
    ):
        assert len(rows(text(1, body))) == 1, body
        assert len(rows(inline(1, body))) == 1, body


def test_unnumbered_headings_with_prose_below_are_findings_of_their_own() -> None:
    headed = """## Review

### Race between `flush()` and `close()`

Both may run at once and the buffer is freed twice.

### Missing null check in the parser

`node.parent` is null for the root.

### Architecture

The layers are split as before."""
    bold = """**Race in the worker pool**
Two workers can take the same job.

**Wrong default for the timeout**
It is 30 ms instead of 30 s."""
    assert [row[3] for row in rows(text(1, headed))] == [
        "Race between `flush()` and `close()`",
        "Missing null check in the parser",
    ]
    assert [row[3] for row in rows(text(2, bold))] == ["Race in the worker pool", "Wrong default for the timeout"]


def test_a_heading_over_a_list_names_the_section_and_the_items_are_the_findings() -> None:
    body = "### Problems with error handling code\n\n- `open()` may fail and is not checked\n- the retry never ends"
    assert [row[3] for row in rows(text(1, body))] == ["`open()` may fail and is not checked", "the retry never ends"]


def test_findings_whose_titles_hold_words_of_chatter_are_not_chatter() -> None:
    titles = ("Command injection in exec", "Password passed in plain text", "Score overflow")
    sections = "\n\n".join(
        f"<details>\n<summary>{number}. {title}</summary>\n\nIt is exploitable.\n\n</details>"
        for number, title in enumerate(
            ("Command injection in exec", "Password passed in plain text", "Score overflow"), 1
        )
    )
    headings = "### 1. Score overflow on large input\n\nIt wraps.\n\n### 2. Changes are lost on reload\n\nNot saved.\n"
    assert [row[3] for row in rows(text(1, sections))] == list(titles)
    assert [row[3] for row in rows(text(2, headings))] == [
        "Score overflow on large input",
        "Changes are lost on reload",
    ]
