"""A suite's golden pull request as a reviewer sees it: texts, diff and the two trees, and nothing else of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from bot.reviewers.child import is_plain
from bot.reviewers.diffs import between, written
from bot.reviewers.protocol import Change
from goldens.diff import FileChange, read_diff
from goldens.load import IGNORED
from goldens.model import GitPin, GoldenPull
from goldens.trees import changes
from goldens.verify import Trees
from scoring.model import PullId

LARGEST_TREE = 200 * 1024 * 1024
_SKIPPED = IGNORED | {".git", ".hg", ".svn"}


def change_of(pull: GoldenPull, trees: Mapping[PullId, Trees] | None = None) -> Change:
    """A golden pull request as a change. Its goldens are left behind here.

    Args:
        pull: The golden pull request.
        trees: Base and head of pull requests that are pinned in upstream repositories, as `read_pins` gives them.

    Raises:
        ValueError: it is pinned to commits, and its trees are not here.
    """
    if not isinstance(pull.source, GitPin):
        base, head = pull.source[0].files, pull.source[1].files
        return Change(pull.title, pull.body, written(between(base, head)), base, head)
    pair = (trees or {}).get(pull.id)
    if pair is None:
        upstream = f"{pull.source.upstream}#{pull.source.number}"
        raise ValueError(f"{pull.id}: its files are in {upstream}; --mirror DIR says where a clone of it is")
    # What `read_pins` gives holds files that goldens name. Which ones these are is nobody's business here.
    base, head = _touched(pair[0].files, pair[1].files)
    return Change(pull.title, pull.body, written(between(base, head)), base, head, whole=False)


def _touched(base: Mapping[str, bytes], head: Mapping[str, bytes]) -> tuple[Mapping[str, bytes], Mapping[str, bytes]]:
    diff = changes(base, head)
    old, new = {one.old for one in diff}, {one.new for one in diff}
    return (
        {path: data for path, data in base.items() if path in old},
        {path: data for path, data in head.items() if path in new},
    )


def change_between(base: Path, head: Path, diff: bytes | None = None, *, title: str = "", body: str = "") -> Change:
    """The change between two folders.

    Args:
        base: The tree before.
        head: The tree after.
        diff: The diff to show; made of the trees if there is none.
        title: What the change is called.
        body: Its description.

    Raises:
        DiffError: the diff cannot be read.
        ValueError: a folder is too large, or the diff names a file of neither tree.
        OSError: a folder cannot be read.
    """
    before, after = read_tree(base), read_tree(head)
    if diff is None:
        return Change(title, body, written(between(before, after)), before, after)
    files = read_diff(diff)
    for one in files:
        if one.new_path is not None and one.new_path not in after and not one.submodule:
            raise ValueError(f"the diff changes {one.new_path}, which is not in {head}")
    return Change(title, body, written(files), before, after)


def read_tree(root: Path) -> dict[str, bytes]:
    """Every regular file of a folder, by its path in it. Links are left out: they may lead anywhere.

    Raises:
        ValueError: it holds more than may be read.
        OSError: it cannot be read.
    """
    found: dict[str, bytes] = {}
    size = 0
    for path in sorted(root.rglob("*")):
        inside = path.relative_to(root)
        if path.is_symlink() or not path.is_file() or not _SKIPPED.isdisjoint(inside.parts):
            continue
        size += path.stat().st_size
        if size > LARGEST_TREE:
            raise ValueError(f"{root} holds more than {LARGEST_TREE} bytes; name the folder of the tree itself")
        if is_plain(inside.as_posix()):
            found[inside.as_posix()] = path.read_bytes()
    return found


def files_of(change: Change) -> tuple[FileChange, ...]:
    """The changed files, as the diff says.

    Raises:
        DiffError: the diff cannot be read.
    """
    return read_diff(change.diff)


def head_paths(change: Change, suffixes: Iterable[str] = ()) -> tuple[str, ...]:
    """The changed files that the head tree has, sorted; of all or of some endings."""
    endings = tuple(suffixes)
    found = {one.new_path for one in files_of(change) if one.new_path in change.head}
    return tuple(sorted(path for path in found if path and (not endings or path.endswith(endings))))
