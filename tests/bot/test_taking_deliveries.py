"""A real server takes deliveries from clients that are in order, odd, slow to leave, or gone."""

from __future__ import annotations

import contextlib
import json
import socket
import sqlite3
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from bot.sandbox.ports import free_port
from bot.web import wire
from bot.web.hooks import PATH
from bot.web.receiving import LOOK_SECONDS, MOST_ARRIVING
from bot.web.server import THREADS
from tests.bench import peers
from tests.bot import deliveries

ROOT = Path(__file__).parents[2]
PATIENCE = 30.0
Answer = tuple[int, str]


class Front:
    """`assay serve --web-only`, and what it has kept."""

    def __init__(self, port: int, data: Path) -> None:
        self.port = port
        self.data = data

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)

    def once_up(self) -> socket.socket:
        give_up = time.monotonic() + PATIENCE
        while True:
            try:
                return self.connect()
            except ConnectionRefusedError:
                assert time.monotonic() < give_up
                time.sleep(0.05)

    def kept(self, guid: str) -> int:
        """How often a delivery is in the inbox or the engine's queue."""
        with closing(sqlite3.connect(self.data / "app.db")) as db:
            [waiting] = db.execute("SELECT count(*) FROM inbox WHERE guid = ?", (guid,)).fetchone()
        with closing(sqlite3.connect(self.data / "engine.db")) as db:
            [queued] = db.execute(
                "SELECT count(*) FROM workflow_status WHERE workflow_uuid = ?", (f"gh-{guid}",)
            ).fetchone()
        # Between the queueing and the forgetting it is in both.
        return max(int(waiting), int(queued))


@pytest.fixture(scope="module")
def front(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Front]:
    work = tmp_path_factory.mktemp("front")
    with peers.ours(work, 1) as server:
        [url] = server.urls
        yield Front(int(url.split(":")[2].split("/")[0]), work / "data")


def request(
    guid: str, *more: str, first: str = f"POST {PATH} HTTP/1.1", body: bytes | None = None, event: str = "issues"
) -> bytes:
    body = json.dumps(deliveries.payload("issues")).encode() if body is None else body
    own = {line.partition(":")[0] for line in more}
    said = deliveries.headers(event, body) | {"X-GitHub-Delivery": guid}
    told = [f"{name}: {value}" for name, value in said.items() if name not in own]
    lines = [first, "Host: assay.test", *told, *more]
    return "\r\n".join([*lines, f"Content-Length: {len(body)}", "", ""]).encode() + body


def answer(connection: socket.socket) -> Answer:
    """The next answer on a connection, and no byte after it."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += _some(connection, 1)
    lengths = [int(line[15:]) for line in head.lower().splitlines() if line.startswith(b"content-length:")]
    body = b""
    while len(body) < lengths[0]:
        body += _some(connection, lengths[0] - len(body))
    return int(head[9:12]), body.decode()


def _some(connection: socket.socket, most: int) -> bytes:
    found = connection.recv(most)
    assert found, "the connection ended"
    return found


def guid() -> str:
    return str(uuid.uuid4())


def test_two_deliveries_sent_at_once_are_answered_one_after_the_other_and_both_kept(front: Front) -> None:
    first, second = guid(), guid()
    with front.connect() as one:
        one.sendall(request(first) + request(second, event="star") + request(second))
        assert [answer(one) for _ in range(3)] == [
            (202, "queued\n"),
            (200, "ignored: 'star' is not an event we use\n"),
            (202, "queued\n"),
        ]
    assert [front.kept(first), front.kept(second)] == [1, 1]


def test_a_delivery_that_comes_byte_by_byte_is_one_delivery(front: Front) -> None:
    name = guid()
    whole = request(name)
    with front.connect() as one:
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for at in range(0, len(whole), 97):
            one.sendall(whole[at : at + 97])
        assert answer(one)[0] == 202
    assert front.kept(name) == 1


def test_a_page_and_a_delivery_take_turns_on_one_connection(front: Front) -> None:
    with front.connect() as one:
        for _ in range(2):
            one.sendall(request(guid()))
            assert answer(one)[0] == 202
            one.sendall(b"GET /healthz HTTP/1.1\r\nHost: assay.test\r\n\r\n")
            assert answer(one) == (200, "ok\n")


@pytest.mark.parametrize(
    ("more", "event", "name"),
    [
        ((), "issues", None),
        ((), "star", None),
        ((), "issues", "no-guid!"),
        (("X-GitHub-Hook-Installation-Target-ID: 1",), "issues", None),
        (("Content-Type: application/x-www-form-urlencoded",), "issues", None),
    ],
)
def test_what_is_said_does_not_depend_on_the_way_a_delivery_takes(
    front: Front, more: tuple[str, ...], event: str, name: str | None
) -> None:
    said = []
    for path in (PATH, f"{PATH}?"):
        with front.connect() as one:
            one.sendall(request(name or guid(), *more, first=f"POST {path} HTTP/1.1", event=event))
            said.append(answer(one))
    assert said[0] == said[1]


def test_a_forgery_is_refused_and_the_connection_goes_on(front: Front) -> None:
    name = guid()
    forged = request(name).replace(b"sha256=", b"sha256=0")
    with front.connect() as one:
        one.sendall(forged + request(name))
        assert [answer(one)[0], answer(one)[0]] == [401, 202]


def test_a_large_delivery_is_taken_as_well(front: Front) -> None:
    name, payload = guid(), deliveries.payload("issues")
    payload["padding"] = "x" * wire.LARGEST
    with front.connect() as one:
        one.sendall(request(name, body=json.dumps(payload).encode()))
        assert answer(one)[0] == 202
    assert front.kept(name) == 1


def test_clients_that_do_not_close_what_has_ended_hold_nobody_up(front: Front) -> None:
    staying = [front.connect() for _ in range(12)]
    for one in staying[:6]:
        one.sendall(request(guid(), "Connection: close"))
    for one in staying[6:]:
        one.sendall(b"GET /healthz HTTP/1.1\r\nHost: assay.test\r\nConnection: close\r\n\r\n")
    assert [answer(one)[0] for one in staying] == [202] * 6 + [200] * 6
    # Waiting two seconds for each of them would take longer than this client's patience.
    with front.connect() as one:
        one.sendall(request(guid()))
        assert answer(one)[0] == 202
    for one in staying:
        assert one.recv(1) == b""
        one.close()


def test_a_database_that_is_held_up_keeps_deliveries_waiting_and_nothing_else(front: Front) -> None:
    name, gone = guid(), guid()
    with closing(sqlite3.connect(front.data / "app.db", isolation_level=None)) as held:
        held.execute("BEGIN IMMEDIATE")
        leaving = front.connect()
        leaving.sendall(request(gone))
        leaving.close()
        with front.connect() as waiting, front.connect() as other:
            waiting.sendall(request(name) + b"GET /healthz HTTP/1.1\r\nHost: assay.test\r\n\r\n")
            other.sendall(b"GET /healthz HTTP/1.1\r\nHost: assay.test\r\n\r\n")
            assert answer(other) == (200, "ok\n")
            waiting.setblocking(False)
            with pytest.raises(BlockingIOError):
                waiting.recv(1)
            held.execute("COMMIT")
            waiting.settimeout(PATIENCE)
            assert [answer(waiting), answer(waiting)] == [(202, "queued\n"), (200, "ok\n")]
    # Whoever hung up sent a delivery all the same.
    assert [front.kept(name), front.kept(gone)] == [1, 1]


def test_heads_that_never_end_take_no_thread_from_the_pages(front: Front) -> None:
    lines = b"".join(b"X-%d: %b\r\n" % (at, b"a" * 4000) for at in range(18))
    endless = [front.connect() for _ in range(THREADS)]
    for one in endless:
        one.sendall(b"GET /healthz HTTP/1.1\r\nHost: assay.test\r\n" + lines)
    with front.connect() as other:
        other.sendall(b"GET /healthz HTTP/1.1\r\nHost: assay.test\r\n\r\n")
        other.settimeout(PATIENCE / 3)
        assert answer(other) == (200, "ok\n")
    for one in endless:
        assert answer(one)[0] == 431
        one.close()


def test_a_client_that_sends_many_ahead_leaves_the_others_their_turn(front: Front) -> None:
    # So few bytes that the server has them all with one look.
    forged, many = f"POST {PATH} HTTP/1.1\r\n\r\n".encode(), 1700
    with front.connect() as greedy, front.connect() as other:
        greedy.sendall(forged * many)
        said = 0
        assert answer(greedy)[0] == 401
        other.sendall(request(guid(), event="star"))
        assert answer(other)[0] == 200
        greedy.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while True:
                said += greedy.recv(1 << 20).count(b"HTTP/1.1 401")
        greedy.settimeout(PATIENCE)
        assert said < many - 1
        while said < many - 1:
            said += _some(greedy, 1 << 20).count(b"HTTP/1.1 401")


def test_deliveries_that_are_being_kept_push_nobody_out(front: Front) -> None:
    slow = request(guid())
    with ExitStack() as stack, closing(sqlite3.connect(front.data / "app.db", isolation_level=None)) as held:
        held.execute("BEGIN IMMEDIATE")
        waiting = [stack.enter_context(front.connect()) for _ in range(MOST_ARRIVING + 5)]
        for one in waiting:
            one.sendall(request(guid()))
        last = stack.enter_context(front.connect())
        last.sendall(slow[:100])
        # Whoever comes after all of them is answered once all of them have been seen.
        page = stack.enter_context(front.connect())
        page.sendall(b"GET /healthz HTTP/1.1\r\nHost: assay.test\r\n\r\n")
        assert answer(page)[0] == 200
        # A loop that nothing wakes looks once a second.
        time.sleep(1 + 2 * LOOK_SECONDS)
        last.sendall(slow[100:])
        held.execute("COMMIT")
        assert {answer(one)[0] for one in [*waiting, last]} == {202}


def test_a_request_with_two_lengths_is_refused(front: Front) -> None:
    with front.connect() as one:
        one.sendall(request(guid(), "Content-Length: 5"))
        assert answer(one)[0] == 400
        assert one.recv(1) == b""


def test_a_fault_of_ours_costs_one_delivery_and_not_the_loop_that_takes_all(tmp_path: Path) -> None:
    port = free_port()
    command = [sys.executable, "-m", "tests.bot.faulty_front", str(port)]
    with (tmp_path / "log").open("wb") as log, subprocess.Popen(command, cwd=ROOT, stderr=log) as process:
        try:
            faulty = Front(port, tmp_path)
            with faulty.once_up() as one, faulty.connect() as unlucky:
                one.sendall(request("a" * 8))
                assert answer(one) == (500, "it failed\n")
                unlucky.sendall(request("b" * 8))
                for name in ("c" * 8, "d" * 8):
                    one.sendall(request(name))
                    assert answer(one) == (202, "queued\n")
        finally:
            process.terminate()
    assert (tmp_path / "log").read_text().count("ZeroDivisionError: ") == 2
