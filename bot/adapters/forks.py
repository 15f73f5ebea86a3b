"""`bot.ports.ForkBuilder` on git: one scratch repository per fork, made the same on every retry."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from bot import neutral
from bot.adapters.git import Git
from bot.adapters.git_bytes import GitError
from bot.model import ForkId, RunId, Sha
from bot.neutral import StripRules
from bot.ports import ForkCommits, GitFailure
from goldens.model import GitPin, GoldenPull


class GitForkBuilder:
    """Builds and pushes forks under a directory."""

    def __init__(self, root: Path, *, upstream: str, rules: StripRules, allow_http: bool) -> None:
        self._root = root
        self._upstream = upstream
        self._rules = rules
        self._git = Git(allow_file=upstream.startswith("file:"), allow_http=allow_http)

    def build(self, run: RunId, fork: ForkId, pull: GoldenPull, *, secret: bytes, title: str) -> ForkCommits:
        identity, messages = neutral.identity(secret, fork), neutral.messages(title)
        workdir = self._workdir(run, fork)
        try:
            if isinstance(pull.source, GitPin):
                upstreams = [self._upstream]
                return self._git.trees_from_pin(workdir, pull.source, upstreams, self._rules, identity, messages)
            base, head = pull.source
            return self._git.trees_from_files(workdir, base.files, head.files, self._rules, identity, messages)
        except GitError as error:
            raise GitFailure(str(error), retryable=error.retryable) from error

    def push(self, run: RunId, fork: ForkId, clone_url: str, token: str, refs: Mapping[str, Sha]) -> None:
        try:
            self._git.push(self._workdir(run, fork), clone_url, token, refs)
        except GitError as error:
            raise GitFailure(str(error), retryable=error.retryable) from error

    def diff(self, run: RunId, fork: ForkId, commits: ForkCommits) -> str:
        try:
            return self._git.diff(self._workdir(run, fork), commits.base_sha, commits.head_sha)
        except GitError as error:
            raise GitFailure(str(error), retryable=error.retryable) from error

    def _workdir(self, run: RunId, fork: ForkId) -> Path:
        return self._root / run / fork
