"""The web flow in which a user lets an App act for them: the page to say yes on, and the exchange of the code."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from html import escape
from urllib.parse import urlencode

from werkzeug.utils import redirect
from werkzeug.wrappers import Request, Response

from bot.sandbox.pages import page, plain
from bot.sandbox.state import Account, App, Token
from bot.sandbox.world import World

AUTHORIZE = "/login/oauth/authorize"
EXCHANGE = "/login/oauth/access_token"
CODE_LIFETIME = timedelta(minutes=10)
TOKEN_LIFETIME = timedelta(hours=8)
REFRESH_SECONDS = 15_897_600
BEARER = "bearer"
LOGIN_AS = "login_as"
"""Whom the browser is signed in as. GitHub knows from its own cookie; here the address says it."""
_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)
_DESCRIBED = {
    "incorrect_client_credentials": "The client_id and/or client_secret passed are incorrect.",
    "redirect_uri_mismatch": "The redirect_uri MUST match the registered callback URL for this application.",
    "bad_verification_code": "The code passed is incorrect or expired.",
}


class _Refused(Exception):
    """An error code of the flow."""


@dataclass(frozen=True, slots=True)
class _Code:
    app: App
    account: Account
    redirect_uri: str | None
    challenge: str
    expires: datetime


class SigningIn:
    """Holds the codes that were given and not exchanged yet."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._codes: dict[str, _Code] = {}

    def authorize(self, request: Request) -> Response:
        """The page. Who is chosen on it goes back to the App with a code."""
        asked = request.args
        with self._world.lock:
            app = next((one for one in self._world.apps.values() if one.client_id == asked.get("client_id")), None)
            if app is None or not app.callback_urls:
                return page("Not found", "<p>There is no such App, or it lets nobody sign in.</p>", 404)
            state = {"state": asked["state"]} if "state" in asked else {}
            wanted = asked.get("redirect_uri")
            if wanted is not None and wanted not in app.callback_urls:
                return _back(app.callback_urls[0], {**_told("redirect_uri_mismatch"), **state})
            account = self._world.accounts.get(asked.get(LOGIN_AS, "").lower())
            if account is None or account.type != "User":
                return self._choose(request, app)
            code = self._code(app, account, wanted, asked)
        if code is None:
            return page("Not understood", "<p>code_challenge and code_challenge_method=S256 go together.</p>", 400)
        return _back(wanted or app.callback_urls[0], {"code": code, **state})

    def _choose(self, request: Request, app: App) -> Response:
        asked = request.args.to_dict()
        users = sorted(one.login for one in self._world.accounts.values() if one.type == "User")
        rows = "".join(
            f'<li><a href="{escape(AUTHORIZE)}?{escape(urlencode({**asked, LOGIN_AS: login}))}">'
            f"Continue as {plain(login)}</a></li>"
            for login in users
        )
        return page(f"Sign in to {app.slug}", f"<ul>{rows}</ul>")

    def _code(self, app: App, account: Account, wanted: str | None, asked: Mapping[str, str]) -> str | None:
        challenge, method = asked.get("code_challenge", ""), asked.get("code_challenge_method", "")
        if (challenge or method) and (method != "S256" or not _CHALLENGE.fullmatch(challenge)):
            return None
        code = secrets.token_hex(10)
        self._codes[code] = _Code(app, account, wanted, challenge, self._world.now() + CODE_LIFETIME)
        return code

    def exchange(self, request: Request) -> Response:
        """A code for a token. What is wrong is told with status 200, as GitHub does."""
        sent = {**request.args.to_dict(), **_body(request)}
        with self._world.lock:
            try:
                told = self._exchanged(sent)
            except _Refused as refused:
                told = _told(str(refused))
        if "application/json" in request.headers.get("Accept", ""):
            return Response(json.dumps(told), content_type="application/json; charset=utf-8")
        return Response(urlencode(told), content_type="application/x-www-form-urlencoded; charset=utf-8")

    def _exchanged(self, sent: Mapping[str, str]) -> dict[str, str]:
        app = next((one for one in self._world.apps.values() if one.client_id == sent.get("client_id")), None)
        if app is None or not hmac.compare_digest(sent.get("client_secret", "").encode(), app.client_secret.encode()):
            raise _Refused("incorrect_client_credentials")
        found = self._codes.pop(sent.get("code", ""), None)
        if found is None or found.app is not app or self._world.now() >= found.expires or not _proved(found, sent):
            raise _Refused("bad_verification_code")
        if sent.get("redirect_uri", found.redirect_uri) != found.redirect_uri:
            raise _Refused("redirect_uri_mismatch")
        return self._token(found.account)

    def _token(self, account: Account) -> dict[str, str]:
        value = "ghu_" + secrets.token_hex(18)
        self._world.tokens[value] = Token(value, account, expires_at=self._world.now() + TOKEN_LIFETIME)
        return {
            "access_token": value,
            "expires_in": str(int(TOKEN_LIFETIME.total_seconds())),
            "refresh_token": "ghr_" + secrets.token_hex(38),
            "refresh_token_expires_in": str(REFRESH_SECONDS),
            "scope": "",
            "token_type": BEARER,
        }


def _proved(found: _Code, sent: Mapping[str, str]) -> bool:
    if not found.challenge:
        return True
    digest = hashlib.sha256(sent.get("code_verifier", "").encode()).digest()
    return hmac.compare_digest(base64.urlsafe_b64encode(digest).rstrip(b"=").decode(), found.challenge)


def _body(request: Request) -> dict[str, str]:
    if request.mimetype != "application/json":
        return dict(request.form.to_dict())
    given = request.get_json(silent=True)
    return {str(key): str(value) for key, value in given.items()} if isinstance(given, dict) else {}


def _told(error: str) -> dict[str, str]:
    return {"error": error, "error_description": _DESCRIBED[error]}


def _back(where: str, query: Mapping[str, str]) -> Response:
    return redirect(f"{where}?{urlencode(query)}", 302)
