"""git itself as a client: clones, pushes and refusals."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from .conftest import BASE, HEAD, Git, Town, remote


def test_an_app_pushes_into_the_empty_repository_it_created(town: Town, git: Git) -> None:
    token = town.token()
    repo = town.ok("POST", "/orgs/acme/repos", token, name="fork", private=True)
    refused = town.call("POST", "/repos/acme/fork/git/refs", token, ref="refs/heads/x", sha="0" * 40)
    assert refused.status_code == 409
    sha = git.commit(dict(BASE))
    url = repo["clone_url"].replace("http://", f"http://x-access-token:{token}@")
    git("push", "-q", url, "main")
    assert town.ok("GET", "/repos/acme/fork/branches/main", token)["commit"]["sha"] == sha
    assert git("ls-remote", url, "refs/heads/main").split()[0] == sha


def test_the_first_branch_ever_pushed_becomes_the_default_one(town: Town, git: Git) -> None:
    token = town.token()
    town.ok("POST", "/orgs/acme/repos", token, name="fork", private=True)
    git.commit(dict(BASE))
    git("push", "-q", remote(town, "acme/fork", token), "main:trunk")
    git("push", "-q", remote(town, "acme/fork", token), "main:other")
    assert town.ok("GET", "/repos/acme/fork", token)["default_branch"] == "trunk"


def test_a_push_of_several_megabytes_comes_through(town: Town, git: Git) -> None:
    town.gh.create_repo("acme", "big", private=True)
    sha = git.commit({"noise.bin": os.urandom(3_000_000)})
    git("push", "-q", remote(town, "acme/big", town.token()), "main")
    assert town.ok("GET", "/repos/acme/big/git/ref/heads/main", town.alice)["object"]["sha"] == sha


def test_reading_needs_a_token_in_private_and_none_in_public(town: Town, tmp_path: Path) -> None:
    town.gh.create_repo("acme", "code", private=True, files=BASE)
    town.gh.create_repo("acme", "open", private=False, files=BASE)
    git = Git(tmp_path)
    git("clone", "-q", remote(town, "acme/open", None), "open")
    git("clone", "-q", remote(town, "acme/code", town.token(permissions={"contents": "read"})), "code")
    assert (tmp_path / "code" / "a.py").read_bytes() == BASE["a.py"]
    assert "could not read Username" in git("clone", remote(town, "acme/code", None), "x", code=128)
    assert "not found" in git("clone", remote(town, "acme/code", town.bob), "x", code=128)
    assert "Authentication failed" in git("clone", remote(town, "acme/code", "ghp_wrong"), "x", code=128)


def test_pushing_needs_write_and_a_living_repository(town: Town, git: Git) -> None:
    town.gh.create_repo("acme", "open", private=False)
    git.commit(dict(BASE))
    for token in (town.bob, town.token(permissions={"contents": "read"})):
        assert "403" in git("push", remote(town, "acme/open", token), "main", code=128)
    town.ok("PATCH", "/repos/acme/open", town.alice, archived=True)
    assert "403" in git("push", remote(town, "acme/open", town.alice), "main", code=128)


def test_pull_request_heads_can_be_fetched_but_not_pushed(town: Town, git: Git) -> None:
    pull = town.pull()
    url = remote(town, "acme/code", town.token())
    git("fetch", "-q", url, "refs/pull/1/head")
    assert git("rev-parse", "FETCH_HEAD").strip() == pull["head"]["sha"]
    told = git("push", url, "FETCH_HEAD:refs/pull/1/head", "FETCH_HEAD:refs/pull/7/head", code=1)
    assert "deny updating a hidden ref" in told
    assert town.ok("GET", "/repos/acme/code/pulls/1", town.alice)["head"]["sha"] == pull["head"]["sha"]


def test_any_commit_can_be_fetched_by_its_sha(town: Town, git: Git) -> None:
    town.pull()
    old = town.ok("GET", "/repos/acme/code/commits/main", town.alice)["sha"]
    git("fetch", "-q", "--depth=1", remote(town, "acme/code", town.token()), old)
    assert git("rev-parse", "FETCH_HEAD").strip() == old


def test_a_push_moves_the_pull_request_and_tells_so(town: Town, git: Git) -> None:
    heard: list[tuple[str, str | None]] = []
    pull = town.pull()
    town.gh.subscribe("assay", lambda event, payload: heard.append((event, payload.get("action"))))
    url = remote(town, "acme/code", town.alice)
    git("fetch", "-q", url, "topic")
    git("checkout", "-q", "-b", "topic", "FETCH_HEAD")
    sha = git.commit({"new.py": b"one\n2\nthree\n"})
    git("push", "-q", url, "topic")
    moved = town.ok("GET", "/repos/acme/code/pulls/1", town.alice)
    assert (moved["head"]["sha"], moved["base"]["sha"]) == (sha, pull["base"]["sha"])
    assert git("ls-remote", url, "refs/pull/1/head").split()[0] == sha
    assert town.gh.deliveries.wait_idle()
    assert heard == [("push", None), ("check_suite", "requested"), ("pull_request", "synchronize")]


def test_deleting_the_head_branch_closes_the_pull_request(town: Town, git: Git) -> None:
    town.pull()
    git("push", "-q", remote(town, "acme/code", town.alice), ":topic")
    assert town.ok("GET", "/repos/acme/code/pulls/1", town.alice)["state"] == "closed"


def test_a_forced_push_is_told_as_forced(town: Town, git: Git) -> None:
    heard: list[bool] = []
    town.gh.create_repo("acme", "code", private=True, files=BASE)
    town.gh.subscribe("assay", lambda event, payload: heard.append(payload["forced"]) if event == "push" else None)
    git.commit(dict(HEAD))
    url = remote(town, "acme/code", town.token())
    assert "rejected" in git("push", url, "main", code=1)
    git("push", "-q", "-f", url, "main")
    assert town.gh.deliveries.wait_idle()
    assert heard == [True]


def test_an_app_without_the_workflows_permission_cannot_add_a_workflow(town: Town, git: Git) -> None:
    town.gh.create_repo("acme", "code", private=True)
    git.commit({".github/workflows/ci.yml": b"on: push\n", "a": b"1"})
    limited = town.token(permissions={"contents": "write"})
    told = git("push", remote(town, "acme/code", limited), "main", code=1)
    assert "refusing to allow a GitHub App to create or update workflow `.github/workflows/ci.yml`" in told
    assert town.ok("GET", "/repos/acme/code/branches", town.alice) == []
    git("push", "-q", remote(town, "acme/code", town.token()), "main")
    git.commit({"a": b"2"})
    git("push", "-q", remote(town, "acme/code", limited), "main")


def test_push_protection_looks_at_what_is_pushed_to_public_repositories(town: Town, git: Git) -> None:
    town.gh.world.secret_pattern = re.compile(rb"AKIA[A-Z0-9]{16}")
    for name, private in (("open", False), ("code", True)):
        town.gh.create_repo("acme", name, private=private)
    git.commit({"conf/keys.txt": b"AKIAABCDEFGHIJKLMNOP\n"})
    url = remote(town, "acme/open", town.token())
    told = git("push", url, "main", code=1)
    assert "GH013: Repository rule violations found" in told
    assert "Push cannot contain secrets" in told
    assert "conf/keys.txt" in told
    assert "push declined due to repository rule violations" in told
    git("push", "-q", remote(town, "acme/code", town.token()), "main")
    off = {"secret_scanning_push_protection": {"status": "disabled"}}
    town.ok("PATCH", "/repos/acme/open", town.token(), security_and_analysis=off)
    git("push", "-q", url, "main")


@pytest.mark.parametrize("kind", ["refs/heads/x", "refs/heads/deep/er"])
def test_refs_are_made_moved_and_removed_over_rest(town: Town, kind: str) -> None:
    town.pull()
    token = town.token()
    main = town.ok("GET", "/repos/acme/code/git/ref/heads/main", token)["object"]["sha"]
    topic = town.ok("GET", "/repos/acme/code/git/ref/heads/topic", token)["object"]["sha"]
    path = f"/repos/acme/code/git/{kind}"
    assert town.call("POST", "/repos/acme/code/git/refs", token, ref=kind, sha=main).status_code == 201
    assert town.call("POST", "/repos/acme/code/git/refs", token, ref=kind, sha=main).status_code == 422
    assert town.call("PATCH", path, token, sha=topic).status_code == 200
    assert town.call("PATCH", path, token, sha=main).status_code == 422
    assert town.call("PATCH", path, token, sha=main, force=True).status_code == 200
    assert town.call("DELETE", path, token).status_code == 204
    assert town.call("GET", f"/repos/acme/code/git/ref/{kind.removeprefix('refs/')}", token).status_code == 404


def test_contents_and_comparisons(town: Town) -> None:
    town.pull(private=False)
    file = town.ok("GET", "/repos/acme/code/contents/new.py?ref=topic")
    assert (file["encoding"], file["size"], file["content"]) == ("base64", 14, "b25lCnR3bwp0aHJlZQo=\n")
    accept = {"Accept": "application/vnd.github.raw"}
    raw = town.call("GET", "/repos/acme/code/contents/new.py?ref=topic", headers=accept)
    assert raw.content == HEAD["new.py"]
    assert [one["name"] for one in town.ok("GET", "/repos/acme/code/contents/?ref=topic")] == ["a.py", "new.py"]
    assert town.call("GET", "/repos/acme/code/contents/none").status_code == 404
    assert town.call("GET", "/repos/acme/code/contents/../x").status_code == 404
    compared = town.ok("GET", "/repos/acme/code/compare/main...topic")
    assert (compared["status"], compared["ahead_by"], len(compared["files"])) == ("ahead", 1, 2)
    assert town.ok("GET", "/repos/acme/code/compare/topic...main")["status"] == "behind"
    assert town.call("GET", "/repos/acme/code/commits/--output=x").status_code == 422
