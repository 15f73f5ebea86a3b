"""The files of a fork's two trees: all of them where they are few, else those that the change touches."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from bot.adapters.git_bytes import Entry, GitError, GitKind, blobs
from bot.adapters.git_trees import Repository, changed_paths, entries, raw_difference
from bot.model import Sha
from bot.ports import TwoTrees

_FILES = ("100644", "100755")
"""Links lead elsewhere, and submodules have no content here."""


def two_trees(repo: Repository, base: Sha, head: Sha, *, most: int, most_whole: int) -> TwoTrees:
    """The regular files of two commits.

    Args:
        repo: where they are.
        base: the commit before.
        head: the commit after.
        most: bytes that may be read.
        most_whole: bytes up to which both trees are read whole.

    Raises:
        GitError: even what the change touches is more than may be read, or a commit is not there.
    """
    sides = [_files(entries(repo, side)) for side in (base, head)]
    whole = sum(one.size for side in sides for one in side) <= most_whole
    if not whole:
        touched = changed_paths(raw_difference(repo, base, head))
        sides = [[one for one in side if one.path in touched] for side in sides]
    size = sum(one.size for side in sides for one in side)
    if size > most:
        raise GitError(GitKind.OUTPUT_LIMIT, f"the change touches files of {size} bytes; at most {most} are read")
    contents = _contents(repo, {one.sha for side in sides for one in side})
    before, after = ({one.path: contents[one.sha] for one in side} for side in sides)
    return TwoTrees(before, after, whole)


def _files(listed: Sequence[Entry]) -> list[Entry]:
    return [one for one in listed if one.mode in _FILES]


def _contents(repo: Repository, shas: Collection[str]) -> Mapping[str, bytes]:
    wanted = sorted(shas)
    asked = "".join(f"{one}\n" for one in wanted).encode("ascii")
    return dict(zip(wanted, blobs(repo.run("cat-file", "--batch", stdin=asked)) if wanted else (), strict=True))
