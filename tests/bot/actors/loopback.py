"""A small HTTP server on loopback that answers from a script, for what the sandbox cannot be made to do."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True, slots=True)
class Asked:
    method: str
    path: str
    token: str
    body: Any


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    hang_up: bool = False
    """Close the connection without an answer."""


@dataclass(slots=True)
class Loopback:
    url: str
    asked: list[Asked]


@contextmanager
def loopback(answer: Callable[[Asked], Reply]) -> Iterator[Loopback]:
    asked: list[Asked] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            token = self.headers.get("Authorization", "").removeprefix("Bearer ")
            one = Asked(self.command, self.path, token, json.loads(raw) if raw else None)
            asked.append(one)
            reply = answer(one)
            if reply.hang_up:
                self.close_connection = True
                return
            data = json.dumps(reply.body).encode()
            self.send_response(reply.status)
            for name, value in {**reply.headers, "Content-Length": str(len(data))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PATCH = handle_any

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield Loopback(f"http://127.0.0.1:{server.server_address[1]}", asked)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
