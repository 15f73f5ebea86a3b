"""Who asks, and what they may see: sessions, and rights in the control repositories as GitHub tells them."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Protocol
from urllib.parse import urlsplit

from flask import request, session

from bot.model import RepoName
from bot.pages.paper import NOBODY, Visitor
from bot.ports_github import GitHubError

LIFETIME = timedelta(hours=12)
"""From signing in until one has to sign in again, whatever one does in between."""
KNOWN_FOR = 300.0
"""Seconds for which a right is remembered for looking."""
WRITES_KNOWN_FOR = 30.0
"""Seconds for which it is remembered for changing something, and for which it is remembered that there is none."""
_MOST = 4096
_WRITING = frozenset({"write", "admin"})
_FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP", "Via")


class Unknown(Exception):
    """GitHub does not say at the moment who may see what."""


class Rights:
    """Rights of people in repositories, remembered for a while."""

    def __init__(self, ask: Callable[[RepoName, str], str], clock: Callable[[], float] = time.monotonic) -> None:
        """Rights.

        Args:
            ask: What GitHub says: `admin`, `write`, `read` or `none`.
            clock: Seconds that only rise.
        """
        self._ask = ask
        self._clock = clock
        self._known: OrderedDict[tuple[RepoName, str], tuple[float, str]] = OrderedDict()
        self._lock = threading.Lock()

    def sees(self, repo: RepoName, login: str) -> bool:
        """Whether somebody may read a repository.

        Raises:
            Unknown: GitHub does not say.
        """
        return self._of(repo, login, KNOWN_FOR) != "none"

    def writes(self, repo: RepoName, login: str, within: float = KNOWN_FOR) -> bool:
        """Whether somebody may write to a repository.

        Raises:
            Unknown: GitHub does not say.
        """
        return self._of(repo, login, within) in _WRITING

    def _of(self, repo: RepoName, login: str, within: float) -> str:
        key = (repo, login.lower())
        with self._lock:
            since, right = self._known.get(key, (0.0, ""))
        # Who was just let in at GitHub does not want to wait here.
        if right and self._clock() - since < (min(within, WRITES_KNOWN_FOR) if right == "none" else within):
            return right
        asked_at, right = self._clock(), self._asked(repo, login)
        with self._lock:
            self._known[key] = (asked_at, right)
            self._known.move_to_end(key)
            if len(self._known) > _MOST:
                self._known.popitem(last=False)
        return right

    def _asked(self, repo: RepoName, login: str) -> str:
        try:
            return self._ask(repo, login)
        except GitHubError as error:
            if _is_a_no(error):
                return "none"
            raise Unknown(f"GitHub answered {error.status}") from error


def _is_a_no(error: GitHubError) -> bool:
    """Whether the repository is out of the App's reach, so that nobody's right in it can be proved any more."""
    limited = "retry-after" in error.headers or error.headers.get("x-ratelimit-remaining") == "0"
    return error.status in (403, 404, 410, 451) and not limited


class SignOuts(Protocol):
    """Remembers, for every process and across restarts, when somebody signed out."""

    def cursor(self, name: str) -> str | None:
        """What is kept under a name."""
        ...

    def set_cursor(self, name: str, value: str) -> None:
        """Keep it."""
        ...


@dataclass(frozen=True, slots=True)
class Who:
    """Somebody who is signed in."""

    login: str
    secret: bytes
    """What the tokens of this session's forms are derived from."""
    everywhere: bool = False
    """Whether the machine is theirs: they may see and write everything, and cannot sign out."""


class Sessions:
    """Sessions in a signed cookie. What it holds is a login and a time; a session ends for good when one signs out."""

    def __init__(self, key: bytes, outs: SignOuts, clock: Callable[[], datetime]) -> None:
        self._key = key
        self._outs = outs
        self._clock = clock

    def derive(self, purpose: str, text: str) -> bytes:
        """A secret of ours for a purpose, which the text it is derived from does not tell."""
        return hmac.digest(self._key, f"{purpose}\0{text}".encode(), hashlib.sha256)

    def start(self, login: str) -> None:
        """Sign somebody in, in a new session: what the one before held is gone."""
        session.clear()
        session.permanent = True
        session.update(login=login, id=secrets.token_urlsafe(24), at=self._clock().timestamp())

    def end(self) -> None:
        """Sign out: this session and all others of the same person, also where somebody copied the cookie."""
        who = self.who()
        session.clear()
        if who is not None:
            self._outs.set_cursor(_out(who.login), repr(self._clock().timestamp()))

    def who(self) -> Who | None:
        """Who is signed in."""
        login, name, at = session.get("login"), session.get("id"), session.get("at")
        if not (isinstance(login, str) and isinstance(name, str) and isinstance(at, float)):
            return None
        if not 0 <= self._clock().timestamp() - at < LIFETIME.total_seconds():
            return None
        left = self._outs.cursor(_out(login))
        if left is not None and at <= float(left):
            return None
        return Who(login, self.derive("forms", name))


def _out(login: str) -> str:
    return f"signed-out/{login.lower()}"


class Local:
    """The one person of this machine. They are taken for nobody where a request may come from elsewhere."""

    def __init__(self, login: str) -> None:
        self._who = Who(login, secrets.token_bytes(32), everywhere=True)

    def who(self) -> Who | None:
        """Them, if the request is from this machine and meant for it.

        A page from elsewhere can let its own name lead to this machine; the browser then sends that name as `Host`.
        A proxy on this machine asks for others, which it tells in its headers.
        """
        return self._who if from_this_machine() and is_loopback(_host(request.host)) else None


def from_this_machine() -> bool:
    """Whether a program of this machine asks for itself; not a proxy on it, which asks for somebody else."""
    forwarded = any(name in request.headers for name in _FORWARDED)
    return is_loopback(request.remote_addr or "") and not forwarded


def is_loopback(host: str) -> bool:
    """Whether a host is this machine, by the number or the name that only this machine has."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _host(netloc: str) -> str:
    try:
        return urlsplit(f"//{netloc}").hostname or ""
    except ValueError:
        return ""


@dataclass(frozen=True, slots=True)
class Access:
    """Who asks, and what they may do."""

    who: Callable[[], Who | None]
    """Who the present request is from."""
    rights: Rights
    origin: Callable[[], str]
    """Where forms of ours come from: scheme, host and port."""
    control: RepoName | None = None
    """The control repository that the settings name."""
    may_sign_in: bool = True
    """Whether who is a stranger can do something about it."""

    def sees(self) -> Callable[[RepoName], bool]:
        """Whether who asks may see the runs of a control repository; can be asked after the request as well."""
        who = self.who()
        if who is None:
            return lambda repo: False
        return (lambda repo: True) if who.everywhere else (lambda repo: self.rights.sees(repo, who.login))

    def signed_in(self) -> Visitor:
        """Who asks, without their rights: nobody is asked for them."""
        who = self.who()
        return NOBODY if who is None else Visitor(who.login, who.everywhere, token_of(who), who.everywhere)

    def visitor(self, control: RepoName | None = None, *, changing: bool = False) -> Visitor:
        """Who asks, with their right in a control repository; without one, in that of the settings.

        Args:
            control: The repository.
            changing: Whether something is about to be changed; the right is then as of this moment.

        Raises:
            Unknown: GitHub does not say what they may do.
        """
        found, repo = self.signed_in(), control or self.control
        if not found.login or found.may_write or repo is None:
            return found
        within = WRITES_KNOWN_FOR if changing else KNOWN_FOR
        return replace(found, may_write=self.rights.writes(repo, found.login, within))


def token_of(who: Who) -> str:
    """What the forms of a session carry."""
    return hmac.digest(who.secret, b"form", hashlib.sha256).hex()
