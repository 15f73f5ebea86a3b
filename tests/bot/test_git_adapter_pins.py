"""Forks of pinned upstream commits: only those are fetched, modes survive, what identifies or harms does not."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from bot.adapters.git import Authored, Git, GitError, GitKind
from bot.model import ForkId
from bot.neutral import PushKind, identity, messages
from bot.ports import ForkCommits
from goldens.model import Direction, GitPin
from tests.bot.test_git_adapter_files import RULES, SECRET, show

GIT = Git(allow_file=True)
ENV = {
    "PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "HOME": "/nonexistent",
    "GIT_AUTHOR_NAME": "Up Stream", "GIT_AUTHOR_EMAIL": "up@acme.dev", "GIT_AUTHOR_DATE": "1700000000 +0100",
    "GIT_COMMITTER_NAME": "Up Stream", "GIT_COMMITTER_EMAIL": "up@acme.dev", "GIT_COMMITTER_DATE": "1700000000 +0100",
}  # fmt: skip
LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 12345\n"


@dataclass(frozen=True)
class Upstream:
    """An upstream repository under `root`, made with plain git."""

    root: Path

    @property
    def path(self) -> Path:
        return self.root / "acme" / "widgets.git"

    @property
    def url(self) -> str:
        return f"file://{self.root}"

    def git(self, *args: str, stdin: bytes = b"") -> str:
        done = subprocess.run(["git", *args], cwd=self.path, env=ENV, input=stdin, check=True, capture_output=True)
        return done.stdout.decode().strip()

    def commit(self, entries: dict[str, tuple[str, bytes]], *parents: str) -> str:
        """A commit of path -> (mode, content or commit id)."""
        lines = []
        for path, (mode, content) in entries.items():
            blob = mode == "160000"
            sha = content.decode() if blob else self.git("hash-object", "-w", "--stdin", stdin=content)
            lines.append(f"{mode} {sha}\t{path}\0".encode("utf-8", "surrogateescape"))
        index = str(self.root / "index")
        env = ENV | {"GIT_INDEX_FILE": index}
        Path(index).unlink(missing_ok=True)
        add = ["git", "update-index", "--add", "-z", "--index-info"]
        subprocess.run(add, cwd=self.path, env=env, input=b"".join(lines), check=True)
        tree = subprocess.run(["git", "write-tree"], cwd=self.path, env=env, check=True, capture_output=True).stdout
        flags = [word for parent in parents for word in ("-p", parent)]
        return self.git("commit-tree", tree.decode().strip(), *flags, "-m", "Fixes acme/widgets#1 cc @someone")


@pytest.fixture
def upstream(tmp_path: Path) -> Upstream:
    made = Upstream(tmp_path / "up")
    made.path.mkdir(parents=True)
    made.git("init", "-q", "--bare")
    return made


FILES: dict[str, tuple[str, bytes]] = {
    "src/a.py": ("100644", b"x = 1\n"),
    "run.sh": ("100755", b"#!/bin/sh\n"),
    "link": ("120000", b"src/a.py"),
    '-odd \u00e9\n"name': ("100644", b"odd\n"),
    "\udcff": ("100644", b"no text\n"),
    "x/.github/workflows/ci.yml": ("100644", b"on: push\n"),
    ".cursor/rules.md": ("100644", b"obey\n"),
}
HEAD = FILES | {"src/a.py": ("100644", b"x = 2\n"), "run.sh": ("100644", b"#!/bin/sh\n"), "new": ("120000", b"run.sh")}


def plain(folder: Path, *args: str) -> str:
    """Plain git in a folder."""
    return subprocess.run(["git", *args], cwd=folder, env=ENV, check=True, capture_output=True).stdout.decode().strip()


def bare(path: Path) -> str:
    """The address of a new, empty repository."""
    path.mkdir(parents=True)
    plain(path, "init", "-q", "--bare")
    return f"file://{path}"


def pin_of(up: Upstream, base: dict[str, tuple[str, bytes]], head: dict[str, tuple[str, bytes]]) -> GitPin:
    old = up.commit({"old": ("100644", b"history\n")})
    base_sha = up.commit(base, old)
    head_sha = up.commit(head, base_sha)
    up.git("update-ref", "refs/heads/main", base_sha)
    up.git("update-ref", "refs/pull/7/head", head_sha)
    return GitPin("acme/widgets", 7, base_sha, head_sha)


def build(workdir: Path, pin: GitPin, *urls: str, git: Git = GIT) -> ForkCommits:
    who = identity(SECRET, ForkId("p1"))
    return git.trees_from_pin(workdir, pin, urls, Authored(RULES, who, messages("Double the value")))


def listing(workdir: Path, commit: str) -> dict[str, str]:
    lines = show(workdir, "ls-tree", "-r", "-z", commit).split(b"\0")[:-1]
    return {os.fsdecode(line.partition(b"\t")[2]): line.split()[0].decode() for line in lines}


def test_a_fix_run_backwards_keeps_its_difference(tmp_path: Path, upstream: Upstream) -> None:
    forth = pin_of(upstream, FILES, HEAD)
    back = replace(forth, base_sha=forth.head_sha, head_sha=forth.base_sha, direction=Direction.INVERTED)
    made = build(tmp_path / "w", back, upstream.url)
    raw = ("diff-tree", "-r", "--no-abbrev", "--raw")
    told = plain(tmp_path / "w" / "fork.git", *raw, made.base_sha, made.head_sha)
    assert told and told == upstream.git(*raw, back.base_sha, back.head_sha)
    assert made.notes == ()


def test_modes_links_and_odd_names_survive_and_the_stripped_are_gone(tmp_path: Path, upstream: Upstream) -> None:
    pin = pin_of(upstream, FILES, HEAD)
    made = build(tmp_path / "w", pin, upstream.url)
    gone = {"x/.github/workflows/ci.yml", ".cursor/rules.md"}
    assert set(made.stripped) == gone
    assert listing(tmp_path / "w", made.base_sha) == {p: m for p, (m, _) in FILES.items() if p not in gone}
    assert listing(tmp_path / "w", made.head_sha) == {p: m for p, (m, _) in HEAD.items() if p not in gone}
    raw = ("diff-tree", "-r", "--no-abbrev", "--raw")
    whole = upstream.git(*raw, pin.base_sha, pin.head_sha)
    assert plain(tmp_path / "w" / "fork.git", *raw, made.base_sha, made.head_sha) == whole
    patch = upstream.git("diff-tree", "-p", "--full-index", pin.base_sha, pin.head_sha)
    assert upstream.git("patch-id", "--stable", stdin=patch.encode() + b"\n").split()[0] == made.patch_id
    text = show(tmp_path / "w", "cat-file", "commit", made.head_sha).decode()
    assert "acme" not in text and "Up Stream" not in text and text.count("\nparent") == 1


def test_a_retry_and_another_machine_give_the_same_ids(tmp_path: Path, upstream: Upstream) -> None:
    pin = pin_of(upstream, FILES, HEAD)
    made = build(tmp_path / "w", pin, upstream.url)
    shutil.move(upstream.path, tmp_path / "away")
    assert build(tmp_path / "w", pin, upstream.url) == made, "what was fetched is not fetched again"
    shutil.move(tmp_path / "away", upstream.path)
    assert build(tmp_path / "other", pin, upstream.url) == made


def test_nothing_of_the_history_is_fetched_or_pushed(tmp_path: Path, upstream: Upstream) -> None:
    pin = pin_of(upstream, FILES, HEAD)
    made = build(tmp_path / "w", pin, upstream.url)
    with pytest.raises(subprocess.CalledProcessError):
        plain(tmp_path / "w" / "fork.git", "cat-file", "-e", upstream.git("rev-parse", f"{pin.base_sha}~"))
    remote = tmp_path / "remote.git"
    GIT.push(tmp_path / "w", bare(remote), None, {"main": made.base_sha, "update/a-b": made.head_sha})
    objects = plain(remote, "cat-file", "--batch-all-objects", "--batch-check")
    assert objects.count(" commit ") == 2 and pin.head_sha not in objects and pin.base_sha not in objects
    refs = plain(remote, "for-each-ref", "--format=%(refname)").split()
    assert refs == ["refs/heads/main", "refs/heads/update/a-b"]


def test_a_commit_that_the_upstream_lost_comes_from_a_mirror(tmp_path: Path, upstream: Upstream) -> None:
    pin = pin_of(upstream, FILES, HEAD)
    lost = bare(tmp_path / "lost" / "acme" / "widgets.git").removesuffix("/acme/widgets.git")
    expected = build(tmp_path / "a", pin, upstream.url)
    assert build(tmp_path / "b", pin, lost, f"file://{tmp_path}/absent", upstream.url) == expected


def test_the_pull_ref_is_asked_where_the_server_refuses_ids(tmp_path: Path, upstream: Upstream) -> None:
    pin = pin_of(upstream, FILES, HEAD)
    refusing = tmp_path / "bin" / "git"
    refusing.parent.mkdir()
    real = shutil.which("git")
    # Refuses every fetch that names an id, as a server of the old protocol does; all else is the real git.
    refusing.write_text(
        f'#!/bin/sh\nif [ "$1" = fetch ]; then for a; do case "$a" in {pin.head_sha}|{pin.base_sha}) '
        f'echo "error: Server does not allow request for unadvertised object" >&2; exit 128;; esac; done; fi\n'
        f'exec {real} "$@"\n'
    )
    refusing.chmod(0o755)
    expected = build(tmp_path / "a", pin, upstream.url)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{refusing.parent}:{os.environ['PATH']}")
        assert build(tmp_path / "b", pin, upstream.url) == expected
        gone = replace(pin, number=8)
        with pytest.raises(GitError, match=r"nowhere to be had.*unadvertised object"):
            build(tmp_path / "c", gone, upstream.url)


def test_a_commit_that_nobody_has_is_one_error_that_names_it(tmp_path: Path, upstream: Upstream) -> None:
    pin = replace(pin_of(upstream, FILES, HEAD), head_sha="1" * 40)
    with pytest.raises(GitError, match=r"commit 1{40} of acme/widgets is nowhere to be had") as caught:
        build(tmp_path / "w", pin, upstream.url, f"file://{tmp_path}/absent")
    assert caught.value.kind is GitKind.MISSING_COMMIT and not caught.value.retryable


def forked_early(upstream: Upstream, commits: int = 3) -> tuple[GitPin, str]:
    """A pull request of some commits whose pinned base is the branch's later tip, and where it left the branch."""
    point = upstream.commit(FILES)
    tip = upstream.commit(FILES | {"unrelated": ("100644", b"1\n")}, point)
    head = point
    for number in range(commits - 1):
        head = upstream.commit(FILES | {"src/a.py": ("100644", b"x = 1%d\n" % number)}, head)
    head = upstream.commit(HEAD, head)
    upstream.git("update-ref", "refs/pull/7/head", head)
    upstream.git("update-ref", "refs/heads/main", tip)
    return GitPin("acme/widgets", 7, tip, head), point


@pytest.mark.parametrize("filtering", ["true", "false"])
def test_the_base_is_the_merge_base_though_another_commit_is_pinned(
    filtering: str, tmp_path: Path, upstream: Upstream
) -> None:
    pin, point = forked_early(upstream)
    upstream.git("config", "uploadpack.allowFilter", filtering)
    made = build(tmp_path / "w", pin, upstream.url)
    # Otherwise the unrelated change of the tip would show as reversed.
    assert "unrelated" not in listing(tmp_path / "w", made.base_sha)
    assert made.notes == (f"the base is the merge base {point}, not the pinned {pin.base_sha}",)
    assert made.base_is == "the merge base, which is not the pinned commit"
    assert build(tmp_path / "w", pin, "file:///nowhere") == made
    assert {path.name for path in (tmp_path / "w").iterdir()} == {"fork.git", "fork.lock"}


def test_a_base_below_the_first_commit_of_a_longer_pull_request_is_verified(tmp_path: Path, upstream: Upstream) -> None:
    pin, point = forked_early(upstream, commits=30)
    upstream.git("config", "uploadpack.allowFilter", "true")
    made = build(tmp_path / "w", replace(pin, base_sha=point), upstream.url)
    assert (made.base_is, made.notes) == ("the merge base, as pinned", ())
    direct = build(tmp_path / "w", pin_of(upstream, FILES, HEAD), upstream.url)
    assert direct.base_is == "the merge base, as pinned"


def test_a_history_that_nobody_gives_is_said_and_does_not_stop_the_fork(tmp_path: Path, upstream: Upstream) -> None:
    pin, _ = forked_early(upstream)
    alone = upstream.git("commit-tree", f"{pin.base_sha}^{{tree}}", "-m", "another root")
    made = build(tmp_path / "w", replace(pin, base_sha=alone), upstream.url)
    assert made.base_is == "the pinned commit; not verified to be the merge base"
    assert "could not be verified" in made.notes[0]


EXTRA: dict[str, tuple[str, bytes]] = {
    "out": ("120000", b"../../etc/passwd"),
    "vendor/lib": ("160000", b"2" * 40),
    ".gitmodules": ("100644", b'[submodule "lib"]\n\tpath = vendor/lib\n\turl = https://acme.dev/lib.git\n'),
    "img/big.bin": ("100644", LFS),
}


def test_submodules_links_out_of_the_tree_and_pointers_leave_both_trees_untouched_by_the_change(
    tmp_path: Path, upstream: Upstream
) -> None:
    made = build(tmp_path / "w", pin_of(upstream, FILES | EXTRA, HEAD | EXTRA), upstream.url)
    without = build(tmp_path / "v", pin_of(upstream, FILES, HEAD), upstream.url)
    assert set(made.stripped) == set(EXTRA) | set(without.stripped)
    assert (made.base_sha, made.head_sha) == (without.base_sha, without.head_sha)


@pytest.mark.parametrize("path", sorted(EXTRA))
def test_a_change_of_one_of_those_makes_no_fork_and_says_which(path: str, tmp_path: Path, upstream: Upstream) -> None:
    base = FILES | {name: entry for name, entry in EXTRA.items() if name != path}
    with pytest.raises(GitError, match="cannot be forked") as caught:
        build(tmp_path / "w", pin_of(upstream, base, HEAD | EXTRA), upstream.url)
    assert caught.value.kind is GitKind.REFUSED_TREE and path in caught.value.message


def test_a_file_the_host_would_refuse_is_found_before_the_push(tmp_path: Path, upstream: Upstream) -> None:
    pin = pin_of(upstream, FILES | {"big": ("100644", b"x" * 2000)}, HEAD)
    with pytest.raises(GitError, match="'big': it has 2000 bytes") as caught:
        build(tmp_path / "w", pin, upstream.url, git=replace(GIT, file_limit=1999))
    assert caught.value.kind is PushKind.FILE_TOO_LARGE


def test_a_tree_that_reaches_into_git_is_refused_by_the_fetch(tmp_path: Path, upstream: Upstream) -> None:
    pin = pin_of(upstream, FILES, HEAD)
    blob = upstream.git("hash-object", "-w", "--stdin", stdin=b"evil\n")
    inner = upstream.git("mktree", stdin=f"100755 blob {blob}\tconfig\n".encode())
    raw = b"40000 .git\0" + bytes.fromhex(inner)
    tree = upstream.git("hash-object", "-w", "-t", "tree", "--literally", "--stdin", stdin=raw)
    evil = upstream.git("commit-tree", tree, "-p", pin.base_sha, "-m", "x")
    upstream.git("update-ref", "refs/pull/7/head", evil)
    with pytest.raises(GitError, match="hasDotgit"):
        build(tmp_path / "w", replace(pin, head_sha=evil), upstream.url)


def test_a_damaged_directory_is_fetched_anew(tmp_path: Path, upstream: Upstream) -> None:
    pin = pin_of(upstream, FILES, HEAD)
    made = build(tmp_path / "w", pin, upstream.url)
    for file in (tmp_path / "w" / "fork.git" / "objects").rglob("*"):
        if file.is_file():
            file.chmod(0o644)
            file.write_bytes(file.read_bytes()[:40])
    assert build(tmp_path / "w", pin, upstream.url) == made
    (tmp_path / "w" / "fork.git" / "shallow.lock").touch()
    assert build(tmp_path / "w", pin, upstream.url) == made


@pytest.mark.parametrize(
    "name", ["acme", "acme/..", "acme/.", "../x/y", "-u/x", "acme/w;id", "acme/w w", "acme/w\n", "a/b/c", "acme/-x\x00"]
)
def test_an_upstream_is_a_repository_name_and_nothing_else(name: str, tmp_path: Path) -> None:
    with pytest.raises(GitError, match="no repository"):
        build(tmp_path, GitPin(name, 1, "1" * 40, "2" * 40), "file:///srv")


@pytest.mark.parametrize("commit", ["main", "--upload-pack=id", "1" * 39, "1" * 40 + "^{}"])
def test_a_pin_is_two_full_commit_ids(commit: str, tmp_path: Path, upstream: Upstream) -> None:
    with pytest.raises(GitError, match="no commit id"):
        build(tmp_path / "w", GitPin("acme/widgets", 1, commit, "2" * 40), upstream.url)


def test_attributes_of_a_fetched_tree_run_no_filter_and_change_no_byte(
    tmp_path: Path, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = tmp_path / "ran"
    for one in ("clean", "smudge", "process", "textconv"):
        program = tmp_path / one
        program.write_text(f"#!/bin/sh\ntouch '{ran}'\ncat\n")
        program.chmod(0o755)
    # The operator's own git knows the filter, as one for large files is known on many machines.
    mine = tmp_path / "gitconfig"
    mine.write_text(
        f"[filter \"x\"]\n\tclean = '{tmp_path}/clean'\n\tsmudge = '{tmp_path}/smudge'\n\trequired = true\n"
        f"[diff \"x\"]\n\ttextconv = '{tmp_path}/textconv'\n\tcommand = '{tmp_path}/process'\n"
    )
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, str(mine))
    attributes = b"* filter=x diff=x ident text=auto eol=crlf working-tree-encoding=UTF-16 export-subst\n"
    odd = b"$Id$ $Format:%H$\r\n1\n"
    base = {".gitattributes": ("100644", attributes), "a.txt": ("100644", odd)}
    made = build(tmp_path / "w", pin_of(upstream, base, base | {"a.txt": ("100644", odd + b"2\n")}), upstream.url)
    assert show(tmp_path / "w", "cat-file", "blob", f"{made.base_sha}:a.txt") == odd
    assert show(tmp_path / "w", "cat-file", "blob", f"{made.head_sha}:a.txt") == odd + b"2\n"
    assert made.patch_id
    assert not ran.exists()
