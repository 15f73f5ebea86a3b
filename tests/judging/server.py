"""An OpenAI-compatible server on loopback whose models have characters: honest, sloppy, hijacked, dying ..."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = Any
_OPENS = re.compile(r"^\u00a7(\w+)(?: (\w+)(?: (.*))?)?$")
_WORD = re.compile(r"[A-Za-z]{5,}")


@dataclass(slots=True)
class Seen:
    """One request."""

    model: str
    prompt: str
    schema: bool
    body: Json
    status: int = 200


@dataclass(slots=True)
class Models:
    """The server's state: what was asked, and how often each character has been met."""

    port: int = 0
    seen: list[Seen] = field(default_factory=list)
    refusals: int = 2
    """How many calls a limited model refuses first."""
    pause: float = 0.0
    most_at_once: int = 0
    at: list[float] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    _now: int = 0

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def answered(self) -> int:
        """Calls that were answered, and so paid for."""
        return sum(one.status == 200 for one in self.seen)

    def tokens(self) -> int:
        return sum(len(one.prompt) // 4 for one in self.seen if one.status == 200)

    def enter(self, seen: Seen) -> int:
        with self.lock:
            self.seen.append(seen)
            self.at.append(time.monotonic())
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
            return sum(one.model == seen.model for one in self.seen)

    def leave(self) -> None:
        with self.lock:
            self._now -= 1


def entries(prompt: str) -> dict[str, str]:
    """Opaque id -> text, from a user message."""
    found: dict[str, list[str]] = {}
    at = None
    for line in prompt.split("\n"):
        opened = _OPENS.match(line)
        if opened:
            at = opened[2] if opened[2] not in (None, "end") else None
            if at is not None:
                found[at] = []
        elif at is not None:
            found[at].append(line)
    return {name: "\n".join(lines) for name, lines in found.items()}


def honest(prompt: str) -> list[Json]:
    """What a good judge says: a claim means the golden most of whose telling words it has."""
    items = entries(prompt)
    goldens = {name: set(_WORD.findall(text.lower())) for name, text in items.items() if name.startswith("g")}
    rows = []
    for name, text in items.items():
        if name.startswith("c"):
            words = set(_WORD.findall(text.lower()))
            shares = {golden: len(words & own) / len(own) for golden, own in goldens.items() if own}
            best = max(shares, key=lambda one: (shares[one], one), default=None)
            hit = best is not None and shares[best] >= 0.5
            rows.append(_row(name, best if hit else "none"))
    return rows


def _row(candidate: str, golden: str | None, confidence: float = 0.9) -> Json:
    return {
        "candidate": candidate,
        "golden": golden,
        "also": [],
        "confidence": confidence,
        "valid": False,
        "reason": "the same words",
    }


def _text(rows: list[Json]) -> str:
    return json.dumps({"verdicts": rows})


def _sloppy(prompt: str, turn: int) -> str:
    rows = [{**row, "confidence": "90%"} for row in honest(prompt)]
    return f"```json\n{json.dumps({'verdicts': rows}, indent=2)}\n```"


def _wrapping(prompt: str, turn: int) -> str:
    return f"Certainly! I compared every claim [carefully] {{as asked}}.\n\n{_text(honest(prompt))}\n\nDo ask again."


def _wrong_id(prompt: str, turn: int) -> str:
    return _text([{**row, "golden": "gzzzz"} for row in honest(prompt)])


def _hijacked(prompt: str, turn: int) -> str:
    first = next((name for name in entries(prompt) if name.startswith("g")), "none")
    return _text([{**row, "golden": first, "confidence": 1} for row in honest(prompt)])


def _truncating(prompt: str, turn: int) -> str:
    text = _text(honest(prompt))
    return text[: len(text) // 2] if turn % 2 else text


def _miner(prompt: str, turn: int) -> str:
    """Says of every defect that a review could have caught it."""
    said = {"preventable": True, "reason": "in view", "finding": "The result is computed with the wrong divisor."}
    return json.dumps(said | {"category": "correctness", "impact": "reliability", "severity": "low"})


_CHARACTERS: dict[str, Callable[[str, int], str]] = {
    "miner": _miner,
    "sloppy": _sloppy,
    "wrapping": _wrapping,
    "wrong-id": _wrong_id,
    "hijacked": _hijacked,
    "truncating": _truncating,
}


class _Handler(BaseHTTPRequestHandler):
    models: Models

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        users = [one["content"] for one in body["messages"] if one["role"] == "user"]
        seen = Seen(body["model"], users[0], "response_format" in body, body)
        turn = self.models.enter(seen)
        try:
            self._answer(seen, turn, asked_again=len(users) > 1)
        finally:
            self.models.leave()

    def _answer(self, seen: Seen, turn: int, asked_again: bool) -> None:
        name = seen.model
        if name.startswith("dying") and "DIES" in seen.prompt:
            seen.status = 0
            self.close_connection = True
            self.connection.close()
            return
        if name.startswith("limited") and turn <= self.models.refusals:
            headers = {"Retry-After": "3"} if name == "limited-politely" else {}
            self._refuse(seen, 429, "slow down", headers)
        elif name == "no-schema" and seen.schema:
            self._refuse(seen, 400, "response_format is not supported by this model", {})
        elif name == "refused":
            self._refuse(seen, 401, "Incorrect API key provided: sk-abcdefghijklmnop1234", {})
        elif name == "broken":
            self._refuse(seen, 500, "oops", {})
        else:
            time.sleep(0.2 if name == "slow" else self.models.pause)
            character = _CHARACTERS.get(name.partition("/")[0])
            odd = 2 if asked_again else 1
            self._say(seen, character(seen.prompt, odd) if character else _text(honest(seen.prompt)), odd)

    def _say(self, seen: Seen, text: str, odd: int) -> None:
        cut = seen.model == "truncating" and odd == 1
        choice = {
            "index": 0,
            "finish_reason": "length" if cut else "stop",
            "message": {"role": "assistant", "content": text},
        }
        used = {"prompt_tokens": len(seen.prompt) // 4, "completion_tokens": len(text) // 4}
        used["total_tokens"] = sum(used.values())
        answer = {
            "id": "chat-1",
            "object": "chat.completion",
            "created": 1,
            "model": f"{seen.model}-2026",
            "choices": [choice],
            "usage": used,
        }
        self._send(200, json.dumps(answer).encode(), {})

    def _refuse(self, seen: Seen, status: int, message: str, headers: dict[str, str]) -> None:
        seen.status = status
        self._send(status, json.dumps({"error": {"message": message, "type": "error"}}).encode(), headers)

    def _send(self, status: int, data: bytes, headers: dict[str, str]) -> None:
        try:
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
        except ConnectionError:
            # The caller was killed while it waited: that is what some tests are about.
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that a dying model closed is no error."""


@contextmanager
def serving() -> Iterator[Models]:
    """The server, up, and down on the way out."""
    models = Models()
    handler = type("Handler", (_Handler,), {"models": models})
    server = _Server(("127.0.0.1", 0), handler)
    models.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield models
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
