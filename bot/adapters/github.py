"""GitHub as the App and its installations see it. What they ask and do stands in the modules beside this one."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

from github import Auth, Consts

from bot.adapters.github_client import Client, Fixed, Transport
from bot.adapters.github_clock import TOLERATED, TheirClock
from bot.adapters.github_files import Files
from bot.adapters.github_hands import Means
from bot.adapters.github_permissions import WITH_WORKFLOWS
from bot.adapters.github_reading import Reading
from bot.adapters.github_tokens import Tokens, server_time
from bot.adapters.github_writing import Writing
from bot.model import Raw
from bot.ports_github import AppIdentity, Author, AuthorAccount, GitHub, GitHubError, RateLeft

SIGNATURE_SECONDS = 120
"""How long a signature of the App is used; it would hold for five minutes."""


class InstallationGitHub(Reading, Files, Writing):
    """`bot.ports.GitHub` of one installation. The author identity opens pull requests and posts triggers."""

    def account(self, *, author: bool = False) -> str:
        return "author" if author and self._means.author is not None else f"installation {self._means.installation}"

    def identity(self) -> AppIdentity:
        return self._means.identity()

    def author(self) -> Author:
        login = self._means.author_name()
        return Author(login or self.identity().login, is_user=login is not None)


class AppGitHub:
    """`bot.ports.GitHubApp`: signs as the App, mints installation tokens, hands out one `GitHub` per installation."""

    def __init__(
        self,
        base_url: str,
        *,
        app_id: str,
        private_key: str,
        author_token: str | None,
        clock: Callable[[], datetime],
        workflows: bool = False,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._transport = Transport(base_url, sleep)
        signed = _Signed(app_id, private_key, self._transport.clock)
        self._app = Client(self._transport, Fixed(signed.token), "app")
        self._author = Client(self._transport, Fixed(lambda: author_token), "author") if author_token else None
        self._tokens = Tokens(self._app, clock, WITH_WORKFLOWS if workflows else {})
        self._clock = clock
        self._identity: AppIdentity | None = None
        self._author_login: str | None = None
        self._owner_types: dict[int, str] = {}

    # --- the App itself -----------------------------------------------------------------------------------------

    def identity(self) -> AppIdentity:
        if self._identity is None:
            raw = self.details()
            self._identity = AppIdentity(app_id=int(raw["id"]), slug=str(raw["slug"]))
        return self._identity

    @property
    def slug(self) -> str:
        return "" if self._identity is None else self._identity.slug

    def rates(self) -> tuple[RateLeft, ...]:
        return self._transport.rates.left()

    def details(self) -> Raw:
        raw: Raw = self._app.get("/app")
        return raw

    def installations(self) -> tuple[tuple[int, str], ...]:
        return tuple((int(raw["id"]), str(raw["account"]["login"])) for raw in self.installation_details())

    def installation_details(self) -> tuple[Raw, ...]:
        return self._app.pages("/app/installations")

    def server_time(self) -> datetime | None:
        try:
            headers, _ = self._app.call("GET", "/app")
        except GitHubError as error:
            headers = error.headers
        return server_time(headers)

    # --- the author ---------------------------------------------------------------------------------------------

    def author_account(self, org: str | None = None) -> AuthorAccount | None:
        if self._author is None:
            return None
        headers, raw = self._author.call("GET", "/user")
        kind, scopes = kind_of(self._author.token()), headers.get("x-oauth-scopes")
        told = (
            None if scopes is None or kind == "fine-grained" else tuple(filter(None, scopes.replace(",", " ").split()))
        )
        role = None if org is None else self._role(org)
        return AuthorAccount(str(raw["login"]), str(raw.get("type") or "User"), kind, told, role)

    def _role(self, org: str) -> str | None:
        assert self._author is not None
        try:
            raw = self._author.find(f"/user/memberships/orgs/{org}") or {}
        except GitHubError as error:
            if error.status != 403:
                raise
            return None
        return str(raw["role"]) if raw.get("state") == "active" else None

    # --- deliveries ---------------------------------------------------------------------------------------------

    def hook_config(self) -> Raw | None:
        raw: Raw | None = self._app.find("/app/hook/config")
        return raw

    def set_hook_secret(self, secret: str) -> None:
        """Set what deliveries are signed with."""
        self._app.send("PATCH", "/app/hook/config", {"secret": secret})

    def deliveries(self, since: datetime) -> tuple[Raw, ...]:
        def recent(raw: Raw) -> bool:
            return datetime.fromisoformat(raw["delivered_at"]) >= since

        try:
            return self._app.cursor_pages("/app/hook/deliveries", go_on=recent)
        except GitHubError as error:
            if error.status != 404:
                raise
            self._transport.note_absent("list of deliveries")
            return ()

    def delivery(self, delivery: int) -> Raw:
        raw: Raw = self._app.get(f"/app/hook/deliveries/{delivery}")
        return raw

    def redeliver(self, delivery: int) -> None:
        self._app.send("POST", f"/app/hook/deliveries/{delivery}/attempts")

    # --- installations ------------------------------------------------------------------------------------------

    def installation(self, installation: int) -> GitHub:
        return InstallationGitHub(
            Means(
                self._transport,
                self._tokens,
                installation,
                self._author,
                self.identity,
                self._author_name,
                lambda: self._owner_type(installation),
                self._clock,
            )
        )

    def _owner_type(self, installation: int) -> str:
        """`User` or `Organization`; the latter where the server does not say."""
        if installation not in self._owner_types:
            raw = self._app.find(f"/app/installations/{installation}") or {}
            account = raw.get("account") or {}
            self._owner_types[installation] = str(account.get("type") or raw.get("target_type") or "Organization")
        return self._owner_types[installation]

    def _author_name(self) -> str | None:
        if self._author is not None and self._author_login is None:
            self._author_login = str(self._author.get("/user")["login"])
        return self._author_login


def kind_of(token: str) -> str:
    """What sort of user token it is, by GitHub's prefixes."""
    prefixes = {"ghp_": "classic", "github_pat_": "fine-grained", "ghu_": "user-to-server"}
    return next((kind for prefix, kind in prefixes.items() if token.startswith(prefix)), "other")


class _Signed:
    """The App's signature, made anew every two minutes: each one made is a connection of its own."""

    def __init__(self, app_id: str, private_key: str, theirs: TheirClock) -> None:
        self._sign = Auth.AppAuth.create_jwt_sign(private_key, Consts.DEFAULT_JWT_ALGORITHM)
        self._auth = Auth.AppAuth(
            app_id, sign_func=self._signed, jwt_issued_at=-60, jwt_expiry=Consts.DEFAULT_JWT_EXPIRY
        )
        self._theirs = theirs
        self._ahead = 0
        self._token = ""  # nosec B105 # none yet
        self._until = 0.0
        self._lock = threading.Lock()

    def token(self) -> str:
        with self._lock:
            ahead = self._theirs.ahead()
            if time.monotonic() >= self._until or abs(ahead - self._ahead) > TOLERATED:
                self._ahead = ahead
                self._token = self._auth.token
                self._until = time.monotonic() + SIGNATURE_SECONDS
            return self._token

    def _signed(self, claims: dict[str, Any]) -> str | bytes:
        # Of whose clock is wrong GitHub has the last word: it takes nothing that was signed in its future or its past.
        return self._sign(claims | {name: claims[name] + self._ahead for name in ("iat", "exp")})
