"""Look through the trees of a fork before anything is made of them: one pass over every blob, in batches.

Nothing here starts a process; every git command goes through the `Repository` that `git.py` hands in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from bot.adapters.git_bytes import Entry, GitError, GitKind, blobs, escapes, path_problem
from bot.adapters.git_trees import Repository, changed_paths, entries, raw_difference
from bot.model import Sha
from bot.neutral import Decided, PushKind, StripResult, StripRules, strip
from bot.neutral_preflight import (
    MEBIBYTE,
    FindingKind,
    TreeFinding,
    Verdict,
    clash_findings,
    secret_finding,
    secrets,
    size_findings,
)
from bot.neutral_residual import Residual

_BATCH_BYTES: Final = 8 * MEBIBYTE
_BATCH_BLOBS: Final = 5_000
_READ_MOST: Final = MEBIBYTE
"""Bytes of the largest file that is looked into."""
_LFS_SIZES: Final = range(100, 1024)
_LFS_START: Final = b"version https://git-lfs.github.com/spec/"
_TOLD: Final = 5


@dataclass(frozen=True, slots=True)
class Inspection:
    """What is to become of two trees."""

    decided: StripResult
    findings: tuple[TreeFinding, ...]
    residual: Mapping[str, int]
    """What the files that stay give away, by kind."""


def inspect(
    repo: Repository,
    trees: Sequence[Sha],
    rules: StripRules,
    *,
    limit: int,
    upstream: str | None,
    put: Iterable[str] = (),
) -> Inspection:
    """Decide on two trees: what leaves both, what is kept, and what makes the fork impossible.

    Raises:
        GitError: the pair cannot be forked; its `findings` are all that was found.
    """
    listed = [entries(repo, tree) for tree in trees]
    changed = changed_paths(raw_difference(repo, trees[0], trees[1]))
    named = strip((entry.path for tree in listed for entry in tree), changed, rules)
    gone = {one.path for one in named.removed}
    staying = [[entry for entry in tree if entry.path not in gone] for tree in listed]
    unique = list({(entry.path, entry.sha): entry for tree in staying for entry in tree}.values())
    residual = Residual(upstream)
    residual.paths({entry.path for entry in unique})
    leaving = [_placed(one, changed) for one in (*_by_mode(unique), *_by_content(repo, unique, residual))]
    found = [
        *_in_the_way({entry.path for entry in unique}, put),
        *size_findings(((entry.path, entry.size) for entry in unique), limit),
        *(one for tree in staying for one in clash_findings(entry.path for entry in tree)),
        *leaving,
    ]
    findings = tuple(dict.fromkeys(found))
    _check(named.refused, findings)
    hazards = {one.path: Decided(one.path, one.kind) for one in findings if one.kind in _LEAVE}
    return Inspection(
        StripResult((*named.removed, *hazards.values()), named.kept_both, ()), findings, residual.counted()
    )


def _check(refused: Sequence[Decided], findings: tuple[TreeFinding, ...]) -> None:
    bad = [one for one in findings if one.verdict is Verdict.REFUSE]
    told = [f"{one.path[:200]!r}: {one.reason}" for one in refused]
    told += [f"{one.path[:200]!r}: {one.detail}" for one in bad]
    if told:
        large = bool(bad) and all(one.kind is FindingKind.LARGE_FILE for one in bad) and not refused
        kind = PushKind.FILE_TOO_LARGE if large else GitKind.REFUSED_TREE
        more = f"; and {len(told) - _TOLD} more" if len(told) > _TOLD else ""
        message = f"this golden pull request cannot be forked: {'; '.join(told[:_TOLD])}{more}"
        raise GitError(kind, message, findings=findings)


_LEAVE: Final = (FindingKind.SUBMODULE, FindingKind.LINK_OUT, FindingKind.LFS_POINTER)
"""What leaves both trees where the golden change does not touch it."""


def _placed(finding: TreeFinding, changed: frozenset[str]) -> TreeFinding:
    """The finding with what becomes of it: it leaves both trees, or the pull request is not forked."""
    if finding.kind not in _LEAVE:
        return finding
    if finding.path in changed:
        told = f"{finding.detail}; the golden pull request changes it, so it can not be left out"
        return replace(finding, verdict=Verdict.REFUSE, detail=told)
    return replace(finding, detail=f"{finding.detail}; it leaves both trees")


def _in_the_way(paths: set[str], put: Iterable[str]) -> Iterator[TreeFinding]:
    for path in put:
        if path in paths:
            told = "the golden pull request changes the file that a reviewer's workflow would be written to"
            yield TreeFinding(FindingKind.HOSTILE_PATH, Verdict.REFUSE, path, told)


def _by_mode(unique: Sequence[Entry]) -> Iterator[TreeFinding]:
    submodules = [entry for entry in unique if entry.mode == "160000"]
    for entry in submodules:
        told = "a submodule points to another repository, which the reviewers may not read"
        yield TreeFinding(FindingKind.SUBMODULE, Verdict.WARN, entry.path, told)
    for entry in unique:
        if submodules and entry.path == ".gitmodules":
            told = "it names the repositories of submodules, which tell where the code comes from"
            yield TreeFinding(FindingKind.SUBMODULE, Verdict.WARN, entry.path, told)
        if problem := path_problem(entry.path):
            yield TreeFinding(FindingKind.HOSTILE_PATH, Verdict.REFUSE, entry.path, f"the path {problem}")


def _by_content(repo: Repository, unique: Sequence[Entry], residual: Residual) -> Iterator[TreeFinding]:
    """What the blobs tell; each is read once, however many paths have it."""
    paths: dict[str, list[Entry]] = {}
    for entry in unique:
        if entry.mode != "160000":
            paths.setdefault(entry.sha, []).append(entry)
    small = [have[0] for have in paths.values() if have[0].size <= _READ_MOST]
    for _ in range(len(paths) - len(small)):
        residual.unread()
    for blob, content in _contents(repo, small):
        links = [entry for entry in paths[blob.sha] if entry.mode == "120000"]
        yield from _link_findings(links, content)
        files = [entry for entry in paths[blob.sha] if entry.mode != "120000"]
        if files:
            residual.blob(content)
            yield from _file_findings(files, content)


def _link_findings(links: Iterable[Entry], content: bytes) -> Iterator[TreeFinding]:
    for entry in links:
        if escapes(entry.path, content.decode("utf-8", "surrogateescape")):
            told = "the symbolic link leads out of the tree"
            yield TreeFinding(FindingKind.LINK_OUT, Verdict.WARN, entry.path, told)


def _file_findings(files: Sequence[Entry], content: bytes) -> Iterator[TreeFinding]:
    pointer = len(content) in _LFS_SIZES and content.startswith(_LFS_START)
    kinds = secrets(content)
    for entry in files:
        if pointer:
            told = "it is a pointer into large-file storage, which is not copied"
            yield TreeFinding(FindingKind.LFS_POINTER, Verdict.WARN, entry.path, told)
        if kinds:
            yield secret_finding(entry.path, kinds)


def _contents(repo: Repository, asked: Iterable[Entry]) -> Iterator[tuple[Entry, bytes]]:
    """The blobs in batches of a few megabytes, so that memory does not grow with the tree."""
    batch: list[Entry] = []
    size = 0
    for entry in asked:
        if batch and (size + entry.size > _BATCH_BYTES or len(batch) >= _BATCH_BLOBS):
            yield from _read(repo, batch)
            batch, size = [], 0
        batch.append(entry)
        size += entry.size
    yield from _read(repo, batch)


def _read(repo: Repository, batch: Sequence[Entry]) -> Iterator[tuple[Entry, bytes]]:
    if batch:
        query = "".join(f"{entry.sha}\n" for entry in batch).encode("ascii")
        yield from zip(batch, blobs(repo.run("cat-file", "--batch", stdin=query)), strict=True)
