from __future__ import annotations

from scoring.candidates import extract
from scoring.model import Severity
from tests.scoring.make import inline, review, row_of, rows, text


def test_markers_locations_buttons_and_footers_around_a_finding_are_not_the_finding() -> None:
    body = """### Old key survives a rename

**High Severity**

<!-- DESCRIPTION START -->
`rename()` moves the file and leaves the old key in `index`.
<!-- DESCRIPTION END -->
<!-- LOCATIONS START
src/index.ts#L10-L20
LOCATIONS END -->
<details>
<summary>Additional Locations (1)</summary>

- [`src/other.ts#L1-L2`](https://github.com/o/r/blob/abc/src/other.ts#L1-L2)

</details>

<a href="https://x.test/open?data=eyJh"><picture><img alt="Fix in Editor" src="https://x.test/fix.png"></picture></a>

<sup>Reviewed by a bot for commit abc.</sup>"""
    (one,) = extract([inline(1, body, "src/index.ts", 10, 20)])
    assert one.title == "Old key survives a rename"
    assert one.severity is Severity.HIGH
    assert one.text == "Old key survives a rename\n\n`rename()` moves the file and leaves the old key in `index`."


def test_badges_give_the_severity_and_leave_the_text() -> None:
    image = "![high](https://x.test/agent/security-high-priority.svg)"
    html = '<a href="#"><img alt="P1" src="https://x.test/badges/p1.svg"></a> **Loop never ends**\n\nIt resets.'
    badge = "**<sub><sub>![P2 Badge](https://x.test/badge/P2-y?a=b)</sub></sub>  Query by topic first**\n\nIt hides."
    assert rows(inline(1, f"{image}\n\nThe token is compared with `==`."))[0][2:] == (
        Severity.HIGH,
        "The token is compared with `==`.",
    )
    assert rows(inline(2, html))[0][2:] == (Severity.HIGH, "Loop never ends")
    assert rows(inline(3, badge))[0][2:] == (Severity.MEDIUM, "Query by topic first")


def test_a_summary_of_the_change_with_tables_diagrams_and_scores_holds_no_finding() -> None:
    body = """<details open><summary><h3>Acme Summary</h3></summary>

This PR adds a retry loop to the client, fixing a crash when the server is down.

- Adds `retry()`

</details>

<h3>Confidence Score: 2/5</h3>

- The retry loop never ends.

<h3>Important Files Changed</h3>

| Filename | Overview |
|---|---|
| x.py | Adds the retry loop, which never ends |

<details><summary><h3>Sequence Diagram</h3></summary>

```mermaid
sequenceDiagram
A->>B: hi
```
</details>

<sub>Reviews (1): Last reviewed commit: abc</sub>"""
    assert rows(text(1, body)) == []


def test_an_overview_with_change_bullets_holds_no_finding() -> None:
    body = """## Pull request overview

This PR refactors the reader.

**Changes:**
- Moved `close()` into a helper
- Added tests for `read()`

### Reviewed changes

Acme reviewed 2 out of 2 changed files in this pull request and generated 1 comment.

| File | Description |
| ---- | ----------- |
| a.py | Moves close |
"""
    assert rows(review(1, body)) == []


_COLLAPSED = """<h3>Code Review by Acme</h3>

<code>🐞 Bugs (1)</code> <code>📘 Rule violations (1)</code>

<img src="https://x.test/badge/Action_required-E04040">

<details>
<summary>
1. Lock not released on error <code>🐞 Bug</code> <code>☼ Reliability</code></summary>

> <details open>
> <summary>Description</summary>
>
> <pre>
> <b><i>Pool.acquire()</i></b> returns early when the pool is empty
> without releasing the lock.
> </pre>
> </details>
>
> <details>
> <summary>Code</summary>
>
>[src/pool.c[R10-R14]](https://github.com/o/r/blob/abc/src/pool.c#L10-L14)
>
> ```diff
> + lock();
> ```
> </details>
>
> <details>
> <summary>Agent prompt</summary>
>
> ```
> Fix it
> ```
> </details>

</details>

<details>
<summary>
2. Missing changelog entry <code>📘 Rule violation</code></summary>

> <details open>
> <summary>Description</summary>
>
> <pre>
> No entry was added to the changelog.
> </pre>
> </details>
</details>
"""


def test_findings_that_are_collapsed_sections_are_found_with_the_place_their_link_names() -> None:
    found = extract([text(1, _COLLAPSED)])
    assert [row_of(one) for one in found] == [
        ("src/pool.c", (10, 14), None, "Lock not released on error"),
        (None, None, None, "Missing changelog entry"),
    ]
    assert [one.category_said for one in found] == ["Bug", "Rule violation"]
    assert "Fix it" not in found[0].text
    assert "lock();" not in found[0].text


def test_free_text_reviews_give_their_listed_issues_and_neither_praise_nor_notes() -> None:
    body = """## Review: retry client

Nice work overall, the structure is clear.

### Strengths
- Good test coverage
- Clear naming

### Issues

1. **Retry never ends** (`src/client.py:42`): `attempts` is reset in the loop.
   - This blocks the worker forever.
2. **Token in log**: `src/log.py` line 7 prints the bearer token.

### Minor

- `timeout` is an int in one place and a string in another

### Testing notes
- I could not run the tests.

Overall this looks good to merge after the fixes."""
    assert rows(text(1, body)) == [
        ("src/client.py", (42, 42), None, "Retry never ends"),
        ("src/log.py", (7, 7), None, "Token in log"),
        (None, None, Severity.LOW, "`timeout` is an int in one place and a string in another"),
    ]


def test_one_layout_on_a_line_and_at_top_level_reads_the_same() -> None:
    body = """Review #2
**[Bug/High] Memory: buffer freed twice**
`release()` in `src/buf.c`
Can crash the server.

The second free happens on the error path when `len` is zero."""
    (top,) = extract([text(1, body)])
    assert (top.severity, top.category_said, top.title) == (Severity.HIGH, "Bug", "Memory: buffer freed twice")
    assert top.place is not None
    assert top.place.path == "src/buf.c"


def test_a_comment_is_cut_only_where_each_part_names_its_own_badness_or_place() -> None:
    listed = "Two problems here:\n\n1. [P1] `a` may be null after logout.\n2. [P2] The loop skips the last element."
    steps = "The lock order differs:\n\n1. `a()` takes L1 then L2\n2. `b()` takes L2 then L1"
    assert [row[2] for row in rows(inline(1, listed))] == [Severity.HIGH, Severity.MEDIUM]
    assert [row[3] for row in rows(inline(2, steps))] == ["The lock order differs"]


def test_places_in_bullets_groups_and_tables() -> None:
    bullets = """- `src/a.py:10` - division by zero
- **src/b.py** (lines 3-5): unused `x`
- src/c.py:7: wrong operator
- LGTM otherwise"""
    groups = "**src/a.py**\n- L10: division by zero\n- L20-22: unused `x`\n\n**src/b.py**\n- Line 5: wrong operator"
    table = """## Findings

| Severity | File | Issue |
|---|---|---|
| High | `src/a.py:10` | Division by zero |
| Low | `src/b.py` | Unused |"""
    assert rows(review(1, bullets)) == [
        ("src/a.py", (10, 10), None, "division by zero"),
        ("src/b.py", (3, 5), None, "unused `x`"),
        ("src/c.py", (7, 7), None, "wrong operator"),
    ]
    assert [row[:2] for row in rows(review(2, groups))] == [
        ("src/a.py", (10, 10)),
        ("src/a.py", (20, 22)),
        ("src/b.py", (5, 5)),
    ]
    assert rows(review(3, table)) == [
        ("src/a.py", (10, 10), Severity.HIGH, "Division by zero"),
        ("src/b.py", None, Severity.LOW, "Unused"),
    ]


def test_sections_nested_through_quotes_are_still_read() -> None:
    body = """> [!CAUTION]
> Some comments are outside the diff and can't be posted inline.
>
> <details>
> <summary>Outside diff range comments (2)</summary><blockquote>
>
> > <details>
> > <summary>lib/one.go (1)</summary><blockquote>
> >
> > `10-12`: _Correctness_ | _Major_
> >
> > **Close the body.**
> >
> > It leaks a connection.
> >
> > </blockquote></details>
> > <details>
> > <summary>lib/two.go (1)</summary><blockquote>
> >
> > > `20-21`: _Style_ | _Trivial_
> > >
> > > **Rename it.**
> >
> > </blockquote></details>
> </blockquote></details>"""
    assert rows(review(1, body)) == [
        ("lib/one.go", (10, 12), Severity.HIGH, "Close the body."),
        ("lib/two.go", (20, 21), Severity.LOW, "Rename it."),
    ]


def test_a_link_to_lines_is_the_place_of_the_finding_below_it() -> None:
    link = "https://github.com/o/r/blob/0123abc/web/a%20b.ts#L7-L9"
    body = f"### Acme Review\n\n{link}\n**Check the topic first**\n\nThe newest sessions hide older ones."
    assert rows(text(1, body)) == [("web/a b.ts", (7, 9), None, "Check the topic first")]


def test_chinese_reviews_are_read_like_any_other() -> None:
    listed = """## 代码审查

### 问题

1. `src/a.go:12`\uff1a锁未释放\uff0c出错时会死锁。
2. `src/b.go:30`\uff1a整数溢出。

### 优点
- 结构清晰"""
    assert rows(text(1, listed)) == [
        ("src/a.go", (12, 12), None, "锁未释放\uff0c出错时会死锁。"),
        ("src/b.go", (30, 30), None, "整数溢出。"),
    ]
    remark = "`user` 为空时会崩溃。"
    assert rows(inline(2, f"**严重**\uff1a{remark}"))[0][2:] == (Severity.CRITICAL, remark)
    assert rows(text(3, "未发现问题。")) == []


def test_a_paragraph_that_retells_the_inline_findings_is_folded_into_them() -> None:
    remark = inline(1, "The token is compared with `==`, which leaks timing. Use a constant-time comparison.")
    summary = (
        "## Code Review\n\nThis pull request introduces tokens. The review identifies a timing leak in the token "
        "comparison, which should be constant-time."
    )
    found = extract([remark, review(5, summary)])
    assert [(one.comment_id, one.repeats) for one in found] == [("review_comment/1", ("review/5",))]


def test_a_paragraph_that_says_something_new_beside_inline_findings_is_kept() -> None:
    remark = inline(1, "The token is compared with `==`, which leaks timing.")
    summary = "The migration drops the `orders` index and is never rolled back when it fails halfway."
    assert [one.comment_id for one in extract([remark, review(5, summary)])] == ["review/5", "review_comment/1"]


def test_a_summary_item_at_the_same_line_about_something_else_is_kept() -> None:
    remark = inline(1, "The token is compared with `==`, which leaks timing.", "src/a.py", 10)
    summary = "- `src/a.py:10`: the socket is never closed when reading fails"
    assert len(extract([remark, review(5, summary)])) == 2


def test_angle_brackets_that_are_no_markup_stay_in_the_text() -> None:
    (one,) = extract([inline(1, "`Map<K, V>` leaks: Map<String, List<Foo>> is never cleared & grows")])
    assert one.text == "`Map<K, V>` leaks: Map<String, List<Foo>> is never cleared & grows"
