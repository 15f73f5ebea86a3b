"""Forks of suites that ship their files: the same ids every time, whatever the paths hold, and nothing left behind."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import manifests
from bot.adapters.git import Authored, Git, GitError, GitKind
from bot.adapters.git_bytes import check_paths, escapes, path_problem
from bot.model import ForkId
from bot.neutral import Messages, PushKind, identity, messages, parse_strip_rules
from bot.ports import ForkCommits
from tests.shared import case

RULES = parse_strip_rules(Path(manifests.__file__).with_name("strip_paths.yaml").read_text(encoding="utf-8"))
SECRET, OTHER = b"s" * 32, b"t" * 32
BASE = {"src/a.py": b"x = 1\n", "README": b"text\n", "data.bin": bytes(range(256)), "AGENTS.md": b"be nice\n"}
HEAD = BASE | {"src/a.py": b"x = 2\n", "src/new.py": b"y = 3"}


def build(
    workdir: Path, base: dict[str, bytes], head: dict[str, bytes], secret: bytes = SECRET, git: Git | None = None
) -> ForkCommits:
    who, texts = identity(secret, ForkId("p1")), messages("Fix it")
    return (git or Git()).trees_from_files(workdir, base, head, Authored(RULES, who, texts))


def show(workdir: Path, *args: str) -> bytes:
    return subprocess.run(["git", "-C", str(workdir / "fork.git"), *args], check=True, capture_output=True).stdout


def files_of(workdir: Path, commit: str) -> dict[str, bytes]:
    names = show(workdir, "ls-tree", "-r", "-z", "--name-only", commit).split(b"\0")[:-1]
    return {os.fsdecode(name): show(workdir, "cat-file", "blob", f"{commit}:{os.fsdecode(name)}") for name in names}


def test_the_same_secret_gives_the_same_ids_twice_and_another_run_gives_others(tmp_path: Path) -> None:
    first, again = build(tmp_path / "a", BASE, HEAD), build(tmp_path / "b", BASE, HEAD)
    other = build(tmp_path / "c", BASE, HEAD, OTHER)
    assert first == again == build(tmp_path / "a", dict(reversed(BASE.items())), dict(reversed(HEAD.items())))
    assert {other.base_sha, other.head_sha}.isdisjoint({first.base_sha, first.head_sha})
    assert (other.base_tree, other.head_tree, other.patch_id) == (first.base_tree, first.head_tree, first.patch_id)


def test_the_commits_hold_the_files_and_nothing_that_tells_where_they_come_from(tmp_path: Path) -> None:
    made, who = build(tmp_path, BASE, HEAD), identity(SECRET, ForkId("p1"))
    assert made.stripped == ("AGENTS.md",)
    assert files_of(tmp_path, made.base_sha) == {p: b for p, b in BASE.items() if p != "AGENTS.md"}
    assert files_of(tmp_path, made.head_sha) == {p: b for p, b in HEAD.items() if p != "AGENTS.md"}
    base = show(tmp_path, "cat-file", "commit", made.base_sha).decode()
    stamp = f"{who.name} <{who.email}> {int(who.base_date.timestamp())} +0000"
    assert base == f"tree {made.base_tree}\nauthor {stamp}\ncommitter {stamp}\n\nInitial import\n"
    head = show(tmp_path, "cat-file", "commit", made.head_sha).decode()
    assert f"parent {made.base_sha}\n" in head and head.endswith("\n\nFix it\n") and head.count("parent") == 1


def test_the_patch_id_is_that_of_the_golden_diff_though_a_file_was_stripped(tmp_path: Path) -> None:
    with_agents = build(tmp_path / "a", BASE, HEAD)
    without = [{p: b for p, b in files.items() if p != "AGENTS.md"} for files in (BASE, HEAD)]
    assert build(tmp_path / "b", without[0], without[1]).patch_id == with_agents.patch_id != ""


def test_paths_that_look_like_options_or_hold_quotes_newlines_and_unicode_survive(tmp_path: Path) -> None:
    names = ["-rf", "--help", "a b", 'q"uote', "new\nline", "tab\t", "back\\slash", "caf\u00e9/\U0001f600",
             "\udcff.bin", "'", "$(x)", ":(top)x", "a/-b/--c", ".gitignore", "x.git/y", " ", "\x7f", "\u0130", "*",
             "a" * 255]  # fmt: skip
    base = {name: name.encode("utf-8", "surrogateescape") for name in names}
    head = base | {"-rf": b"changed\n", "new\nline": b"changed too"}
    made = build(tmp_path, base, head)
    assert files_of(tmp_path, made.base_sha) == base
    assert files_of(tmp_path, made.head_sha) == head
    assert "changed too" in Git().diff(tmp_path, made.base_sha, made.head_sha)


@pytest.mark.parametrize(
    "path",
    ["", "/abs", "a//b", "a/", "../x", "a/../b", "./a", "a/.", ".git/config", "a/.git/hooks/x", ".GIT/config", ".git",
     "a/.Git", ".git ", ".git.", ".git::$INDEX_ALLOCATION/x", "git~1/x", "GIT~1", ".g\u200cit/config", "a\\.git\\x",
     "nul\0x", "\ud800", "b" * 256, "c/" * 2100 + "d"],
)  # fmt: skip
def test_a_path_that_could_leave_the_tree_or_reach_git_itself_is_refused(path: str, tmp_path: Path) -> None:
    assert path_problem(path)
    with pytest.raises(GitError) as caught:
        build(tmp_path, BASE | {path: b"x"}, HEAD)
    assert caught.value.kind is GitKind.BAD_INPUT and not caught.value.retryable
    assert not (tmp_path / "fork.git").exists()


def test_what_is_a_file_and_a_folder_at_once_is_refused() -> None:
    with pytest.raises(GitError, match="itself a file"):
        check_paths(["a", "a/b"])
    check_paths(["a.b", "a/b", "a-b", "ab"])


def test_equal_trees_and_refused_files_and_big_files_make_no_fork(tmp_path: Path) -> None:
    with pytest.raises(GitError, match="nothing to review"):
        build(tmp_path / "a", BASE, dict(BASE))
    with pytest.raises(GitError, match=r"\.coderabbit\.yaml.*configures a reviewer") as refused:
        build(tmp_path / "b", BASE, HEAD | {".coderabbit.yaml": b"reviews: {}\n"})
    assert refused.value.kind is GitKind.REFUSED_TREE
    with pytest.raises(GitError, match=r"data\.bin.*skip this golden") as large:
        build(tmp_path / "c", BASE, HEAD, git=Git(file_limit=255))
    assert large.value.kind is PushKind.FILE_TOO_LARGE
    assert build(tmp_path / "d", BASE, HEAD, git=Git(file_limit=256)).head_sha


def test_a_changed_workflow_stays_and_is_noted(tmp_path: Path) -> None:
    made = build(tmp_path, BASE, HEAD | {".github/workflows/ci.yml": b"on: push\n"})
    assert made.notes[0].startswith("kept .github/workflows/ci.yml: ")
    assert ".github/workflows/ci.yml" in files_of(tmp_path, made.head_sha)


def test_a_message_or_author_cannot_add_lines_to_a_commit(tmp_path: Path) -> None:
    who = identity(SECRET, ForkId("p1"))
    evil = Messages("Initial import", "Title\n\ncommit refs/heads/evil\ndata 5\nauthor x <y> 0 +0000")
    made = Git().trees_from_files(tmp_path, BASE, HEAD, Authored(RULES, who, evil))
    assert show(tmp_path, "for-each-ref", "--format=%(refname)", "refs/heads").strip() == b""
    assert show(tmp_path, "log", "-1", "--format=%an", made.head_sha).decode().strip() == who.name
    for texts in (Messages("a\0b", "c"), Messages("", "c")):
        with pytest.raises(GitError, match="commit message"):
            Git().trees_from_files(tmp_path, BASE, HEAD, Authored(RULES, who, texts))


def test_no_hook_and_no_setting_of_the_machine_or_the_directory_takes_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, ran = tmp_path / "home", tmp_path / "ran"
    (home / "hooks").mkdir(parents=True)
    for name in ("pre-push", "reference-transaction", "post-index-change", "fsmonitor"):
        (home / "hooks" / name).write_text(f"#!/bin/sh\ntouch {ran}\n")
        (home / "hooks" / name).chmod(0o755)
    (home / ".gitconfig").write_text(
        f"[core]\n\thooksPath = {home}/hooks\n[user]\n\tname = Leak\n[i18n]\n\tcommitEncoding = latin1\n"
    )
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Leak")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_TRACE", str(ran))
    made = build(tmp_path / "w", BASE, HEAD)
    (tmp_path / "w" / "fork.git" / "hooks").mkdir(exist_ok=True)
    for hook in (home / "hooks").iterdir():
        os.link(hook, tmp_path / "w" / "fork.git" / "hooks" / hook.name)
    remote = tmp_path / "remote.git"
    subprocess.run(["git", "init", "-q", "--bare", str(remote)], check=True, env={"PATH": os.environ["PATH"]})
    Git(allow_file=True).push(tmp_path / "w", f"file://{remote}", None, {"main": made.base_sha})
    assert not ran.exists()
    monkeypatch.undo()
    assert b"Leak" not in show(tmp_path / "w", "cat-file", "commit", made.head_sha)


def test_what_a_killed_process_left_behind_is_made_anew(tmp_path: Path) -> None:
    made = build(tmp_path, BASE, HEAD)
    repo = tmp_path / "fork.git"
    (repo / "refs" / "fork" / "base.lock").touch()
    (repo / "HEAD.lock").touch()
    for pack in (repo / "objects").rglob("*"):
        if pack.is_file():
            pack.chmod(0o644)
            pack.write_bytes(b"")
    assert build(tmp_path, BASE, HEAD) == made
    (repo / "whole").unlink()
    (repo / "config").write_bytes(b"[core")
    assert build(tmp_path, BASE, HEAD) == made


def test_a_process_killed_at_any_moment_leaves_nothing_that_matters(tmp_path: Path) -> None:
    expected = build(tmp_path / "calm", BASE, HEAD)
    script = (
        "import sys; from pathlib import Path; from tests.bot.test_git_adapter_files import *\n"
        "print('ready', flush=True)\nwhile True: build(Path(sys.argv[1]), BASE, HEAD)"
    )
    for delay in (0.0, 0.02, 0.05, 0.09, 0.13):
        command = [sys.executable, "-c", script, str(tmp_path / "w")]
        with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]) as victim:
            assert victim.stdout is not None and victim.stdout.readline() == b"ready\n"
            time.sleep(delay)
            victim.kill()
        assert build(tmp_path / "w", BASE, HEAD) == expected


def test_two_processes_in_one_directory_wait_and_one_that_waits_too_long_says_so(tmp_path: Path) -> None:
    build(tmp_path, BASE, HEAD)
    with (tmp_path / "fork.lock").open("ab") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(GitError, match="another process") as caught:
            build(tmp_path, BASE, HEAD, git=Git(lock_timeout=0.1))
        assert caught.value.kind is GitKind.BUSY and caught.value.retryable
        threading.Timer(0.3, lambda: fcntl.flock(held, fcntl.LOCK_UN)).start()
        assert build(tmp_path, BASE, HEAD).stripped == ("AGENTS.md",)


def test_a_command_that_hangs_is_ended_with_everything_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pids = tmp_path / "pids"
    fake = tmp_path / "bin" / "git"
    fake.parent.mkdir()
    fake.write_text(f"#!/bin/sh\nsleep 60 &\necho $! $$ > {pids}\nwait\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}:{os.environ['PATH']}")
    begun = time.monotonic()
    with pytest.raises(GitError, match=r"took more than 0\.5 s") as caught:
        build(tmp_path / "w", BASE, HEAD, git=Git(timeout=0.5))
    assert caught.value.kind is GitKind.TIMEOUT and caught.value.retryable and time.monotonic() - begun < 10
    for pid in pids.read_text().split():
        stat = Path(f"/proc/{pid}/stat")
        assert not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z"


def test_a_missing_git_is_one_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GitError, match="no git on the PATH"):
        build(tmp_path, BASE, HEAD)


def test_the_local_difference_knows_no_limit_of_the_api(tmp_path: Path) -> None:
    answers = case("69")["input"]["answers"]
    names = [file["filename"] for file in answers["files"]]
    assert case("69")["expected"]["missing_patch"] == names[1:]
    base = {names[0]: b"a\nb\n"}
    big = b"".join(b'"line %d",\n' % number for number in range(90_000))
    made = build(tmp_path, base, {names[0]: b"a\nB\nc\n", names[1]: big, names[2]: b"\x89PNG\0\1"})
    text = Git().diff(tmp_path, made.base_sha, made.head_sha)
    assert all(f"diff --git a/{name} b/{name}\n" in text for name in names)
    assert text.count("\n+") > 90_000 and '+"line 89999",' in text


def test_too_much_output_is_an_error_and_never_a_cut(tmp_path: Path) -> None:
    made = build(tmp_path, BASE, HEAD)
    with pytest.raises(GitError) as caught:
        Git(output_limit=50).diff(tmp_path, made.base_sha, made.head_sha)
    assert caught.value.kind is GitKind.OUTPUT_LIMIT
    assert Git(output_limit=50_000).diff(tmp_path, made.base_sha, made.head_sha)


def test_a_difference_of_bytes_that_are_no_text_survives_the_round_trip(tmp_path: Path) -> None:
    made = build(tmp_path, {"a.txt": b"caf\xe9\r\nx\n"}, {"a.txt": b"caf\xe8\r\nx"})
    text = Git().diff(tmp_path, made.base_sha, made.head_sha)
    assert b"-caf\xe9\r\n-x\n+caf\xe8\r\n+x\n" in text.encode("utf-8", "surrogateescape")
    assert "\\ No newline at end of file" in text


@pytest.mark.parametrize("commit", ["HEAD", "--output=/tmp/x", "refs/fork/base", "a" * 39, "A" * 40, "0" * 40 + "\n"])
def test_only_full_commit_ids_are_accepted(commit: str, tmp_path: Path) -> None:
    made = build(tmp_path, BASE, HEAD)
    with pytest.raises(GitError, match="no commit id"):
        Git().diff(tmp_path, made.base_sha, commit)  # type: ignore[arg-type]


def test_a_fork_is_made_in_a_moment(tmp_path: Path) -> None:
    base = {f"src/module_{number}.py": b"x = 1\n" * 200 for number in range(60)}
    times = []
    for number in range(3):
        begun = time.perf_counter()
        build(tmp_path / str(number), base, base | {"src/module_1.py": b"y\n"})
        times.append(time.perf_counter() - begun)
    assert min(times) < 1.0, "it takes a tenth of that on an idle machine; one process per file would take several"


@pytest.mark.parametrize(
    ("path", "target", "out"),
    [("a", "b", False), ("a/b", "../c", False), ("a", "../c", True), ("a/b", "../../c", True),
     ("a", "/etc/passwd", True), ("a/b/c", "../../d/./e", False), ("a", "x/../../y", True), ("a", "", True),
     ("a", "b\0c", True)],
)  # fmt: skip
def test_a_link_out_of_the_tree_is_recognised_by_its_text(path: str, target: str, out: bool) -> None:
    assert escapes(path, target) is out
