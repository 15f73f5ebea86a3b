"""What is done to trees inside a repository: list them, take paths out and put some in, compare differences.

Nothing here starts a process; every git command goes through the `Repository` that `git.py` hands in.
"""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Protocol

from bot.adapters.git_bytes import SHA, Entry, GitError, GitKind, NewCommit, tree_entries
from bot.model import Sha
from bot.neutral import Identity, Messages

BASE: Final = "refs/fork/base"
HEAD: Final = "refs/fork/head"
PATCH: Final = (
    "-p", "-r", "--full-index", "--no-ext-diff", "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/",
)  # fmt: skip


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


def amended(repo: Repository, tree: Sha, gone: Iterable[str], put: Mapping[str, Sha]) -> Sha:
    """The tree without some paths and with blobs at others; modes and all else stay as they are."""
    lines = [b"0 %s\t%s\0" % (b"0" * 40, path.encode("utf-8", "surrogateescape")) for path in gone]
    lines += [b"100644 %s\t%s\0" % (blob.encode("ascii"), path.encode()) for path, blob in sorted(put.items())]
    if not lines:
        return tree
    with tempfile.TemporaryDirectory(prefix="git-index-") as scratch:
        index = str(Path(scratch) / "index")
        repo.run("read-tree", tree, index=index)
        repo.run("update-index", "--add", "-z", "--index-info", stdin=b"".join(lines), index=index)
        return sha(repo.run("write-tree", index=index).decode("ascii").strip())


def blob(repo: Repository, content: bytes) -> Sha:
    """A file's content as an object here."""
    return sha(repo.run("hash-object", "-w", "--no-filters", "--stdin", stdin=content).decode("ascii").strip())


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
