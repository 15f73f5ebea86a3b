"""A model on loopback that reviews and judges by rule, counts what it answered, and can kill whoever asks."""

from __future__ import annotations

import json
import os
import re
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.judging.server import honest

Json = Any
_PATH = re.compile(r"(?m)^diff --git a/\S+ b/(\S+)$")
_ADDED = re.compile(r"(?m)^ *(\d+) \+(.*\S.*)$")


@dataclass(slots=True)
class Loopback:
    """What was asked and answered."""

    port: int = 0
    asked: list[str] = field(default_factory=list)
    answered: list[str] = field(default_factory=list)
    """The bodies of the requests that got an answer, and so were paid for."""
    kill_at: int | None = None
    """At which request, counted from 1, the process that asks is killed before it gets an answer."""
    victim: int | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def kills(self, body: str) -> bool:
        """Take a request down; whether it is the one that kills."""
        with self.lock:
            self.asked.append(body)
            if self.kill_at is None or len(self.asked) < self.kill_at or self.victim is None:
                return False
            os.kill(self.victim, signal.SIGKILL)
            self.kill_at, self.victim = None, None
            return True


def review(prompt: str) -> str:
    """One finding, at the first line that the change adds."""
    path, line = _PATH.search(prompt), _ADDED.search(prompt)
    if path is None or line is None:
        return json.dumps({"findings": []})
    row = {
        "path": path[1],
        "start_line": int(line[1]),
        "end_line": int(line[1]),
        "type": "bug",
        "severity": "low",
        "description": f"This line is not safe: {line[2].strip()[:80]}",
        "failing_input": "none",
        "citation": line[2].strip()[:80],
        "suggestion": "",
    }
    return json.dumps({"findings": [row]})


class _Handler(BaseHTTPRequestHandler):
    model: Loopback

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["content-length"])).decode()
        if self.model.kills(raw):
            self.close_connection = True
            return
        body = json.loads(raw)
        prompt = next(one["content"] for one in reversed(body["messages"]) if one["role"] == "user")
        judges = '"verdicts"' in json.dumps(body.get("response_format", {}))
        text = json.dumps({"verdicts": honest(prompt)}) if judges else review(prompt)
        with self.model.lock:
            self.model.answered.append(raw)
        used = {"prompt_tokens": len(raw) // 4, "completion_tokens": len(text) // 4}
        used["total_tokens"] = sum(used.values())
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        answer = {"id": "1", "object": "chat.completion", "created": 1, "model": "loop-2026", "choices": [choice]}
        self._send(json.dumps(answer | {"usage": used}).encode())

    def _send(self, data: bytes) -> None:
        with suppress(ConnectionError):
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection of a process that was killed is no error."""


@contextmanager
def loopback() -> Iterator[Loopback]:
    """The server, up, and down on the way out."""
    model = Loopback()
    server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"model": model}))
    model.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
