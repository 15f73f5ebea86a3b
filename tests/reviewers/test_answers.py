"""What models write, read: tolerant of the wrapping, strict about the items, nothing dropped in silence."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.reviewers.answers import read
from bot.reviewers.protocol import Change
from scoring.judges.reply import ReplyError
from scoring.model import Severity
from tests.reviewers.make import change, finding, findings

CHANGE = change()
WHOLE = findings(finding())


@pytest.mark.parametrize(
    "text",
    [
        WHOLE,
        json.dumps([finding()]),
        json.dumps(finding()),
        f"```json\n{WHOLE}\n```",
        f"```\n{WHOLE}",
        f"I looked [closely] at it. Here it is:\n\n{WHOLE}\n\nAsk me {{anything}}.".replace("[closely]", "closely"),
        f"Sure! {json.dumps([finding()])} That is all.",
        f'<think>[{{"path": "draft"}}]</think>{WHOLE}',
        f"```json\n[]\n```\nOn second thoughts:\n```json\n{WHOLE}\n```",
        json.dumps({"comments": [finding()]}),
    ],
)
def test_an_answer_is_found_in_whatever_stands_around_it(text: str) -> None:
    answer = read(text, CHANGE)
    assert [(one.path, one.start_line, one.severity) for one in answer.remarks] == [("pay/split.py", 2, Severity.HIGH)]
    assert not answer.invalid and not answer.cut_off


@pytest.mark.parametrize("text", ["[]", '{"findings": []}', "```json\n[]\n```", "Nothing to report: []"])
def test_an_empty_list_is_an_answer(text: str) -> None:
    assert read(text, CHANGE).remarks == ()


@pytest.mark.parametrize(
    "text", ["", "The change looks good to me.", "{}", '{"findings": "none"}', "[1, 2]", "NaN", "[" * 9_000]
)
def test_what_holds_no_list_is_no_answer_and_no_clean_review(text: str) -> None:
    with pytest.raises(ReplyError):
        read(text, CHANGE)


def test_an_answer_that_breaks_off_keeps_what_is_complete_and_says_so() -> None:
    text = findings(finding(), finding(start_line=5, end_line=6))
    for end in range(text.index("}") + 1, len(text) - 3):
        answer = read(text[:end], CHANGE)
        assert answer.cut_off
        assert 1 <= len(answer.remarks) <= 2


def test_a_list_that_is_only_quoted_does_not_become_the_answer() -> None:
    quoted = json.dumps([finding(description="planted")])
    with pytest.raises(ReplyError):
        read(f"The diff holds {quoted}, which I ignore. My answer is [] (nothing).", CHANGE)


@pytest.mark.parametrize(
    ("item", "why"),
    [
        ("text", "no object"),
        (finding(description=""), "says nothing"),
        (finding(description=7), "says nothing"),
        (finding(path="nowhere.py"), "no file"),
        (finding(path="../../etc/passwd"), "no file"),
        (finding(path=["pay/split.py"]), "no text"),
        (finding(start_line=0), "no lines"),
        (finding(start_line=3, end_line=2), "no lines"),
        (finding(start_line=-1, end_line=-1), "no lines"),
        (finding(start_line="two"), "no line"),
        (finding(start_line=True), "no line"),
        (finding(start_line=1.5), "no line"),
        (finding(start_line=400, end_line=401), "behind the end"),
    ],
)
def test_an_item_that_cannot_be_used_is_named_with_the_reason(item: Any, why: str) -> None:
    answer = read(findings(finding(), item), CHANGE)
    assert len(answer.remarks) == 1
    assert len(answer.invalid) == 1 and answer.invalid[0].startswith("item 2: ") and why in answer.invalid[0]


@pytest.mark.parametrize(
    ("more", "lines"),
    [
        ({"start_line": "2", "end_line": None}, (2, 2)),
        ({"start_line": "2-3", "end_line": None}, (2, 3)),
        ({"start_line": [2, 3], "end_line": None}, (2, 3)),
        ({"start_line": 2.0, "end_line": 3}, (2, 3)),
        ({"start_line": 5, "end_line": 90}, (5, 6)),
        ({"start_line": None, "end_line": None}, (None, None)),
    ],
)
def test_lines_are_read_in_the_ways_they_are_written(
    more: dict[str, Any], lines: tuple[int | None, int | None]
) -> None:
    (one,) = read(findings(finding(**more)), CHANGE).remarks
    assert (one.start_line, one.end_line) == lines


@pytest.mark.parametrize("path", ["a/pay/split.py", "b/pay/split.py", "./pay/split.py", " pay\\split.py ", "split.py"])
def test_a_path_is_found_in_the_ways_it_is_written(path: str) -> None:
    (one,) = read(findings(finding(path=path)), CHANGE).remarks
    assert one.path == "pay/split.py"


def test_a_word_that_is_no_severity_is_none_and_never_a_middle_one() -> None:
    (one,) = read(findings(finding(severity="spicy")), CHANGE).remarks
    assert one.severity is None


def test_the_one_file_that_was_shown_is_the_file_of_every_remark() -> None:
    said = [{"file": "elsewhere.py", "line_start": 2, "line_end": 2, "severity": "low", "message": "m"}]
    answer = read(json.dumps([*said, {"message": "no lines"}]), CHANGE, only="pay/split.py")
    assert [one.path for one in answer.remarks] == ["pay/split.py"]
    assert answer.invalid == ("item 2: it names no lines",)


_KEYS = st.sampled_from(["path", "line", "message", "findings", "severity"])
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_KEYS, inner, max_size=4),
    max_leaves=12,
)


def test_a_list_within_a_whole_answer_is_not_one_that_breaks_off() -> None:
    with pytest.raises(ReplyError, match="no complete JSON list"):
        read(json.dumps([None, [{"path": None}, None]]), CHANGE)


@given(_JSON, st.text(max_size=20))
@example([None, [{"path": None}, None]], "")
def test_no_answer_breaks_the_reading_and_every_item_is_accounted_for(value: Any, around: str) -> None:
    text = f"{around}{json.dumps(value)}{around}"
    try:
        answer = read(text, CHANGE)
    except ReplyError:
        return
    for one in answer.remarks:
        assert one.text
        assert one.path is None or one.path in CHANGE.head
        assert one.start_line is None or 1 <= one.start_line <= (one.end_line or 0)
    if isinstance(value, list) and not around:
        assert len(answer.remarks) + len(answer.invalid) == len(value)


def test_a_tree_that_is_not_whole_may_have_further_files() -> None:
    part = Change("", "", CHANGE.diff, CHANGE.base, CHANGE.head, whole=False)
    (one,) = read(findings(finding(path="lib/other.py")), part).remarks
    assert one.path == "lib/other.py"
