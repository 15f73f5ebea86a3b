"""Clients that begin to ask and never finish."""

from __future__ import annotations

import socket
import threading
import time
from types import TracebackType
from typing import Literal

Way = Literal["silent", "head", "body", "drip", "chunked"]
_POST = b"POST /webhooks/github HTTP/1.1\r\nHost: assay.test\r\nContent-Type: application/json\r\n"
_BEGINNINGS: dict[Way, bytes] = {
    "silent": b"",
    "head": _POST,
    "body": _POST + b'Content-Length: 5000\r\n\r\n{"action": ',
    "drip": _POST + b"X-Slow: ",
    "chunked": _POST + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
}


class Loris:
    """Connections that are held open, half a request on each; one that is closed is opened again."""

    def __init__(self, port: int, ways: tuple[Way, ...], count: int) -> None:
        self._port = port
        self._wanted = [ways[number % len(ways)] for number in range(count)]
        self._held: list[tuple[Way, socket.socket]] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._hold, daemon=True)
        self.opened = 0

    def __enter__(self) -> Loris:
        self._held = [(way, self._begin(way)) for way in self._wanted]
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()
        for _, one in self._held:
            one.close()

    def _begin(self, way: Way) -> socket.socket:
        self.opened += 1
        made = socket.create_connection(("127.0.0.1", self._port), timeout=10)
        made.sendall(_BEGINNINGS[way])
        made.setblocking(False)
        return made

    def _hold(self) -> None:
        while not self._over.wait(0.3):
            self._held = [(way, one if self._is_held(way, one) else self._again(way, one)) for way, one in self._held]

    def _again(self, way: Way, one: socket.socket) -> socket.socket:
        one.close()
        try:
            return self._begin(way)
        except OSError:
            return socket.socket()

    def _is_held(self, way: Way, one: socket.socket) -> bool:
        try:
            if way == "drip":
                one.send(b"a")
            return bool(one.recv(4096))
        except BlockingIOError:
            return True
        except OSError:
            return False


def slowest_answer(port: int, seconds: float) -> float:
    """The longest that an honest client waits for an answer, over some seconds of asking again and again."""
    slowest, until = 0.0, time.monotonic() + seconds
    while time.monotonic() < until:
        began = time.monotonic()
        with socket.create_connection(("127.0.0.1", port), timeout=30) as honest:
            honest.sendall(b"GET /healthz HTTP/1.1\r\nHost: assay.test\r\nConnection: close\r\n\r\n")
            answer = b""
            while data := honest.recv(4096):
                answer += data
        if b" 200 OK" not in answer:
            raise OSError(f"an honest client was answered {answer[:60]!r}")
        slowest = max(slowest, time.monotonic() - began)
        time.sleep(0.1)
    return slowest
