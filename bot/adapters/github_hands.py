"""What every group of questions and deeds of an installation works with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from bot.adapters.github_client import Client, Transport
from bot.adapters.github_permissions import Step
from bot.adapters.github_tokens import Scope, Scoped, Tokens
from bot.model import RepoName
from bot.ports_github import AppIdentity


@dataclass(frozen=True, slots=True)
class Means:
    """What an installation's view is made of. The functions ask GitHub at most once and remember."""

    transport: Transport
    tokens: Tokens
    installation: int
    author: Client | None
    identity: Callable[[], AppIdentity]
    author_name: Callable[[], str | None]
    owner_type: Callable[[], str]
    clock: Callable[[], datetime]


class Hands:
    """A client for each step, with a token that is narrowed to it."""

    def __init__(self, means: Means) -> None:
        self._means = means

    def _scope(self, step: Step, repo: RepoName | None) -> Scope:
        return Scope(self._means.installation, step, None if repo is None else repo.name)

    def _of(self, step: Step, repo: RepoName | None = None) -> Client:
        """The App's client for a step, in one repository or in the whole account."""
        scoped = Scoped(self._means.tokens, self._scope(step, repo))
        return Client(self._means.transport, scoped, f"installation {self._means.installation}")

    def _author_of(self, step: Step, repo: RepoName) -> Client:
        """The author's client; the App's where there is no author."""
        return self._means.author or self._of(step, repo)


def login_of(user: Mapping[str, Any] | None) -> str:
    """An account's login, compared lower-case; empty for a deleted one."""
    return str(user["login"]).lower() if user else ""


def stamp(moment: datetime) -> str:
    """A moment as GitHub takes it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
