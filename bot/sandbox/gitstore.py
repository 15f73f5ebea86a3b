"""Bare git repositories on disk: everything the sandbox asks of git."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

SHA = re.compile(r"[0-9a-f]{40}")
ZERO = "0" * 40
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


class GitError(Exception):
    """git refused; the text is what it said."""


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit as git tells it. Dates are ISO 8601 with an offset."""

    sha: str
    tree: str
    parents: tuple[str, ...]
    author: tuple[str, str, str]
    committer: tuple[str, str, str]
    message: str


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """One line of a listing."""

    mode: str
    type: str
    sha: str
    size: int | None
    path: str


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """An environment in which nobody's git configuration reaches us."""
    kept = {key: value for key, value in os.environ.items() if key in {"PATH", "TMPDIR"}}
    fixed = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0"}
    return {**kept, **fixed, "GIT_DEFAULT_REF_FORMAT": "files", **(extra or {})}


def run(path: Path, *args: str, stdin: bytes | None = None, extra: Mapping[str, str] | None = None) -> bytes:
    """Run git in the repository at `path`.

    Raises:
        GitError: git left with anything but zero.
    """
    done = subprocess.run(  # nosec B603 B607 # the machine's git, for a stand-in on loopback
        ["git", "-C", str(path), *args], input=stdin, capture_output=True, env=environment(extra), check=False
    )
    if done.returncode:
        raise GitError(done.stderr.decode("utf-8", "replace").strip())
    return done.stdout


@lru_cache(maxsize=512)
def _lasting(path: Path, *args: str) -> bytes:
    """What git says of objects that are named by their full shas: it stays so, and is asked for at every request."""
    return run(path, *args)


def _ask(path: Path, *args: str, of: Sequence[str]) -> bytes:
    return (_lasting if all(SHA.fullmatch(name) for name in of) else run)(path, *args)


_CONFIG = (
    ("receive.hideRefs", "refs/pull"),
    ("uploadpack.allowAnySHA1InWant", "true"),
    ("uploadpack.allowFilter", "true"),
    ("http.receivepack", "true"),
    ("core.logAllRefUpdates", "false"),
    ("gc.auto", "0"),
)


def create(path: Path, default_branch: str) -> None:
    """Make an empty bare repository."""
    path.mkdir(parents=True)
    _lasting.cache_clear()
    run(path, "init", "--quiet", "--bare", f"--initial-branch={default_branch}", ".")
    lines = "".join(f"[{key.partition('.')[0]}]\n\t{key.partition('.')[2]} = {value}\n" for key, value in _CONFIG)
    with (path / "config").open("a", encoding="utf-8") as file:
        file.write(lines)


def remove(path: Path) -> None:
    """Delete a repository from disk."""
    shutil.rmtree(path)
    _lasting.cache_clear()


def refs(path: Path, prefix: str = "refs/") -> dict[str, str]:
    """Every ref under `prefix` and the object it names."""
    # Read as git reads them: a process for each would be half of all that a run starts.
    found = _packed_refs(path) | _loose_refs(path)
    folder = prefix.rstrip("/") + "/"
    return {name: found[name] for name in sorted(found) if name == prefix or name.startswith(folder)}


def _loose_refs(path: Path) -> dict[str, str]:
    found = {}
    for folder, _, names in os.walk(path / "refs"):
        for file in (Path(folder) / name for name in names if not name.endswith(".lock")):
            with suppress(FileNotFoundError):  # deleted meanwhile
                found[file.relative_to(path).as_posix()] = file.read_text("ascii").strip()
    return found


def _packed_refs(path: Path) -> dict[str, str]:
    try:
        lines = (path / "packed-refs").read_text("utf-8").splitlines()
    except FileNotFoundError:
        return {}
    return {name: sha for sha, _, name in (line.partition(" ") for line in lines) if SHA.fullmatch(sha)}


def resolve(path: Path, name: str) -> str | None:
    """The commit that a branch, tag, ref or (abbreviated) sha means, or None."""
    if not name or name.startswith("-") or any(char in name for char in "\0\n ^~:?*[\\") or ".." in name:
        return None
    guesses = [name] if SHA.fullmatch(name) else [f"refs/heads/{name}", f"refs/tags/{name}", f"refs/{name}", name]
    for candidate in guesses:
        try:
            asked = ("rev-parse", "--verify", "--quiet", "--end-of-options", candidate + "^{commit}")
            return _ask(path, *asked, of=[candidate]).decode().strip()
        except GitError:
            continue
    return None


def set_ref(path: Path, ref: str, sha: str) -> None:
    """Point a ref at an object that exists."""
    run(path, "update-ref", ref, sha)


def delete_ref(path: Path, ref: str) -> None:
    """Remove a ref."""
    run(path, "update-ref", "-d", ref)


def set_head(path: Path, branch: str) -> None:
    """Choose the branch a clone checks out."""
    run(path, "symbolic-ref", "HEAD", f"refs/heads/{branch}")


def merge_base(path: Path, base: str, head: str) -> str | None:
    """The best common ancestor, or None for unrelated histories."""
    try:
        return _ask(path, "merge-base", base, head, of=[base, head]).decode().strip()
    except GitError:
        return None


def is_ancestor(path: Path, old: str, new: str) -> bool:
    """Whether `old` is contained in `new`."""
    return merge_base(path, old, new) == old


_DIFF = ("diff", "--no-color", "--no-ext-diff", "--find-renames", "--src-prefix=a/", "--dst-prefix=b/")


def diff(path: Path, old: str, new: str, *, context: int = 3) -> str:
    """The unified diff between two commits or trees."""
    return _ask(path, *_DIFF, f"--unified={context}", old, new, of=[old, new]).decode("utf-8", "replace")


def patch(path: Path, old: str, new: str) -> bytes:
    """The commits old..new as mails."""
    return run(path, "format-patch", "--stdout", "--no-color", f"{old}..{new}")


def raw_changes(path: Path, old: str, new: str) -> dict[str, str]:
    """Path -> blob sha in `new` (in `old` where the file was removed)."""
    fields = (
        _ask(path, "diff", "--raw", "--no-abbrev", "--find-renames", "-z", old, new, of=[old, new])
        .decode("utf-8", "replace")
        .split("\0")
    )
    found: dict[str, str] = {}
    index = 0
    while index < len(fields) - 1:
        _, _, before, after, status = fields[index].split(" ")
        width = 3 if status[0] in "RC" else 2
        found[fields[index + width - 1]] = before if status == "D" else after
        index += width
    return found


_FIELDS = ("%H", "%T", "%P", "%an", "%ae", "%aI", "%cn", "%ce", "%cI", "%B")
_FORMAT = "%x00".join(_FIELDS) + "%x00"


def log(path: Path, *revisions: str, limit: int | None = None) -> list[Commit]:
    """Commits, newest first."""
    bound = [f"--max-count={limit}"] if limit is not None else []
    asked = ("log", f"--format={_FORMAT}", *bound, "--end-of-options", *revisions, "--")
    fields = _ask(path, *asked, of=revisions).decode("utf-8", "replace").split("\0")[:-1]
    width = len(_FIELDS)
    return [_commit(fields[start : start + width]) for start in range(0, len(fields), width)]


def _commit(fields: Sequence[str]) -> Commit:
    sha, tree, parents, an, ae, ad, cn, ce, cd, message = fields
    return Commit(sha.strip(), tree, tuple(parents.split()), (an, ae, ad), (cn, ce, cd), message.rstrip("\n"))


def count(path: Path, old: str, new: str) -> int:
    """How many commits `new` has that `old` has not."""
    return int(_ask(path, "rev-list", "--count", f"{old}..{new}", of=[old, new]))


def listing(path: Path, commit: str, folder: str = "", *, recursive: bool = False) -> list[TreeEntry]:
    """What a folder of a commit holds."""
    where = [f"{folder.rstrip('/')}/"] if folder else []
    flags = ["-r"] if recursive else []
    asked = ("--literal-pathspecs", "ls-tree", "-z", "-l", *flags, commit, "--", *where)
    lines = _ask(path, *asked, of=[commit]).split(b"\0")
    return [_tree_entry(line.decode("utf-8", "replace")) for line in lines if line]


def entry(path: Path, commit: str, name: str) -> TreeEntry | None:
    """What is at `name` in a commit."""
    asked = ("--literal-pathspecs", "ls-tree", "-z", "-l", commit, "--", name.rstrip("/"))
    lines = _ask(path, *asked, of=[commit]).split(b"\0")
    return next((_tree_entry(line.decode("utf-8", "replace")) for line in lines if line), None)


def _tree_entry(line: str) -> TreeEntry:
    meta, _, name = line.partition("\t")
    mode, kind, sha, size = meta.split()
    return TreeEntry(mode, kind, sha, None if size == "-" else int(size), name)


def blob(path: Path, sha: str) -> bytes:
    """The bytes of a file."""
    return run(path, "cat-file", "blob", sha)


_WHO = {
    "GIT_AUTHOR_NAME": "Sandbox",
    "GIT_AUTHOR_EMAIL": "sandbox@users.noreply.github.com",
    "GIT_COMMITTER_NAME": "Sandbox",
    "GIT_COMMITTER_EMAIL": "sandbox@users.noreply.github.com",
    "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z",
    "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z",
}
"""Fixed dates: the same files give the same sha."""


def commit_files(path: Path, files: Mapping[str, bytes], *, message: str, parents: Sequence[str] = ()) -> str:
    """A commit whose tree is exactly `files`. No ref is touched."""
    with tempfile.TemporaryDirectory() as scratch:
        index = {"GIT_INDEX_FILE": str(Path(scratch) / "index")}
        for name, data in sorted(files.items()):
            sha = run(path, "hash-object", "-w", "--stdin", stdin=data).decode().strip()
            run(path, "update-index", "--add", "--cacheinfo", f"100644,{sha},{name}", extra=index)
        tree = run(path, "write-tree", extra=index).decode().strip()
    above = [flag for parent in parents for flag in ("-p", parent)]
    return run(path, "commit-tree", tree, *above, "-m", message, extra=_WHO).decode().strip()
