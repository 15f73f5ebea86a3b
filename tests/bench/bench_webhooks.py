"""Taking deliveries durably, against Probot, which verifies and acknowledges them and stores nothing.

Rounds of both take turns, so that whatever else the machine does falls on both. The processor time of a delivery tells
most on a busy machine; rates and latencies tell what the machine had left.
"""

from __future__ import annotations

import sqlite3
import statistics
import sys
import tempfile
import time
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

from tests.bench import load, peers
from tests.bench.table import Row

PROCESSES = 1
"""As `assay serve` is started; Probot has no other way either."""
CONNECTIONS = 64
ROUNDS, SECONDS = 5, 4.0
P99 = 0.1
SETTLED = 300.0
"""Seconds within which everything that was acknowledged has to be in the engine's queue."""


@dataclass(frozen=True, slots=True)
class _Round:
    rate: float
    cpu: float
    """Seconds of processor time for a delivery."""
    p99: float


def run() -> list[Row]:
    installed = peers.probot_folder()
    if installed is None:
        sys.stderr.write("nothing is measured: Probot cannot be installed\n")
        return []
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        work = Path(folder)
        theirs = stack.enter_context(peers.probot(installed, work))
        ours = stack.enter_context(peers.ours(work, PROCESSES))
        _round(theirs, 2.0), _round(ours, 2.0)  # so that what is compiled or imported at first use is
        pairs = [(_round(ours), _round(theirs)) for _ in range(ROUNDS)]
        half = statistics.median(pair[1].rate for pair in pairs) / 2
        paced = [(_round(ours, rate=half), _round(theirs, rate=half)) for _ in range(3)]
        waited = _settle(work / "data")
    return [*_rows(pairs), *_paced_rows(half, paced), Row("- until the last of them was queued", waited, "s")]


def _round(server: peers.Server, seconds: float = SECONDS, rate: float | None = None) -> _Round:
    before = server.spent()
    found = load.drive(",".join(server.urls), CONNECTIONS, seconds, rate)
    wrong = {status: number for status, number in found.statuses.items() if status not in ("200", "202")}
    if wrong:
        raise RuntimeError(f"deliveries were refused: {wrong}")
    return _Round(found.rate, (server.spent() - before) / max(found.sent, 1), found.p99)


def _rows(pairs: list[tuple[_Round, _Round]]) -> list[Row]:
    def middle(name: str, side: int) -> float:
        values: list[float] = [getattr(pair[side], name) for pair in pairs]
        return statistics.median(values)

    ratios = sorted(mine.rate / other.rate for mine, other in pairs)
    what = f"deliveries a second, stored; against: Probot, not stored [ratios {ratios[0]:.2f} to {ratios[-1]:.2f}]"
    return [
        Row(what, middle("rate", 0), "", middle("rate", 1), least=middle("rate", 1)),
        Row("- processor time of one", middle("cpu", 0) * 1e6, "us", middle("cpu", 1) * 1e6),
    ]


def _paced_rows(half: float, paced: list[tuple[_Round, _Round]]) -> list[Row]:
    mine, other = (statistics.median(pair[side].p99 for pair in paced) for side in (0, 1))
    return [Row(f"- p99 at half of Probot's rate, {half:.0f} a second", mine * 1e3, "ms", other * 1e3, P99 * 1e3)]


def _settle(data: Path) -> float:
    """Seconds until the inbox is empty: everything that was acknowledged has then been queued."""
    began = time.monotonic()
    with closing(sqlite3.connect(data / "app.db")) as db:
        while db.execute("SELECT count(*) FROM inbox").fetchone()[0]:
            if time.monotonic() - began > SETTLED:
                raise RuntimeError("what was acknowledged is not queued")
            time.sleep(0.05)
    return time.monotonic() - began
