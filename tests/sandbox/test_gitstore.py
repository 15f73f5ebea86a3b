"""What is read without git, or remembered, is what git would say now."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.sandbox import gitstore


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    path = tmp_path / "it.git"
    gitstore.create(path, "main")
    return path


def as_git_lists(path: Path, prefix: str) -> dict[str, str]:
    listed = gitstore.run(path, "for-each-ref", "--format=%(refname) %(objectname)", prefix).decode()
    return {line.partition(" ")[0]: line.partition(" ")[2] for line in listed.splitlines()}


@pytest.mark.parametrize("prefix", ["refs/", "refs/heads/", "refs/heads", "refs/heads/a", "refs/heads/a/b", "refs/x"])
def test_refs_are_what_git_lists_packed_loose_changed_and_deleted(repo: Path, prefix: str) -> None:
    first, second = (gitstore.commit_files(repo, {"a": data}, message="m") for data in (b"1", b"2"))
    for name in ("heads/a/b", "heads/ab", "heads/gone", "tags/v1", "pull/1/head"):
        gitstore.set_ref(repo, f"refs/{name}", first)
    gitstore.run(repo, "tag", "-a", "v2", first, "-m", "x", extra=gitstore._WHO)
    gitstore.run(repo, "pack-refs", "--all")
    gitstore.set_ref(repo, "refs/heads/ab", second)
    gitstore.set_ref(repo, "refs/heads/new", second)
    gitstore.delete_ref(repo, "refs/heads/gone")
    (repo / "refs" / "heads" / "new.lock").write_text("half")
    found = gitstore.refs(repo, prefix)
    assert list(found.items()) == list(as_git_lists(repo, prefix).items())
    assert gitstore.refs(repo)["refs/heads/ab"] == second


def test_what_was_remembered_of_a_deleted_repository_is_not_said_of_its_successor(repo: Path) -> None:
    sha = gitstore.commit_files(repo, {"a": b"1"}, message="first")
    assert gitstore.resolve(repo, sha) == sha
    gitstore.remove(repo)
    gitstore.create(repo, "main")
    assert gitstore.resolve(repo, sha) is None


def test_an_object_that_comes_later_is_found(repo: Path) -> None:
    sha = gitstore.commit_files(repo, {"a": b"1"}, message="first")
    gitstore.remove(repo)
    gitstore.create(repo, "main")
    assert gitstore.resolve(repo, sha) is None
    assert gitstore.commit_files(repo, {"a": b"1"}, message="first") == sha
    assert gitstore.resolve(repo, sha) == sha


def test_what_a_branch_means_is_never_remembered(repo: Path) -> None:
    first, second = (gitstore.commit_files(repo, {"a": data}, message="m") for data in (b"1", b"2"))
    for sha in (first, second):
        gitstore.set_ref(repo, "refs/heads/main", sha)
        assert gitstore.resolve(repo, "main") == sha
        assert [commit.sha for commit in gitstore.log(repo, "main")] == [sha]
        assert [entry.sha for entry in gitstore.listing(repo, "main")] != []
    assert gitstore.diff(repo, first, "main")
    gitstore.set_ref(repo, "refs/heads/main", first)
    assert not gitstore.diff(repo, first, "main")
