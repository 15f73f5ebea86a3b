"""A delivery as it goes over the wire: the bytes of its request read, and its answer as bytes.

What is not plainly a delivery is left to gunicorn, which knows all of HTTP; so nothing here has to refuse anything.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from email.utils import formatdate
from http import HTTPStatus
from typing import Any

import httptools

from bot.web.hooks import PATH, Answer, headers_of

LARGEST = 1024 * 1024
"""Bytes of a request that is read here; larger ones would hold up all others."""
_BEGINNING = f"POST {PATH} HTTP/1.".encode()


@dataclass(slots=True)
class Request:
    """A whole request; it is also what the parser tells of it."""

    headers: dict[str, str] = field(default_factory=dict)
    """By lower-case names; of several of one name, all, with commas."""
    body: bytes = b""
    keep: bool = False
    """Whether the connection can have another."""
    whole: bool = False
    parser: Any = None
    """Only while it reads: the two would keep each other alive."""

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header down."""
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        self.headers[key] = f"{self.headers[key]},{text}" if key in self.headers else text

    def on_headers_complete(self) -> None:
        """The parser forgets with the end of a request what it can tell now."""
        self.keep = self.parser.should_keep_alive()

    def on_body(self, data: bytes) -> None:
        """Take a piece of the body down."""
        self.body += data

    def on_message_complete(self) -> None:
        """Nothing more belongs to it."""
        self.whole = True


def read(data: bytes | bytearray) -> Request | None:
    """A delivery; None for all other requests, and for what is not quite in order."""
    if not data.startswith(_BEGINNING) or len(data) > LARGEST:
        return None
    request = Request()
    request.parser = httptools.HttpRequestParser(request)
    try:
        request.parser.feed_data(data)
    except (httptools.HttpParserError, httptools.HttpParserUpgrade):
        return None
    finally:
        request.parser = None
    return request if request.whole else None


def written(answer: Answer, *, keep: bool, hardening: tuple[tuple[str, str], ...], now: float) -> bytes:
    """An answer in plain text.

    Args:
        answer: The status and the text.
        keep: Whether the connection can have another request.
        hardening: Headers of every answer.
        now: Seconds since the epoch.
    """
    head, body = _fixed(*answer, hardening)
    connection = b"keep-alive" if keep else b"close"
    return b"%bDate: %b\r\nConnection: %b\r\n\r\n%b" % (head, _date(int(now)), connection, body)


@functools.lru_cache(maxsize=256)
def _fixed(status: int, text: str, hardening: tuple[tuple[str, str], ...]) -> tuple[bytes, bytes]:
    body = f"{text}\n".encode()
    lines = [f"{name}: {value}\r\n" for name, value in (*headers_of(body), *hardening)]
    return f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n{''.join(lines)}".encode(), body


@functools.lru_cache(maxsize=2)
def _date(second: int) -> bytes:
    return formatdate(second, usegmt=True).encode()
