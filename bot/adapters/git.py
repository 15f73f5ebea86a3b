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
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
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
from bot.adapters.git_trees import (
    BASE,
    HEAD,
    PATCH,
    accepted,
    changed_paths,
    entries,
    fetch_pin,
    hazards,
    joined,
    merge_base,
    missing,
    patch_id,
    raw_difference,
    resolve,
    sha,
    two_commits,
    without,
)
from bot.model import Sha
from bot.neutral import Identity, Messages, PushKind, StripResult, StripRules, push_problem, strip
from bot.ports import ForkCommits
from goldens.model import GitPin

__all__ = ["Git", "GitError", "GitKind"]

_STDERR_KEPT: Final = 64 * 1024
_WHOLE: Final = ("refs/whole/base", "refs/whole/head")
_UPSTREAM: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,38}/(?!\.{1,2}\Z)[A-Za-z0-9._-]{1,100}")


@dataclass(frozen=True, slots=True)
class _Finished:
    code: int
    out: bytes
    stderr: bytes
    expired: bool


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a git process together with the helpers it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _feed(pipe: IO[bytes], content: bytes) -> None:
    with suppress(BrokenPipeError), pipe:
        pipe.write(content)


def _drain(pipe: IO[bytes], kept: bytearray) -> None:
    while chunk := pipe.read(8192):
        kept += chunk[: max(0, _STDERR_KEPT - len(kept))]


def _finish(process: subprocess.Popen[bytes], stdin: bytes, seconds: float, limit: int) -> _Finished:
    """Feed a process and read it to its end; it is ended at the time limit, or once it has printed too much."""
    expired, stderr = threading.Event(), bytearray()
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None

    def expire() -> None:
        expired.set()
        _kill(process)

    timer = threading.Timer(seconds, expire)
    helpers = [
        threading.Thread(target=_feed, args=(process.stdin, stdin), daemon=True),
        threading.Thread(target=_drain, args=(process.stderr, stderr), daemon=True),
    ]
    with process:
        try:
            for thread in (timer, *helpers):
                thread.start()
            out = process.stdout.read(limit + 1)
            if len(out) > limit:
                _kill(process)
            for thread in helpers:
                thread.join()
            code = process.wait()
        finally:
            timer.cancel()
            if process.poll() is None:
                _kill(process)
    return _Finished(code, out, bytes(stderr), expired.is_set())


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
    file_limit: int = 100 * 1024 * 1024
    """Bytes of the largest file the host takes."""

    # --- the fork's commits -------------------------------------------------------------------------------------

    def trees_from_files(
        self,
        workdir: Path,
        base: Mapping[str, bytes],
        head: Mapping[str, bytes],
        rules: StripRules,
        identity: Identity,
        messages: Messages,
    ) -> ForkCommits:
        """Make and prove the two commits of a golden pull request whose files ship with the suite.

        Raises:
            GitError: paths that no tree can hold, equal trees, a file over the limit, or a file that rules refuse.
        """
        check_paths(base)
        check_paths(head)
        self._check_sizes((path, len(content)) for files in (base, head) for path, content in files.items())
        paths = sorted({*base, *head})
        decided = accepted(strip(paths, frozenset(p for p in paths if base.get(p) != head.get(p)), rules))
        gone = {one.path for one in decided.removed}
        sources = [{path: files[path] for path in files if path not in gone} for files in (base, head)]
        refs, whole = (BASE, HEAD), (BASE, HEAD)
        if gone:
            whole = _WHOLE
            commits = two_commits(identity, messages, (*refs, *whole), (*sources, dict(base), dict(head)))
        else:
            commits = two_commits(identity, messages, refs, sources)
        with self._workshop(workdir, fresh=True) as repo:
            repo.run("fast-import", "--quiet", "--force", stdin=import_stream(commits))
            return _proven(repo, resolve(repo, *(f"{name}^{{tree}}" for name in whole)), decided, ())

    def trees_from_pin(
        self,
        workdir: Path,
        pin: GitPin,
        upstreams: Sequence[str],
        rules: StripRules,
        identity: Identity,
        messages: Messages,
    ) -> ForkCommits:
        """Fetch the two pinned commits, and make and prove the fork's two from their trees, modes preserved.

        `upstreams` say where upstreams are, in order: GitHub or what stands for it, then mirrors. `owner/name.git` is
        put behind each.

        Raises:
            GitError: nobody has the commits, or the trees cannot be forked; the message says which path and why.
        """
        if not _UPSTREAM.fullmatch(pin.upstream):
            raise GitError(GitKind.BAD_INPUT, f"{pin.upstream[:150]!r} is no repository; write owner/name")
        urls = [self._checked(f"{base.rstrip('/')}/{pin.upstream}.git") for base in upstreams]
        reused = False
        try:
            with self._workshop(workdir, fresh=False) as repo:
                reused = repo.reused
                return self._pinned(repo, pin, urls, rules, identity, messages)
        except GitError as error:
            # It failed on what an earlier process left behind: that may be damaged, so begin anew.
            if error.kind not in (GitKind.FAILED, GitKind.MISSING_COMMIT) or not reused:
                raise
        with self._workshop(workdir, fresh=True) as repo:
            return self._pinned(repo, pin, urls, rules, identity, messages)

    def _pinned(
        self,
        repo: _Repository,
        pin: GitPin,
        urls: Sequence[str],
        rules: StripRules,
        identity: Identity,
        messages: Messages,
    ) -> ForkCommits:
        fetch_pin(repo, pin, urls)
        base, notes = merge_base(repo, pin)
        whole = resolve(repo, f"{base}^{{tree}}", f"{pin.head_sha}^{{tree}}")
        decided = self._inspected(repo, whole, rules)
        gone = [one.path for one in decided.removed]
        commits = two_commits(identity, messages, (BASE, HEAD), [without(repo, tree, gone) for tree in whole])
        repo.run("fast-import", "--quiet", "--force", stdin=import_stream(commits))
        return _proven(repo, whole, decided, notes)

    def _inspected(self, repo: _Repository, trees: Sequence[Sha], rules: StripRules) -> StripResult:
        """What leaves both pinned trees: what the rules name, and what a fork cannot or should not hold."""
        listed = [entry for tree in trees for entry in entries(repo, tree)]
        self._check_sizes((entry.path, entry.size) for entry in listed)
        changed = changed_paths(raw_difference(repo, trees[0], trees[1]))
        named = strip((entry.path for entry in listed), changed, rules)
        return accepted(joined(named, hazards(repo, listed), changed))

    def _check_sizes(self, sizes: Iterable[tuple[str, int]]) -> None:
        for path, size in sizes:
            if size > self.file_limit:
                raise GitError(
                    PushKind.FILE_TOO_LARGE,
                    f"{path[:200]!r} has {size} bytes and the host takes {self.file_limit} at most: skip this golden "
                    "pull request (large-file storage is not copied)",
                )

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
                init = ("init", "--quiet", "--bare", "--template=", "--object-format=sha1", "--initial-branch=main")
                self._run((*init, "--", str(path)), lock=lock.fileno())
                (path / "whole").touch()
            yield _Repository(path, lock.fileno(), self, reused)

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
    ) -> _Finished:
        """Run one git command; whatever it prints on failure is redacted before anybody sees it."""
        seconds = self.network_timeout if url else self.timeout
        with tempfile.TemporaryDirectory(prefix="git-home-") as home:
            env = environment(os.environ, home, url=url, token=token) | dict(extra or {})
            done = _finish(_start(args, env, home, lock), stdin, seconds, self.output_limit)
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


def _start(args: Sequence[str], env: Mapping[str, str], home: str, lock: int | None) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            ("git", *args),
            env=dict(env),
            cwd=home,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            pass_fds=() if lock is None else (lock,),
        )
    except FileNotFoundError:
        raise GitError(GitKind.NO_GIT, "there is no git on the PATH; install git 2.31 or newer") from None


def _proven(repo: _Repository, whole: Sequence[Sha], decided: StripResult, notes: Sequence[str]) -> ForkCommits:
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
    kept = (f"kept {one.path}: {one.reason}" for one in decided.kept_both)
    stripped = tuple(one.path for one in decided.removed)
    return ForkCommits(base, head, trees[0], trees[1], patch, stripped, (*notes, *kept))
