"""Signing people in through the App's own OAuth: where they are sent, and who comes back with a code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import requests

_SECONDS = 15
_LONGEST_LOGIN = 100


class NotSignedIn(Exception):
    """GitHub did not say who it is. The message is ours and holds nothing that was sent."""


@dataclass(frozen=True, slots=True)
class OAuth:
    """The App, as GitHub knows it for signing in."""

    web_url: str
    api_url: str
    client_id: str
    client_secret: str = field(repr=False)
    callback: str
    """Where GitHub sends people back to; the App has to be registered with it."""

    def address(self, state: str, challenge: str) -> str:
        """Where somebody is sent to say who they are.

        Args:
            state: Comes back with them.
            challenge: The SHA-256 of the verifier, so that a code is of no use to whoever else gets hold of it.
        """
        asked = {
            "client_id": self.client_id,
            "redirect_uri": self.callback,
            "state": state,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        return f"{self.web_url}/login/oauth/authorize?{urlencode(asked)}"

    def login(self, code: str, verifier: str) -> str:
        """Who it is that came back with a code. The token that says so is forgotten at once.

        Raises:
            NotSignedIn: GitHub does not take the code, or does not answer.
        """
        told = self._user(self._token(code, verifier))
        login = told.get("login")
        if told.get("type") != "User" or not isinstance(login, str) or not 0 < len(login) <= _LONGEST_LOGIN:
            raise NotSignedIn("GitHub named no user")
        return login

    def _token(self, code: str, verifier: str) -> str:
        sent = {
            "client_id": self.client_id,
            "client_secret": self.client_secret,
            "code": code,
            "redirect_uri": self.callback,
            "code_verifier": verifier,
        }
        url = f"{self.web_url}/login/oauth/access_token"
        told = self._ask("POST", url, {"Accept": "application/json"}, sent)
        token = told.get("access_token")
        if not isinstance(token, str):
            raise NotSignedIn(f"GitHub did not take the code ({_known(told.get('error'))})")
        return token

    def _user(self, token: str) -> Mapping[str, Any]:
        accepted = {"Accept": "application/vnd.github+json", "Authorization": f"Bearer {token}"}
        return self._ask("GET", f"{self.api_url}/user", accepted)

    def _ask(
        self, method: str, url: str, headers: Mapping[str, str], sent: Mapping[str, str] | None = None
    ) -> Mapping[str, Any]:
        headers = {**headers, "User-Agent": "assay"}
        try:
            answer = requests.request(method, url, data=sent, headers=headers, timeout=_SECONDS, allow_redirects=False)
            told = answer.json()
        except requests.RequestException as problem:
            # The error's own text may quote what was sent.
            raise NotSignedIn(f"GitHub did not answer ({type(problem).__name__})") from None
        if answer.status_code != 200 or not isinstance(told, dict):
            raise NotSignedIn(f"GitHub answered {answer.status_code}")
        return told


_ERRORS = frozenset(
    {"incorrect_client_credentials", "redirect_uri_mismatch", "bad_verification_code", "unverified_user_email"}
)


def _known(error: object) -> str:
    return error if isinstance(error, str) and error in _ERRORS else "for a reason it does not name"
