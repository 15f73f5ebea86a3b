"""A gunicorn worker whose threads never wait for a client: each sees a request only when all of it is here.

gunicorn gives a connection to a thread as soon as something comes, and the thread then reads for as long as the client
likes. As few clients as there are threads, each with half a request, would keep every delivery out. Here the one loop
that polls the connections reads them too, none of them waiting for another, and each has a deadline. Deliveries do not
need a thread at all: the loop verifies and reads them, and sends their answers when they have been kept.
"""

from __future__ import annotations

import contextlib
import logging
import re
import selectors
import socket
import struct
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from gunicorn.workers.gthread import ThreadWorker

from bot.web import wire
from bot.web.app import HARDENING
from bot.web.hooks import LARGEST, PATH, Answer, deliver

LOG = logging.getLogger("assay.web")
HEAD_SECONDS = 10.0
"""Within which a request's head has to be here."""
WHOLE_SECONDS = 30.0
"""Within which all of it has to be."""
SEND_SECONDS = 20
"""For which a client may not take anything of an answer."""
LINGER_SECONDS = 2.0
"""For which a client that was told that its connection ends may go on to send or not close it."""
LONGEST_HEAD = 64 * 1024
"""Bytes; gunicorn would let a thread wait for the end of one that has not ended by then."""
LARGEST_FORM = 1024 * 1024
"""Bytes of what is sent to a page; more than any form holds, and what a thread gets counts against no limit here."""
MOST_HELD = 128 * 1024 * 1024
"""Bytes of requests that are not whole, over all connections; the oldest give way."""
MOST_ARRIVING = 500
"""Connections on which a request is not whole; the oldest give way. Deliveries that are being kept do not count."""
LOOK_SECONDS = 0.25
"""How often it is looked who has had its time."""
_END = b"\r\n\r\n"
_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*([0-9]{1,12})[ \t]*\r\n", re.IGNORECASE)
_ANY_LENGTH = re.compile(rb"\r\ncontent-length", re.IGNORECASE)
_CHUNKED = re.compile(rb"\r\ntransfer-encoding", re.IGNORECASE)
_EXPECTS = re.compile(rb"\r\nexpect:[ \t]*100-continue", re.IGNORECASE)
_OLD = b" HTTP/1.0"
_HOOK = f"POST {PATH}".encode()
_GO_ON = b"HTTP/1.1 100 Continue\r\n\r\n"


def _refusal(status: str) -> bytes:
    return f"HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".encode()


_BAD, _NO_LENGTH = map(_refusal, ("400 Bad Request", "411 Length Required"))
_TOO_LARGE, _NO_END = map(_refusal, ("413 Content Too Large", "431 Request Header Fields Too Large"))


@dataclass(slots=True, eq=False)
class Arriving:
    """What has come of a request."""

    began: float
    seconds: float = HEAD_SECONDS
    """How long it may go on with nothing, or not all of a head."""
    data: bytearray = field(default_factory=bytearray)
    wanted: int | None = None
    """How many bytes it has, once its head is here."""
    refusal: bytes | None = None
    """What is said to a request whose end only the client knows, or that is too large: no thread waits for those."""
    expects: bool = False
    """The client waits to be told that it may go on."""
    asked: bool = False
    """A delivery that is being kept, and will be answered."""
    leaving: bool = False
    """It has its last answer: what comes now is thrown away."""
    polled: bool = False

    def take(self, data: bytes) -> None:
        """Add what has just come."""
        self.data += data
        if self.wanted is None:
            end = self.data.find(_END, max(len(self.data) - len(data) - len(_END), 0))
            if end >= 0:
                self._read_head(end)
            elif len(self.data) > LONGEST_HEAD:
                self.refusal = _NO_END

    def _read_head(self, end: int) -> None:
        head = bytes(self.data[: end + 2])
        found = _LENGTH.search(head)
        length = int(found[1]) if found else 0
        self.wanted = end + len(_END) + length
        # Who speaks HTTP/1.0 would take it for the answer.
        self.expects = _EXPECTS.search(head) is not None and not head[: head.find(b"\r\n")].endswith(_OLD)
        if _CHUNKED.search(head):
            self.refusal = _NO_LENGTH
        elif length > (LARGEST if head.startswith(_HOOK) else LARGEST_FORM):
            self.refusal = _TOO_LARGE
        elif found is None and _ANY_LENGTH.search(head):
            self.refusal = _BAD

    @property
    def whole(self) -> bool:
        """Whether it can be answered."""
        return self.wanted is not None and len(self.data) >= self.wanted

    @property
    def until(self) -> float:
        """Until when what is missing has to come."""
        return self.began + (self.seconds if self.wanted is None else WHOLE_SECONDS)


class ReceivingWorker(ThreadWorker):  # type: ignore[misc]
    """`gthread`, but for when a thread gets to see a request, and for deliveries, which none sees."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Nothing has come yet."""
        super().__init__(*args, **kwargs)
        self._arriving: dict[Any, Arriving] = {}
        self._held = 0
        self._looked = 0.0
        self._said: deque[tuple[Any, bool, Answer]] = deque()

    def load_wsgi(self) -> None:
        """Load the application; whoever keeps its deliveries can then wake this loop."""
        super().load_wsgi()
        self.app.wake = partial(self.method_queue.defer, _nothing)

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
        self._poll(conn)

    def _poll(self, conn: Any) -> None:
        waiting = self._arriving.get(conn)
        if waiting is not None and not waiting.polled and not waiting.asked:
            waiting.polled = True
            self.poller.register(conn.sock, selectors.EVENT_READ, partial(self._readable, conn))

    def _readable(self, conn: Any, _socket: object) -> None:
        arriving = self._arriving[conn]
        if arriving.asked:
            # One after another: what comes next waits until this one is answered.
            self._unpoll(conn, arriving)
            return
        try:
            data = conn.sock.recv(256 * 1024)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._drop(conn)
        elif not arriving.leaving:
            self._took(conn, data)

    def _took(self, conn: Any, data: bytes) -> None:
        arriving = self._arriving[conn]
        if not arriving.data:
            arriving.began, arriving.seconds = time.monotonic(), HEAD_SECONDS
        arriving.take(data)
        self._held += len(data)
        if arriving.refusal is not None:
            _say(conn, arriving.refusal)
            self._leave(conn)
        elif arriving.whole:
            self._whole(conn, arriving)
        elif arriving.expects:
            arriving.expects = False
            _say(conn, _GO_ON)

    def _whole(self, conn: Any, arriving: Arriving) -> None:
        request = wire.read(arriving.data[: arriving.wanted])
        if request is not None:
            arriving.asked = True
            self._held -= len(arriving.data)
            # Only what the client has sent ahead is still of use, however long it takes to keep this one.
            arriving.data = arriving.data[arriving.wanted :]
            self._held += len(arriving.data)
            self._deliver(request, partial(self._to_say, conn, request.keep))
            return
        self._forget(conn)
        conn.init()
        conn.parser.unreader.unread(bytes(arriving.data))
        conn.data_ready = True
        super().enqueue_req(conn)

    def _deliver(self, request: wire.Request, say: Callable[[Answer], None]) -> None:
        try:
            deliver(self.app.intake, request.headers, request.body, say)
        except Exception:
            # Here nobody else stands between one delivery and the loop that all of them need.
            LOG.exception("a delivery could not be taken")
            say((500, "it failed"))

    def _to_say(self, conn: Any, keep: bool, answer: Answer) -> None:
        # From the thread that has kept a delivery, or from the loop's own.
        self._said.append((conn, keep, answer))

    def wait_for_and_dispatch_events(self, timeout: float) -> None:
        """Wait for requests and for what is to be said; say it."""
        super().wait_for_and_dispatch_events(0 if self._said else timeout)
        # An answer may lead to the next at once: a client that has sent many requests ahead has one in each round.
        for _ in range(len(self._said)):
            self._answer(*self._said.popleft())

    def _answer(self, conn: Any, keep: bool, answer: Answer) -> None:
        arriving = self._arriving[conn]
        keep = keep and self.alive
        if not _say(conn, wire.written(answer, keep=keep, hardening=HARDENING, now=time.time())):
            self._drop(conn)
        elif keep:
            self._next(conn, arriving)
        else:
            self._leave(conn)

    def _next(self, conn: Any, answered: Arriving) -> None:
        ahead = bytes(answered.data)
        self._held -= len(ahead)
        del self._arriving[conn]
        self._arriving[conn] = Arriving(time.monotonic(), self.cfg.keepalive, polled=answered.polled)
        if ahead:
            self._took(conn, ahead)
        self._poll(conn)

    def _leave(self, conn: Any) -> None:
        """Say that there is no more, and let the client go; whoever closes at once cuts off what was said last."""
        leaving = self._arriving[conn]
        self._held -= len(leaving.data)
        self._arriving[conn] = Arriving(time.monotonic(), LINGER_SECONDS, leaving=True, polled=leaving.polled)
        try:
            conn.sock.setblocking(False)
            conn.sock.shutdown(socket.SHUT_WR)
        except OSError:
            self._drop(conn)
        self._poll(conn)

    def finish_request(self, conn: Any, fs: Any) -> None:
        """Go on after a thread has answered; gunicorn would wait here for a client that does not close."""
        if fs.cancelled() or fs.exception() is not None or fs.result():
            super().finish_request(conn, fs)
        else:
            self._arriving[conn] = Arriving(time.monotonic())
            self._leave(conn)

    def _unpoll(self, conn: Any, arriving: Arriving) -> None:
        if arriving.polled:
            arriving.polled = False
            self.poller.unregister(conn.sock)

    def _forget(self, conn: Any) -> None:
        gone = self._arriving.pop(conn)
        self._held -= len(gone.data)
        self._unpoll(conn, gone)

    def _drop(self, conn: Any) -> None:
        self._forget(conn)
        self.nr_conns -= 1
        conn.close()

    def murder_pending(self) -> None:
        """Close what has had its time, or is too much; gunicorn asks again and again."""
        super().murder_pending()
        now = time.monotonic()
        if now < self._looked + LOOK_SECONDS:
            return
        self._looked = now
        waiting = [(conn, arriving) for conn, arriving in self._arriving.items() if not arriving.asked]
        for at, (conn, arriving) in enumerate(waiting):
            many = at < len(waiting) - MOST_ARRIVING or self._held > MOST_HELD
            # Who has begun to ask when the server ends would not be done; who has not may be about to, for a moment.
            until = arriving.until if self.alive else arriving.began + (0 if arriving.data else self.cfg.keepalive)
            if many or now > until:
                self._drop(conn)


def _say(conn: Any, answer: bytes) -> bool:
    """Say something short without waiting for the client to take it; whether it went."""
    try:
        return int(conn.sock.send(answer)) == len(answer)
    except OSError:
        return False


def _nothing() -> None:
    """What the loop is woken for stands elsewhere."""
