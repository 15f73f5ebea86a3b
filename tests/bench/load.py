"""Signed webhook deliveries over HTTP, as fast as they are taken or at a rate, in a process of its own.

    python -m tests.bench.load URL[,URL...] CONNECTIONS SECONDS [RATE]

Every delivery has a GUID of its own and is signed before the clock starts. Without a rate each connection sends its
next delivery as soon as the last was answered. With one, deliveries are due at even times whatever the server does,
and a latency counts from when its delivery was due: a server that stands still is not asked less for it. Of several
servers each gets every so many'th connection. Prints JSON.
"""

from __future__ import annotations

import asyncio
import json
import math
import subprocess
import sys
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.bot import deliveries

REPOSITORY = Path(__file__).parents[2]
EVENT = "pull_request_review_comment"
PATIENCE = 30.0
"""Seconds that what is under way at the end may still take."""
_LINKS = 46
"""So many addresses a repository has in a payload, and there are two repositories and three people: 10 kB in all."""


@dataclass(frozen=True, slots=True)
class Load:
    """What came of it."""

    rate: float
    """Deliveries answered with 2xx, a second."""
    p50: float
    p99: float
    """Seconds."""
    statuses: dict[str, int]
    sent: int


def drive(url: str, connections: int, seconds: float, rate: float | None = None) -> Load:
    """Run this module in a process of its own."""
    given = [url, connections, seconds, *([] if rate is None else [rate])]
    command = [sys.executable, "-m", "tests.bench.load", *map(str, given)]
    done = subprocess.run(command, cwd=REPOSITORY, check=True, stdout=subprocess.PIPE, timeout=seconds + 120)
    return Load(**json.loads(done.stdout))


def requests(url: str) -> Iterator[bytes]:
    """Deliveries without end, whole as they go over the wire."""
    parts = urlsplit(url)
    start = time.time_ns()
    for number in count():
        body = _body(number)
        headers = {
            "Host": parts.netloc,
            "User-Agent": "GitHub-Hookshot/0000000",
            "Accept": "*/*",
            **deliveries.headers(EVENT, body),
            "X-GitHub-Delivery": f"{start & 0xFFFFFFFF:08x}-0000-4000-8000-{number:012x}",
            "Content-Length": str(len(body)),
        }
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        yield f"POST {parts.path} HTTP/1.1\r\n{head}\r\n".encode() + body


def _body(number: int) -> bytes:
    """As wide as GitHub's own: most of a delivery is addresses that nobody reads."""
    payload = deliveries.payload(EVENT)
    place = "https://api.github.test/repos/acme/svc-4k2p9d"
    wide = {f"link_{at}_url": f"{place}/some-kind-{at}{{/number}}" for at in range(_LINKS)}
    payload["repository"] |= wide
    payload["pull_request"]["base"] = {"repo": wide}
    payload["comment"] = {"id": number + 1, "body": f"Line {number} may overflow. " * 8, "diff_hunk": "+ x = 1\n" * 40}
    return json.dumps(payload).encode()


@dataclass(slots=True)
class _Driver:
    """The deliveries that are left, and what was answered to those that are gone."""

    ready: Iterator[bytes]
    end: float
    due: deque[float] = field(default_factory=deque)
    idle: list[_Connection] = field(default_factory=list)
    latencies: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    under_way: int = 0
    last: float = 0.0

    def answered(self, connection: _Connection, since: float, status: int) -> None:
        self.last = time.perf_counter()
        self.latencies.append(self.last - since)
        self.statuses[status] += 1
        self.under_way -= 1
        self.idle.append(connection)


class _Connection(asyncio.Protocol):
    """One connection that is kept; one delivery at a time."""

    def __init__(self, driver: _Driver, *, eager: bool) -> None:
        self._driver, self._eager = driver, eager
        self._transport: Any = None
        self._since = 0.0
        self._got = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def send(self, since: float) -> None:
        self._since, self._got = since, b""
        self._driver.under_way += 1
        self._transport.write(next(self._driver.ready))

    def data_received(self, data: bytes) -> None:
        self._got += data
        head, blank, body = self._got.partition(b"\r\n\r\n")
        if not blank or len(body) < _length(head):
            return
        self._driver.answered(self, self._since, int(head[9:12]))
        if self._eager and time.perf_counter() < self._driver.end:
            self._driver.idle.remove(self)
            self.send(time.perf_counter())

    def connection_lost(self, exc: Exception | None) -> None:
        if self._got == b"" and self._since:
            self._driver.statuses[0] += 1


def _length(head: bytes) -> int:
    for line in head.split(b"\r\n"):
        if line[:15].lower() == b"content-length:":
            return int(line[15:])
    return 0


async def _run(url: str, connections: int, seconds: float, rate: float | None) -> Load:
    servers = [urlsplit(one) for one in url.split(",")]
    # Many more than will be sent: running out would look like a slow server.
    many = math.ceil(seconds * (rate or 15_000)) + connections
    made = requests(url.split(",")[0])
    driver = _Driver(iter([next(made) for _ in range(many)]), 0.0)
    loop = asyncio.get_running_loop()
    joined = []
    for number in range(connections):
        parts = servers[number % len(servers)]
        _, one = await loop.create_connection(
            lambda: _Connection(driver, eager=rate is None), str(parts.hostname), parts.port or 80
        )
        joined.append(one)
    start = time.perf_counter()
    driver.end = start + seconds
    if rate is None:
        for one in joined:
            one.send(time.perf_counter())
        await asyncio.sleep(seconds)
    else:
        driver.idle = joined
        await _paced(driver, start, rate)
    while driver.under_way and time.perf_counter() < driver.end + PATIENCE:
        await asyncio.sleep(0.01)
    return _counted(driver, start)


async def _paced(driver: _Driver, start: float, rate: float) -> None:
    """Send each when it is due, or when a connection is free again; the latency counts from the first."""
    number = 0
    while (now := time.perf_counter()) < driver.end or driver.due:
        while now < driver.end and start + number / rate <= now:
            driver.due.append(start + number / rate)
            number += 1
        while driver.due and driver.idle:
            driver.idle.pop().send(driver.due.popleft())
        if now > driver.end + PATIENCE:
            driver.statuses[0] += len(driver.due)
            return
        await asyncio.sleep(0.0005)


def _counted(driver: _Driver, start: float) -> Load:
    good = sum(count for status, count in driver.statuses.items() if 200 <= status < 300)
    sent = sum(driver.statuses.values()) + driver.under_way
    spent = max(driver.last - start, 1e-9)
    statuses = {str(status): count for status, count in sorted(driver.statuses.items())}
    return Load(good / spent, _at(driver.latencies, 0.5), _at(driver.latencies, 0.99), statuses, sent)


def _at(latencies: Sequence[float], share: float) -> float:
    ordered = sorted(latencies)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)] if ordered else math.inf


def main(arguments: Sequence[str]) -> int:
    url, connections, seconds, *rate = arguments
    found = asyncio.run(_run(url, int(connections), float(seconds), float(rate[0]) if rate else None))
    fields = {name: getattr(found, name) for name in Load.__dataclass_fields__}
    sys.stdout.write(json.dumps(fields) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
