"""Defects raised in review: pinned before the commit that touched them, and nothing that was only talk."""

from __future__ import annotations

import json
from typing import Any

import pytest

from goldens.located import SuiteError
from goldens.mine.answers import read_answers
from goldens.mine.draft import Mined, Reason
from goldens.mine.review import mine_review
from tests.goldens.mine.planted import Planted, rows
from tests.goldens.mine.world import World, pull

BASE = ["import os", "", "def keep():", "    return 1"]
FIRST = [
    *BASE,
    "",
    "def load(path):",
    "    f = open(path)",
    "    data = f.read()",
    "    return data",
    "def size(n):",
    "    return n / 0",
]
MOVED = ['"""Loads."""', *FIRST]
FIXED = [line.replace("return n / 0", "return n / 2") for line in MOVED]
CLOSED = ["with open(path) as f:" if "open(path)" in line else line for line in FIXED]


def thread(number: int, name: str, line: int | None, commit: str, body: str, **more: Any) -> dict[str, Any]:
    author = more.get("author", "reviewer")
    login = None if author is None else {"login": author, "__typename": more.get("kind", "User")}
    comment = {"author": login, "body": body, "originalCommit": {"oid": commit}, "createdAt": "2024-01-01T00:00:00Z"}
    return {
        "id": name,
        "isResolved": more.get("resolved", True),
        "isOutdated": True,
        "path": more.get("path", "app/load.py"),
        "originalLine": line,
        "originalStartLine": more.get("start"),
        "diffSide": more.get("side", "RIGHT"),
        "comments": {"nodes": [comment, {**comment, "body": "Done."}]},
    }


@pytest.fixture(scope="module")
def reviewed(tmp_path_factory: pytest.TempPathFactory) -> World:
    planted = Planted()
    commit = planted.commit
    commit("root", {"app/load.py": rows(*BASE)})
    commit("b1", {"app/load.py": rows(*FIRST)}, "root", subject="Load")
    commit("b2", {"app/load.py": rows(*MOVED)}, "b1", subject="Document")
    commit("b3", {"app/load.py": rows(*FIXED)}, "b2", subject="Answer the review")
    commit("b4", {"app/load.py": rows(*CLOSED)}, "b3", subject="Answer the review again")
    commit("b5", {"app/load.py": rows(*CLOSED, "", "")}, "b4", subject="Blanks")
    commit("lost", {"app/load.py": rows("gone = 1")}, "root", subject="Forced away")
    commit("other", {"app/other.py": rows("other = 1")}, "root", subject="Other (#6)")
    commit("main", {"app/load.py": rows(*CLOSED, "", "")}, "other", subject="Loading (#7)")
    commit("lost2", {"app/load.py": rows("gone = 2")}, "lost")
    path = tmp_path_factory.mktemp("reviewed") / "r.git"
    ids = planted.write(path, "main")
    b1, raised = ids["b1"], "The file is never closed when reading fails.\n\n```suggestion\nx\n```"
    threads = [
        thread(7, "T1", 11, b1, "This divides by zero for every n."),
        thread(7, "T2", 8, b1, raised, start=7),
        thread(7, "open", 8, b1, raised, resolved=False),
        thread(7, "bot", 8, b1, raised, author="review-app", kind="Bot"),
        thread(7, "bot2", 8, b1, raised, author="review[bot]"),
        thread(7, "self", 8, b1, raised, author="dev"),
        thread(7, "nit", 8, b1, "nit: call it handle"),
        thread(7, "ask", 8, b1, "Why not pathlib?"),
        thread(7, "file", None, b1, raised),
        thread(7, "left", 8, b1, raised, side="LEFT"),
        thread(7, "old", 4, b1, "This one was here before and is wrong too."),
        thread(7, "kept", 9, b1, "The data may be too large for memory."),
        thread(7, "lost", 1, ids["lost"], raised),
        thread(7, "absent", 8, "0" * 40, raised),
        thread(7, "docs", 8, b1, raised, path="README.md"),
        thread(7, "path", 8, b1, raised, path="../x.py"),
        thread(7, "ghost", 11, b1, "A gone account saw the division by zero.", author=None),
        thread(8, "unmerged", 8, b1, raised),
    ]
    pulls = [pull(7, ids, "main", head=ids["b5"], title="Loading"), pull(8, ids, None, title="Never")]
    told = {"data": {"repository": {"pullRequest": {"number": 7, "reviewThreads": {"nodes": threads[:-1]}}}}}
    other = {"data": {"repository": {"pullRequest": {"number": 8, "reviewThreads": {"nodes": threads[-1:]}}}}}
    answers = {"p.json": json.dumps(pulls).encode(), "t.json": json.dumps([told, other]).encode()}
    return World(path, ids, answers)


@pytest.fixture(scope="module")
def result(reviewed: World) -> Mined:
    with reviewed.quarry("b5", "lost2") as quarry:
        return mine_review(quarry)


def test_each_defect_is_pinned_to_the_commit_before_its_fix(reviewed: World, result: Mined) -> None:
    found = {golden.source: (draft, golden) for draft in result.drafts for golden in draft.goldens}
    assert set(found) == {"T1", "T2", "ghost"}
    draft, golden = found["T1"]
    assert (draft.base_sha, draft.head_sha) == (reviewed.ids["root"], reviewed.ids["b2"])
    # Raised on line 11; a commit in between moved it.
    assert (golden.path, golden.lines, golden.evidence) == ("app/load.py", (12, 12), "    return n / 0")
    assert (golden.fix, golden.finding) == (reviewed.ids["b3"], "This divides by zero for every n.")
    draft, golden = found["T2"]
    assert (draft.head_sha, golden.lines) == (reviewed.ids["b3"], (8, 9))
    assert golden.finding == "The file is never closed when reading fails."
    assert found["ghost"][0] is found["T1"][0]


def test_everything_else_is_discarded_for_its_own_reason(result: Mined) -> None:
    why = {discard.subject.split()[1]: discard.reason for discard in result.discards}
    assert why == {
        "open": Reason.UNRESOLVED,
        "bot": Reason.BY_BOT,
        "bot2": Reason.BY_BOT,
        "self": Reason.BY_AUTHOR,
        "nit": Reason.NOT_A_DEFECT,
        "ask": Reason.NOT_A_DEFECT,
        "file": Reason.NO_LINES,
        "left": Reason.NO_LINES,
        "old": Reason.NEVER_TOUCHED,
        "kept": Reason.NEVER_TOUCHED,
        "lost": Reason.HISTORY_REWRITTEN,
        "absent": Reason.NOT_IN_CLONE,
        "docs": Reason.NO_SITE,
        "path": Reason.UNUSABLE_PATH,
        "unmerged": Reason.NOT_MERGED,
    }
    assert result.considered == len(why) + 3


def test_a_squashed_pull_request_whose_branch_is_not_in_the_clone_gives_none(reviewed: World) -> None:
    with reviewed.quarry() as quarry:
        result = mine_review(quarry)
    assert result.drafts == () and result.by_reason()[Reason.NOT_IN_CLONE] == 7


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("{", "not a saved answer"),
        ("[1]", "a list or an object"),
        ("{}", "no pull request"),
        ('[{"number": "7"}]', "number"),
        ('{"data": {"repository": null}}', "repository"),
        ('{"data": null, "errors": []}', "not as GitHub answers"),
        ('{"data": "x"}', "not as GitHub answers"),
        ('{"data": {"repository": {"pullRequest": []}}}', "pullRequest"),
        ('{"number": 0, "title": "x"}', "number"),
        ('{"number": 99999999999999999999, "title": "x"}', "number"),
        ("[" * 100_000, "not a saved answer"),
    ],
)
def test_an_answer_that_is_none_is_refused_with_its_file(text: str, what: str) -> None:
    with pytest.raises(SuiteError, match=what) as error:
        read_answers({"saved/x.json": text.encode()})
    assert error.value.problems[0].file == "saved/x.json"


def test_all_bad_answers_are_told_at_once() -> None:
    with pytest.raises(SuiteError) as error:
        read_answers({"a.json": b"{", "b.json": b"[]", "c.json": b"\xff"})
    assert [problem.file for problem in error.value.problems] == ["a.json", "c.json"]
