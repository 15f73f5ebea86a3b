"""What the other stand-in serves: GitHub's paths with few fields, and git beside them."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.flows.foreign import APP_ID, INSTALLATION, ORG, PEOPLE, SLUG, Foreign, Json, Manners, Refusal, user

Handler = Callable[[Foreign, str, Json, Json, tuple[str, ...]], tuple[int, Any]]
ROUTES: list[tuple[str, re.Pattern[str], Handler]] = []


def route(method: str, path: str) -> Callable[[Handler], Handler]:
    """Serve a path; `{}` stands for one part of it."""

    def register(handler: Handler) -> Handler:
        ROUTES.append((method, re.compile(re.escape(path).replace(r"\{\}", "([^/]+)")), handler))
        return handler

    return register


def _number(text: str) -> int:
    return int(text)


@route("GET", "/app")
def _app(world: Foreign, who: str, query: Json, body: Json, args: tuple[str, ...]) -> tuple[int, Any]:
    return 200, {"id": APP_ID, "slug": SLUG, "name": "Tally desk"}


@route("GET", "/app/installations")
def _installations(world: Foreign, who: str, query: Json, body: Json, args: tuple[str, ...]) -> tuple[int, Any]:
    account = {"login": ORG, "type": "Organization"}
    return 200, [{"id": INSTALLATION, "account": account, "app_slug": SLUG, "repository_selection": "all"}]


@route("POST", "/app/installations/{}/access_tokens")
def _mint(world: Foreign, who: str, query: Json, body: Json, args: tuple[str, ...]) -> tuple[int, Any]:
    if who != "app":
        raise Refusal(401, "A JSON web token could not be decoded")
    return 201, world.mint()


@route("GET", "/user")
def _user(world: Foreign, who: str, query: Json, body: Json, args: tuple[str, ...]) -> tuple[int, Any]:
    return 200, user(who)


@route("GET", "/repos/{}/{}/collaborators/{}/permission")
def _permission(world: Foreign, who: str, query: Json, body: Json, args: tuple[str, ...]) -> tuple[int, Any]:
    return 200, {"permission": PEOPLE.get(args[2], "none"), "user": user(args[2])}


@route("GET", "/repos/{}/{}")
def _repository(world: Foreign, who: str, query: Json, body: Json, args: tuple[str, ...]) -> tuple[int, Any]:
    return 200, world.shown(world.repo(*args))


@route("POST", "/orgs/{}/repos")
def _create(world: Foreign, who: str, query: Json, body: Json, args: tuple[str, ...]) -> tuple[int, Any]:
    with world.lock:
        return 201, world.shown(world.create(body["name"]))


@route("GET", "/repos/{}/{}/issues")
def _issues(world: Foreign, who: str, query: Json, body: Json, args: tuple[str, ...]) -> tuple[int, Any]:
    found = list(world.repo(*args).issues.values())
    return 200, [issue for issue in found if "sha" not in issue]


@route("GET", "/repos/{}/{}/issues/comments")
def _all_comments(world: Foreign, who: str, query: Json, body: Json, args: tuple[str, ...]) -> tuple[int, Any]:
    return 200, [one for said in world.repo(*args).comments.values() for one in said]


@route("GET", "/repos/{}/{}/issues/{}")
def _issue(world: Foreign, who: str, query: Json, body: Json, args: tuple[str, ...]) -> tuple[int, Any]:
    found = world.repo(*args[:2]).issues.get(_number(args[2]))
    if found is None:
        raise Refusal(404, "Not Found")
    return 200, found


@route("GET", "/repos/{}/{}/issues/{}/comments")
def _comments(world: Foreign, who: str, query: Json, body: Json, args: tuple[str, ...]) -> tuple[int, Any]:
    return 200, world.repo(*args[:2]).comments.get(_number(args[2]), [])


@route("POST", "/repos/{}/{}/issues/{}/comments")
def _comment(world: Foreign, who: str, query: Json, body: Json, args: tuple[str, ...]) -> tuple[int, Any]:
    return 201, world.comment(world.repo(*args[:2]), _number(args[2]), body["body"], who)


@route("PATCH", "/repos/{}/{}/issues/comments/{}")
def _edit(world: Foreign, who: str, query: Json, body: Json, args: tuple[str, ...]) -> tuple[int, Any]:
    for said in world.repo(*args[:2]).comments.values():
        for one in said:
            if one["id"] == _number(args[2]):
                world.edit(world.repo(*args[:2]), one, body["body"])
                return 200, one
    raise Refusal(404, "Not Found")


@route("POST", "/repos/{}/{}/pulls")
def _open_pull(world: Foreign, who: str, query: Json, body: Json, args: tuple[str, ...]) -> tuple[int, Any]:
    repo = world.repo(*args)
    if any(issue.get("ref") == body["head"] for issue in repo.issues.values()):
        raise Refusal(422, "Validation Failed")
    issue = world._issue(repo, body["title"], body["body"], who)
    issue |= {"ref": body["head"], "sha": world.head(repo, body["head"]), "base": world.head(repo, body["base"])}
    shown = _pull(issue)
    threading.Thread(target=world.on_pull, args=(world, repo, issue), daemon=True).start()
    return 201, shown


def _pull(issue: Json) -> Json:
    shown = {key: issue[key] for key in ("id", "number", "title", "body", "state", "user", "html_url", "created_at")}
    return shown | {"head": {"ref": issue["ref"], "sha": issue["sha"]}, "base": {"sha": issue["base"]}}


@route("GET", "/repos/{}/{}/pulls")
def _pulls(world: Foreign, who: str, query: Json, body: Json, args: tuple[str, ...]) -> tuple[int, Any]:
    branch = query.get("head", ":").partition(":")[2]
    found = [one for one in world.repo(*args).issues.values() if "sha" in one]
    return 200, [_pull(one) for one in found if not branch or one["ref"] == branch]


@route("GET", "/repos/{}/{}/pulls/{}")
def _one_pull(world: Foreign, who: str, query: Json, body: Json, args: tuple[str, ...]) -> tuple[int, Any]:
    return 200, _pull(_issue(world, who, query, body, args)[1])


@route("GET", "/repos/{}/{}/pulls/{}/reviews")
def _reviews(world: Foreign, who: str, query: Json, body: Json, args: tuple[str, ...]) -> tuple[int, Any]:
    return 200, world.repo(*args[:2]).reviews.get(_number(args[2]), [])


@route("GET", "/repos/{}/{}/pulls/{}/comments")
def _inline(world: Foreign, who: str, query: Json, body: Json, args: tuple[str, ...]) -> tuple[int, Any]:
    return 200, world.repo(*args[:2]).inline.get(_number(args[2]), [])


@route("GET", "/repos/{}/{}/commits/{}/check-runs")
def _checks(world: Foreign, who: str, query: Json, body: Json, args: tuple[str, ...]) -> tuple[int, Any]:
    found = [one for one in world.repo(*args[:2]).checks if one["head_sha"] == args[2]]
    named = [one for one in found if query.get("check_name") in (None, one["name"])]
    shown = [{key: value for key, value in one.items() if key != "notes"} for one in named]
    return 200, {"total_count": len(shown), "check_runs": shown}


@route("POST", "/repos/{}/{}/check-runs")
def _add_check(world: Foreign, who: str, query: Json, body: Json, args: tuple[str, ...]) -> tuple[int, Any]:
    if not who.endswith("[bot]"):
        raise Refusal(403, "You must authenticate via a GitHub App.")
    made = world.check(world.repo(*args), body["head_sha"], SLUG, body)
    return 201, {key: value for key, value in made.items() if key != "notes"}


@route("GET", "/repos/{}/{}/check-runs/{}/annotations")
def _notes(world: Foreign, who: str, query: Json, body: Json, args: tuple[str, ...]) -> tuple[int, Any]:
    checks = world.repo(*args[:2]).checks
    return 200, next(one["notes"] for one in checks if one["id"] == _number(args[2]))


@route("GET", "/repos/{}/{}/commits/{}/status")
def _status(world: Foreign, who: str, query: Json, body: Json, args: tuple[str, ...]) -> tuple[int, Any]:
    return _optional(world, {"state": "pending", "statuses": []})


@route("GET", "/repos/{}/{}/pulls/{}/requested_reviewers")
def _requested(world: Foreign, who: str, query: Json, body: Json, args: tuple[str, ...]) -> tuple[int, Any]:
    return _optional(world, {"users": [], "teams": []})


@route("GET", "/repos/{}/{}/issues/{}/reactions")
def _reactions(world: Foreign, who: str, query: Json, body: Json, args: tuple[str, ...]) -> tuple[int, Any]:
    return _optional(world, [])


def _optional(world: Foreign, answer: Any) -> tuple[int, Any]:
    if not world.manners.optional:
        raise Refusal(404, "Not Found")
    return 200, answer


def _answer(world: Foreign, method: str, target: str, header: str, raw: bytes) -> tuple[int, Any]:
    parts = urlsplit(target)
    if not parts.path.startswith(world.manners.prefix + "/"):
        raise Refusal(404, "Not Found")
    path = parts.path.removeprefix(world.manners.prefix)
    who = world.caller(header)
    query = {name: values[0] for name, values in parse_qs(parts.query).items()}
    for verb, pattern, handler in ROUTES:
        match = pattern.fullmatch(path)
        if verb == method and match:
            if method != "GET":
                world.made.append(f"{method} {path} {who}")
            return handler(world, who, query, json.loads(raw) if raw else {}, match.groups())
    raise Refusal(404, "Not Found")


class _Http(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    world: Foreign

    def _serve(self) -> None:
        raw = self._body()
        if self.path.startswith("/git/"):
            self._serve_git(raw)
            return
        try:
            status, answer = _answer(self.world, self.command, self.path, self.headers.get("Authorization", ""), raw)
        except Refusal as refusal:
            status, answer = refusal.status, {"message": str(refusal), "documentation_url": "https://docs.example"}
        self._send(status, json.dumps(answer).encode(), {"Content-Type": "application/json"})

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _serve

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") == "chunked":
            parts = []
            while size := int(self.rfile.readline(), 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _serve_git(self, raw: bytes) -> None:
        given = self.headers.get("Authorization", "")
        if not given.lower().startswith("basic "):
            self._send(401, b"", {"WWW-Authenticate": 'Basic realm="git"'})
            return
        password = base64.b64decode(given[6:]).decode().rpartition(":")[2]
        try:
            self.world.caller(f"token {password}")
        except Refusal:
            self._send(403, b"", {})
            return
        status, headers, body = self._backend(raw)
        self._send(status, body, headers)

    def _backend(self, raw: bytes) -> tuple[int, dict[str, str], bytes]:
        """git's own CGI program."""
        parts = urlsplit(self.path)
        _, _, _owner, name, rest = parts.path.split("/", 4)
        environment = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(self.world.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": f"/{name.lower()}/{rest}",
            "QUERY_STRING": parts.query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(raw)),
            "REMOTE_USER": "somebody",
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
        }
        done = subprocess.run(("git", "http-backend"), input=raw, env=environment, capture_output=True, check=False)
        head, _, body = done.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if ": " in line)
        return int(headers.pop("Status", "200")[:3]), headers, body

    def _send(self, status: int, body: bytes, headers: Json) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def foreign(root: Path, manners: Manners | None = None) -> Iterator[Foreign]:
    """The stand-in, up, and taken down on the way out."""
    root.mkdir(parents=True, exist_ok=True)
    world = Foreign(root, manners or Manners())
    handler = type("Bound", (_Http,), {"world": world})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    world.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield world
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
