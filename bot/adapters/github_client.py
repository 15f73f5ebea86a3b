"""One identity's requests through PyGithub's transport: raw JSON, every page or an error, no hidden retries."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

import requests
from github import Auth, Github
from github.GithubException import GithubException

from bot.model import Raw
from bot.ports import GitHubError

PAGE = 100
API_VERSION = "2022-11-28"

Token = Callable[[], str]

_MOVED = {"Moved Permanently": 301, "Found": 302, "Temporary Redirect": 307, "Permanent Redirect": 308}


class Client:
    """One identity's requests. PyGithub objects swap answers between threads, so each thread has its own."""

    def __init__(self, base_url: str, token: Token, forget: Callable[[str], None] | None = None) -> None:
        self._base_url = base_url.rstrip("/")
        self._token = token
        self._forget = forget
        self._local = threading.local()

    def _requester(self) -> Any:
        token = self._token()
        if getattr(self._local, "token", None) != token:
            self._local.token = token
            # retry=None: the default sends a POST again after a 502, and with it a second pull request.
            self._local.requester = Github(
                auth=Auth.Token(token),
                base_url=self._base_url,
                retry=None,
                timeout=30,
                user_agent="assay",
                seconds_between_requests=None,
                seconds_between_writes=None,
                api_version=API_VERSION,
            ).requester
        return self._local.requester

    def token(self) -> str:
        """The token now in force."""
        return self._token()

    def call(
        self, method: str, path: str, *, query: Mapping[str, Any] | None = None, body: Mapping[str, Any] | None = None
    ) -> tuple[Mapping[str, str], Any]:
        """One request: (headers, JSON).

        Raises:
            GitHubError: any answer that is no success, or none (status 0).
        """
        requester = self._requester()
        try:
            headers, data = requester.requestJsonAndCheck(
                method, path, parameters=dict(query) if query else None, input=dict(body) if body is not None else None
            )
        except GithubException as error:
            if error.status == 401 and self._forget is not None:
                # Revoked, or minted a moment ago and not known everywhere: the next call asks for another one.
                self._forget(self._local.token)
            message = error.data.get("message", "") if isinstance(error.data, dict) else str(error.data or "")
            detail = _errors(error.data)
            raise GitHubError(error.status, message + detail, error.headers or {}, method) from error
        except requests.RequestException as error:
            raise GitHubError(0, type(error).__name__, {}, method) from error
        if isinstance(data, dict) and data.get("message") in _MOVED:
            # The transport follows a read that has moved, and takes the answer to a write for a success.
            raise GitHubError(_MOVED[data["message"]], data["message"], headers, method)
        return headers, data

    def get(self, path: str, **query: Any) -> Any:
        """The JSON of one GET."""
        return self.call("GET", path, query=query)[1]

    def find(self, path: str) -> Any | None:
        """The JSON of one GET, or None where GitHub says 404."""
        try:
            return self.get(path)
        except GitHubError as error:
            if error.status == 404:
                return None
            raise

    def send(self, method: str, path: str, body: Mapping[str, Any]) -> Any:
        """The JSON that a write answers."""
        return self.call(method, path, body=body)[1]

    def pages(self, path: str, key: str | None = None, **query: Any) -> tuple[Raw, ...]:
        """Every item of a list, once. A failed page is an error, never an empty list."""
        items: dict[Any, Raw] = {}
        page: int | None = 1
        while page is not None:
            headers, data = self.call("GET", path, query={**query, "per_page": PAGE, "page": page})
            for item in data[key] if key else data:
                # A comment made while we read shifts the pages: the same item then comes twice.
                items.setdefault(item.get("id", len(items)), item)
            page = page + 1 if 'rel="next"' in headers.get("link", "") else None
        return tuple(items.values())


def _errors(data: object) -> str:
    errors = data.get("errors") if isinstance(data, dict) else None
    if not isinstance(errors, list):
        return ""
    said = [
        str(error.get("message") or error.get("code") or "") if isinstance(error, dict) else str(error)
        for error in errors
    ]
    return f" ({'; '.join(text for text in said if text)})" if any(said) else ""
