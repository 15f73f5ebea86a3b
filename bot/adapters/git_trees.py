"""What is done to trees inside a repository: fetch a pin, look for hazards, take paths out, compare differences.

Nothing here starts a process; every git command goes through the `Repository` that `git.py` hands in.
"""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, Protocol

from bot.adapters.git_bytes import SHA, Entry, GitError, GitKind, NewCommit, blobs, escapes, tree_entries
from bot.model import Sha
from bot.neutral import Decided, Identity, Messages, PushKind, StripResult
from goldens.model import Direction, GitPin

BASE: Final = "refs/fork/base"
HEAD: Final = "refs/fork/head"
PATCH: Final = (
    "-p", "-r", "--full-index", "--no-ext-diff", "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/",
)  # fmt: skip
_PULL_DEPTH: Final = 250
_BATCH: Final = 5_000
_LFS_SIZES: Final = range(100, 1024)
_LFS_START: Final = b"version https://git-lfs.github.com/spec/"


class Repository(Protocol):
    """A repository in which git commands can be run."""

    def run(self, *args: str, stdin: bytes = b"", index: str = "", accept: Collection[int] = (0,)) -> bytes:
        """Run a local command; its output."""
        ...

    def remote(self, *args: str, url: str, token: str | None = None) -> bytes:
        """Run a command that talks to `url`."""
        ...


def sha(text: str) -> Sha:
    """The text as a commit id.

    Raises:
        GitError: it is none.
    """
    if not SHA.fullmatch(text):
        raise GitError(GitKind.BAD_INPUT, f"{text[:80]!r} is no commit id: it needs 40 hexadecimal digits")
    return Sha(text)


def resolve(repo: Repository, *names: str) -> tuple[Sha, ...]:
    """The ids of these names, in their order.

    Raises:
        GitError: one of them is not there.
    """
    query = "".join(f"{name}\n" for name in names).encode("ascii")
    answers = repo.run("cat-file", "--batch-check=%(objectname)", stdin=query).decode("ascii", "replace").splitlines()
    for name, answer in zip(names, answers, strict=True):
        if not SHA.fullmatch(answer):
            raise GitError(GitKind.FAILED, f"{name} is not in the working directory")
    return tuple(map(Sha, answers))


def missing(repo: Repository, shas: Iterable[Sha]) -> tuple[Sha, ...]:
    """Those that are no commit here."""
    asked = tuple(shas)
    query = "".join(f"{one}^{{commit}}\n" for one in asked).encode("ascii")
    answers = repo.run("cat-file", "--batch-check", stdin=query).decode("ascii", "replace").splitlines()
    return tuple(one for one, answer in zip(asked, answers, strict=True) if answer.split()[1:2] != ["commit"])


# --- the pin ----------------------------------------------------------------------------------------------------


def fetch_pin(repo: Repository, pin: GitPin, urls: Sequence[str]) -> None:
    """Have both pinned commits here: by id, else through the pull request's ref, from each address in turn.

    Raises:
        GitError: no address gave both; retryable if one of them could not be reached.
    """
    problems: list[GitError] = []
    wanted = (sha(pin.base_sha), sha(pin.head_sha))
    for url in urls:
        deep = (f"--depth={_PULL_DEPTH}", f"refs/pull/{int(pin.number)}/head")
        for depth, *refs in (("--depth=1", *wanted), deep, ("--depth=1", wanted[0])):
            if missing(repo, wanted):
                problems += _fetch(repo, url, depth, refs)
    lacking = missing(repo, wanted)
    if lacking:
        told = "; ".join(dict.fromkeys(problem.message for problem in problems)) or "no address was given"
        # A repository that is not there now will not come: unlike a fork, nobody has just made it.
        retry = any(problem.retryable and problem.kind is not PushKind.NOT_FOUND for problem in problems)
        raise GitError(
            GitKind.MISSING_COMMIT,
            f"commit {lacking[0]} of {pin.upstream} is nowhere to be had, by id, in the pull request's ref or in a "
            f"mirror: {told}",
            retry,
        )


def _fetch(repo: Repository, url: str, depth: str, refs: Sequence[str]) -> list[GitError]:
    flags = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-gc")
    try:
        repo.remote("fetch", *flags, depth, "--", url, *refs, url=url)
    except GitError as error:
        return [error]
    return []


def merge_base(repo: Repository, pin: GitPin) -> tuple[Sha, tuple[str, ...]]:
    """The commit whose tree is the base, and what to note about it.

    With the history cut off git cannot tell; then the pin is taken at its word, which is that its base is the merge
    base. Where the change runs backwards the merge base is the head, and comparing with it would leave nothing.
    """
    base = sha(pin.base_sha)
    if pin.direction is Direction.INVERTED:
        return base, ()
    found = repo.run("merge-base", base, sha(pin.head_sha), accept=(0, 1)).decode("ascii").split()
    if not found or found[0] == base:
        return base, ()
    return sha(found[0]), (f"the base is the merge base {found[0]}, not the pinned {base}",)


# --- trees ------------------------------------------------------------------------------------------------------


def entries(repo: Repository, tree: Sha) -> tuple[Entry, ...]:
    """Everything in a tree."""
    return tree_entries(repo.run("ls-tree", "-r", "-l", "-z", "--full-tree", tree))


def raw_difference(repo: Repository, base: Sha, head: Sha) -> bytes:
    """The difference as modes, blob ids and paths: equal only for the same change, to the byte."""
    return repo.run("diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", base, head, "--")


def changed_paths(raw: bytes) -> frozenset[str]:
    """The paths in a raw difference."""
    return frozenset(part.decode("utf-8", "surrogateescape") for part in raw.split(b"\0")[1::2])


def patch_id(repo: Repository, base: Sha, head: Sha) -> str:
    """The stable patch id of a difference."""
    patch = repo.run("diff-tree", *PATCH, "--no-renames", base, head, "--")
    return repo.run("patch-id", "--stable", stdin=patch).decode("ascii").partition(" ")[0]


def hazards(repo: Repository, listed: Iterable[Entry]) -> Iterator[tuple[str, str]]:
    """(path, why) of what a fork should not hold: submodules, links out of the tree, pointers to absent large files."""
    seen = {(entry.path, entry.sha): entry for entry in listed}.values()
    submodules = [entry for entry in seen if entry.mode == "160000"]
    for entry in submodules:
        yield entry.path, "a submodule points to another repository, which the reviewers may not read"
    for entry in seen if submodules else ():
        if entry.path == ".gitmodules":
            yield entry.path, "it names the repositories of submodules, which tell where the code comes from"
    asked = [e for e in seen if e.mode == "120000" or (e.mode.startswith("100") and e.size in _LFS_SIZES)]
    for entry, content in _contents(repo, asked):
        if entry.mode == "120000" and escapes(entry.path, content.decode("utf-8", "surrogateescape")):
            yield entry.path, "the symbolic link leads out of the tree"
        elif content.startswith(_LFS_START):
            yield entry.path, "it is a pointer into large-file storage, which is not copied"


def _contents(repo: Repository, asked: Sequence[Entry]) -> Iterator[tuple[Entry, bytes]]:
    for start in range(0, len(asked), _BATCH):
        batch = asked[start : start + _BATCH]
        query = "".join(f"{entry.sha}\n" for entry in batch).encode("ascii")
        yield from zip(batch, blobs(repo.run("cat-file", "--batch", stdin=query)), strict=True)


def without(repo: Repository, tree: Sha, paths: Sequence[str]) -> Sha:
    """The tree without these paths; modes and all else stay as they are."""
    if not paths:
        return tree
    gone = b"".join(b"0 %s\t%s\0" % (b"0" * 40, path.encode("utf-8", "surrogateescape")) for path in paths)
    with tempfile.TemporaryDirectory(prefix="git-index-") as scratch:
        index = str(Path(scratch) / "index")
        repo.run("read-tree", tree, index=index)
        repo.run("update-index", "-z", "--index-info", stdin=gone, index=index)
        return sha(repo.run("write-tree", index=index).decode("ascii").strip())


def accepted(decided: StripResult) -> StripResult:
    """The decision, if nothing was refused.

    Raises:
        GitError: the golden pull request changes what may not be in a fork.
    """
    if decided.refused:
        told = "; ".join(f"{one.path[:200]!r}: {one.reason}" for one in decided.refused[:5])
        raise GitError(GitKind.REFUSED_TREE, f"this golden pull request cannot be forked: {told}")
    return decided


def joined(named: StripResult, found: Iterable[tuple[str, str]], changed: frozenset[str]) -> StripResult:
    """The rules' decision with the hazards put in: removed where the change does not touch them, else refused."""
    already = {one.path for one in named.removed}
    by_path = {path: Decided(path, reason) for path, reason in found if path not in already}
    touched, untouched = ([one for one in by_path.values() if (one.path in changed) is hit] for hit in (True, False))
    return StripResult((*named.removed, *untouched), named.kept_both, (*named.refused, *touched))


def two_commits(
    identity: Identity, messages: Messages, refs: Sequence[str], sources: Iterable[dict[str, bytes] | Sha]
) -> Iterator[NewCommit]:
    """Base and head commits, pair by pair: each second one stands on the one before it."""
    for index, (ref, source) in enumerate(zip(refs, sources, strict=True)):
        head = index % 2 == 1
        yield NewCommit(
            ref=ref,
            message=messages.head if head else messages.base,
            author=identity.name,
            email=identity.email,
            date=identity.head_date if head else identity.base_date,
            files=source if isinstance(source, dict) else None,
            tree=None if isinstance(source, dict) else source,
            parent=refs[index - 1] if head else None,
        )
