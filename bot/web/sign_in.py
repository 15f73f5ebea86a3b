"""Signing in through GitHub, and out again."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from flask import Blueprint, Response, redirect, request, session
from werkzeug.exceptions import Forbidden
from werkzeug.wrappers import Response as Answer

from bot.adapters.oauth import NotSignedIn
from bot.pages.links import ServedLinks
from bot.pages.paper import render
from bot.web import forms
from bot.web.access import Access, Sessions, Unknown
from bot.web.pages import not_now

AT_GITHUB = timedelta(minutes=10)
"""How long a code of GitHub's is good for, and so one may take to sign in there."""
_LONGEST = 500
LINKS = ServedLinks()


class Door(Protocol):
    """GitHub, for signing in."""

    def address(self, state: str, challenge: str) -> str:
        """Where somebody is sent."""
        ...

    def login(self, code: str, verifier: str) -> str:
        """Who came back with a code; raises `NotSignedIn`."""
        ...


@dataclass(frozen=True, slots=True)
class SignIn:
    """What signing in takes."""

    door: Door
    sessions: Sessions
    admits: Callable[[str], bool]
    """Whether there is anything for a person to see."""
    clock: Callable[[], datetime]


def signing_in(parts: SignIn, access: Access) -> Blueprint:
    """The way in and out."""
    made = Blueprint("sign_in", __name__)

    @made.get("/sign-in")
    def begin() -> Answer:
        after = local_path(request.args.get("next", ""))
        if access.who() is not None:
            return redirect(after, 303)
        session.clear()
        begun = secrets.token_urlsafe(32)
        session.update(begun=begun, after=after, since=parts.clock().timestamp())
        challenge = _text(hashlib.sha256(_verifier(parts, begun).encode()).digest())
        return redirect(parts.door.address(begun, challenge), 303)

    @made.get("/sign-in/callback")
    def come_back() -> Answer:
        begun, after = _begun(parts)
        code = request.args.get("code", "")
        if not 0 < len(code) <= _LONGEST:
            raise Forbidden("GitHub did not sign you in: it was cancelled there, or the App is not set up for it.")
        login = parts.door.login(code, _verifier(parts, begun))
        if not parts.admits(login):
            raise Forbidden(f"You are {login} at GitHub, who may not read a control repository of this App.")
        parts.sessions.start(login)
        return redirect(after, 303)

    @made.post("/sign-out")
    def leave() -> Answer:
        forms.from_our_pages(request, access.origin())
        forms.checked(request, access.signed_in())
        parts.sessions.end()
        return redirect(LINKS.page("signed-out"), 303)

    @made.get("/signed-out")
    def left() -> str:
        return render("sign_in.html", LINKS, area="", title="Signed out", after="/")

    @made.errorhandler(NotSignedIn)
    def not_signed_in(error: NotSignedIn) -> Response:
        message = f"{error}. Begin once more; if that does not help, the operator has to look at the App's settings."
        return Response(render("error.html", LINKS, area="", title="Not signed in", message=message), 502)

    made.register_error_handler(Unknown, not_now)
    return made


def _begun(parts: SignIn) -> tuple[str, str]:
    """What was begun in this browser and not long ago: the state that must come back, and where to go on.

    It can be used once.
    """
    begun, after, since = session.get("begun"), session.get("after"), session.get("since")
    session.clear()
    given = request.args.get("state", "")
    if not (isinstance(begun, str) and isinstance(after, str) and isinstance(since, float)):
        raise Forbidden("Signing in was not begun in this browser, or was finished already. Begin at /sign-in.")
    late = parts.clock().timestamp() - since > AT_GITHUB.total_seconds()
    if late or not hmac.compare_digest(given.encode(), begun.encode()):
        raise Forbidden("Signing in was begun in another window, or too long ago. Begin once more at /sign-in.")
    return begun, after


def _verifier(parts: SignIn, begun: str) -> str:
    """What proves that who exchanges a code also asked for it. The browser holds what it derives from, not itself."""
    return _text(parts.sessions.derive("verifier", begun))


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def local_path(text: str) -> str:
    """A path of ours to go on at; the start page in place of anything that could lead elsewhere."""
    plain = text.isascii() and text.isprintable() and "\\" not in text and len(text) <= _LONGEST
    return text if plain and text.startswith("/") and not text.startswith(("//", "/sign")) else "/"
