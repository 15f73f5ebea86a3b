"""What is found in the trees of a fork, what becomes of it, and what reviewers put in."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest

from bot.adapters import git_scan
from bot.adapters.git import Authored, Git, GitError, GitKind
from bot.model import ForkId
from bot.neutral import PushKind, identity, messages
from bot.neutral_preflight import FindingKind, Verdict
from bot.ports import ForkCommits
from tests.bot.test_git_adapter_files import RULES, SECRET, build, files_of, show
from tests.bot.test_git_adapter_pins import FILES, GIT, HEAD, LFS, Upstream, pin_of, upstream
from tests.bot.test_git_adapter_pins import build as build_pin

__all__ = ["upstream"]

TOKEN = b"ghp_" + b"aB3dE6gH9jK2mN5pQ8sT1vW4yZ7" + b"0123456789"[:9]
FLOW = ".github/workflows/acme.yml"


def put(workdir: Path, base: dict[str, bytes], head: dict[str, bytes], flow: bytes | None = None) -> ForkCommits:
    files = {} if flow is None else {FLOW: flow}
    authored = Authored(RULES, identity(SECRET, ForkId("p1")), messages("Fix it"), files)
    return Git().trees_from_files(workdir, base, head, authored)


def test_a_secret_is_told_by_path_wherever_it_stands_and_does_not_stop_the_fork(tmp_path: Path) -> None:
    base = {"a.py": b"x = 1\n", "tests/old.txt": TOKEN, "copy.txt": TOKEN, ".cursor/key": TOKEN}
    made = build(tmp_path, base, base | {"a.py": b"x = 2\n" + TOKEN})
    found = {(one.kind, one.path, one.verdict) for one in made.findings}
    assert found == {(FindingKind.SECRET, path, Verdict.WARN) for path in ("a.py", "tests/old.txt", "copy.txt")}
    assert not any(TOKEN.decode() in one.detail for one in made.findings)


def test_a_binary_file_that_holds_a_token_is_no_exception(tmp_path: Path) -> None:
    made = build(tmp_path, {"a": b"1"}, {"a": b"\0\0 " + TOKEN + b" \0"})
    assert [one.path for one in made.findings] == ["a"]


def test_a_pointer_among_shipped_files_is_refused_where_the_change_touches_it(tmp_path: Path) -> None:
    made = build(tmp_path / "a", {"a": b"1", "big": LFS}, {"a": b"2", "big": LFS})
    assert made.stripped == ("big",) and "it leaves both trees" in made.findings[0].detail
    with pytest.raises(GitError, match="cannot be forked: 'big'") as caught:
        build(tmp_path / "b", {"a": b"1"}, {"a": b"2", "big": LFS})
    assert [(one.path, one.verdict) for one in caught.value.findings] == [("big", Verdict.REFUSE)]


def test_everything_that_is_wrong_is_told_at_once(tmp_path: Path, upstream: Upstream) -> None:
    head = HEAD | {"vendor": ("160000", b"3" * 40), "out": ("120000", b"/etc/passwd"), "SRC/a.py": ("100644", TOKEN)}
    with pytest.raises(GitError) as caught:
        build_pin(tmp_path / "w", pin_of(upstream, FILES, head), upstream.url)
    found = {one.path: (one.kind, one.verdict) for one in caught.value.findings}
    assert found == {
        "vendor": (FindingKind.SUBMODULE, Verdict.REFUSE),
        "out": (FindingKind.LINK_OUT, Verdict.REFUSE),
        # One path has two findings: the token is the later one.
        "SRC/a.py": (FindingKind.SECRET, Verdict.WARN),
        "src": (FindingKind.CASE_CLASH, Verdict.WARN),
        "src/a.py": (FindingKind.CASE_CLASH, Verdict.WARN),
    }
    assert caught.value.kind is GitKind.REFUSED_TREE


def test_a_large_file_has_its_own_kind_only_where_it_is_the_only_reason(tmp_path: Path, upstream: Upstream) -> None:
    git = replace(GIT, file_limit=1999)
    big = {"big": ("100644", b"x" * 2000)}
    with pytest.raises(GitError) as caught:
        build_pin(tmp_path / "a", pin_of(upstream, FILES | big, HEAD | big), upstream.url, git=git)
    assert caught.value.kind is PushKind.FILE_TOO_LARGE
    both = big | {"vendor": ("160000", b"3" * 40)}
    with pytest.raises(GitError) as caught:
        build_pin(tmp_path / "b", pin_of(upstream, FILES, HEAD | both), upstream.url, git=git)
    assert caught.value.kind is GitKind.REFUSED_TREE and "'big'" in caught.value.message


def test_what_the_files_give_away_is_counted_over_what_stays(tmp_path: Path, upstream: Upstream) -> None:
    telling = {
        "widgets/core.py": ("100644", b"# Copyright 2020 Acme\n# https://github.com/acme/widgets\n"),
        "CODEOWNERS": ("100644", b"* @acme/core dev@acme.dev\n"),
    }
    made = build_pin(tmp_path / "w", pin_of(upstream, FILES | telling, HEAD | telling), upstream.url)
    assert made.residual["upstream_texts"] == 1 and made.residual["copyrights"] == 1
    assert made.residual["upstream_paths"] == 1
    assert "addresses" not in made.residual


# --- workflows that reviewers put in ----------------------------------------------------------------------------


def test_a_workflow_is_put_into_both_trees_and_the_difference_stays_the_golden_one(tmp_path: Path) -> None:
    base = {"a.py": b"x = 1\n", ".github/workflows/ci.yml": b"on: push\n", FLOW: b"on: theirs\n"}
    head = base | {"a.py": b"x = 2\n"}
    plain, made = put(tmp_path / "a", base, head), put(tmp_path / "b", base, head, flow=b"on: pull_request\n")
    assert made.injected == (FLOW,) and plain.injected == ()
    assert made.patch_id == plain.patch_id
    for commit in (made.base_sha, made.head_sha):
        files = files_of(tmp_path / "b", commit)
        assert files[FLOW] == b"on: pull_request\n" and ".github/workflows/ci.yml" not in files
    assert made.base_sha != plain.base_sha
    assert put(tmp_path / "c", base, head, flow=b"on: pull_request\n") == made
    assert show(tmp_path / "b", "fsck", "--strict", "--no-dangling") == b""


def test_a_pull_request_that_changes_that_very_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GitError, match="reviewer's workflow"):
        put(tmp_path, {"a": b"1", FLOW: b"1"}, {"a": b"1", FLOW: b"2"}, flow=b"3")


def test_memory_does_not_grow_with_the_tree_that_is_looked_through(
    tmp_path: Path, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git_scan, "_BATCH_BYTES", 1_000_000)
    many = {f"d/{number}": ("100644", bytes([65 + number]) * 400_000) for number in range(40)}
    pin = pin_of(upstream, FILES | many, HEAD | many)
    tracemalloc.start()
    try:
        build_pin(tmp_path / "w", pin, upstream.url)
        assert tracemalloc.get_traced_memory()[1] < 6_000_000
    finally:
        tracemalloc.stop()
