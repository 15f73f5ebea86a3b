"""A request reaches a thread when all of it is here, however it comes."""

from __future__ import annotations

import pytest

from bot.web.hooks import LARGEST
from bot.web.receiving import HEAD_SECONDS, LARGEST_FORM, LONGEST_HEAD, WHOLE_SECONDS, Arriving

HEAD = b"POST /webhooks/github HTTP/1.1\r\nHost: assay.test\r\nContent-Length: 11\r\n\r\n"


def arrived(*pieces: bytes) -> Arriving:
    made = Arriving(0.0)
    for piece in pieces:
        made.take(piece)
    return made


def test_it_is_whole_with_its_last_byte_and_not_before() -> None:
    whole = HEAD + b"hello world"
    byte_by_byte = [whole[at : at + 1] for at in range(len(whole))]
    assert not arrived(*byte_by_byte[:-1]).whole
    assert arrived(*byte_by_byte).whole
    assert arrived(whole).whole
    assert arrived(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").whole


def test_what_stands_in_the_body_is_no_header() -> None:
    body = b"\r\n\r\ncontent-length: 99999999999\r\ntransfer-encoding: chunked\r\n\r\n"
    head = b"POST / HTTP/1.1\r\nContent-LENGTH:\t" + str(len(body)).encode() + b" \r\n\r\n"
    assert arrived(head, body).refusal is None
    assert arrived(head, body).whole
    assert arrived(head + body).refusal is None


@pytest.mark.parametrize(
    ("header", "status"),
    [
        (b"Transfer-Encoding: chunked", b"411"),
        (b"transfer-encoding : chunked", b"411"),
        (b"Content-Length: " + str(LARGEST + 1).encode(), b"413"),
        (b"Content-Length: 5, 5", b"400"),
        (b"Content-Length: +5", b"400"),
        (b"Content-Length : 5", b"400"),
        (b"Content-Length: 99999999999999999999", b"400"),
        (b"Content-Length: -1", b"400"),
    ],
)
def test_a_request_of_which_nobody_knows_the_end_is_refused(header: bytes, status: bytes) -> None:
    made = arrived(b"POST / HTTP/1.1\r\n" + header + b"\r\n\r\n")
    assert made.refusal is not None
    assert made.refusal.startswith(b"HTTP/1.1 " + status)


def test_what_is_sent_to_a_page_is_a_form_and_only_deliveries_may_be_large() -> None:
    length = f"Content-Length: {LARGEST_FORM + 1}\r\n\r\n".encode()
    assert arrived(b"POST /webhooks/github HTTP/1.1\r\n" + length).refusal is None
    to_a_page = arrived(b"POST /sign-out HTTP/1.1\r\n" + length)
    assert to_a_page.refusal is not None
    assert to_a_page.refusal.startswith(b"HTTP/1.1 413")


def test_a_head_without_end_is_refused_and_no_thread_waits_for_the_rest() -> None:
    made = arrived(b"GET / HTTP/1.1\r\nX: " + b"a" * LONGEST_HEAD)
    assert made.refusal is not None
    assert made.refusal.startswith(b"HTTP/1.1 431 ")
    assert not made.whole


def test_it_has_its_time_for_the_head_and_for_the_rest() -> None:
    assert arrived(HEAD[:-1]).until == HEAD_SECONDS
    assert arrived(HEAD).until == WHOLE_SECONDS


@pytest.mark.parametrize("before", [b"Host", b"Content"])
def test_only_who_knows_what_it_means_is_told_to_go_on(before: bytes) -> None:
    asking = HEAD.replace(before, b"Expect: 100-continue\r\n" + before)
    assert arrived(asking).expects
    assert not arrived(asking.replace(b"HTTP/1.1", b"HTTP/1.0")).expects
