"""Comment dumps: whose a comment is, where it stands, and which pull request it is about."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from goldens.importers import FORMATS, ImportProblem, Options
from scoring.model import Shape, Side, TrialStatus
from tests.goldens.importers.material import URL, data, form, put

REST = FORMATS["rest"]
BOT = {"login": "quill[bot]", "type": "Bot"}


def comment(number: int = 1, **change: Any) -> dict[str, Any]:
    base = {"id": number, "user": BOT, "body": "x is null", "html_url": f"{URL}#discussion_r{number}"}
    base |= {
        "path": "src/a.c",
        "line": 9,
        "original_line": 9,
        "side": "RIGHT",
        "commit_id": "new",
        "original_commit_id": "old",
    }
    return base | {"created_at": "2026-01-02T03:04:05Z", "updated_at": "2026-01-02T03:04:05Z"} | change


def read(tmp_path: Path, *comments: Any, **options: str) -> Any:
    return REST.read(put(tmp_path, {"pr.json": list(comments)}) / "pr.json", Options(**options))


def only(tmp_path: Path, **change: Any) -> Any:
    return read(tmp_path, comment(**change)).trials[0].comments[0]


def test_a_line_comment_stands_where_it_is_now(tmp_path: Path) -> None:
    one = only(tmp_path, start_line=7)
    assert (one.id, one.shape, one.place.lines, one.commit, one.outdated) == (
        "review_comment/1",
        Shape.INLINE,
        (7, 9),
        "new",
        False,
    )


def test_an_outdated_comment_stands_where_it_was_made(tmp_path: Path) -> None:
    one = only(tmp_path, line=None, original_line=4)
    assert (one.place.lines, one.commit, one.outdated) == ((4, 4), "old", True)


def test_a_comment_on_a_file_has_no_lines(tmp_path: Path) -> None:
    one = only(tmp_path, subject_type="file", line=None, original_line=1)
    assert (one.shape, one.place.path, one.place.lines) == (Shape.FILE, "src/a.c", None)


def test_a_comment_on_what_was_removed_is_on_the_left(tmp_path: Path) -> None:
    assert only(tmp_path, side="LEFT").place.side is Side.LEFT


def test_reviews_and_plain_comments_are_told_apart(tmp_path: Path) -> None:
    review = {"id": 2, "user": BOT, "body": "summary", "state": "COMMENTED", "submitted_at": "2026-01-02T03:04:05Z"}
    plain = {"id": 3, "user": BOT, "body": "hello", "issue_url": "https://api.github.com/repos/acme/widgets/issues/7"}
    bundle = read(tmp_path, comment(), review, plain)
    assert [(one.id, one.shape) for one in bundle.trials[0].comments] == [
        ("review_comment/1", Shape.INLINE),
        ("review/2", Shape.REVIEW_BODY),
        ("issue_comment/3", Shape.ISSUE_COMMENT),
    ]
    assert bundle.trials[0].comments[1].created_at == "2026-01-02T03:04:05Z"


def test_people_and_ghosts_are_nobodys_reviewers(tmp_path: Path) -> None:
    person = comment(2, user={"login": "ada", "type": "User"})
    bundle = read(
        tmp_path, comment(), person, comment(3, user=None), comment(4, user={"login": "Copilot", "type": "Bot"})
    )
    assert [trial.reviewer for trial in bundle.trials] == ["quill", "copilot"]
    assert bundle.card.notes == ("2 comments are of people or of accounts that are gone: no reviewer's",)


def test_a_ghost_is_not_a_named_reviewer(tmp_path: Path) -> None:
    bundle = read(tmp_path, comment(user=None), reviewer="ghost")
    assert bundle.trials[0].comments == ()


def test_a_named_account_is_a_reviewer_even_if_it_posts_as_a_person(tmp_path: Path) -> None:
    bundle = read(tmp_path, comment(user={"login": "ada", "type": "User"}), comment(2), reviewer="Ada")
    assert [(trial.reviewer, len(trial.comments)) for trial in bundle.trials] == [("Ada", 1)]


def test_an_empty_dump_is_a_trial_that_may_not_have_run() -> None:
    bundle = REST.read(data("real_comments", "droid"))
    silent = [trial for trial in bundle.trials if not trial.comments]
    assert len(silent) == 2
    assert all(
        trial.status is TrialStatus.REVIEWED_CLEAN and "does not say whether the reviewer ran" in trial.reason
        for trial in silent
    )


def test_golden_lists_are_paired_by_position_and_that_is_said() -> None:
    bundle = REST.read(data("real_comments", "droid"))
    by_file = {pull.tags["file"]: pull for pull in bundle.pulls}
    assert by_file["keycloak_pr_2_comments.json"].title.startswith("Add caching support")
    assert by_file["keycloak_pr_10_comments.json"].goldens
    assert by_file["sentry_pr_6_comments.json"].goldens[0].finding.startswith("Importing non-existent")
    assert len(bundle.card.notes) == 2


def test_the_address_may_be_any_a_comment_has(tmp_path: Path) -> None:
    api: dict[str, Any] = {"html_url": None, "pull_request_url": "https://api.github.com/repos/acme/widgets/pulls/7"}
    assert read(tmp_path, comment(**api)).pulls[0].url == URL


MALFORMED: dict[str, tuple[Any, str]] = {
    "two pull requests": (
        [comment(), comment(2, html_url="https://github.com/acme/widgets/pull/8#r")],
        f"pr.json: $: expected the comments of one pull request, found comments of {URL}, https://github.com/acme/widgets/pull/8",
    ),
    "no user": (
        [{"id": 1, "body": "x", "usr": {}}],
        "pr.json: $[0]: expected a key 'user', found 'usr'; did you mean 'user'?",
    ),
    "no body": ([{key: value for key, value in comment().items() if key != "body"}], "$[0]: expected a key 'body'"),
    "a user that is a text": ([comment(user="quill[bot]")], "$[0].user: expected an object, found 'quill[bot]'"),
    "a line that is none": (
        [comment(line=-3)],
        "$[0].line: expected a whole number from 1, or null, found the number -3",
    ),
    "an object": ({"comments": []}, "pr.json: $: expected a list, found an object"),
}


@pytest.mark.parametrize(("value", "says"), MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_dump_is_named_with_place_and_expectation(value: Any, says: str, tmp_path: Path) -> None:
    with pytest.raises(ImportProblem) as error:
        REST.read(put(tmp_path, {"pr.json": value}))
    assert says in str(error.value)


def test_golden_lists_of_another_length_are_refused(tmp_path: Path) -> None:
    files = {"acme_pr_1_comments.json": [comment()], "acme_golden_comments.json": [{"comments": []}, {"comments": []}]}
    with pytest.raises(ImportProblem, match=r"expected as many entries as there are dumps beside it \(1\), found 2"):
        REST.read(put(tmp_path, files))


def test_one_pull_request_in_two_dumps_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ImportProblem, match=r"b.json: \$: expected each pull request once, .* \(see a.json\)"):
        REST.read(put(tmp_path, {"a.json": [comment()], "b.json": [comment(2)]}))


def test_what_people_wrote_stays_in_a_changed_dump(tmp_path: Path) -> None:
    person = comment(2, user={"login": "ada", "type": "User"}, body="I disagree")
    files = {"pr.json": json.dumps([comment(), person]).encode()}
    one = form("rest")
    assert json.loads(one.generate(one.build(files, Options()), files)["pr.json"]) == [comment(), person]
