"""The remaining routes, each by what it changes and what it tells."""

from __future__ import annotations

from typing import Any

from .conftest import Town

CODE = "/repos/acme/code"


def test_labels_of_issues_come_and_go(town: Town) -> None:
    town.gh.create_repo("acme", "code", private=False)
    number = town.gh.open_issue("acme/code", "t", "b", by="alice", labels=["one"])
    path = f"{CODE}/issues/{number}/labels"
    token = town.token()
    assert [one["name"] for one in town.ok("POST", path, token, labels=["two", {"name": "One"}])] == ["one", "two"]
    assert [one["name"] for one in town.ok("DELETE", f"{path}/ONE", token)] == ["two"]
    assert town.call("DELETE", f"{path}/one", token).status_code == 422
    assert town.call("POST", path, town.bob, labels=["x"]).status_code == 403
    assert [one["name"] for one in town.ok("GET", path)] == ["two"]
    events = town.ok("GET", f"{CODE}/issues/{number}/events")
    assert [(one["event"], one["label"]["name"]) for one in events] == [("labeled", "two"), ("unlabeled", "one")]
    assert [one["name"] for one in town.ok("GET", f"{CODE}/labels")] == ["one", "two"]
    assert town.ok("POST", f"{CODE}/labels", token, name="new", color="#00ff00")["color"] == "00ff00"
    assert town.call("POST", f"{CODE}/labels", token, name="NEW").status_code == 422
    assert town.ok("GET", f"{CODE}/labels/new")["name"] == "new"
    assert town.call("GET", f"{CODE}/labels/none").status_code == 404


def test_a_stranger_opens_an_issue_without_its_labels(town: Town) -> None:
    town.gh.create_repo("acme", "code", private=False)
    made = town.ok("POST", f"{CODE}/issues", town.bob, title="t", labels=["benchmark"], assignees=["alice"])
    assert (made["labels"], made["assignees"], made["author_association"]) == ([], [], "NONE")


def test_issues_are_filtered_and_ordered(town: Town) -> None:
    town.gh.create_repo("acme", "code", private=False)
    for title, labels in (("a", ["x"]), ("b", ["x", "y"]), ("c", [])):
        town.clock.forward(minutes=1)
        town.gh.open_issue("acme/code", title, None, by="alice", labels=labels)
    town.clock.forward(minutes=1)
    town.ok("PATCH", f"{CODE}/issues/1", town.alice, state="closed", state_reason="not_planned")

    def titles(query: str) -> list[str]:
        return [one["title"] for one in town.ok("GET", f"{CODE}/issues?{query}")]

    assert titles("") == ["c", "b"]
    assert titles("state=all&sort=updated") == ["a", "c", "b"]
    assert titles("state=all&direction=asc") == ["a", "b", "c"]
    assert titles("state=all&labels=x,y") == ["b"]
    assert titles("state=all&creator=bob") == []
    assert titles("state=closed") == ["a"]
    assert town.call("GET", f"{CODE}/issues?state=some").status_code == 422
    closed = town.ok("GET", f"{CODE}/issues/1")
    assert (closed["state_reason"], closed["closed_by"]["login"]) == ("not_planned", "alice")


def test_comments_are_read_one_by_one_and_across_issues(town: Town) -> None:
    town.gh.create_repo("acme", "code", private=False)
    ids = []
    for title in ("a", "b"):
        number = town.gh.open_issue("acme/code", title, None, by="alice")
        town.clock.forward(minutes=1)
        ids.append(town.gh.comment("acme/code", number, title, by="alice"))
    assert [one["id"] for one in town.ok("GET", f"{CODE}/issues/comments")] == ids
    assert [one["id"] for one in town.ok("GET", f"{CODE}/issues/comments?sort=created&direction=desc")] == ids[::-1]
    one = f"{CODE}/issues/comments/{ids[0]}"
    first = town.call("POST", f"{one}/reactions", town.bob, content="eyes")
    again = town.call("POST", f"{one}/reactions", town.bob, content="eyes")
    assert (first.status_code, again.status_code, first.json()["id"]) == (201, 200, again.json()["id"])
    assert town.call("POST", f"{one}/reactions", town.bob, content="shrug").status_code == 422
    assert [row["user"]["login"] for row in town.ok("GET", f"{one}/reactions?content=eyes")] == ["bob"]
    assert town.ok("GET", one)["reactions"]["eyes"] == 1
    assert town.call("DELETE", one, town.alice).status_code == 204
    assert town.call("GET", one).status_code == 404


def test_inline_comments_are_read_edited_and_removed(town: Town) -> None:
    sha = town.pull(private=False)["head"]["sha"]
    comments = [{"path": "a.py", "line": 10, "body": "x"}]
    review = town.ok("POST", f"{CODE}/pulls/1/reviews", town.token(), body="r", event="COMMENT", comments=comments)
    alone = town.ok("POST", f"{CODE}/pulls/1/comments", town.token(), body="y", path="a.py", line=10, commit_id=sha)
    of_review = town.ok("GET", f"{CODE}/pulls/1/reviews/{review['id']}/comments")
    assert [one["body"] for one in of_review] == ["x"]
    assert [one["body"] for one in town.ok("GET", f"{CODE}/pulls/comments")] == ["x", "y"]
    path = f"{CODE}/pulls/comments/{alone['id']}"
    assert town.call("PATCH", path, town.bob, body="z").status_code == 403
    town.ok("PATCH", path, town.token(), body="z")
    town.ok("POST", f"{path}/reactions", town.bob, content="+1")
    assert [one["content"] for one in town.ok("GET", f"{path}/reactions")] == ["+1"]
    assert town.ok("GET", path)["body"] == "z"
    assert town.call("DELETE", path, town.token()).status_code == 204
    assert town.call("GET", path).status_code == 404
    edited = town.ok("PUT", f"{CODE}/pulls/1/reviews/{review['id']}", town.token(), body="better")
    assert edited["body"] == "better"


def test_people_come_and_go(town: Town) -> None:
    town.gh.create_repo("acme", "code", private=True)
    path = f"{CODE}/collaborators/bob"
    assert town.call("GET", CODE, town.bob).status_code == 404
    assert town.call("PUT", path, town.token(), permission="push").status_code == 204
    assert town.call("PUT", path, town.token(), permission="king").status_code == 422
    assert town.call("GET", path, town.token()).status_code == 204
    assert town.ok("GET", CODE, town.bob)["permissions"]["push"] is True
    assert [one["login"] for one in town.ok("GET", f"{CODE}/assignees", town.token())] == ["alice", "bob"]
    town.gh.commit("acme/code", "main", {"a": b"1"}, "m", by="alice")
    town.gh.commit("acme/code", "topic", {"a": b"2"}, "m", by="alice")
    town.ok("POST", f"{CODE}/pulls", town.alice, title="T", head="topic", base="main")
    asked = f"{CODE}/pulls/1/requested_reviewers"
    assert len(town.ok("POST", asked, town.alice, reviewers=["bob"])["requested_reviewers"]) == 1
    assert town.ok("DELETE", asked, town.alice, reviewers=["bob"])["requested_reviewers"] == []
    assert town.call("DELETE", path, town.token()).status_code == 204
    assert town.call("GET", path, town.token()).status_code == 404


def test_who_belongs_to_an_organisation(town: Town) -> None:
    assert town.call("GET", "/orgs/acme/members/alice", town.token()).status_code == 204
    assert town.call("GET", "/orgs/acme/members/bob", town.token()).status_code == 404
    assert town.ok("GET", "/user/memberships/orgs/acme", town.alice)["role"] == "admin"
    assert town.call("GET", "/user/memberships/orgs/acme", town.bob).status_code == 404
    assert town.ok("GET", "/orgs/acme/memberships/alice", town.token())["state"] == "active"
    town.gh.create_repo("acme", "code", private=True)
    town.gh.create_repo("acme", "open", private=False)
    assert [one["name"] for one in town.ok("GET", "/orgs/acme/repos", town.bob)] == ["open"]
    assert [one["name"] for one in town.ok("GET", "/orgs/acme/repos", town.alice)] == ["code", "open"]


def test_users_have_repositories_and_installations_of_their_own(town: Town) -> None:
    town.ok("POST", "/user/repos", town.bob, name="mine", private=True, auto_init=True)
    assert town.ok("GET", "/repos/bob/mine/contents", town.bob)[0]["name"] == "README.md"
    assert town.call("GET", "/repos/bob/mine", town.token()).status_code == 404
    assert town.call("GET", "/users/bob/installation", town.jwt()).status_code == 404
    there = town.gh.install("assay", "bob", ["mine"])
    assert town.ok("GET", "/users/bob/installation", town.jwt())["id"] == there
    assert {one["id"] for one in town.ok("GET", "/app/installations", town.jwt())} == {there, town.installation}


def test_actions_are_switched_off_by_administrators(town: Town) -> None:
    town.gh.create_repo("acme", "code", private=False)
    path = f"{CODE}/actions/permissions"
    assert town.ok("GET", path, town.token())["enabled"] is True
    assert town.call("PUT", path, town.bob, enabled=False).status_code == 403
    assert town.call("PUT", path, town.token(), enabled="no").status_code == 422
    assert town.call("PUT", path, town.token(), enabled=False).status_code == 204
    assert town.ok("GET", path, town.token()) == {"enabled": False}


def test_a_rerequested_run_is_told_to_its_own_app_alone(town: Town) -> None:
    heard: dict[str, list[tuple[str, Any]]] = {"assay": [], "rival": []}
    key = town.keys.private_key_pem
    town.gh.create_app("rival", permissions={"checks": "write"}, events=[], private_key_pem=key)
    town.gh.install("rival", "acme")
    sha = town.pull()["head"]["sha"]
    for slug, events in heard.items():
        town.gh.subscribe(slug, lambda event, payload, to=events: to.append((event, payload.get("action"))))  # type: ignore[misc]
    run = town.ok("POST", f"{CODE}/check-runs", town.token(), name="n", head_sha=sha, conclusion="neutral")
    assert town.ok("GET", f"{CODE}/check-runs/{run['id']}", town.token())["name"] == "n"
    assert town.call("POST", f"{CODE}/check-runs/{run['id']}/rerequest", town.alice).status_code == 201
    suite = f"{CODE}/check-suites/{run['check_suite']['id']}"
    assert town.ok("GET", suite, town.token())["conclusion"] == "neutral"
    assert town.ok("GET", f"{suite}/check-runs", town.token())["total_count"] == 1
    assert town.gh.deliveries.wait_idle()
    assert ("check_run", "rerequested") in heard["assay"]
    assert ("check_run", "completed") in heard["rival"]
    assert ("check_run", "rerequested") not in heard["rival"]


def test_history_and_refs_are_listed(town: Town) -> None:
    town.pull(private=False)
    shas = [one["sha"] for one in town.ok("GET", f"{CODE}/commits?sha=topic")]
    assert len(shas) == 2
    found = town.ok("GET", f"{CODE}/git/matching-refs/heads/to")
    assert [(one["ref"], one["object"]["sha"]) for one in found] == [("refs/heads/topic", shas[0])]
    town.gh.create_repo("acme", "empty", private=False)
    assert town.call("GET", "/repos/acme/empty/commits").status_code == 409
    assert town.call("GET", "/repos/acme/empty/contents").status_code == 404
