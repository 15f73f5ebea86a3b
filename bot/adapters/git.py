"""Git, and nothing else runs it: makes a fork's two commits, proves them, pushes them, and shows their difference.

A working directory belongs to one fork. Everything in it can be made again from the same input with the same ids, so
whatever a killed process left behind is either complete and reused, or thrown away. Two processes that meet in one
directory wait for each other; the lock is held by git's own processes too, so an orphan still counts.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import tempfile
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Final

from bot.adapters.git_bytes import (
    GitError,
    GitKind,
    check_paths,
    checked_url,
    environment,
    import_stream,
    redacted,
)
from bot.adapters.git_files import two_trees
from bot.adapters.git_pin import fetch_pin, merge_base
from bot.adapters.git_process import Finished, finish, start
from bot.adapters.git_scan import Inspection, inspect
from bot.adapters.git_trees import (
    BASE,
    HEAD,
    PATCH,
    amended,
    blob,
    missing,
    patch_id,
    raw_difference,
    resolve,
    sha,
    two_commits,
)
from bot.model import Sha
from bot.neutral import Identity, Messages, StripRules, push_problem
from bot.ports import ForkCommits, TwoTrees
from goldens.model import GitPin

__all__ = ["Git", "GitError", "GitKind"]

_INIT: Final = ("init", "--quiet", "--bare", "--template=", "--object-format=sha1", "--initial-branch=main")
_WHOLE: Final = ("refs/whole/base", "refs/whole/head")
_UPSTREAM: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,38}/(?!\.{1,2}\Z)[A-Za-z0-9._-]{1,100}")


def _take(lock: IO[bytes], seconds: float) -> None:
    """Hold the lock of a working directory, waiting for whoever has it."""
    until = time.monotonic() + seconds
    while True:
        try:
            return fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                raise GitError(GitKind.BUSY, "another process works in this fork's directory", True) from None
        time.sleep(0.05)


@dataclass(frozen=True, slots=True)
class _Repository:
    """A bare repository of ours, with its lock held."""

    path: Path
    lock: int
    git: Git
    reused: bool

    def run(self, *args: str, stdin: bytes = b"", index: str = "", accept: Collection[int] = (0,)) -> bytes:
        extra = {"GIT_DIR": str(self.path)} | ({"GIT_INDEX_FILE": index} if index else {})
        return self.git._run(args, stdin=stdin, extra=extra, accept=accept, lock=self.lock).out

    def remote(self, *args: str, url: str, token: str | None = None) -> bytes:
        return self.git._run(args, url=url, token=token, extra={"GIT_DIR": str(self.path)}, lock=self.lock).out

    @contextmanager
    def scratch(self) -> Iterator[_Repository]:
        """Another empty repository beside this one, which is gone afterwards: what it fetches is not in the fork."""
        with tempfile.TemporaryDirectory(prefix="history-", dir=self.path.parent) as folder:
            path = Path(folder) / "history.git"
            self.git._init(path, self.lock)
            yield _Repository(path, self.lock, self.git, False)


@dataclass(frozen=True, slots=True)
class Authored:
    """What we decide of a fork's commits; everything else comes from the golden pull request."""

    rules: StripRules
    identity: Identity
    messages: Messages
    workflows: Mapping[str, bytes] = field(default_factory=dict)
    """Workflow files of reviewers that are Actions: path -> content, written to both trees."""


@dataclass(frozen=True, slots=True)
class Git:
    """What git may do and how long it may take. Holds no state; any thread may use it."""

    allow_file: bool = False
    """Whether `file:///` addresses are allowed, for local mirrors and tests."""
    allow_http: bool = False
    """Whether plain http is allowed beyond loopback."""
    timeout: float = 120
    """Seconds for one local command."""
    network_timeout: float = 900
    """Seconds for one fetch, push or listing."""
    lock_timeout: float = 30
    """Seconds to wait for another process in the same working directory."""
    output_limit: int = 256 * 1024 * 1024
    """Bytes one command may print; more is an error, never a cut."""
    reading: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Address -> token to read it with, for addresses that no call names a token for."""
    whole_limit: int = 16 * 1024 * 1024
    """Bytes up to which both trees of a fork are read whole; of larger ones, what the change touches."""
    file_limit: int = 100 * 1024 * 1024
    """Bytes of the largest file the host takes."""

    # --- the fork's commits -------------------------------------------------------------------------------------

    def trees_from_files(
        self, workdir: Path, base: Mapping[str, bytes], head: Mapping[str, bytes], authored: Authored
    ) -> ForkCommits:
        """Make and prove the two commits of a golden pull request whose files ship with the suite.

        Raises:
            GitError: paths that no tree can hold, equal trees, a file over the limit, or a file that rules refuse.
        """
        check_paths(base)
        check_paths(head)
        sources = [dict(base), dict(head)]
        with self._workshop(workdir, fresh=True) as repo:
            whole = two_commits(authored.identity, authored.messages, _WHOLE, sources)
            repo.run("fast-import", "--quiet", "--force", stdin=import_stream(whole))
            return self._made(repo, resolve(repo, *(f"{name}^{{tree}}" for name in _WHOLE)), authored, None)

    def trees_from_pin(
        self, workdir: Path, pin: GitPin, upstreams: Sequence[str], authored: Authored, clones: Sequence[str] = ()
    ) -> ForkCommits:
        """Fetch the two pinned commits, and make and prove the fork's two from their trees, modes preserved.

        Args:
            workdir: belongs to this fork.
            pin: what to fetch.
            upstreams: where upstreams are, in order: GitHub or what stands for it, then mirrors. `owner/name.git` is
                put behind each.
            authored: what we decide of the fork.
            clones: addresses of this very repository, to be asked last.

        Raises:
            GitError: nobody has the commits, or the trees cannot be forked; the message says which path and why.
        """
        if not _UPSTREAM.fullmatch(pin.upstream):
            raise GitError(GitKind.BAD_INPUT, f"{pin.upstream[:150]!r} is no repository; write owner/name")
        urls = [self._checked(f"{base.rstrip('/')}/{pin.upstream}.git") for base in upstreams]
        urls += [self._checked(url) for url in clones]
        reused = False
        try:
            with self._workshop(workdir, fresh=False) as repo:
                reused = repo.reused
                return self._pinned(repo, pin, urls, authored)
        except GitError as error:
            # It failed on what an earlier process left behind: that may be damaged, so begin anew.
            if error.kind not in (GitKind.FAILED, GitKind.MISSING_COMMIT) or not reused:
                raise
        with self._workshop(workdir, fresh=True) as repo:
            return self._pinned(repo, pin, urls, authored)

    def _pinned(self, repo: _Repository, pin: GitPin, urls: Sequence[str], authored: Authored) -> ForkCommits:
        fetch_pin(repo, pin, urls)
        base, base_is, notes = merge_base(repo, pin, urls, repo.scratch)
        whole = resolve(repo, f"{base}^{{tree}}", f"{pin.head_sha}^{{tree}}")
        made = self._made(repo, whole, authored, pin.upstream)
        return replace(made, base_is=base_is, notes=(*notes, *made.notes))

    def _made(self, repo: _Repository, whole: Sequence[Sha], authored: Authored, upstream: str | None) -> ForkCommits:
        """Both commits from the whole trees: without what must leave, with the workflows of reviewers put in."""
        put = {path: blob(repo, content) for path, content in authored.workflows.items()}
        seen = inspect(repo, whole, authored.rules, limit=self.file_limit, upstream=upstream, put=put)
        gone = [one.path for one in seen.decided.removed]
        trees = [amended(repo, tree, gone, put) for tree in whole]
        commits = two_commits(authored.identity, authored.messages, (BASE, HEAD), trees)
        repo.run("fast-import", "--quiet", "--force", stdin=import_stream(commits))
        return _proven(repo, whole, seen, tuple(sorted(put)))

    # --- the remote ---------------------------------------------------------------------------------------------

    def ls_remote(self, url: str, token: str | None = None) -> Mapping[str, Sha]:
        """The branches of a remote and where they stand; empty for an empty repository."""
        out = self._run(("ls-remote", "--heads", "--", self._checked(url)), url=url, token=token).out
        lines = (line.split("\t", 1) for line in out.decode("utf-8", "surrogateescape").split("\n") if "\t" in line)
        return {ref.removeprefix("refs/heads/"): sha(commit) for commit, ref in lines}

    def push(self, workdir: Path, url: str, token: str | None, refs: Mapping[str, Sha]) -> tuple[str, ...]:
        """Create these branches and no other, in the order given; the answer is which had to be created.

        A branch that is there at the same commit is left alone, so a repeated push does nothing. One that is there at
        another commit is an error: nothing is ever overwritten.
        """
        self._checked(url)
        for branch, commit in refs.items():
            self._check_branch(branch)
            sha(commit)
        there = self.ls_remote(url, token)
        wrong = [branch for branch, commit in refs.items() if there.get(branch, commit) != commit]
        if wrong:
            problem = push_problem("stale info")
            raise GitError(problem.kind, f"{', '.join(wrong)}: {problem.message}")
        lacking = {branch: commit for branch, commit in refs.items() if branch not in there}
        if lacking:
            self._create(workdir, url, token, lacking)
        return tuple(lacking)

    def _create(self, workdir: Path, url: str, token: str | None, refs: Mapping[str, Sha]) -> None:
        # An empty lease says "only if it is not there": the one way to make git refuse a branch made meanwhile.
        leases = [f"--force-with-lease=refs/heads/{branch}:" for branch in refs]
        specs = [f"{commit}:refs/heads/{branch}" for branch, commit in refs.items()]
        flags = ("--quiet", "--no-verify", "--no-follow-tags", "--no-signed", "--recurse-submodules=no")
        with self._workshop(workdir, fresh=False) as repo:
            absent = missing(repo, refs.values())
            if absent:
                raise GitError(GitKind.MISSING_COMMIT, f"commit {absent[0]} is not in the working directory: remake it")
            repo.remote("push", *flags, *leases, "--", url, *specs, url=url, token=token)

    def diff(self, workdir: Path, base: Sha, head: Sha) -> str:
        """The difference of two commits as GitHub would show it, however large; bytes that are no text survive."""
        with self._workshop(workdir, fresh=False) as repo:
            patch = repo.run("diff-tree", *PATCH, "-M", sha(base), sha(head), "--")
            return patch.decode("utf-8", "surrogateescape")

    def trees(self, workdir: Path, base: Sha, head: Sha) -> TwoTrees:
        """The files of two commits."""
        with self._workshop(workdir, fresh=False) as repo:
            most, whole = self.output_limit // 2, self.whole_limit
            return two_trees(repo, sha(base), sha(head), most=most, most_whole=whole)

    def bare(self, path: Path) -> None:
        """Make a new, empty repository for others to read.

        Raises:
            GitError: something stands there already.
        """
        if path.exists():
            raise GitError(GitKind.BAD_INPUT, f"{str(path)[:200]} is there already; nothing is overwritten")
        path.parent.mkdir(parents=True, exist_ok=True)
        self._run((*_INIT, "--", str(path.resolve())))

    def _checked(self, url: str) -> str:
        return checked_url(url, allow_http=self.allow_http, allow_file=self.allow_file)

    def _check_branch(self, branch: str) -> None:
        usable = bool(branch) and branch.isprintable() and not branch.startswith("-")
        if not usable or self._run(("check-ref-format", f"refs/heads/{branch}"), accept=(0, 1)).code:
            raise GitError(GitKind.BAD_INPUT, f"{branch[:100]!r} is no branch name")

    # --- running ------------------------------------------------------------------------------------------------

    @contextmanager
    def _workshop(self, workdir: Path, *, fresh: bool) -> Iterator[_Repository]:
        """The repository in a working directory, locked: a new one, or the one that is there if it is whole."""
        workdir.mkdir(parents=True, exist_ok=True)
        path = workdir.resolve() / "fork.git"
        with (workdir / "fork.lock").open("ab") as lock:
            _take(lock, self.lock_timeout)
            reused = not fresh and (path / "whole").exists() and not any(path.rglob("*.lock"))
            if not reused:
                if path.exists():
                    shutil.rmtree(path)
                self._init(path, lock.fileno())
                (path / "whole").touch()
            yield _Repository(path, lock.fileno(), self, reused)

    def _init(self, path: Path, lock: int) -> None:
        self._run((*_INIT, "--", str(path)), lock=lock)

    def _run(
        self,
        args: Sequence[str],
        *,
        stdin: bytes = b"",
        url: str | None = None,
        token: str | None = None,
        extra: Mapping[str, str] | None = None,
        accept: Collection[int] = (0,),
        lock: int | None = None,
    ) -> Finished:
        """Run one git command; whatever it prints on failure is redacted before anybody sees it."""
        seconds = self.network_timeout if url else self.timeout
        token = token or self.reading.get(url or "")
        with tempfile.TemporaryDirectory(prefix="git-home-") as home:
            env = environment(os.environ, home, url=url, token=token) | dict(extra or {})
            done = finish(start(args, env, home, lock), stdin, seconds, self.output_limit)
        if done.expired:
            raise GitError(GitKind.TIMEOUT, f"git {args[0]} took more than {seconds:g} s and was ended", True)
        if len(done.out) > self.output_limit:
            raise GitError(GitKind.OUTPUT_LIMIT, f"git {args[0]} printed more than {self.output_limit} bytes")
        if done.code in accept:
            return done
        problem = push_problem(redacted(done.stderr.decode("utf-8", "replace"), token))
        if url:
            raise GitError(problem.kind, problem.message, problem.retryable)
        raise GitError(GitKind.FAILED, f"git {args[0]}: {problem.message}")


def _proven(repo: _Repository, whole: Sequence[Sha], seen: Inspection, injected: tuple[str, ...]) -> ForkCommits:
    """The commits, once their difference is known to be the golden one and the repository to be sound."""
    base, head, *trees = resolve(repo, BASE, HEAD, f"{BASE}^{{tree}}", f"{HEAD}^{{tree}}")
    if trees[0] == trees[1]:
        raise GitError(GitKind.BAD_INPUT, "the base and the head tree are the same: there is nothing to review")
    patch = patch_id(repo, trees[0], trees[1])
    if list(whole) != trees:
        same = raw_difference(repo, whole[0], whole[1]) == raw_difference(repo, trees[0], trees[1])
        if not same or patch_id(repo, whole[0], whole[1]) != patch:
            raise GitError(GitKind.UNPROVEN, "the fork's difference is not the golden one; it must not be used")
    repo.run("fsck", "--strict", "--no-dangling", "--no-progress", "--no-reflogs")
    return ForkCommits(
        base_sha=base,
        head_sha=head,
        base_tree=trees[0],
        head_tree=trees[1],
        patch_id=patch,
        stripped=tuple(one.path for one in seen.decided.removed),
        notes=tuple(f"kept {one.path}: {one.reason}" for one in seen.decided.kept_both),
        kept=tuple(one.path for one in seen.decided.kept_both),
        injected=injected,
        findings=seen.findings,
        residual=dict(seen.residual),
    )
