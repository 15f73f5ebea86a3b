from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scoring.candidates import examine, extract
from scoring.model import Candidate, Comment, Place, Severity, Shape
from tests.scoring.make import inline, place, review, text
from tests.shared import SHARED, case, case_file


def from_rest(raw: dict[str, Any]) -> Comment:
    last = raw["line"] or raw["original_line"]
    first = raw["start_line"] or last
    name = f"review_comment/{raw['id']}"
    shape = Shape.FILE if raw["subject_type"] == "file" else Shape.INLINE
    return Comment(name, shape, raw["user"]["login"], raw["body"], "", place(raw["path"], first, last))


def spots(candidates: tuple[Candidate, ...]) -> list[tuple[str, tuple[int, int] | None, str]]:
    places = [(one.place or Place(""), one.title) for one in candidates]
    return sorted(((where.path, where.lines, title) for where, title in places), key=str)


def expected_spots(raw: dict[str, Any]) -> list[tuple[str, tuple[int, int], str]]:
    return sorted(
        (one["path"], (one["lines"][0], one["lines"][1]), one["title"]) for one in raw["expected"]["findings"]
    )


def test_a_summary_that_repeats_inline_findings_adds_only_what_is_new() -> None:
    shared = case("19")
    body = case_file(shared["input"]["reviews"][0]["body_file"]).decode()
    comments = [review(500, body), *map(from_rest, shared["input"]["review_comments"])]
    found = extract(comments)
    assert spots(found) == expected_spots(shared)
    assert [one.repeats for one in found if one.shape is Shape.INLINE] == [("review/500",), ("review/500",)]
    assert len(extract(comments[:1])) + 2 == shared["expected"]["raw_items"]


def test_suggestions_of_any_fence_length_leave_the_text_and_are_kept() -> None:
    shared = case("21")
    comments = [from_rest(raw) for key in ("review_comments", "review_comments_2") for raw in shared["input"][key]]
    found = {one.comment_id: one for one in extract(comments)}
    for wanted in shared["expected"]["findings"]:
        one = found[f"review_comment/{wanted['id']}"]
        assert one.text == wanted["text"]
        assert list(one.suggestions) == wanted["suggestions"]
        assert ("suggestion_only" in one.flags) is wanted.get("suggestion_only", False)


def test_text_aimed_at_the_judge_is_flagged_and_leaves_no_trace_in_what_is_judged() -> None:
    shared = case("23")
    body: str = shared["input"]["candidate"]
    (one,) = extract([inline(1, body)])
    (plain,) = extract([inline(1, body.split("\n\n")[0])])
    assert shared["expected"]["flag"] in one.flags
    assert (one.text, one.title) == (plain.text, plain.title)


def test_annotations_are_candidates_and_other_kinds_of_comment_are_not() -> None:
    shared = case("28")
    notes = shared["input"]["check_runs"][0]["annotations"]
    comments = [
        Comment(
            f"annotation/{at}",
            Shape.ANNOTATION,
            "z",
            note["message"],
            "",
            place(note["path"], note["start_line"], note["end_line"]),
        )
        for at, note in enumerate(notes)
    ] + [text(raw["id"], raw["body"]) for raw in shared["input"]["issue_comments"]]
    result = examine(comments)
    assert len(result.candidates) == shared["expected"]["findings"]
    assert result.candidates[1].repeats == ("issue_comment/2",)
    assert [(one.comment_id, "approvability" in one.reason) for one in result.no_claims] == [("issue_comment/1", True)]


def test_answers_in_a_thread_are_no_claims_and_a_withdrawal_stays_visible() -> None:
    shared = case("14")
    raws = shared["input"]["review_comments"]
    bots = [from_rest(raw) for raw in raws if raw["user"]["type"] == "Bot"]
    root = bots[0]
    flagged = Comment(
        root.id, root.shape, root.author, root.body, "", root.place, flags=(shared["expected"]["flags"]["1"],)
    )
    found = extract([flagged, *bots[1:]])
    assert [(one.comment_id, one.flags) for one in found] == [("review_comment/1", ("withdrawn_by_author_bot",))]


def test_acknowledgements_and_build_news_are_no_findings() -> None:
    shared = case("17")
    for raw in shared["input"]["issue_comments"]:
        assert extract([text(raw["id"], raw["body"])]) == (), raw["body"]


def test_a_short_review_body_is_a_finding_and_approval_is_not() -> None:
    shared = case("29")
    reviews = [raw for raw in shared["input"]["reviews"] if raw["state"] != "PENDING"]
    found = extract([review(raw["id"], raw["body"]) for raw in reviews])
    assert [one.comment_id for one in found] == [f"review/{number}" for number in shared["expected"]["findings_from"]]


@pytest.mark.parametrize("prefix", ["12"])
def test_a_file_level_comment_keeps_its_file_and_has_no_lines(prefix: str) -> None:
    (one,) = extract([from_rest(raw) for raw in case(prefix)["input"]["review_comments"]])
    assert one.place is not None
    assert (one.place.path, one.place.lines, one.shape) == ("src/app.py", None, Shape.FILE)


def _real(folder: str, pattern: str) -> list[Path]:
    found = sorted((SHARED / "data" / "real_comments" / folder).glob(pattern))
    if not found:
        pytest.skip(f"no {folder}/{pattern}: the shared reference material is not here")
    return found


def test_every_real_inline_comment_of_one_reviewer_is_one_candidate_with_its_own_severity() -> None:
    levels = {"P0": Severity.CRITICAL, "P1": Severity.HIGH, "P2": Severity.MEDIUM}
    seen = 0
    for path in _real("droid", "*_pr_*_comments.json"):
        raws = json.loads(path.read_text(encoding="utf-8"))
        found = {one.comment_id: one for one in extract([from_rest(raw) for raw in raws])}
        assert len(found) == len(raws)
        for raw in raws:
            one = found[f"review_comment/{raw['id']}"]
            label = raw["body"].lstrip("*[")[:2]
            assert one.severity is levels[label], raw["body"][:60]
            assert label not in one.title
            seen += 1
    assert seen > 40


def test_real_banners_are_no_findings_and_real_summaries_give_the_findings_they_hold() -> None:
    wanted = {
        "coderabbit__finding-with-also-applies-trailer": 1,
        "coderabbit__findings-failed-to-post": 1,
        "coderabbit__findings-nested-quotes": 2,
        "coderabbit__findings-outside-diff": 1,
        "codex__findings-outside-diff": 1,
    }
    for path in _real("banners", "*.md"):
        if path.stem == "coderabbit__reply-retained":
            continue
        found = extract([text(1, path.read_text(encoding="utf-8"))])
        assert len(found) == wanted.get(path.stem, 0), path.stem
        if path.stem.endswith(("outside-diff", "nested-quotes", "failed-to-post")):
            assert all(one.place and one.place.lines for one in found), path.stem
