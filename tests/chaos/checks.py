"""What must hold of a run, whatever was done to its App meanwhile."""

from __future__ import annotations

import re
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from bot.demo import story
from bot.demo.world import SECRET, Asked
from tests.chaos.places import Place
from tests.flows.world import content, expected

QUIET_SECONDS = 20.0
_GROWN = re.compile(r"(-[0-9]{1,2}){4}$")
"""How an id ends that was made of another that was made of another."""
_ROUNDS = ("sweep", "tidy", "refresh")
"""Workflows that come again and again by themselves."""


@dataclass(frozen=True, slots=True)
class Reference:
    """An undisturbed run."""

    report: str
    seconds: float
    requests: int
    moments: tuple[str, ...]
    """Every moment that was met, in order."""


def asks_of(asked: Asked) -> int:
    """Comments that ask on each fork."""
    return sum(reviewer in ("quillreview",) for reviewer in asked.reviewers)


def problems(
    here: Place, asked: Asked, outcome: story.Outcome, reference: str | None, *, begun_anew: bool = False
) -> Iterator[str]:
    """Everything that is wrong after a run has ended; nothing if all is well.

    `begun_anew`: workflows may have ended in an error, as long as what they were to do is done by others.
    """
    if outcome.stage != "done":
        yield f"the run ended as {outcome.stage}"
    yield from _settled(here)
    if not begun_anew:
        yield from (f"workflow {name} ended as {status}" for name, status in rows(here) if "ERROR" in status)
    if reference is not None and content(outcome.report) != reference:
        yield "the report differs from that of an undisturbed run"
    yield from (f"missing on GitHub: {one}" for one in here.world.complaints(here.where, outcome.run))
    wanted = expected(2, len(asked.reviewers), asks_of(asked))
    if here.made() != wanted:
        yield f"writes: {dict(here.made())} instead of {dict(wanted)}"
    bodies = Counter((one["user"]["login"], one["body"].partition("\n")[0]) for one in here.comments())
    yield from (f"{count} comments {body!r} by {login}" for (login, body), count in bodies.items() if count > 1)
    yield from leftovers(here.data)
    yield from secrets_held(here)


def _settled(here: Place) -> Iterator[str]:
    """The engine comes to rest, with nothing lost on the way."""
    give_up = time.monotonic() + QUIET_SECONDS
    while left := [row for row in rows(here) if row[1] in ("PENDING", "ENQUEUED", "DELAYED") and row[0] not in _ROUNDS]:
        if time.monotonic() > give_up:
            yield f"still queued or under way: {sorted(set(left))}"
            break
        here.tend_until(lambda: True)
        time.sleep(0.2)
    yield from (f"meant and never confirmed: {key}" for key in unconfirmed(here))
    if grown := [key for key in ids(here) if _GROWN.search(key)]:
        yield f"ids grow with every round: {max(grown, key=len)[:200]}"


def ids(here: Place) -> list[str]:
    """The id of every workflow of the engine."""
    if here.database is not None:
        with psycopg.connect(here.database) as db:
            return [str(key) for (key,) in db.execute("SELECT workflow_uuid FROM dbos.workflow_status").fetchall()]
    return [str(row[0]) for row in _sqlite(here.data / "engine.db", "SELECT workflow_uuid FROM workflow_status")]


def rows(here: Place) -> list[tuple[str, str]]:
    """(workflow, status) of every row of the engine."""
    if here.database is not None:
        with psycopg.connect(here.database) as db:
            return db.execute("SELECT name, status FROM dbos.workflow_status").fetchall()
    return _sqlite(here.data / "engine.db", "SELECT name, status FROM workflow_status")


def unconfirmed(here: Place) -> list[str]:
    """Writes that were meant and of which nobody knows what became."""
    query = "SELECT key FROM writes WHERE confirmed_at IS NULL AND attempts > 0"
    if here.database is not None:
        with psycopg.connect(here.database) as db:
            return [str(key) for (key,) in db.execute(query).fetchall()]
    return [str(row[0]) for row in _sqlite(here.data / "app.db", query)]


def _sqlite(path: Path, query: str) -> list[Any]:
    db = sqlite3.connect(path, timeout=30)
    try:
        return db.execute(query).fetchall()
    finally:
        db.close()


def leftovers(data: Path) -> Iterator[str]:
    """Half-written bundles that nobody will ever finish."""
    yield from (f"left over: {path.name}" for path in sorted((data / "bundles").rglob(".*")))


def secrets_held(here: Place) -> Iterator[str]:
    """Where a token, the key, or the webhook secret stands: files, logs and databases of the App."""
    world = here.world.sandbox.world
    with world.lock:
        secrets = {token.encode() for token in world.tokens}
    key = (here.data / "app-key.pem").read_bytes().splitlines()
    secrets |= {SECRET.encode(), *key[1:-1]}
    if len(secrets) < 6:
        yield "there are no secrets to look for"
    for path in sorted(here.data.rglob("*")):
        if path.is_file() and path.name != "app-key.pem":
            held = path.read_bytes()
            if any(secret in held for secret in secrets):
                yield f"a secret stands in {path.name}"
    if here.database is not None:
        yield from _secrets_in_tables(here.database, secrets)


def _secrets_in_tables(database: str, secrets: set[bytes]) -> Iterator[str]:
    with psycopg.connect(database) as db:
        tables = db.execute(
            "SELECT schemaname, tablename FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
        ).fetchall()
        for schema, table in tables:
            with db.cursor().copy(f'COPY "{schema}"."{table}" TO STDOUT'.encode()) as copy:
                held = b"".join(bytes(block) for block in copy)
            if any(secret in held for secret in secrets):
                yield f"a secret stands in the table {table}"
