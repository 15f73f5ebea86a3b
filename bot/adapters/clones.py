"""A bare clone that mining fetches into: one branch with its whole history, and pull requests on demand."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from bot.adapters.git import Git
from bot.adapters.git_bytes import GitError, GitKind, checked_url

_OLD_SINS: Final = (
    "badDate",
    "badDateOverflow",
    "badEmail",
    "badTimezone",
    "missingEmail",
    "missingNameBeforeEmail",
    "missingSpaceBeforeDate",
    "missingSpaceBeforeEmail",
    "multipleAuthors",
    "zeroPaddedDate",
    "zeroPaddedFilemode",
)
"""What long histories are full of and harms nobody who only reads; whatever else fsck refuses stays refused."""
_BATCH: Final = 200
_FETCH: Final = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-gc")


class Clone:
    """A bare clone in a folder. Git runs as it does for forks: safe protocols, no hooks, limits, no prompts."""

    def __init__(self, folder: Path, url: str, *, allow_file: bool = False, allow_http: bool = False) -> None:
        """Name a folder and the address it is a clone of. Nothing is done yet.

        Raises:
            GitError: the address may not be used.
        """
        self.folder = folder.absolute()
        self._url = checked_url(url, allow_http=allow_http, allow_file=allow_file)
        self._git = Git(allow_file=allow_file, allow_http=allow_http, network_timeout=4 * 3600)

    def fetch(self) -> None:
        """Clone the main branch, or bring it up to date.

        Raises:
            GitError: nobody answers at the address, or the folder holds something else.
        """
        if not (self.folder / "HEAD").is_file():
            if self.folder.exists() and any(self.folder.iterdir()):
                raise GitError(GitKind.BAD_INPUT, f"{str(self.folder)[:200]} is there already and is no bare clone")
            self.folder.mkdir(parents=True, exist_ok=True)
            self._run("init", "--quiet", "--bare", "--template=", "--object-format=sha1", "--initial-branch=main")
        self._fetched("+HEAD:refs/heads/main")

    def fetch_pulls(self, numbers: Iterable[int]) -> tuple[str, ...]:
        """Have the branches of these pull requests here, as they were last pushed; the refs that are here then.

        Raises:
            GitError: nobody answers at the address.
        """
        wanted = [f"refs/pull/{int(number)}/head" for number in sorted(set(numbers))]
        lacking = [ref for ref in wanted if ref not in self._held()]
        there = self._offered() if lacking else frozenset()
        lacking = [ref for ref in lacking if ref in there]
        for start in range(0, len(lacking), _BATCH):
            self._fetched(*(f"+{ref}:{ref}" for ref in lacking[start : start + _BATCH]))
        held = self._held()
        return tuple(ref for ref in wanted if ref in held)

    def _held(self) -> frozenset[str]:
        out = self._run("for-each-ref", "--format=%(refname)", "refs/pull/")
        return frozenset(out.decode("utf-8", "replace").split())

    def _offered(self) -> frozenset[str]:
        out = self._run("ls-remote", "--", self._url, "refs/pull/*/head", online=True)
        return frozenset(line.partition("\t")[2] for line in out.decode("utf-8", "replace").splitlines())

    def _fetched(self, *refs: str) -> None:
        lenient = [part for name in _OLD_SINS for part in ("-c", f"fetch.fsck.{name}=warn")]
        self._run(*lenient, *_FETCH, "--", self._url, *refs, online=True)

    def _run(self, *args: str, online: bool = False) -> bytes:
        url = self._url if online else None
        # One way of running git, with its environment and its limits.
        out: bytes = self._git._run(args, url=url, extra={"GIT_DIR": str(self.folder)}).out
        return out
