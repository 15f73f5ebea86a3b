"""Reading forks that stand somewhere, as whoever may: the App, a user, or nobody in particular."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime

from bot.adapters.github import AppGitHub
from bot.adapters.github_client import Client, Fixed, Transport
from bot.adapters.github_hands import Means
from bot.adapters.github_permissions import Step
from bot.adapters.github_reading import Reading
from bot.adapters.github_tokens import Tokens
from bot.answers import Answer, GiveUp, decide
from bot.model import RepoName, Snapshot
from bot.ports_github import AppIdentity, GitHub, GitHubError

MOST_TRIES = 5
MOST_WAITS = 30
"""Rate limits waited out for one fork."""
_HIDDEN = (401, 403, 404)
"""Answers after which somebody else may still be allowed to read."""


class Unreadable(Exception):
    """A fork cannot be read; the message says why and what would help."""


@dataclass(frozen=True, slots=True)
class Outside:
    """What reading leans on."""

    clock: Callable[[], datetime]
    sleep: Callable[[float], None]
    say: Callable[[str], None]


class _Person(Reading):
    """One user, or nobody in particular: the same identity for everything."""

    def __init__(self, transport: Transport, token: str, clock: Callable[[], datetime]) -> None:
        self._client = Client(transport, Fixed(lambda: token))

        def nobody() -> AppIdentity:
            raise LookupError("a reader has no App")

        tokens = Tokens(self._client, clock)
        super().__init__(Means(transport, tokens, 0, None, nobody, lambda: None, lambda: "User", clock))

    def _of(self, step: Step, repo: RepoName | None = None) -> Client:
        return self._client


class ForkReader:
    """Snapshots of pull requests anywhere on one GitHub."""

    def __init__(self, base_url: str, outside: Outside, *, token: str | None, app: AppGitHub | None) -> None:
        """A reader.

        Args:
            base_url: GitHub's REST API.
            outside: clock, sleep and somebody to tell.
            token: a user's token; None: there is none.
            app: the App; None: it is not configured.
        """
        self._outside = outside
        self._transport = Transport(base_url, outside.sleep)
        self._token = token
        self._app = app
        self._installed: dict[str, int] | None = None
        self.used: set[str] = set()
        """As whom something was read."""

    def read(self, repo: RepoName, number: int) -> Snapshot:
        """Everything said on a pull request, every page.

        Raises:
            Unreadable: nobody we are may read it, or GitHub does not answer.
        """
        refused: list[str] = []
        for name, reader in self._readers(repo):
            try:
                snapshot = self._patiently(reader, repo, number)
            except GitHubError as error:
                if error.status not in _HIDDEN:
                    raise Unreadable(f"{repo}#{number}: {error}") from None
                refused.append(f"{name}: {error.status}")
                continue
            self.used.add(name)
            return snapshot
        told = "; ".join(refused)
        advice = "set ASSAY_AUTHOR_TOKEN to the token of a user who may"
        raise Unreadable(f"{repo}#{number} is not there, or may not be read ({told}); {advice}")

    def _readers(self, repo: RepoName) -> Iterator[tuple[str, Reading | GitHub]]:
        installation = self._installations().get(repo.owner.lower())
        if self._app is not None and installation is not None:
            yield "the App", self._app.installation(installation)
        if self._token is not None:
            yield "the author's token", _Person(self._transport, self._token, self._outside.clock)
        else:
            yield "nobody", _Person(self._transport, "", self._outside.clock)

    def _installations(self) -> dict[str, int]:
        if self._installed is None:
            try:
                found = self._app.installations() if self._app is not None else ()
            except GitHubError as error:
                self._outside.say(f"the App is not used: {error}")
                found = ()
            self._installed = {account.lower(): number for number, account in found}
        return self._installed

    def _patiently(self, reader: Reading | GitHub, repo: RepoName, number: int) -> Snapshot:
        """A snapshot, read anew after each failure that passes, as GitHub's documentation wants it."""
        tries = waits = 0
        while True:
            try:
                return reader.snapshot(repo, number)
            except GitHubError as error:
                headers = {name.lower(): value for name, value in error.headers.items()}
                answer = Answer(error.status, error.message, headers, error.method)
                limited = error.status in (403, 429)
                tries, waits = tries + (not limited), waits + limited
                verdict = decide(answer, self._outside.clock(), waits if limited else tries)
                if isinstance(verdict, GiveUp):
                    raise
                if tries >= MOST_TRIES or waits >= MOST_WAITS:
                    raise Unreadable(f"{repo}#{number}: GitHub does not answer: {error}") from None
                if verdict.seconds >= 1:
                    self._outside.say(f"{verdict.reason}: waiting {verdict.seconds:.0f} s, then going on")
                self._outside.sleep(verdict.seconds)
