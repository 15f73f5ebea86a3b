"""Check runs and statuses at GitHub's limits."""

from __future__ import annotations

from typing import Any

import pytest

from tests.shared import case

from .conftest import Town

RUNS = "/repos/acme/code/check-runs"


def note(line: int = 1) -> dict[str, Any]:
    return {"path": "a.py", "start_line": line, "end_line": line, "annotation_level": "notice", "message": "m"}


@pytest.fixture
def sha(town: Town) -> str:
    return str(town.pull()["head"]["sha"])


def test_only_apps_write_check_runs(town: Town, sha: str) -> None:
    refused = town.call("POST", RUNS, town.alice, name="n", head_sha=sha)
    assert (refused.status_code, refused.json()["message"]) == (403, "You must authenticate via a GitHub App.")
    run = town.ok("POST", RUNS, town.token(), name="n", head_sha=sha)
    town.gh.create_app("rival", permissions={"checks": "write"}, events=[], private_key_pem=town.keys.private_key_pem)
    town.gh.install("rival", "acme")
    rival = town.gh.installation_token("rival", "acme")
    assert town.call("PATCH", f"{RUNS}/{run['id']}", rival, name="mine").status_code == 403


def test_a_run_lives_from_queued_to_completed(town: Town, sha: str) -> None:
    token = town.token()
    run = town.ok("POST", RUNS, token, name="n", head_sha=sha, external_id="run:1")
    assert (run["status"], run["conclusion"], run["id"] > 2**32) == ("queued", None, True)
    assert [pull["number"] for pull in run["pull_requests"]] == [1]
    done = town.ok("PATCH", f"{RUNS}/{run['id']}", token, conclusion="neutral")
    assert (done["status"], done["conclusion"], done["external_id"]) == ("completed", "neutral", "run:1")
    assert done["completed_at"] is not None


@pytest.mark.parametrize(
    "spec",
    [
        {"status": "completed"},
        {"conclusion": "great"},
        {"status": "waiting"},
        {"head_sha": "0" * 40},
        {"head_sha": "topic"},
        {"name": ""},
        {"output": {"title": "t"}},
        {"output": {"summary": "s"}},
        {"output": {"title": "t", "summary": "s", "annotations": [note(n) for n in range(1, 52)]}},
        {"output": {"title": "t", "summary": "s", "annotations": [{"path": "a.py"}]}},
        {"output": {"title": "t", "summary": "s", "annotations": "none"}},
        {"output": {"title": "t", "summary": "é" * 32768}},
        {"completed_at": "yesterday", "conclusion": "neutral"},
    ],
)
def test_what_github_refuses(town: Town, sha: str, spec: dict[str, Any]) -> None:
    answer = town.call("POST", RUNS, town.token(), **{"name": "n", "head_sha": sha, **spec})
    assert answer.status_code == 422, answer.text
    assert town.ok("GET", f"/repos/acme/code/commits/{sha}/check-runs", town.token())["total_count"] == 0


def test_the_limit_of_a_summary_counts_bytes(town: Town, sha: str) -> None:
    recipe = case("62")["input"]
    summary = "# Result\n\n" + "| acme-reviewer 🐇 | 12 | 3 | 5 | ✅ |\n" * 1700
    assert (len(summary), len(summary.encode())) == (recipe["chars"], recipe["bytes"])
    output = {"title": "t", "summary": summary}
    assert town.call("POST", RUNS, town.token(), name="n", head_sha=sha, output=output).status_code == 422


def test_a_long_text_is_cut_in_silence_at_a_character(town: Town, sha: str) -> None:
    output = {"title": "t", "summary": "s", "text": "x" + "é" * 40000}
    run = town.ok("POST", RUNS, town.token(), name="n", head_sha=sha, output=output)
    assert len(run["output"]["text"].encode()) in {65534, 65535}


def test_annotations_add_up_but_texts_are_replaced(town: Town, sha: str) -> None:
    token = town.token()
    first = {"title": "t", "summary": "s", "text": "long", "annotations": [note(n) for n in range(1, 51)]}
    run = town.ok("POST", RUNS, token, name="n", head_sha=sha, output=first)
    second = {"title": "t2", "summary": "s2", "annotations": [note(n) for n in range(51, 61)]}
    done = town.ok("PATCH", f"{RUNS}/{run['id']}", token, output=second)
    assert (done["output"]["annotations_count"], done["output"]["text"]) == (60, None)
    pages = [town.ok("GET", f"{RUNS}/{run['id']}/annotations?per_page=50&page={n}", token) for n in (1, 2, 3)]
    assert [len(page) for page in pages] == [50, 10, 0]


def test_runs_are_found_by_name_app_and_newest(town: Town, sha: str) -> None:
    token = town.token()
    for name in ("a", "a", "b"):
        town.clock.forward(seconds=1)
        town.ok("POST", RUNS, token, name=name, head_sha=sha)
    path = f"/repos/acme/code/commits/{sha}/check-runs"
    assert [run["name"] for run in town.ok("GET", path, token)["check_runs"]] == ["b", "a"]
    assert town.ok("GET", f"{path}?filter=all", token)["total_count"] == 3
    assert town.ok("GET", f"{path}?check_name=a&filter=all&app_id={town.keys.app_id}", token)["total_count"] == 2
    assert town.ok("GET", f"{path}?app_id=1", token)["total_count"] == 0
    by_branch = town.ok("GET", "/repos/acme/code/commits/topic/check-runs", token)
    assert by_branch["total_count"] == 2


def test_statuses_come_to_one_state(town: Town, sha: str) -> None:
    path = f"/repos/acme/code/statuses/{sha}"
    combined = f"/repos/acme/code/commits/{sha}/status"
    assert town.ok("GET", combined, town.token())["state"] == "pending"
    for state, context in (("failure", "ci"), ("success", "ci"), ("success", "lint")):
        town.ok("POST", path, town.alice, state=state, context=context)
    told = town.ok("GET", combined, town.token())
    assert (told["state"], told["total_count"]) == ("success", 2)
    assert len(town.ok("GET", f"/repos/acme/code/commits/{sha}/statuses", town.token())) == 3
    assert town.call("POST", path, town.alice, state="fine").status_code == 422
