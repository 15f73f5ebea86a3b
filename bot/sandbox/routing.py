"""How routes are written down: path, permission and handler together, and what a handler gets and gives."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeVar
from urllib.parse import urlencode

from werkzeug.datastructures import MultiDict

from bot.sandbox.checking import moment
from bot.sandbox.deliveries import Deliveries
from bot.sandbox.errors import ApiError, invalid, unreadable
from bot.sandbox.links import Links
from bot.sandbox.state import Account, App, Installation, Repo, Role, Token
from bot.sandbox.world import World

Json = dict[str, Any]
Auth = Literal["anyone", "public", "app", "installation", "someone"]
"""Who a route is for: anyone for reading and any token for writing, nobody in particular, an App by its JWT, an
installation token, or any token."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who is calling. Neither an App nor a token: nobody in particular."""

    app: App | None = None
    token: Token | None = None

    @property
    def account(self) -> Account | None:
        """The user or the App's bot."""
        return self.token.account if self.token else None

    @property
    def installation(self) -> Installation | None:
        """Set for installation tokens."""
        return self.token.installation if self.token else None

    @property
    def name(self) -> str:
        """For logs and rate limits."""
        if self.app:
            return f"app:{self.app.slug}"
        return self.token.account.login if self.token else "anonymous"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a handler gives back. Bytes and text go out as they are, everything else as JSON."""

    body: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json; charset=utf-8"

    def encoded(self) -> bytes:
        """The bytes of the body."""
        if isinstance(self.body, bytes):
            return self.body
        if self.body is None:
            return b""
        if isinstance(self.body, str):
            return self.body.encode()
        return json.dumps(self.body, ensure_ascii=False, separators=(",", ":")).encode()


@dataclass(slots=True)
class Call:
    """One request, after authentication and authorisation."""

    world: World
    links: Links
    caller: Caller
    route: Route
    params: Mapping[str, Any]
    query: MultiDict[str, str]
    body: Json
    accept: str
    deliveries: Deliveries
    repository: Repo | None = None

    @property
    def repo(self) -> Repo:
        """The repository of the path."""
        assert self.repository is not None, "only for routes with a repository in their path"
        return self.repository

    @property
    def actor(self) -> Account:
        """Who does it. Routes that change things are never for nobody."""
        account = self.caller.account
        assert account is not None, "only for routes that need a token"
        return account

    # --- reading the body -------------------------------------------------------------------------------------

    def text(self, name: str, *, resource: str = "Resource") -> str:
        """A string that must be there and not be blank."""
        found = self.optional_text(name)
        if found is None or not found.strip():
            raise invalid(resource, name, "missing_field")
        return found

    def optional_text(self, name: str) -> str | None:
        """A string, null or nothing."""
        found = self.body.get(name)
        if found is not None and not isinstance(found, str):
            raise unreadable(f"For 'properties/{name}', {json.dumps(found)[:80]} is not a string.")
        return found

    def flag(self, name: str, default: bool = False) -> bool:
        """A boolean."""
        found = self.body.get(name, default)
        if not isinstance(found, bool):
            raise unreadable(f"For 'properties/{name}', {json.dumps(found)[:80]} is not a boolean.")
        return found

    def names(self, name: str) -> list[str]:
        """A list of strings; objects with a `name` count as their names."""
        found = self.body.get(name) or []
        if not isinstance(found, list):
            raise unreadable(f"For 'properties/{name}', {json.dumps(found)[:80]} is not an array.")
        return [str(one["name"]) if isinstance(one, dict) else str(one) for one in found]

    def objects(self, name: str) -> list[Json]:
        """A list of objects."""
        found = self.body.get(name) or []
        if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
            raise unreadable(f"For 'properties/{name}', {json.dumps(found)[:80]} is not an array of objects.")
        return found

    # --- reading the query ------------------------------------------------------------------------------------

    def since(self) -> datetime | None:
        """`since`."""
        found = self.query.get("since")
        return moment(found) if found else None

    def choice(self, name: str, *allowed: str) -> str:
        """A query parameter out of a list; the first is the default."""
        found = self.query.get(name, allowed[0])
        if found not in allowed:
            raise unreadable(f"{found} is not included in the list: {', '.join(allowed)}")
        return found


Handler = Callable[[Call], Answer]


@dataclass(frozen=True, slots=True)
class Route:
    """One operation of the API."""

    method: str
    path: str
    """As werkzeug writes rules."""
    handler: Handler
    needs: tuple[tuple[str, str], ...]
    """Permissions of an installation token, any of which is enough: `(("issues", "write"), ...)`."""
    role: Role
    """What a user must be in the repository."""
    auth: Auth
    on_archived: bool
    """Whether it works on an archived repository."""
    bare: str | None = None
    """The field that a body which is a bare list stands for; None: it has to be an object."""

    @property
    def template(self) -> str:
        """The path as GitHub's documentation writes it."""
        return self.path.replace("<int:", "{").replace("<path:", "{").replace("<", "{").replace(">", "}")


ROUTES: list[Route] = []
Decorated = TypeVar("Decorated", bound=Handler)


def route(
    method: str,
    path: str,
    needs: str = "",
    *,
    role: Role | None = None,
    auth: Auth = "anyone",
    on_archived: bool | None = None,
    bare: str | None = None,
) -> Callable[[Decorated], Decorated]:
    """Register a handler. `needs` is `permission:level`, alternatives separated by `|`."""
    pairs = tuple((name, level) for name, _, level in (one.partition(":") for one in needs.split("|") if one))
    reading = method == "GET"
    on = reading if on_archived is None else on_archived

    def register(handler: Decorated) -> Decorated:
        ROUTES.append(Route(method, path, handler, pairs, role or "read", auth, on, bare))
        return handler

    return register


def created(body: Json, location: str | None = None) -> Answer:
    """201."""
    return Answer(body, 201, {"Location": location or str(body.get("url", ""))})


Item = TypeVar("Item")


def page(
    call: Call,
    items: Sequence[Item],
    shape: Callable[[Item], Any],
    *,
    under: str | None = None,
    extra: Json | None = None,
) -> Answer:
    """One page of a list with its `Link` header; `under`: inside an object with a total count."""
    size, number = _positive(call, "per_page", 30, 100), _positive(call, "page", 1, 10**6)
    shown = [shape(item) for item in items[(number - 1) * size : number * size]]
    headers = _link_header(call, number, -(-len(items) // size))
    if under is None:
        return Answer(shown, headers=headers)
    return Answer({"total_count": len(items), **(extra or {}), under: shown}, headers=headers)


def _positive(call: Call, name: str, default: int, most: int) -> int:
    text = call.query.get(name, "")
    return min(int(text), most) if text.isascii() and text.isdigit() and int(text) > 0 else default


def _link_header(call: Call, number: int, last: int) -> dict[str, str]:
    wanted: Iterable[tuple[str, int, bool]] = (
        ("prev", number - 1, number > 1),
        ("next", number + 1, number < last),
        ("last", last, number < last),
        ("first", 1, number > 1),
    )
    told = [f'<{_page_url(call, to)}>; rel="{rel}"' for rel, to, useful in wanted if useful]
    return {"Link": ", ".join(told)} if told else {}


def _page_url(call: Call, number: int) -> str:
    path = call.route.path
    for name, value in call.params.items():
        for form in (f"<{name}>", f"<int:{name}>", f"<path:{name}>"):
            path = path.replace(form, str(value))
    query = [(name, value) for name, value in call.query.items(multi=True) if name != "page"]
    return f"{call.links.api(path)}?{urlencode([*query, ('page', str(number))])}"


def sorted_by(
    call: Call, items: Iterable[Item], keys: Mapping[str, Callable[[Item], Any]], *, default_direction: str = "desc"
) -> list[Item]:
    """Apply `sort` (the first key is the default) and `direction`."""
    key = keys[call.choice("sort", *keys)]
    other = "asc" if default_direction == "desc" else "desc"
    return sorted(items, key=key, reverse=call.choice("direction", default_direction, other) == "desc")


def changed_since(call: Call, items: Iterable[Item], when: Callable[[Item], datetime]) -> list[Item]:
    """Apply `since`, which compares whole seconds."""
    since = call.since()
    return [item for item in items if since is None or when(item).replace(microsecond=0) >= since]


def only_apps(call: Call) -> App:
    """The App behind an installation token.

    Raises:
        ApiError: 403 for everybody else.
    """
    if call.caller.installation is None:
        raise ApiError(403, "You must authenticate via a GitHub App.")
    return call.caller.installation.app
