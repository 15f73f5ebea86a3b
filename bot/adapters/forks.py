"""`bot.ports.ForkBuilder` on git: one scratch repository per fork, made the same on every retry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from bot import neutral
from bot.adapters.git import Authored, Git
from bot.adapters.git_bytes import GitError
from bot.model import ForkId, RunId, Sha
from bot.neutral import StripRules
from bot.neutral_reviewers import TreeNeeds
from bot.ports import ForkCommits, GitFailure, TwoTrees
from goldens.model import GitPin, GoldenPull

_LOCAL = ("127.0.0.1", "localhost", "::1")


class GitForkBuilder:
    """Builds and pushes forks under a directory."""

    def __init__(
        self,
        root: Path,
        *,
        upstream: str,
        rules: StripRules,
        allow_http: bool,
        allow_file: bool = False,
        mirror: str | None = None,
        token_host: str = "",
    ) -> None:
        """Where things are.

        Args:
            root: a folder for the scratch repositories.
            upstream: where golden upstreams are fetched.
            rules: what leaves both trees.
            allow_http: whether plain http may be used beyond loopback.
            allow_file: whether clones may be addressed as files.
            mirror: where upstreams are fetched that are not there.
            token_host: whose tokens are given to `build`: they are sent to that host and to no other.
        """
        self._token_host = _host(token_host)
        self._root = root
        self._upstreams = [upstream, *([mirror] if mirror else [])]
        self._rules = rules
        local = allow_file or any(url.startswith("file:") for url in self._upstreams)
        self._git = Git(allow_file=local, allow_http=allow_http)

    def build(
        self,
        run: RunId,
        fork: ForkId,
        pull: GoldenPull,
        *,
        secret: bytes,
        title: str,
        needs: TreeNeeds,
        upstream_token: str | None = None,
    ) -> ForkCommits:
        files = {path: content.encode() for path, content in needs.workflows.items()}
        rules = needs.rules(self._rules)
        authored = Authored(rules, neutral.identity(secret, fork), neutral.messages(title), files)
        workdir = self._workdir(run, fork)
        try:
            if isinstance(pull.source, GitPin):
                git = self._reading(pull.source, upstream_token)
                return git.trees_from_pin(workdir, pull.source, self._upstreams, authored)
            base, head = pull.source
            return self._git.trees_from_files(workdir, base.files, head.files, authored)
        except GitError as error:
            raise GitFailure(str(error), retryable=error.retryable) from error

    def _reading(self, pin: GitPin, token: str | None) -> Git:
        """Git that reads the upstream with the token, but nothing on another host."""
        if token is None:
            return self._git
        urls = [f"{base.rstrip('/')}/{pin.upstream}.git" for base in self._upstreams]
        return replace(self._git, reading={url: token for url in urls if _host(url) == self._token_host})

    def push(self, run: RunId, fork: ForkId, clone_url: str, token: str, refs: Mapping[str, Sha]) -> None:
        self._ours(clone_url)
        try:
            self._git.push(self._workdir(run, fork), clone_url, token, refs)
        except GitError as error:
            raise GitFailure(str(error), retryable=error.retryable) from error

    def branches(self, clone_url: str, token: str) -> Mapping[str, Sha]:
        self._ours(clone_url)
        try:
            return self._git.ls_remote(clone_url, token)
        except GitError as error:
            raise GitFailure(str(error), retryable=error.retryable) from error

    def _ours(self, clone_url: str) -> None:
        """Make sure that an address that an answer gave leads to GitHub: the token goes where it leads.

        Raises:
            GitFailure: it leads elsewhere.
        """
        if not same_house(clone_url, self._token_host):
            place = urlsplit(clone_url)
            told = f"{place.scheme}://{place.hostname}"[:100]
            message = f"the server says that the repository is at {told!r}: no token is sent there"
            raise GitFailure(message, retryable=False)

    def diff(self, run: RunId, fork: ForkId, commits: ForkCommits) -> str:
        try:
            return self._git.diff(self._workdir(run, fork), commits.base_sha, commits.head_sha)
        except GitError as error:
            raise GitFailure(str(error), retryable=error.retryable) from error

    def trees(self, run: RunId, fork: ForkId, commits: ForkCommits) -> TwoTrees:
        try:
            return self._git.trees(self._workdir(run, fork), commits.base_sha, commits.head_sha)
        except GitError as error:
            raise GitFailure(str(error), retryable=error.retryable) from error

    def _workdir(self, run: RunId, fork: ForkId) -> Path:
        return self._root / run / fork


def same_house(url: str, house: tuple[str, str]) -> bool:
    """Whether an address may be given the token of a house, (scheme, place).

    Its own host and the one that its API is a part of; never in the clear where the house is not. On this machine any
    port will do, as whatever listens there is the operator's. A file takes no token.
    """
    try:
        parts = urlsplit(url)
        ours = urlsplit(f"{house[0]}://{house[1]}")
        name, own, ports = parts.hostname or "", ours.hostname or "", (parts.port, ours.port)
    except ValueError:
        return False
    if parts.scheme == "file":
        return True
    safe = parts.scheme == ours.scheme or parts.scheme == "https"
    if name in _LOCAL and own in _LOCAL:
        return safe
    return safe and bool(own) and name in (own, own.removeprefix("api.")) and ports[0] == ports[1]


def _host(url: str) -> tuple[str, str]:
    """Scheme and place of an address."""
    parts = urlsplit(url)
    return parts.scheme.lower(), parts.netloc.lower()
