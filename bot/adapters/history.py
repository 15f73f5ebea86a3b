"""Git, for reading a clone's history: many objects by one process, and never a byte written to the clone.

Everything runs in a scratch repository that borrows the clone's objects. So the clone's configuration, hooks and
filters have no say, and an accelerating index of the history can be kept beside it.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final

from bot.adapters.git_bytes import SHA, GitError, GitKind, environment, redacted
from bot.adapters.git_process import finish, start
from goldens.mine.reader import BlameAsk

_NAME: Final = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._/+-]{0,198}[A-Za-z0-9_+-])?")
_DIFF: Final = (
    "--stdin", "--always", "-r", "-p", "-M", "--full-index", "--no-ext-diff", "--no-textconv", "--no-color",
    "--src-prefix=a/", "--dst-prefix=b/", "--diff-algorithm=myers", "--no-indent-heuristic",
)  # fmt: skip
_LOG: Final = (
    "--topo-order", "--raw", "-z", "-M", "--no-abbrev", "--no-ext-diff", "--no-textconv", "--no-color",
    "--no-notes", "--diff-merges=first-parent", "--format=tformat:%H%x00%P%x00%ct%x00%s",
)  # fmt: skip
_PIECE: Final = 1 << 20


class GitHistory:
    """Reads one clone. Use it in a `with`, which takes the scratch repository away again.

    Implements `goldens.mine.reader.GitReader`.
    """

    def __init__(self, clone: Path, *, timeout: float = 900, output_limit: int = 4 << 30) -> None:
        """Borrow a clone, bare or with a work tree.

        Raises:
            GitError: there is no repository.
        """
        self._clone = _git_dir(clone)
        self._timeout = timeout
        self._limit = output_limit
        self._home = Path(tempfile.mkdtemp(prefix="git-history-"))
        self._environment = environment(os.environ, str(self._home), url=None, token=None)
        self._scratch = self._home / "scratch.git"
        self._grafts = self._home / "lineage"
        try:
            self._borrow()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> GitHistory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Take the scratch repository away."""
        shutil.rmtree(self._home, ignore_errors=True)

    def _borrow(self) -> None:
        form = self._run("rev-parse", "--show-object-format", at=self._clone).decode("ascii").strip()
        init = ("init", "--quiet", "--bare", "--template=", f"--object-format={form}", "--initial-branch=main")
        self._run(*init, "--", str(self._scratch), at=None)
        common = self._run("rev-parse", "--git-path", "objects", at=self._clone).decode("utf-8", "surrogateescape")
        objects = (self._home / common.removesuffix("\n")).resolve()
        if "\n" in str(objects) or str(objects).startswith(('"', "#")):
            raise GitError(GitKind.BAD_INPUT, f"{str(objects)[:200]!r} is a path that git cannot borrow objects from")
        info = self._scratch / "objects" / "info"
        info.mkdir(parents=True, exist_ok=True)
        (info / "alternates").write_bytes(os.fsencode(objects) + b"\n")
        shallow = objects.parent / "shallow"
        if shallow.exists():
            shutil.copyfile(shallow, self._scratch / "shallow")

    # --- what the miners ask ------------------------------------------------------------------------------------

    def resolve(self, name: str) -> str:
        if not _NAME.fullmatch(name) or ".." in name or "//" in name or name.endswith(".lock"):
            raise GitError(GitKind.BAD_INPUT, f"{name[:100]!r} is not the name of a branch, tag or commit")
        full = ("rev-parse", "--quiet", "--verify", "--end-of-options", f"{name}^{{commit}}")
        found = self._run(*full, at=self._clone, accept=(0, 1, 128)).decode("ascii", "replace").strip()
        if not SHA.fullmatch(found) and not re.fullmatch(r"[0-9a-f]{64}", found):
            raise GitError(GitKind.MISSING_COMMIT, f"the clone has no commit {name!r}")
        return found

    def log(self, tips: Sequence[str]) -> Iterator[bytes]:
        names = "".join(f"{_checked(tip)}\n" for tip in tips).encode("ascii")
        out = self._run("log", *_LOG, "--stdin", stdin=names)
        for at in range(0, len(out), _PIECE):
            yield out[at : at + _PIECE]

    def diffs(
        self, pairs: Sequence[tuple[str, str]], *, context: int = 3, ignore_blanks: bool = False
    ) -> tuple[bytes, ...]:
        if not pairs:
            return ()
        # Git prints the first id of each row before its diff; the second is taken as its parent.
        rows = [(_checked(new), _checked(old)) for old, new in pairs]
        query = "".join(f"{new} {old}\n" for new, old in rows).encode("ascii")
        flags = (*_DIFF, f"-U{int(context)}", *(("-w",) if ignore_blanks else ()))
        return tuple(_cut(self._run("diff-tree", *flags, stdin=query), [new for new, _ in rows]))

    def blame(self, ask: BlameAsk) -> bytes:
        if "\0" in ask.path or not ask.path or not ask.spans:
            raise GitError(GitKind.BAD_INPUT, f"{ask.path[:200]!r} with {len(ask.spans)} spans cannot be blamed")
        flags = ["-w", "-M", *(("-C", "-C") if ask.copies else ()), "--porcelain", "--incremental", "--no-textconv"]
        flags += [f"-L{int(first)},{int(last)}" for first, last in ask.spans]
        if ask.lineage is not None:
            self._grafts.write_bytes(ask.lineage)
            flags.append(f"-S{self._grafts}")
        return self._run("blame", *flags, _checked(ask.commit), "--", ask.path)

    def blobs(self, names: Sequence[tuple[str, str]]) -> tuple[bytes | None, ...]:
        asked = [f"{_checked(commit)}:{path}" if "\n" not in path else "" for commit, path in names]
        query = "".join(f"{name}\n" for name in asked if name).encode("utf-8", "surrogateescape")
        found = _objects(self._run("cat-file", "--batch", stdin=query)) if query else iter(())
        return tuple(next(found) if name else None for name in asked)

    # --- running ------------------------------------------------------------------------------------------------

    def _run(
        self, *args: str, stdin: bytes = b"", at: Path | str | None = "scratch", accept: Collection[int] = (0,)
    ) -> bytes:
        where = self._scratch if at == "scratch" else at
        extra = {"GIT_DIR": str(where)} if where else {}
        process = start(args, self._environment | extra, str(self._home), None)
        done = finish(process, stdin, self._timeout, self._limit)
        if done.expired:
            raise GitError(GitKind.TIMEOUT, f"git {args[0]} took more than {self._timeout:g} s and was ended", True)
        if len(done.out) > self._limit:
            raise GitError(GitKind.OUTPUT_LIMIT, f"git {args[0]} printed more than {self._limit} bytes")
        if done.code not in accept:
            told = redacted(done.stderr.decode("utf-8", "replace")).strip().splitlines()
            raise GitError(GitKind.FAILED, f"git {args[0]}: {(told or ['no message'])[-1][:300]}")
        return done.out


def _git_dir(clone: Path) -> Path:
    for path in (clone / ".git", clone):
        # A worktree's `.git` is a file that names the directory.
        with suppress(OSError):
            if path.is_file() and (named := path.read_text("utf-8").removeprefix("gitdir: ").strip()):
                path = (clone / named).resolve()
        if (path / "HEAD").exists():
            return path.resolve()
    raise GitError(GitKind.BAD_INPUT, f"there is no git repository in {str(clone)[:200]!r}")


def _checked(commit: str) -> str:
    if not SHA.fullmatch(commit) and not re.fullmatch(r"[0-9a-f]{64}", commit):
        raise GitError(GitKind.BAD_INPUT, f"{commit[:80]!r} is no full commit id")
    return commit


def _cut(out: bytes, commits: Sequence[str]) -> Iterator[bytes]:
    """One diff for each commit. Every row of a diff's content starts with a mark, so none can pass for an id."""
    starts = [found.start() for found in re.finditer(rb"(?m)^(?:[0-9a-f]{40}|[0-9a-f]{64})$", out)]
    if [out[at : at + len(one)].decode("ascii") for at, one in zip(starts, commits, strict=False)] != list(commits):
        raise GitError(GitKind.FAILED, "git diff-tree answered for other commits than were asked")
    for at, end, one in zip(starts, [*starts[1:], len(out)], commits, strict=True):
        yield out[at + len(one) + 1 : end].lstrip(b"\n")


def _objects(out: bytes) -> Iterator[bytes | None]:
    at = 0
    while at < len(out):
        end = out.index(b"\n", at)
        header = out[at:end].rsplit(b" ", 2)
        if header[-1] == b"missing" or not header[-1].isdigit():
            yield None
            at = end + 1
        else:
            size = int(header[-1])
            yield out[end + 1 : end + 1 + size] if header[-2] == b"blob" else None
            at = end + 2 + size
