"""What is read as a delivery without gunicorn, and what is left to it."""

from __future__ import annotations

import pytest

from bot.web import wire
from bot.web.hooks import PATH

HARDENING = (("X-Content-Type-Options", "nosniff"),)
BODY = b'{"action": "opened"}'


def request(*headers: str, first: str = f"POST {PATH} HTTP/1.1", body: bytes = BODY) -> bytes:
    lines = [first, "Host: assay.test", *headers, f"Content-Length: {len(body)}", "", ""]
    return "\r\n".join(lines).encode() + body


def test_headers_have_lower_case_names_and_the_body_is_the_very_bytes() -> None:
    body = b'{"a":\r\n\r\n"\x00\xff"}'
    found = wire.read(request("X-GitHub-Event:  push ", "x-github-DELIVERY: 1", body=body))
    assert found is not None
    assert found.body == body
    assert found.headers["x-github-event"].strip() == "push"
    assert found.headers["x-github-delivery"] == "1"


def test_of_a_header_that_stands_twice_both_are_seen() -> None:
    found = wire.read(request("X-Hub-Signature-256: sha256=1", "X-Hub-Signature-256: sha256=2"))
    assert found is not None
    assert found.headers["x-hub-signature-256"] == "sha256=1,sha256=2"


@pytest.mark.parametrize(
    ("headers", "first", "keep"),
    [
        ((), f"POST {PATH} HTTP/1.1", True),
        (("Connection: close",), f"POST {PATH} HTTP/1.1", False),
        ((), f"POST {PATH} HTTP/1.0", False),
        (("Connection: keep-alive",), f"POST {PATH} HTTP/1.0", True),
    ],
)
def test_whether_the_connection_can_have_another_is_what_the_client_says(
    headers: tuple[str, ...], first: str, keep: bool
) -> None:
    found = wire.read(request(*headers, first=first))
    assert found is not None
    assert found.keep is keep


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(request(first="GET /healthz HTTP/1.1"), id="another_path"),
        pytest.param(request(first=f"PUT {PATH} HTTP/1.1"), id="another_method"),
        pytest.param(request(first=f"POST {PATH}?x=1 HTTP/1.1"), id="with_a_query"),
        pytest.param(request(first=f"POST {PATH} HTTP/1.9x"), id="no_version"),
        pytest.param(request("Content-Length: 3"), id="two_lengths"),
        pytest.param(request("X-Bad\x01: 1"), id="no_header_name"),
        pytest.param(request("Upgrade: h2c", "Connection: Upgrade"), id="an_upgrade"),
        pytest.param(request()[:-1], id="not_whole"),
        pytest.param(request(body=b"x" * wire.LARGEST), id="large"),
    ],
)
def test_what_is_not_plainly_a_delivery_is_left_to_gunicorn(data: bytes) -> None:
    assert wire.read(data) is None


def test_an_answer_says_how_long_it_is_and_whether_there_can_be_another() -> None:
    at = 784111777.9
    made = wire.written((202, "queued"), keep=True, hardening=HARDENING, now=at)
    assert made == (
        b"HTTP/1.1 202 Accepted\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 7\r\n"
        b"X-Content-Type-Options: nosniff\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nConnection: keep-alive\r\n\r\n"
        b"queued\n"
    )
    assert b"\r\nConnection: close\r\n\r\n" in wire.written((401, "no"), keep=False, hardening=HARDENING, now=at)
