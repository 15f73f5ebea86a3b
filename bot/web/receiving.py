"""A gunicorn worker whose threads never wait for a client: each sees a request only when all of it is here.

gunicorn gives a connection to a thread as soon as something comes, and the thread then reads for as long as the client
likes. As few clients as there are threads, each with half a request, would keep every delivery out. Here the one loop
that polls the connections reads them too, none of them waiting for another, and each has a deadline.
"""

from __future__ import annotations

import contextlib
import re
import socket
import struct
import time
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from gunicorn.workers.gthread import ThreadWorker, selectors

from bot.web.hooks import LARGEST

HEAD_SECONDS = 10.0
"""Within which a request's head has to be here."""
WHOLE_SECONDS = 30.0
"""Within which all of it has to be."""
SEND_SECONDS = 20
"""For which a client may not take anything of an answer."""
LONGEST_HEAD = 64 * 1024
"""Bytes; gunicorn refuses shorter ones already."""
MOST_HELD = 128 * 1024 * 1024
"""Bytes of requests that are not whole, over all connections; the oldest give way."""
MOST_ARRIVING = 500
"""Connections on which a request is not whole; the oldest give way."""
_END = b"\r\n\r\n"
_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*([0-9]{1,12})[ \t]*\r\n", re.IGNORECASE)
_ANY_LENGTH = re.compile(rb"\r\ncontent-length", re.IGNORECASE)
_CHUNKED = re.compile(rb"\r\ntransfer-encoding", re.IGNORECASE)
_EXPECTS = re.compile(rb"\r\nexpect:[ \t]*100-continue", re.IGNORECASE)
_GO_ON = b"HTTP/1.1 100 Continue\r\n\r\n"


def _refusal(status: str) -> bytes:
    return f"HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".encode()


_BAD, _NO_LENGTH, _TOO_LARGE = map(_refusal, ("400 Bad Request", "411 Length Required", "413 Content Too Large"))


@dataclass(slots=True, eq=False)
class Arriving:
    """What has come of a request."""

    began: float
    data: bytearray = field(default_factory=bytearray)
    wanted: int | None = None
    """How many bytes it has, once its head is here."""
    refusal: bytes | None = None
    """What is said to a request whose end only the client knows, or that is too large: no thread waits for those."""
    expects: bool = False
    """The client waits to be told that it may go on."""
    polled: bool = False

    def take(self, data: bytes) -> None:
        """Add what has just come."""
        self.data += data
        if self.wanted is None:
            end = self.data.find(_END, max(len(self.data) - len(data) - len(_END), 0))
            if end >= 0:
                self._read_head(end)

    def _read_head(self, end: int) -> None:
        head = bytes(self.data[: end + 2])
        found = _LENGTH.search(head)
        length = int(found[1]) if found else 0
        self.wanted = end + len(_END) + length
        self.expects = _EXPECTS.search(head) is not None
        if _CHUNKED.search(head):
            self.refusal = _NO_LENGTH
        elif length > LARGEST:
            self.refusal = _TOO_LARGE
        elif found is None and _ANY_LENGTH.search(head):
            self.refusal = _BAD

    @property
    def whole(self) -> bool:
        """Whether it can be answered; of a head that has no end, gunicorn says so."""
        if self.wanted is None:
            return len(self.data) > LONGEST_HEAD
        return len(self.data) >= self.wanted

    @property
    def until(self) -> float:
        """Until when what is missing has to come."""
        return self.began + (HEAD_SECONDS if self.wanted is None else WHOLE_SECONDS)


class ReceivingWorker(ThreadWorker):  # type: ignore[misc]
    """`gthread`, but for when a thread gets to see a request."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Nothing has come yet."""
        super().__init__(*args, **kwargs)
        self._arriving: dict[Any, Arriving] = {}
        self._held = 0

    def enqueue_req(self, conn: Any) -> None:
        """Receive a request first, on a connection that is new or that has had one."""
        ahead = conn.parser.unreader.take_buffered() if conn.parser is not None else b""
        conn.sock.setblocking(False)
        with contextlib.suppress(OSError):
            conn.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", SEND_SECONDS, 0))
        self._arriving[conn] = Arriving(time.monotonic())
        if ahead:
            self._took(conn, ahead)
        else:
            # Mostly it is here already.
            self._readable(conn, conn.sock)
        waiting = self._arriving.get(conn)
        if waiting is not None:
            waiting.polled = True
            self.poller.register(conn.sock, selectors.EVENT_READ, partial(self._readable, conn))

    def _readable(self, conn: Any, _socket: object) -> None:
        try:
            data = conn.sock.recv(256 * 1024)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self._took(conn, data)
        else:
            self._drop(conn)

    def _took(self, conn: Any, data: bytes) -> None:
        arriving = self._arriving[conn]
        arriving.take(data)
        self._held += len(data)
        if arriving.refusal is not None:
            _say(conn, arriving.refusal)
            self._drop(conn)
        elif arriving.whole:
            self._forget(conn)
            conn.init()
            conn.parser.unreader.unread(bytes(arriving.data))
            conn.data_ready = True
            super().enqueue_req(conn)
        elif arriving.expects:
            arriving.expects = False
            _say(conn, _GO_ON)

    def _forget(self, conn: Any) -> None:
        gone = self._arriving.pop(conn)
        self._held -= len(gone.data)
        if gone.polled:
            self.poller.unregister(conn.sock)

    def _drop(self, conn: Any) -> None:
        self._forget(conn)
        self.nr_conns -= 1
        conn.close()

    def murder_pending(self) -> None:
        """Close what has had its time, or is too much; gunicorn asks again and again."""
        super().murder_pending()
        now = time.monotonic()
        for conn, arriving in list(self._arriving.items()):
            many = len(self._arriving) > MOST_ARRIVING or self._held > MOST_HELD
            if many or not self.alive or now > arriving.until:
                self._drop(conn)


def _say(conn: Any, answer: bytes) -> None:
    """Say something short without waiting for the client to take it."""
    with contextlib.suppress(OSError):
        conn.sock.send(answer)
