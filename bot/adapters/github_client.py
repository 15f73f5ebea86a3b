"""One identity's requests through PyGithub's transport: raw JSON, every page or an error, no hidden retries."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import parse_qs, urlencode, urlsplit

import requests
from github import Auth, Github
from github.GithubException import GithubException

from bot.adapters.github_clock import TheirClock
from bot.adapters.github_rates import Rates
from bot.adapters.github_seen import Seen
from bot.model import Raw
from bot.ports_github import GitHubError

PAGE = 100
API_VERSION = "2022-11-28"
MOST_PAGES = 1000

_FULL = (30, PAGE)
"""How long a page is that may have another one after it, where a server names no next page: its own size or ours."""
_REDIRECTS = (300, 301, 302, 303, 305, 307, 308)
_NEW = 10.0
"""Seconds for which a no to a token may mean that the token is not known everywhere yet."""
_NEW_BUT_404 = 2.0
"""The same for "not found", which is mostly the truth."""
_PAUSE = 0.5

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Given:
    """A token, and since when (of `time.monotonic`) it exists; None: long since."""

    token: str
    since: float | None = None


class Source(Protocol):
    """Where an identity's token comes from."""

    def give(self) -> Given:
        """The token now in force."""
        ...

    def forget(self, token: str) -> None:
        """It was not accepted: do not give it again."""
        ...


@dataclass(frozen=True, slots=True)
class Fixed:
    """A source that always gives what a function gives."""

    token: Callable[[], str]

    def give(self) -> Given:
        return Given(self.token())

    def forget(self, token: str) -> None:
        return


class Transport:
    """Connections to one server, and what it said before. Shared by all identities of a process.

    PyGithub objects swap answers between threads, so each thread has its own, one for each of its last few tokens.
    """

    _MOST = 8

    def __init__(self, base_url: str, sleep: Callable[[float], None] = time.sleep) -> None:
        self.base_url = base_url.rstrip("/")
        self.seen = Seen()
        self.rates = Rates()
        self.clock = TheirClock()
        self.sleep = sleep
        self._local = threading.local()
        self._worked: OrderedDict[str, None] = OrderedDict()
        self._absent: set[str] = set()
        self._lock = threading.Lock()

    def requester(self, token: str) -> Any:
        """PyGithub's requester of this thread for a token."""
        kept: OrderedDict[str, Any] | None = getattr(self._local, "requesters", None)
        if kept is None:
            kept = self._local.requesters = OrderedDict()
        if token not in kept:
            kept[token] = self._connect(token)
            if len(kept) > self._MOST:
                kept.popitem(last=False)[1].close()
        kept.move_to_end(token)
        return kept[token]

    def _connect(self, token: str) -> Any:
        # retry=None: the default sends a POST again after a 502, and with it a second pull request.
        return Github(
            auth=Auth.Token(token) if token else None,
            base_url=self.base_url,
            retry=None,
            timeout=30,
            user_agent="assay",
            seconds_between_requests=None,
            seconds_between_writes=None,
            api_version=API_VERSION,
        ).requester

    def heard(self, account: str, headers: Mapping[str, str]) -> None:
        """Note what an answer says besides."""
        self.rates.note(account, headers)
        self.clock.note(headers)

    def works(self, token: str) -> None:
        """Note that a token was accepted: a later no is meant."""
        with self._lock:
            self._worked[token] = None
            if len(self._worked) > 1000:
                self._worked.popitem(last=False)

    def may_lag(self, given: Given, status: int) -> bool:
        """Whether a no may come from a part of the server that has not heard of the token yet."""
        if given.since is None or status not in (401, 403, 404):
            return False
        with self._lock:
            if given.token in self._worked:
                return False
        return time.monotonic() - given.since < (_NEW_BUT_404 if status == 404 else _NEW)

    def note_absent(self, kind: str) -> None:
        """Say once that the server has no such resource."""
        with self._lock:
            known = kind in self._absent
            self._absent.add(kind)
        if not known:
            _log.warning("%s has no %s; going on without", self.base_url, kind)


class Client:
    """One identity's requests."""

    def __init__(self, transport: Transport, source: Source, account: str = "") -> None:
        """A client.

        Args:
            transport: The way to the server.
            source: Where its tokens come from.
            account: Whose limits its requests count against.
        """
        self._transport = transport
        self._source = source
        self._account = account

    def token(self) -> str:
        """The token now in force."""
        return self._source.give().token

    def call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        conditional: bool = False,
        patient: bool = True,
    ) -> tuple[Mapping[str, str], Any]:
        """One request: (headers, JSON).

        Args:
            method: of HTTP.
            path: behind the API's address.
            query: parameters.
            body: what to send, as JSON.
            conditional: whether to keep the answer, and ask only for a newer one next time.
            patient: whether a no to a token that was just minted is asked about again.

        Raises:
            GitHubError: any answer that is no success, or none (status 0).
        """
        url = f"{path}?{urlencode(query)}" if query else path
        while True:
            given = self._source.give()
            try:
                answer = self._once(method, url, body, given, conditional)
            except GitHubError as error:
                if patient and self._transport.may_lag(given, error.status) and not limited(error):
                    self._transport.sleep(_PAUSE)
                    continue
                if error.status == 401:
                    self._source.forget(given.token)
                raise
            self._transport.works(given.token)
            return answer

    def _once(
        self, method: str, url: str, body: Mapping[str, Any] | None, given: Given, conditional: bool
    ) -> tuple[Mapping[str, str], Any]:
        before = self._transport.seen.get(given.token, url) if conditional else None
        conditions = {"If-None-Match": before.etag} if before else None
        sent = dict(body) if body is not None else None
        try:
            status, headers, text = self._transport.requester(given.token).requestJson(
                method, url, headers=conditions, input=sent
            )
        except requests.RequestException as error:
            host = urlsplit(self._transport.base_url).netloc
            raise GitHubError(0, f"{host} cannot be reached ({type(error).__name__})", {}, method) from error
        except GithubException as error:
            self._transport.heard(self._account, error.headers or {})
            raise GitHubError(error.status, str(error.data), error.headers or {}, method) from error
        except (RuntimeError, AssertionError) as error:
            # How the transport says that it was led to another server, or round in a circle.
            raise GitHubError(301, f"it leads elsewhere: {error}", {}, method) from error
        self._transport.heard(self._account, headers)
        if status == 304 and before is not None:
            return {**before.headers, **headers}, json.loads(before.text)
        data = _json(text)
        if status >= 400 or status in _REDIRECTS:
            # The transport follows a read that has moved; a write that has moved is no success.
            raise GitHubError(status, _message(data) + _errors(data), headers, method)
        if conditional and status == 200:
            self._transport.seen.put(given.token, url, headers, text)
        return headers, data

    def get(self, path: str, **query: Any) -> Any:
        """The JSON of one GET."""
        return self.call("GET", path, query=query)[1]

    def find(self, path: str, *, conditional: bool = False, **query: Any) -> Any | None:
        """The JSON of one GET, or None where GitHub says 404."""
        try:
            return self.call("GET", path, query=query, conditional=conditional)[1]
        except GitHubError as error:
            if error.status == 404:
                return None
            raise

    def send(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """The JSON that a write answers."""
        return self.call(method, path, body=body)[1]

    def pages(
        self,
        path: str,
        key: str | None = None,
        *,
        optional: str | None = None,
        conditional: bool = False,
        patient: bool = True,
        **query: Any,
    ) -> tuple[Raw, ...]:
        """Every item of a list, once. A failed page is an error, never an empty list.

        Args:
            path: of the list.
            key: the field that holds it, where the answer is an object.
            optional: what the list is called, where a server may be without: "not found" is then an empty list.
            conditional: as for `call`.
            patient: as for `call`.
            query: parameters.
        """
        items: dict[Any, Raw] = {}
        last: Any = None
        for page in range(1, MOST_PAGES + 1):
            wanted = {**query, "per_page": PAGE, "page": page}
            try:
                headers, data = self.call("GET", path, query=wanted, conditional=conditional, patient=patient)
            except GitHubError as error:
                if optional is not None and error.status == 404 and page == 1:
                    self._transport.note_absent(optional)
                    return ()
                raise
            listed = data[key] if key else data
            if page > 1 and listed == last:
                # The server knows of no pages and gives all of it each time.
                return tuple(items.values())
            last = listed
            for item in listed:
                # A comment made while we read shifts the pages: the same item then comes twice.
                items.setdefault(item.get("id", (page, len(items))), item)
            if not _more(headers, len(listed), data, len(items)):
                return tuple(items.values())
        raise GitHubError(0, f"a list of more than {MOST_PAGES} pages", {}, "GET")

    def cursor_pages(self, path: str, *, go_on: Callable[[Raw], bool], **query: Any) -> tuple[Raw, ...]:
        """The items of a list whose next page only its `Link` names, as long as `go_on` says so of each item."""
        items: list[Raw] = []
        wanted: dict[str, Any] = {**query, "per_page": PAGE}
        for _ in range(MOST_PAGES):
            headers, data = self.call("GET", path, query=wanted)
            for item in data:
                if not go_on(item):
                    return tuple(items)
                items.append(item)
            cursor = _cursor(headers.get("link", ""))
            if cursor is None or cursor == wanted.get("cursor"):
                return tuple(items)
            wanted["cursor"] = cursor
        raise GitHubError(0, f"a list of more than {MOST_PAGES} pages", {}, "GET")


def limited(error: GitHubError) -> bool:
    """Whether a no says that too much was asked, and nothing about the token."""
    return (
        "retry-after" in error.headers
        or error.headers.get("x-ratelimit-remaining") == "0"
        or "rate limit" in error.message.lower()
    )


def _more(headers: Mapping[str, str], listed: int, data: Any, had: int) -> bool:
    """Whether there is another page: by the `Link`, else by the count, else by whether this one may be full."""
    link = headers.get("link", "")
    if link:
        return 'rel="next"' in link
    total = data.get("total_count") if isinstance(data, dict) else None
    return listed > 0 and had < total if isinstance(total, int) else listed in _FULL


def _cursor(link: str) -> str | None:
    for part in link.split(","):
        address, _, rest = part.partition(">")
        if 'rel="next"' in rest:
            found = parse_qs(urlsplit(address.strip().lstrip("<")).query).get("cursor")
            return found[0] if found else None
    return None


def _json(text: str) -> Any:
    try:
        return json.loads(text) if text else None
    except ValueError:
        return {"message": text[:200]}


def _message(data: object) -> str:
    message = data.get("message") if isinstance(data, dict) else None
    return message if isinstance(message, str) else ""


def _errors(data: object) -> str:
    errors = data.get("errors") if isinstance(data, dict) else None
    if not isinstance(errors, list):
        return ""
    said = [
        str(error.get("message") or error.get("code") or "") if isinstance(error, dict) else str(error)
        for error in errors
    ]
    return f" ({'; '.join(text for text in said if text)})" if any(said) else ""
