"""Pages, caching, limits, faults and the record of what took effect."""

from __future__ import annotations

import socket
import threading
from typing import Any

import pytest
import requests

from bot.sandbox.faults import Fault, Faults

from .conftest import Town


@pytest.fixture
def busy(town: Town) -> Town:
    """One issue with 73 comments, a minute apart."""
    town.gh.create_repo("acme", "code", private=True)
    town.gh.open_issue("acme/code", "t", "b", by="alice")
    for number in range(73):
        town.clock.forward(minutes=1)
        town.gh.comment("acme/code", 1, f"comment {number}", by="alice")
    return town


COMMENTS = "/repos/acme/code/issues/1/comments"


@pytest.mark.parametrize(("query", "sizes"), [("", [30, 30, 13]), ("?per_page=100", [73]), ("?per_page=73", [73])])
def test_pages_follow_the_link_header(busy: Town, query: str, sizes: list[int]) -> None:
    url, got, ids = COMMENTS + query, [], set()
    while url:
        answer = busy.call("GET", url, busy.alice)
        got.append(len(answer.json()))
        ids |= {one["id"] for one in answer.json()}
        url = answer.links.get("next", {}).get("url", "").removeprefix(busy.gh.url)
    assert got == sizes
    assert len(ids) == 73


def test_the_link_header_keeps_the_other_parameters(busy: Town) -> None:
    answer = busy.call("GET", f"{COMMENTS}?per_page=500&since=2026-01-01T00:00:00Z&page=1", busy.alice)
    assert len(answer.json()) == 73
    middle = busy.call("GET", f"{COMMENTS}?per_page=10&since=2026-01-01T00:00:00Z&page=3", busy.alice)
    assert set(middle.links) == {"prev", "next", "last", "first"}
    assert "since=2026-01-01" in middle.links["next"]["url"]
    assert "page=8" in middle.links["last"]["url"]


def test_since_looks_at_the_last_change(busy: Town) -> None:
    cut = busy.clock.now.strftime("%Y-%m-%dT%H:%M:%SZ")
    assert len(busy.ok("GET", f"{COMMENTS}?since={cut}", busy.alice)) == 1
    first = busy.ok("GET", COMMENTS, busy.alice)[0]["id"]
    busy.clock.forward(minutes=1)
    busy.ok("PATCH", f"/repos/acme/code/issues/comments/{first}", busy.alice, body="edited")
    changed = busy.ok("GET", f"{COMMENTS}?since={cut}", busy.alice)
    assert {one["body"] for one in changed} == {"edited", "comment 72"}
    assert busy.call("GET", f"{COMMENTS}?since=monday", busy.alice).status_code == 422


def test_a_304_costs_nothing_and_belongs_to_one_token(town: Town) -> None:
    town.gh.create_repo("acme", "code", private=True)
    first, second = town.token(), town.token()
    seen = town.call("GET", "/repos/acme/code", first)
    known = {"If-None-Match": seen.headers["ETag"]}
    again = town.call("GET", "/repos/acme/code", first, headers=known)
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["X-RateLimit-Remaining"] == seen.headers["X-RateLimit-Remaining"]
    assert town.call("GET", "/repos/acme/code", second, headers=known).status_code == 200
    town.ok("PATCH", "/repos/acme/code", first, description="new")
    assert town.call("GET", "/repos/acme/code", first, headers=known).status_code == 200


def test_every_answer_tells_the_limit_and_the_limit_holds(town: Town) -> None:
    town.gh.api.rate.hourly = 3
    for left in ("2", "1", "0"):
        answer = town.call("GET", "/user", town.alice)
        assert answer.headers["X-RateLimit-Remaining"] == left
    over = town.call("GET", "/user", town.alice)
    assert (over.status_code, over.headers["X-RateLimit-Remaining"]) == (403, "0")
    assert "API rate limit exceeded" in over.json()["message"]
    assert int(over.headers["X-RateLimit-Reset"]) == int(town.clock.now.timestamp()) + 3600
    assert town.ok("GET", "/rate_limit", town.alice)["resources"]["core"]["remaining"] == 0
    assert town.call("GET", "/user", town.bob).status_code == 200
    town.clock.forward(hours=1)
    assert town.call("GET", "/user", town.alice).status_code == 200


def test_the_date_is_that_of_the_sandbox(town: Town) -> None:
    answer = town.call("GET", "/meta")
    assert answer.headers["Date"] == "Sun, 01 Mar 2026 12:00:00 GMT"
    assert answer.headers["X-GitHub-Request-Id"]


@pytest.mark.parametrize("path", ["/nowhere", "/repos/acme/none", "/repos/acme/code/pulls/9", "/api/v3/nothing/here"])
def test_what_is_not_there_is_a_404_in_json(town: Town, path: str) -> None:
    town.gh.create_repo("acme", "code", private=True)
    answer = town.call("GET", path, town.alice)
    assert answer.status_code == 404
    assert answer.json() == {
        "message": "Not Found",
        "documentation_url": "https://docs.github.com/rest",
        "status": "404",
    }


def test_the_same_api_is_served_below_api_v3_with_its_own_addresses(town: Town) -> None:
    town.gh.create_repo("acme", "code", private=True)
    repo = town.ok("GET", "/api/v3/repos/acme/code", town.alice)
    assert repo["url"] == f"{town.gh.url}/api/v3/repos/acme/code"
    assert repo["clone_url"] == f"{town.gh.url}/acme/code.git"


@pytest.mark.parametrize(("data", "status"), [(b"{", 400), (b"[]", 400), (b'{"title": 3}', 422), (b"{}", 422)])
def test_bad_bodies_are_refused(town: Town, data: bytes, status: int) -> None:
    town.gh.create_repo("acme", "code", private=True)
    headers = {"Authorization": f"token {town.alice}"}
    answer = town.session.post(f"{town.gh.url}/repos/acme/code/issues", data=data, headers=headers)
    assert answer.status_code == status


def test_a_client_without_a_name_is_refused(town: Town) -> None:
    answer = town.call("GET", "/meta", headers={"User-Agent": ""})
    assert answer.status_code == 403


def test_a_body_that_is_too_long_is_refused(town: Town) -> None:
    town.gh.create_repo("acme", "code", private=True)
    town.gh.open_issue("acme/code", "t", "b", by="alice")
    assert town.call("POST", COMMENTS, town.alice, body="x" * 65537).status_code == 422
    assert town.call("POST", COMMENTS, town.alice, body="x" * 65536).status_code == 201


# --- faults -----------------------------------------------------------------------------------------------------


def _count(town: Town, method: str, template: str) -> int:
    rows = town.gh.api.counters()
    return sum(row["count"] for row in rows if (row["method"], row["template"]) == (method, template))


def test_a_502_after_the_work_leaves_the_work_done(town: Town) -> None:
    town.gh.faults.add(Fault("error_after", "POST", "/orgs/*/repos", times=1))
    token = town.token()
    assert town.call("POST", "/orgs/acme/repos", token, name="fork").status_code == 502
    assert town.call("GET", "/repos/acme/fork", token).status_code == 200
    assert town.call("POST", "/orgs/acme/repos", token, name="fork").status_code == 422
    assert _count(town, "POST", "/orgs/{org}/repos") == 1


@pytest.mark.parametrize(("status", "headers"), [(403, {"Retry-After": "7"}), (429, {}), (502, {})])
def test_a_refusal_does_nothing(town: Town, status: int, headers: dict[str, str]) -> None:
    town.gh.create_repo("acme", "code", private=True)
    message = "You have exceeded a secondary rate limit"
    town.gh.faults.add(
        Fault("refuse", "POST", "/repos/*/issues", times=2, status=status, headers=headers, message=message)
    )
    for _ in range(2):
        answer = town.call("POST", "/repos/acme/code/issues", town.alice, title="t")
        assert (answer.status_code, answer.json()["message"]) == (status, message)
        assert answer.headers.get("Retry-After") == headers.get("Retry-After")
    assert town.call("POST", "/repos/acme/code/issues", town.alice, title="t").json()["number"] == 1
    assert _count(town, "POST", "/repos/{owner}/{repo}/issues") == 1


def test_a_slow_answer_makes_the_client_give_up_while_the_work_is_done(town: Town) -> None:
    town.gh.create_repo("acme", "code", private=True)
    town.gh.faults.add(Fault("delay_after", "POST", "*/issues", seconds=30))
    headers = {"Authorization": f"Bearer {town.alice}"}
    with pytest.raises(requests.ReadTimeout):
        requests.post(f"{town.gh.url}/repos/acme/code/issues", json={"title": "t"}, headers=headers, timeout=0.3)
    assert len(town.ok("GET", "/repos/acme/code/issues", town.alice)) == 1


def test_the_record_counts_what_took_effect_by_actor(town: Town) -> None:
    town.gh.create_repo("acme", "code", private=True)
    for token in (town.alice, town.alice, town.token(), town.bob):
        town.call("POST", "/repos/acme/code/issues", token, title="t")
    rows = {
        row["actor"]: row["count"]
        for row in town.gh.api.counters()
        if row["template"] == "/repos/{owner}/{repo}/issues" and row["method"] == "POST"
    }
    assert rows == {"alice": 2, "assay[bot]": 1}


def test_the_control_routes_want_their_token(town: Town) -> None:
    rule: dict[str, Any] = {"kind": "refuse", "method": "GET", "path": "/meta", "status": 503}
    url = f"{town.gh.url}/_sandbox/faults"
    right = {"Authorization": f"Bearer {town.gh.control_token}"}
    assert requests.post(url, json=rule, timeout=5).status_code == 401
    assert requests.post(url, json=rule, headers={"Authorization": "Bearer x"}, timeout=5).status_code == 401
    assert requests.post(url, json=rule, headers=right, timeout=5).json() == {"left": 1}
    assert town.call("GET", "/meta").status_code == 503
    wrong = requests.post(url, json={**rule, "kind": "explode"}, headers=right, timeout=5)
    assert (wrong.status_code, "allowed: refuse" in wrong.json()["message"]) == (400, True)
    odd = requests.post(url, json={**rule, "knd": 1}, headers=right, timeout=5)
    assert "unknown field 'knd'" in odd.json()["message"]
    assert requests.get(f"{town.gh.url}/_sandbox/log", headers=right, timeout=5).json() == []


def test_content_can_be_limited_by_the_minute(town: Town) -> None:
    town.gh.create_repo("acme", "code", private=True)
    town.gh.api.rate.content_per_minute = 2
    made = [town.call("POST", "/repos/acme/code/issues", town.alice, title="t") for _ in range(3)]
    assert [one.status_code for one in made] == [201, 201, 403]
    assert made[2].headers["Retry-After"] == "60"
    assert "secondary rate limit" in made[2].json()["message"]
    town.clock.forward(seconds=60)
    assert town.call("POST", "/repos/acme/code/issues", town.alice, title="t").json()["number"] == 3


def test_a_request_cut_off_in_its_body_does_nothing_and_blocks_nobody(town: Town) -> None:
    town.gh.create_repo("acme", "code", private=True)
    host = ("127.0.0.1", int(town.gh.url.rpartition(":")[2]))
    head = f"POST /repos/acme/code/issues HTTP/1.1\r\nUser-Agent: x\r\nAuthorization: Bearer {town.alice}\r\n"
    with socket.create_connection(host) as line:
        line.sendall(head.encode() + b'Content-Length: 100\r\n\r\n{"title": "half')
        assert town.ok("GET", "/repos/acme/code/issues", town.alice) == []
    assert town.ok("GET", "/repos/acme/code/issues", town.alice) == []


def test_the_words_of_a_deleted_account_stay_without_an_author(town: Town) -> None:
    town.pull()
    carol = town.gh.create_user("carol")
    town.gh.world.add_collaborator(town.gh.world.repos["acme/code"], "carol", "write")
    town.ok("POST", COMMENTS, carol, body="c")
    comments = [{"path": "a.py", "line": 10, "body": "x"}]
    town.ok("POST", "/repos/acme/code/pulls/1/reviews", carol, body="r", event="COMMENT", comments=comments)
    town.gh.delete_account("carol")
    for path in ("/issues/1/comments", "/pulls/1/reviews", "/pulls/1/comments"):
        found = town.ok("GET", f"/repos/acme/code{path}", town.alice)
        assert [(one["user"], len(one["body"])) for one in found] == [(None, 1)]
    assert town.call("GET", "/user", carol).status_code == 401


def test_what_is_delayed_is_let_go_when_the_faults_are_cleared() -> None:
    faults = Faults()
    held = threading.Thread(target=faults.hold, args=(60, threading.Event()), daemon=True)
    held.start()
    held.join(0.2)
    assert held.is_alive()
    faults.clear()
    held.join(5)
    assert not held.is_alive()
