"""Ids, pages, clients of other people, and life as a process of its own."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
import requests
from github import Auth, Github, GithubIntegration
from werkzeug.http import parse_options_header

from bot.sandbox.diffs import parse
from bot.sandbox.ids import IdMint
from bot.sandbox.server import Sandbox

from .conftest import BASE, EVENTS, HEAD, PERMISSIONS, Clock, Git, Town, remote


def _populate(folder: Path, key: str, order: list[str]) -> dict[str, list[int]]:
    """Two bots and a user comment in the given order; the ids of what each of them made."""
    with Sandbox(folder, clock=Clock()) as gh:
        gh.create_user("alice")
        gh.create_org("acme", owner="alice")
        for slug in ("one", "two"):
            gh.create_app(slug, permissions=PERMISSIONS, events=EVENTS, private_key_pem=key)
            gh.install(slug, "acme")
        gh.create_repo("acme", "code", private=True, files=BASE)
        sha = gh.commit("acme/code", "topic", HEAD, "Change", by="alice")
        made: dict[str, list[int]] = {}
        tokens = {slug: gh.installation_token(slug, "acme") for slug in ("one", "two")}
        tokens["alice"] = gh.world.issue_user_token(gh.world.account("alice")).value
        with requests.Session() as session:

            def post(who: str, path: str, body: dict[str, Any]) -> None:
                headers = {"Authorization": f"Bearer {tokens[who]}"}
                answer = session.post(f"{gh.url}/repos/acme/code{path}", json=body, headers=headers)
                assert answer.status_code < 300, answer.text
                made.setdefault(who, []).append(answer.json()["id"])

            post("alice", "/pulls", {"title": "T", "head": "topic", "base": "main"})
            for who in order:
                post(who, "/issues/1/comments", {"body": "c"})
                comments = [{"path": "new.py", "line": 1, "body": "x"}]
                post(who, "/pulls/1/reviews", {"event": "COMMENT", "comments": comments})
                if who != "alice":
                    post(who, "/check-runs", {"name": "n", "head_sha": sha})
        return made


def test_ids_do_not_depend_on_who_was_faster(tmp_path: Path, key: str) -> None:
    first = _populate(tmp_path / "a", key, ["one", "two", "one", "alice", "two"])
    second = _populate(tmp_path / "b", key, ["two", "alice", "two", "one", "one"])
    assert first == second
    every = [number for numbers in first.values() for number in numbers]
    assert len(set(every)) == len(every)


def test_a_taken_id_is_never_given_again() -> None:
    mint = IdMint()
    assert len({mint.of(4, "same", "key") for _ in range(8)}) == 8
    assert mint.next("comment", "Acme/Code", 1, "x") != mint.next("comment", "acme/code", 1, "x")


def test_a_deleted_repository_comes_back_as_another_one(town: Town) -> None:
    first = town.ok("POST", "/orgs/acme/repos", town.token(), name="fork")
    assert town.call("DELETE", "/repos/acme/fork", town.token()).status_code == 204
    second = town.ok("POST", "/orgs/acme/repos", town.token(), name="fork")
    assert first["id"] != second["id"]


def test_many_hands_at_once_lose_nothing(town: Town) -> None:
    town.gh.create_repo("acme", "code", private=True)
    town.gh.open_issue("acme/code", "t", "b", by="alice")
    headers = {"Authorization": f"Bearer {town.alice}"}

    def work() -> None:
        with requests.Session() as session:
            for _ in range(10):
                session.post(f"{town.gh.url}/repos/acme/code/issues/1/comments", json={"body": "x"}, headers=headers)
                session.post(f"{town.gh.url}/repos/acme/code/issues", json={"title": "x"}, headers=headers)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = town.ok("GET", "/repos/acme/code/issues/1/comments?per_page=100", town.alice)
    assert len({one["id"] for one in found}) == 60
    assert len(town.gh.world.repos["acme/code"].issues) == 61
    assert sorted(town.gh.world.repos["acme/code"].issues) == list(range(1, 62))


@pytest.fixture
def today(tmp_path: Path, key: str) -> Any:
    """A sandbox on the real clock, by which PyGithub signs."""
    with Sandbox(tmp_path / "today") as gh:
        alice = gh.create_user("alice")
        gh.create_org("acme", owner="alice")
        keys = gh.create_app("assay", permissions=PERMISSIONS, events=EVENTS, private_key_pem=key)
        gh.install("assay", "acme")
        yield gh, keys, alice


@pytest.mark.parametrize("prefix", ["", "/api/v3"])
def test_pygithub_and_git_tell_a_whole_story(today: Any, git: Git, prefix: str) -> None:
    gh, keys, alice = today
    auth = Auth.AppAuth(keys.client_id, keys.private_key_pem)
    how: Any = {"base_url": gh.url + prefix, "retry": None, "seconds_between_writes": 0, "seconds_between_requests": 0}
    with GithubIntegration(auth=auth, **how) as integration:
        installation = integration.get_org_installation("acme").id
        app = integration.get_github_for_installation(installation)
        token = integration.get_access_token(installation).token
    person = Github(auth=Auth.Token(alice), **how)
    with app, person:
        repo = app.get_organization("acme").create_repo("fork", private=True, has_wiki=False, has_projects=False)
        git.commit(dict(BASE))
        git("push", "-q", repo.clone_url.replace("http://", f"http://x-access-token:{token}@"), "main")
        git("checkout", "-q", "-b", "topic")
        git.commit(dict(HEAD))
        git("push", "-q", repo.clone_url.replace("http://", f"http://x-access-token:{alice}@"), "topic")
        pull = person.get_repo("acme/fork").create_pull(base="main", head="topic", title="T", body="B")
        mine = repo.get_pull(pull.number)
        comment: Any = {"path": "a.py", "line": 10, "side": "RIGHT", "body": "why?"}
        mine.create_review(body="see", event="COMMENT", comments=[comment])
        mine.as_issue().create_comment("hello").edit("hello again")
        run = repo.create_check_run("Assay", pull.head.sha, status="completed", conclusion="neutral")
        run.edit(output={"title": "t", "summary": "s"})
        assert [one.user.login for one in pull.get_reviews()] == ["assay[bot]"]
        assert [(one.path, one.line, one.subject_type) for one in pull.get_review_comments()] == [("a.py", 10, "line")]
        assert [one.body for one in pull.get_issue_comments()] == ["hello again"]
        assert [one.output.title for one in repo.get_commit(pull.head.sha).get_check_runs()] == ["t"]
        assert repo.get_collaborator_permission("alice") == "admin"
        assert [one.filename for one in pull.get_files()] == ["a.py", "new.py"]
        repo.edit(archived=True)
        assert person.get_repo("acme/fork").archived


# --- pages ------------------------------------------------------------------------------------------------------


def test_pages_show_hostile_text_as_text(town: Town) -> None:
    pull = town.pull()
    evil = (
        "<script>alert(1)</script> <img src=x onerror=alert(1)> [x](javascript:alert(1)) ![i](http://127.0.0.1/x.png)"
    )
    town.gh.comment("acme/code", 1, evil, by="alice")
    comment = {"path": "a.py", "line": 10, "body": evil}
    town.ok("POST", "/repos/acme/code/pulls/1/reviews", town.token(), body=evil, event="COMMENT", comments=[comment])
    output = {"title": evil, "summary": evil, "text": evil, "annotations": [{**_NOTE, "message": evil, "title": evil}]}
    sha = pull["head"]["sha"]
    town.ok("POST", "/repos/acme/code/check-runs", town.token(), name=evil, head_sha=sha, output=output)
    number = town.gh.open_issue("acme/code", evil, evil, by="alice")
    for path in ("/", "/acme/code", f"/acme/code/issues/{number}", "/acme/code/pull/1"):
        answer = town.call("GET", path)
        assert answer.status_code == 200
        assert parse_options_header(answer.headers["Content-Type"])[0] == "text/html"
        assert "<script" not in answer.text
        assert "<img" not in answer.text
        assert 'href="javascript:' not in answer.text
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]


_NOTE: dict[str, Any] = {"path": "a.py", "start_line": 1, "end_line": 1, "annotation_level": "notice"}


def test_every_address_given_to_people_leads_to_its_anchor(town: Town) -> None:
    pull = town.pull()
    sha = pull["head"]["sha"]
    path = "/repos/acme/code/pulls/1"
    review = town.ok("POST", f"{path}/reviews", town.token(), body="r", event="COMMENT")
    inline = town.ok("POST", f"{path}/comments", town.token(), body="i", path="a.py", line=10, commit_id=sha)
    said = town.ok("POST", "/repos/acme/code/issues/1/comments", town.token(), body="| a |\n|---|\n| **b** |")
    run = town.ok("POST", "/repos/acme/code/check-runs", town.token(), name="n", head_sha=sha)
    for thing in (pull, review, inline, said, run):
        address, _, anchor = thing["html_url"].partition("#")
        answer = requests.get(address, timeout=5)
        assert answer.status_code == 200, address
        assert not anchor or f'id="{anchor}"' in answer.text
    page = requests.get(pull["html_url"], timeout=5).text
    assert "<strong>b</strong>" in page
    assert "+line ten" in page
    assert requests.get(pull["diff_url"], timeout=5).text.startswith("diff --git a/a.py b/a.py")
    assert requests.get(f"{town.gh.url}/acme/code/pull/99", timeout=5).status_code == 404


# --- as a process -----------------------------------------------------------------------------------------------


def test_the_sandbox_as_a_process_can_be_filled_and_ends_on_request(tmp_path: Path, git: Git) -> None:
    ready = tmp_path / "ready.json"
    command = [sys.executable, "-m", "bot.sandbox", "--data", str(tmp_path / "d"), "--ready-file", str(ready)]
    process = subprocess.Popen(command)
    try:
        waited = threading.Event()
        for _ in range(200):
            if ready.exists():
                break
            waited.wait(0.05)
        told = json.loads(ready.read_text(encoding="utf-8"))
        assert ready.stat().st_mode & 0o077 == 0
        headers = {"Authorization": f"Bearer {told['control_token']}"}

        def do(name: str, /, **arguments: Any) -> Any:
            answer = requests.post(f"{told['url']}/_sandbox/{name}", json=arguments, headers=headers, timeout=10)
            assert answer.status_code == 200, answer.text
            return answer.json()

        token = do("create_user", login="alice")
        do("create_org", login="acme", owner="alice")
        keys = do("create_app", slug="assay", permissions={"contents": "write"}, events=["push"])
        assert keys["private_key_pem"].startswith("-----BEGIN RSA PRIVATE KEY-----")
        do("install", app_slug="assay", account="acme")
        assert do("create_repo", owner="acme", name="code", private=True, files={"a": "1\n"}) == "acme/code"
        assert do("idle") == {"idle": True}
        url = told["url"].replace("http://", f"http://x:{token}@")
        assert "refs/heads/main" in git("ls-remote", f"{url}/acme/code.git")
        bad = requests.post(f"{told['url']}/_sandbox/create_org", json={"lgin": "x"}, headers=headers, timeout=10)
        assert bad.status_code == 400
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(15) == 0


# --- diffs ------------------------------------------------------------------------------------------------------


def test_awkward_file_names_and_contents_are_read_from_diffs(town: Town, git: Git) -> None:
    files = {
        "plain b/x.py": b"1\n",
        'ümlaut "q".txt': b"1\n",
        "bin.dat": bytes(range(256)),
        "look.txt": b"-- a/x\n++ b/y\ndiff --git a/x b/x\n@@ -1 +1 @@\n",
        "no newline": b"x",
        "crlf.txt": b"a\r\nb\r\n",
    }
    before = {"old name.py": b"same\n" * 20, "gone.txt": b"another\n" * 9}
    town.gh.create_repo("acme", "odd", private=True, files=before)
    town.gh.commit("acme/odd", "topic", {**files, "new name.py": b"same\n" * 20}, "Odd", by="alice")
    made = town.ok("POST", "/repos/acme/odd/pulls", town.alice, title="T", head="topic", base="main")
    found = {one["filename"]: one for one in town.ok("GET", "/repos/acme/odd/pulls/1/files", town.alice)}
    assert set(found) == {*files, "new name.py", "gone.txt"}
    assert (found["new name.py"]["status"], found["new name.py"]["previous_filename"]) == ("renamed", "old name.py")
    assert found["gone.txt"]["status"] == "removed"
    assert "patch" not in found["bin.dat"]
    assert found["look.txt"]["additions"] == 4
    assert made["changed_files"] == len(found)
    git("fetch", "-q", remote(town, "acme/odd", town.alice), "topic", "main")
    assert parse("") == []
