"""Installation tokens: as narrow as their step, kept until shortly before they expire."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

from bot.adapters.github_client import Client, Given
from bot.adapters.github_permissions import Step, of_step
from bot.ports_github import GitHubError

MARGIN = timedelta(minutes=5)
_MOST = 2000

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Scope:
    """What a token is for. Whole: everything that the installation may do."""

    installation: int
    step: Step | None = None
    repository: str | None = None

    def asked(self, extra: Mapping[Step, Mapping[str, str]]) -> Mapping[str, Any]:
        """The body of the request for such a token."""
        if self.step is None:
            return {}
        body: dict[str, Any] = {"permissions": {**of_step(self.step), **extra.get(self.step, {})}}
        return body if self.repository is None else body | {"repositories": [self.repository]}


@dataclass(frozen=True, slots=True)
class _Minted:
    token: str
    since: float
    until: float
    """Not used after that. Both of `time.monotonic`: a wrong clock of ours must not make a token seem expired."""


class Tokens:
    """The tokens of all installations."""

    def __init__(
        self, app: Client, clock: Callable[[], datetime], extra: Mapping[Step, Mapping[str, str]] | None = None
    ) -> None:
        self._app = app
        self._clock = clock
        self._extra = extra or {}
        self._minted: dict[Scope, _Minted] = {}
        self._warned: set[Step] = set()
        self._lock = threading.Lock()

    def give(self, scope: Scope) -> Given:
        """A token for a scope; a wider one where the server does not narrow.

        Raises:
            GitHubError: there is none to be had.
        """
        with self._lock:
            minted = self._minted.get(scope)
        if minted is None or minted.until < time.monotonic():
            minted = self._mint(scope)
            with self._lock:
                self._keep(scope, minted)
        return Given(minted.token, minted.since)

    def forget(self, scope: Scope, token: str) -> None:
        """It was not accepted."""
        with self._lock:
            for known, minted in list(self._minted.items()):
                if minted.token == token:
                    del self._minted[known]

    def _keep(self, scope: Scope, minted: _Minted) -> None:
        if len(self._minted) >= _MOST:
            now = time.monotonic()
            self._minted = {known: one for known, one in self._minted.items() if one.until > now}
        self._minted[scope] = minted

    def _mint(self, scope: Scope) -> _Minted:
        path = f"/app/installations/{scope.installation}/access_tokens"
        try:
            headers, raw = self._app.call("POST", path, body=scope.asked(self._extra))
        except GitHubError as error:
            if error.status not in (400, 422) or scope.step is None:
                raise
            self._warn(scope.step, error)
            given = self.give(Scope(scope.installation))
            return self._minted_as(Scope(scope.installation)) or _Minted(given.token, time.monotonic(), 0)
        now = time.monotonic()
        life = datetime.fromisoformat(raw["expires_at"]) - self._server_time(headers)
        # A server whose tokens live for minutes only would otherwise be asked for one at every request.
        margin = min(MARGIN, life / 4)
        return _Minted(str(raw["token"]), now, now + max((life - margin).total_seconds(), 0))

    def _minted_as(self, scope: Scope) -> _Minted | None:
        with self._lock:
            return self._minted.get(scope)

    def _server_time(self, headers: Mapping[str, str]) -> datetime:
        return server_time(headers) or self._clock()

    def _warn(self, step: Step, error: GitHubError) -> None:
        with self._lock:
            known = step in self._warned
            self._warned.add(step)
        if not known:
            _log.warning("a token for the step %r could not be narrowed, so a wider one is used: %s", str(step), error)


@dataclass(frozen=True, slots=True)
class Scoped:
    """The source of one scope's tokens."""

    tokens: Tokens
    scope: Scope

    def give(self) -> Given:
        return self.tokens.give(self.scope)

    def forget(self, token: str) -> None:
        self.tokens.forget(self.scope, token)


def server_time(headers: Mapping[str, str]) -> datetime | None:
    """The server's clock as its answer tells it."""
    try:
        return parsedate_to_datetime(headers["date"]).astimezone(UTC)
    except (KeyError, ValueError):
        return None
