"""Pull requests, reviews and where inline comments go."""

from __future__ import annotations

from typing import Any

import pytest

from .conftest import BASE, HEAD, Town

PULL = "/repos/acme/code/pulls/1"


def _lines(town: Town) -> list[tuple[Any, ...]]:
    comments = town.ok("GET", f"{PULL}/comments", town.alice)
    return [tuple(one[key] for key in ("line", "original_line", "position", "subject_type")) for one in comments]


def test_a_pull_request_counts_its_own_changes_only(town: Town) -> None:
    town.pull()
    town.gh.commit("acme/code", "main", {**BASE, "later.py": b"x\n"}, "Meanwhile on main", by="alice")
    pull = town.ok("GET", PULL, town.alice)
    assert (pull["changed_files"], pull["additions"], pull["deletions"], pull["commits"]) == (2, 4, 1, 1)
    text = town.call("GET", PULL, town.alice, headers={"Accept": "application/vnd.github.diff"}).text
    assert "later.py" not in text
    assert "+line ten\n" in text
    mail = town.call("GET", PULL, town.alice, headers={"Accept": "application/vnd.github.v3.patch"}).text
    assert "Subject: [PATCH] Change" in mail
    files = town.ok("GET", f"{PULL}/files", town.alice)
    assert [(one["filename"], one["status"]) for one in files] == [("a.py", "modified"), ("new.py", "added")]
    assert files[0]["patch"].startswith("@@ -7,7 +7,7 @@")
    assert len(town.ok("GET", f"{PULL}/commits", town.alice)) == 1


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"head": "topic", "base": "main"}, "A pull request already exists for acme:topic."),
        ({"head": "acme:topic", "base": "main"}, "A pull request already exists for acme:topic."),
        ({"head": "main", "base": "topic"}, "No commits between topic and main"),
        ({"head": "none", "base": "main"}, None),
        ({"head": "topic", "base": "none"}, None),
        ({"head": "other:topic", "base": "main"}, None),
        ({"base": "main"}, None),
    ],
)
def test_pull_requests_that_github_would_not_open(town: Town, body: dict[str, Any], said: str | None) -> None:
    town.pull()
    answer = town.call("POST", "/repos/acme/code/pulls", town.alice, title="again", **body)
    assert answer.status_code == 422
    if said:
        assert answer.json()["errors"][0]["message"] == said


def test_pull_requests_are_found_by_head_branch_in_any_state(town: Town) -> None:
    town.pull()
    town.ok("PATCH", PULL, town.alice, state="closed")
    found = town.ok("GET", "/repos/acme/code/pulls?head=acme:topic&state=all", town.token())
    assert [pull["number"] for pull in found] == [1]
    assert town.ok("GET", "/repos/acme/code/pulls?head=acme:topic", town.token()) == []
    assert town.ok("GET", "/repos/acme/code/pulls?head=acme:other&state=all", town.token()) == []


def test_the_author_is_the_bot_for_an_app_and_the_person_for_a_person(town: Town) -> None:
    town.gh.create_repo("acme", "code", private=True, files=BASE)
    town.gh.commit("acme/code", "topic", HEAD, "Change", by="alice")
    made = town.ok("POST", "/repos/acme/code/pulls", town.token(), title="T", head="topic", base="main")
    assert (made["user"]["login"], made["user"]["type"]) == ("assay[bot]", "Bot")
    assert made["author_association"] == "NONE"


def test_a_review_with_one_wrong_line_leaves_nothing_behind(town: Town) -> None:
    town.pull()
    comments = [{"path": "a.py", "line": 10, "body": "in the diff"}, {"path": "a.py", "line": 25, "body": "outside"}]
    answer = town.call("POST", f"{PULL}/reviews", town.token(), body="b", event="COMMENT", comments=comments)
    assert (answer.status_code, answer.json()["errors"]) == (422, ["Line could not be resolved"])
    assert town.ok("GET", f"{PULL}/reviews", town.alice) == []
    assert town.ok("GET", f"{PULL}/comments", town.alice) == []


@pytest.mark.parametrize(
    "spec",
    [
        {"path": "a.py", "line": 25, "side": "RIGHT"},
        {"path": "gone.py", "line": 1},
        {"path": "a.py", "line": 0},
        {"path": "a.py", "line": "10"},
        {"path": "a.py", "line": 10, "side": "MIDDLE"},
        {"path": "a.py", "line": 10, "start_line": 12},
        {"path": "a.py", "position": 99},
        {"path": "a.py"},
    ],
)
def test_a_comment_outside_of_the_diff_is_refused(town: Town, spec: dict[str, Any]) -> None:
    sha = town.pull()["head"]["sha"]
    answer = town.call("POST", f"{PULL}/comments", town.token(), body="x", commit_id=sha, **spec)
    assert answer.status_code == 422
    assert _lines(town) == []


def test_comments_on_both_sides_on_ranges_by_position_and_on_files(town: Town) -> None:
    sha = town.pull()["head"]["sha"]
    specs: list[dict[str, Any]] = [
        {"path": "a.py", "line": 10, "side": "RIGHT"},
        {"path": "a.py", "line": 10, "side": "LEFT"},
        {"path": "a.py", "position": 4},
        {"path": "new.py", "start_line": 1, "line": 3, "start_side": "RIGHT", "side": "RIGHT"},
        {"path": "new.py", "subject_type": "file"},
    ]
    made = [town.ok("POST", f"{PULL}/comments", town.token(), body="x", commit_id=sha, **spec) for spec in specs]
    places = [(one["side"], one["start_line"], one["line"], one["subject_type"]) for one in made]
    assert places == [
        ("RIGHT", None, 10, "line"),
        ("LEFT", None, 10, "line"),
        ("LEFT", None, 10, "line"),
        ("RIGHT", 1, 3, "line"),
        ("RIGHT", None, None, "file"),
    ]
    assert made[0]["diff_hunk"].splitlines()[-1] == "+line ten"
    assert made[1]["diff_hunk"].splitlines()[-1] == "-line 10"


def test_a_later_push_outdates_a_comment_on_a_line_it_removes_and_moves_the_others(town: Town) -> None:
    pull = town.pull()
    comments = [
        {"path": "a.py", "line": 10, "body": "stays, moves"},
        {"path": "new.py", "line": 2, "body": "goes"},
        {"path": "new.py", "line": 3, "body": "stays"},
    ]
    town.ok("POST", f"{PULL}/reviews", town.token(), body="", event="COMMENT", comments=comments)
    first = town.ok("GET", f"{PULL}/comments", town.alice)[1]["id"]
    town.ok("POST", f"{PULL}/comments/{first}/replies", town.alice, body="is it?")
    later = {"a.py": b"line zero\n" + HEAD["a.py"], "new.py": b"one\nthree\n"}
    sha = town.gh.commit("acme/code", "topic", later, "More", by="alice")
    assert [line[:2] for line in _lines(town)] == [(11, 10), (None, 2), (2, 3), (None, 2)]
    shown = town.ok("GET", f"{PULL}/comments", town.alice)
    assert {one["original_commit_id"] for one in shown} == {pull["head"]["sha"]}
    assert {one["commit_id"] for one in shown} == {sha}
    assert shown[1]["position"] is None


def test_replies_hang_on_the_first_comment_of_the_thread(town: Town) -> None:
    sha = town.pull()["head"]["sha"]
    root = town.ok("POST", f"{PULL}/comments", town.token(), body="x", path="a.py", line=10, commit_id=sha)
    one = town.ok("POST", f"{PULL}/comments/{root['id']}/replies", town.alice, body="y")
    two = town.ok("POST", f"{PULL}/comments", town.alice, body="z", in_reply_to=one["id"])
    assert (one["in_reply_to_id"], two["in_reply_to_id"]) == (root["id"], root["id"])
    assert "in_reply_to_id" not in root


def test_a_pending_review_is_seen_by_its_author_alone(town: Town) -> None:
    town.pull()
    draft = town.ok("POST", f"{PULL}/reviews", town.token(), comments=[{"path": "a.py", "line": 10, "body": "x"}])
    assert (draft["state"], "submitted_at" in draft) == ("PENDING", False)
    assert town.ok("GET", f"{PULL}/reviews", town.alice) == []
    assert town.ok("GET", f"{PULL}/comments", town.alice) == []
    assert town.call("GET", f"{PULL}/reviews/{draft['id']}", town.alice).status_code == 404
    town.ok("POST", f"{PULL}/reviews/{draft['id']}/events", town.token(), event="COMMENT", body="done")
    assert [one["state"] for one in town.ok("GET", f"{PULL}/reviews", town.alice)] == ["COMMENTED"]
    assert len(town.ok("GET", f"{PULL}/comments", town.alice)) == 1


def test_nobody_approves_what_is_their_own(town: Town) -> None:
    town.pull()
    assert town.call("POST", f"{PULL}/reviews", town.alice, event="APPROVE").status_code == 422
    assert town.call("POST", f"{PULL}/reviews", town.token(), event="REQUEST_CHANGES").status_code == 422
    review = town.ok("POST", f"{PULL}/reviews", town.token(), event="REQUEST_CHANGES", body="no")
    done = town.ok("PUT", f"{PULL}/reviews/{review['id']}/dismissals", town.alice, message="yes")
    assert done["state"] == "DISMISSED"


def test_review_requests_for_bots_and_strangers_are_passed_over_in_silence(town: Town) -> None:
    town.pull()
    key, granted = town.keys.private_key_pem, {"pull_requests": "write"}
    town.gh.create_app("quiet", permissions=granted, events=[], private_key_pem=key)
    town.gh.create_app("asked", permissions=granted, events=[], private_key_pem=key, requestable=True)
    path = f"{PULL}/requested_reviewers"
    answer = town.call("POST", path, town.alice, reviewers=["quiet[bot]", "no-such-login"])
    assert (answer.status_code, answer.json()["requested_reviewers"]) == (201, [])
    assert town.call("POST", path, town.alice, reviewers=["bob"]).status_code == 422
    answer = town.call("POST", path, town.alice, reviewers=["asked"])
    assert [one["login"] for one in answer.json()["requested_reviewers"]] == ["asked[bot]"]
    events = town.ok("GET", "/repos/acme/code/issues/1/timeline", town.alice)
    asked = [one["requested_reviewer"]["login"] for one in events if one["event"] == "review_requested"]
    assert asked == ["asked[bot]"]
    town.gh.install("asked", "acme")
    town.ok("POST", f"{PULL}/reviews", town.gh.installation_token("asked", "acme"), body="hm", event="COMMENT")
    assert town.ok("GET", path, town.alice)["users"] == []


def test_a_mention_in_another_issue_leaves_a_cross_reference(town: Town) -> None:
    pull = town.pull()
    town.gh.create_repo("acme", "control", private=True)
    body = "see acme/code#1 and https://github.com/acme/code/pull/1"
    number = town.gh.open_issue("acme/control", "run", body, by="alice")
    town.gh.comment("acme/control", number, f"again {pull['html_url']}", by="alice")
    events = town.ok("GET", "/repos/acme/code/issues/1/timeline", town.token())
    found = [one["source"]["issue"]["number"] for one in events if one["event"] == "cross-referenced"]
    assert found == [number]


def test_a_link_to_github_com_itself_refers_to_nothing_here(town: Town) -> None:
    town.pull()
    town.gh.create_repo("acme", "control", private=True)
    town.gh.open_issue("acme/control", "run", "https://github.com/acme/code/pull/1", by="alice")
    events = town.ok("GET", "/repos/acme/code/issues/1/timeline", town.token())
    assert [one for one in events if one["event"] == "cross-referenced"] == []
