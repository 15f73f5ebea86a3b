"""A small stand-in for GitHub on loopback: it answers about a planted world, with the limits and faults it is told."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

Json = Any


@dataclass
class Hub:
    """What it answers, what was asked, and what goes wrong first."""

    pulls: list[Json]
    by_commit: dict[str, list[Json]] = field(default_factory=dict)
    threads: dict[int, list[Json]] = field(default_factory=dict)
    page: int = 100
    """It gives shorter pages than were asked for."""
    faults: list[tuple[int, dict[str, str], Json]] = field(default_factory=list)
    """Answered first, one each."""
    asked: list[str] = field(default_factory=list)
    tokens: set[str] = field(default_factory=set)
    dies_after: int | None = None
    """So many questions are answered; then 404 for everything."""
    url: str = ""

    def answer(self, method: str, target: str, body: Json) -> tuple[int, dict[str, str], Json]:
        parts = urlsplit(target)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        if self.dies_after is not None and len(self.asked) > self.dies_after:
            return 404, {}, {"message": "Not Found"}
        if self.faults:
            return self.faults.pop(0)
        if method == "POST":
            return 200, {}, self._graphql(body["variables"])
        if parts.path.endswith("/acme/shop/pulls"):
            return self._paged(self.pulls, int(query["page"]), parts.path)
        commit = parts.path.split("/")[-2]
        if commit not in self.by_commit:
            return 422, {}, {"message": f"No commit found for SHA: {commit}"}
        return self._paged(self.by_commit[commit], int(query["page"]), parts.path)

    def _paged(self, rows: list[Json], page: int, path: str) -> tuple[int, dict[str, str], Json]:
        start, end = (page - 1) * self.page, page * self.page
        link = {"Link": f'<{self.url}{path}?page={page + 1}>; rel="next"'} if end < len(rows) else {}
        return 200, link, rows[start:end]

    def _graphql(self, given: Json) -> Json:
        nodes, start = self.threads.get(given["number"], []), int(given["after"] or 0)
        info = {"hasNextPage": start + 1 < len(nodes), "endCursor": str(start + 1)}
        held = {"pageInfo": info, "nodes": nodes[start : start + 1]}
        return {"data": {"repository": {"pullRequest": {"number": given["number"], "reviewThreads": held}}}}


@contextmanager
def serving(hub: Hub) -> Iterator[Hub]:
    """The hub, reachable at its url."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            hub.asked.append(f"{self.command} {self.path}")
            hub.tokens.add(self.headers["Authorization"])
            status, headers, answer = hub.answer(self.command, self.path, json.loads(body) if body else None)
            data = json.dumps(answer).encode()
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    hub.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
