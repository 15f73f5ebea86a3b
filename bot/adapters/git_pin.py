"""The two commits of a pin: where they are to be had, and whether the base is where the change left its upstream.

Nothing here starts a process; every git command goes through the `Repository` that `git.py` hands in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Final, Literal

from bot.adapters.git_bytes import GitError, GitKind, redacted
from bot.adapters.git_trees import Repository, missing, sha
from bot.model import Sha
from bot.neutral import PushKind
from goldens.model import Direction, GitPin

_PULL_DEPTH: Final = 250
_HISTORY_DEPTHS: Final = (16, 256)
_QUIET: Final = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-gc")
_TOLD: Final = 12
"""Attempts that an error names."""

Scratch = Callable[[], AbstractContextManager[Repository]]
"""Gives another empty repository, which is gone afterwards."""


def fetch_pin(repo: Repository, pin: GitPin, urls: Sequence[str]) -> None:
    """Have both pinned commits here: by id, else through the pull request's ref, from each address in turn.

    Raises:
        GitError: no address gave both; it names what was tried, and is retryable if one could not be reached.
    """
    wanted, tried, retry = (sha(pin.base_sha), sha(pin.head_sha)), [], False
    for url in urls:
        for how, depth, refs in _ways(repo, pin, wanted):
            try:
                repo.remote("fetch", *_QUIET, f"--depth={depth}", "--", url, *refs, url=url)
            except GitError as error:
                # A repository that is not there now will not come: unlike a fork, nobody has just made it.
                retry = retry or (error.retryable and error.kind is not PushKind.NOT_FOUND)
                tried.append(f"{redacted(url)} {how}: {error.message}")
    if lacking := missing(repo, wanted):
        told = "; ".join(tried[:_TOLD]) or ("the addresses answered without it" if urls else "no address was given")
        raise GitError(
            GitKind.MISSING_COMMIT,
            f"commit {lacking[0]} of {pin.upstream} is nowhere to be had, by id, in the pull request's ref or in a "
            f"mirror: {told}",
            retry,
        )


def _ways(repo: Repository, pin: GitPin, wanted: Sequence[Sha]) -> Iterator[tuple[str, int, tuple[str, ...]]]:
    """(how, depth, refs) to try at one address, for as long as something is lacking."""
    if lacking := missing(repo, wanted):
        yield "by id", 1, lacking
    if len(lacking) > 1 and missing(repo, wanted):
        # One that is not there keeps git from giving the other.
        yield from (("by id", 1, (one,)) for one in lacking)
    ref = f"refs/pull/{int(pin.number)}/head"
    for depth in (1, _PULL_DEPTH):
        if missing(repo, wanted):
            yield f"by {ref}", depth, (ref,)


def merge_base(
    repo: Repository, pin: GitPin, urls: Sequence[str], scratch: Scratch
) -> tuple[Sha, str, tuple[str, ...]]:
    """The commit whose tree is the base, what it is known to be, and what to note about it.

    Where the commits that are here cannot tell, the history around them is asked for without its trees. Where that
    cannot tell either, the pin is taken at its word, which is that its base is the merge base. Where the change runs
    backwards the merge base is the head, and comparing with it would leave nothing.
    """
    base = sha(pin.base_sha)
    if pin.direction is Direction.INVERTED:
        return base, "the pinned commit; the change runs backwards", ()
    notes_at = f"refs/pin/{base}/{sha(pin.head_sha)}"
    found = _remembered(repo, notes_at)
    if found is None:
        found = base if base in _parents(repo, pin.head_sha) else _common(repo, pin) or _asked_all(urls, pin, scratch)
        if found:
            fetch_one(repo, found, urls)
        # A second build asks nobody, and so cannot come to another end than the first.
        repo.run("update-ref", f"{notes_at}/{'base' if found else 'unknown'}", found or base)
    if not found:
        told = f"whether the pinned base {base} is the merge base could not be verified: no address gave the history"
        return base, "the pinned commit; not verified to be the merge base", (told,)
    if found == base:
        return base, "the merge base, as pinned", ()
    note = f"the base is the merge base {found}, not the pinned {base}"
    return found, "the merge base, which is not the pinned commit", (note,)


def _remembered(repo: Repository, notes_at: str) -> Sha | Literal[""] | None:
    """What an earlier build of this pin found here; empty if it found that nobody can tell."""
    told = repo.run("for-each-ref", "--format=%(refname) %(objectname)", f"{notes_at}/").decode("ascii", "replace")
    kept = told.split()
    if not kept:
        return None
    return sha(kept[1]) if kept[0].endswith("/base") else ""


def fetch_one(repo: Repository, commit: Sha, urls: Sequence[str]) -> None:
    """Have this commit here.

    Raises:
        GitError: no address gives it.
    """
    problem: GitError | None = None
    for url in urls:
        if missing(repo, (commit,)):
            try:
                repo.remote("fetch", *_QUIET, "--depth=1", "--", url, commit, url=url)
            except GitError as error:
                problem = error
    if missing(repo, (commit,)):
        raise problem or GitError(GitKind.MISSING_COMMIT, f"commit {commit} is nowhere to be had")


def _parents(repo: Repository, commit: str) -> frozenset[str]:
    """What a commit says its parents are, whether they are here or not."""
    header = repo.run("cat-file", "commit", sha(commit)).partition(b"\n\n")[0]
    lines = (line.split() for line in header.split(b"\n"))
    return frozenset(line[1].decode("ascii", "replace") for line in lines if line[:1] == [b"parent"])


def _common(repo: Repository, pin: GitPin) -> Sha | None:
    found = repo.run("merge-base", pin.base_sha, pin.head_sha, accept=(0, 1)).decode("ascii").split()
    return sha(found[0]) if found else None


def _asked_all(urls: Sequence[str], pin: GitPin, scratch: Scratch) -> Sha | None:
    problem: GitError | None = None
    for url in urls:
        try:
            if found := _asked(url, pin, scratch):
                return found
        except GitError as error:
            # What may pass must not decide which tree the base is: the same fork would come out differently later.
            if error.retryable and error.kind is not PushKind.NOT_FOUND:
                problem = error
    if problem is not None:
        raise problem
    return None


def _asked(url: str, pin: GitPin, scratch: Scratch) -> Sha | None:
    """The merge base by the commits alone, as far back as is reasonable; None if they do not tell."""
    with scratch() as history:
        for depth in _HISTORY_DEPTHS:
            flags = (*_QUIET, "--filter=tree:0", f"--depth={depth}")
            history.remote("fetch", *flags, "--", url, pin.base_sha, pin.head_sha, url=url)
            if found := _common(history, pin):
                return found
            if _holds_trees(history):
                return None  # This host sends whole trees all the same: going deeper would be a clone.
    return None


def _holds_trees(repo: Repository) -> bool:
    kinds = repo.run("cat-file", "--batch-all-objects", "--batch-check=%(objecttype)")
    return b"tree\n" in kinds
