"""The HTTP face: one WSGI application over the world."""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
import uuid
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING, Any

from werkzeug.exceptions import ClientDisconnected, HTTPException
from werkzeug.http import http_date
from werkzeug.routing import Map, Rule
from werkzeug.wrappers import Request, Response

from bot.sandbox import (  # noqa: F401 - importing the route modules registers their routes
    routes_apps,
    routes_checks,
    routes_contents,
    routes_git,
    routes_hooks,
    routes_issues,
    routes_pulls,
    routes_repos,
    routes_reviews,
)
from bot.sandbox.access import accepted, admit, identify
from bot.sandbox.deliveries import Deliveries
from bot.sandbox.errors import ApiError, not_found
from bot.sandbox.faults import Fault, Faults, read_fault
from bot.sandbox.githttp import PATH as GIT_PATH
from bot.sandbox.githttp import GitHttp
from bot.sandbox.limits import RateLimit
from bot.sandbox.links import Links
from bot.sandbox.pages import Pages
from bot.sandbox.registration import PATH as REGISTRATION_PATH
from bot.sandbox.registration import Registration
from bot.sandbox.routing import ROUTES, Answer, Call, Caller, Route
from bot.sandbox.signing_in import AUTHORIZE, EXCHANGE, SigningIn
from bot.sandbox.world import World

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

ENTERPRISE = "/api/v3"
READING = frozenset({"GET", "HEAD"})
_NO_AGENT = "Request forbidden by administrative rules. Please make sure your request has a User-Agent header."
Control = Callable[[str, dict[str, Any]], Any]


@dataclass(frozen=True, slots=True)
class Done:
    """One mutating request that took effect."""

    method: str
    template: str
    path: str
    actor: str


class Api:
    """Dispatches git, the REST API, the control routes and the pages."""

    def __init__(
        self, world: World, deliveries: Deliveries, faults: Faults, control: Control, control_token: str
    ) -> None:
        self.world = world
        self.deliveries = deliveries
        self.faults = faults
        self.log: list[Done] = []
        self.rate = RateLimit()
        self.stopping = threading.Event()
        self._control = control
        self._control_token = control_token
        self._git = GitHttp(world, faults)
        self._pages = Pages(world)
        self._registration = Registration(world)
        self._signing_in = SigningIn(world)
        own = [
            Route("GET", "/rate_limit", self._rate_limit, (), "read", "anyone", True),
            Route("POST", "/app-manifests/<code>/conversions", self._registration.convert, (), "read", "public", True),
        ]
        self._rules = Map([Rule(one.path, methods=[one.method], endpoint=one) for one in [*ROUTES, *own]])

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """WSGI."""
        request = Request(environ)
        return self._respond(request)(environ, start_response)

    def _respond(self, request: Request) -> Response:
        if request.path.startswith("/_sandbox/"):
            return self._control_route(request)
        git = GIT_PATH.fullmatch(request.path)
        if git:
            return self._faulty(
                request, request.path, lambda: self._git.serve(request, *git.group("owner", "repo", "file"))
            )
        if (request.method, request.path) == ("GET", AUTHORIZE):
            return self._signing_in.authorize(request)
        if (request.method, request.path) == ("POST", EXCHANGE):
            return self._faulty(request, request.path, lambda: self._signing_in.exchange(request))
        form = REGISTRATION_PATH.fullmatch(request.path)
        if form and request.method == "POST":
            return self._registration.submit(request, form["org"])
        enterprise = request.path.startswith(ENTERPRISE + "/")
        path = request.path.removeprefix(ENTERPRISE) if enterprise else request.path
        links = Links(self.world.links.web, ENTERPRISE if enterprise else "")
        return self._faulty(request, path, lambda: self._rest(request, path, links))

    # --- faults -----------------------------------------------------------------------------------------------

    def _faulty(self, request: Request, path: str, work: Callable[[], Response]) -> Response:
        refused = self.faults.on_request("refuse", request.method, path)
        if refused is not None:
            return _faulted(refused)
        self._wait(self.faults.on_request("delay", request.method, path))
        response = work()
        self._wait(self.faults.on_request("delay_after", request.method, path))
        after = self.faults.on_request("error_after", request.method, path)
        return response if after is None else _faulted(after)

    def _wait(self, fault: Fault | None) -> None:
        if fault is not None:
            self.faults.hold(fault.seconds, self.stopping)

    # --- REST -------------------------------------------------------------------------------------------------

    def _rest(self, request: Request, path: str, links: Links) -> Response:
        caller, needs = Caller(), ""
        try:
            data = request.get_data(cache=False)
            with self.world.lock:
                if not request.headers.get("User-Agent"):
                    raise ApiError(403, _NO_AGENT)
                caller = identify(self.world, request.headers.get("Authorization"))
                name = caller.name
                route, params = self._match(request.method, path)
                if route is None:
                    return self._no_route(request, path, links)
                needs = accepted(route)
                self._spend(route, name)
                answer = self._answer(request, data, route, params, caller, links)
                if request.method not in READING and answer.status < 400:
                    self.log.append(Done(request.method, route.template, path, name))
        except ClientDisconnected:
            answer = Answer(status=400)
        except ApiError as refused:
            answer = Answer(refused.body(), refused.status, refused.headers)
        return self._finish(request, answer, caller, needs)

    def _match(self, method: str, path: str) -> tuple[Route | None, dict[str, Any]]:
        try:
            endpoint, params = self._rules.bind("localhost").match(path, method=method)
        except HTTPException:
            return None, {}
        assert isinstance(endpoint, Route)
        return endpoint, dict(params)

    def _rate_limit(self, call: Call) -> Answer:
        state = self.rate.state(call.caller.name, self.world.now())
        names = ("core", "search", "graphql", "integration_manifest")
        return Answer({"resources": dict.fromkeys(names, state), "rate": state})

    def _no_route(self, request: Request, path: str, links: Links) -> Response:
        page = self._pages.find(path) if request.method == "GET" and not links.prefix else None
        if page is not None:
            return page
        return self._finish(request, Answer(not_found().body(), 404), Caller(), "")

    def _spend(self, route: Route, name: str) -> None:
        if route.path != "/rate_limit":
            self.rate.spend(name, self.world.now())
        if route.method == "POST" and route.auth == "anyone":
            self.rate.create(name, self.world.now())

    def _answer(
        self, request: Request, data: bytes, route: Route, params: dict[str, Any], caller: Caller, links: Links
    ) -> Answer:
        repo = admit(self.world, route, caller, params)
        body = {} if request.method in READING else _json(data, route.bare)
        accept = request.headers.get("Accept", "")
        where = (links, caller, route, params, request.args, body, accept)
        return route.handler(Call(self.world, *where, self.deliveries, repo))

    def _finish(self, request: Request, answer: Answer, caller: Caller, needs: str) -> Response:
        data, status = answer.encoded(), answer.status
        headers = {key: value for key, value in answer.headers.items() if value}
        if request.method == "GET" and status == 200:
            headers["ETag"] = _etag(request, data)
            headers["Cache-Control"] = "private, max-age=60, s-maxage=60"
            if request.headers.get("If-None-Match") == headers["ETag"]:
                data, status = b"", 304
                with self.world.lock:
                    self.rate.give_back(caller.name)
        if needs:
            headers.setdefault("X-Accepted-GitHub-Permissions", needs)
        response = Response(data, status, {**headers, **self._common(caller)}, content_type=answer.content_type)
        if status in {204, 304}:
            response.headers.pop("Content-Type", None)
        return response

    def _common(self, caller: Caller) -> dict[str, str]:
        now = self.world.now()
        with self.world.lock:
            rate = self.rate.state(caller.name, now)
        scopes = {"X-OAuth-Scopes": "repo, workflow"} if caller.token and not caller.installation else {}
        return {
            **scopes,
            "Date": http_date(now.astimezone(UTC)),
            "X-GitHub-Request-Id": uuid.uuid4().hex.upper()[:24],
            "X-GitHub-Media-Type": "github.v3; format=json",
            "X-GitHub-Api-Version-Selected": "2022-11-28",
            **{f"X-RateLimit-{key.capitalize()}": str(value) for key, value in rate.items()},
            "X-RateLimit-Resource": "core",
        }

    # --- the sandbox's own routes -----------------------------------------------------------------------------

    def _control_route(self, request: Request) -> Response:
        given = request.headers.get("Authorization", "")
        if not hmac.compare_digest(given.encode(), f"Bearer {self._control_token}".encode()):
            return _plain_json({"message": "the control token is missing or wrong"}, 401)
        name = request.path.removeprefix("/_sandbox/")
        try:
            return _plain_json(self._controlled(request.method, name, _json(request.get_data(cache=False))))
        except (ValueError, TypeError) as problem:
            return _plain_json({"message": str(problem)}, 400)
        except ApiError as problem:
            return _plain_json(problem.body(), problem.status)

    def _controlled(self, method: str, name: str, body: dict[str, Any]) -> Any:
        if name == "faults" and method == "POST":
            self.faults.add(read_fault(body))
            return {"left": self.faults.left()}
        if name == "faults":
            if method == "DELETE":
                self.faults.clear()
            return {"left": self.faults.left()}
        if name == "log":
            return self.counters()
        return self._control(name, body)

    def counters(self) -> list[dict[str, Any]]:
        """How often each mutating operation took effect, by actor."""
        with self.world.lock:
            counted = Counter((one.method, one.template, one.actor) for one in self.log)
        names = ("method", "template", "actor")
        return [{**dict(zip(names, key, strict=True)), "count": count} for key, count in sorted(counted.items())]


def _json(data: bytes, bare: str | None = None) -> dict[str, Any]:
    if not data:
        return {}
    try:
        found = json.loads(data)
    except ValueError:
        raise ApiError(400, "Problems parsing JSON") from None
    if isinstance(found, list) and bare is not None:
        return {bare: found}
    if not isinstance(found, dict):
        raise ApiError(400, "Body should be a JSON object")
    return found


def _etag(request: Request, data: bytes) -> str:
    """Bound to the token, as GitHub's are."""
    parts = (request.headers.get("Authorization", "").encode(), request.headers.get("Accept", "").encode(), data)
    return f'W/"{hashlib.sha256(bytes(1).join(parts)).hexdigest()}"'


def _faulted(fault: Fault) -> Response:
    return _plain_json({"message": fault.message, "documentation_url": ""}, fault.status, dict(fault.headers))


def _plain_json(body: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(json.dumps(body), status, headers or {}, content_type="application/json; charset=utf-8")
