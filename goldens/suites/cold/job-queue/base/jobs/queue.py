"""Jobs in a database table, taken by several workers."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

SCHEMA = """
create table if not exists jobs (
    id integer primary key,
    kind text not null,
    payload text not null,
    due real not null,
    attempts integer not null default 0,
    worker text,
    state text not null default 'waiting'
)
"""


@dataclass(frozen=True)
class Job:
    """Something to be done."""

    id: int
    kind: str
    payload: Mapping[str, Any]
    attempts: int


class Queue:
    """Gives every job to one worker at a time."""

    def __init__(self, path: str, most_attempts: int = 3) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None, timeout=10)
        self._connection.execute(SCHEMA)
        self._most = most_attempts

    def close(self) -> None:
        self._connection.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        self._connection.execute("begin immediate")
        try:
            yield self._connection
        except BaseException:
            self._connection.execute("rollback")
            raise
        self._connection.execute("commit")

    def add(self, kind: str, payload: Mapping[str, Any], due: float) -> int:
        """Put a job in; its id."""
        with self._transaction() as database:
            values = (kind, json.dumps(payload, sort_keys=True), due)
            cursor = database.execute("insert into jobs (kind, payload, due) values (?, ?, ?)", values)
        return int(cursor.lastrowid or 0)

    def take(self, worker: str, kinds: tuple[str, ...], now: float) -> Job | None:
        """The job that has been due the longest, if one is."""
        marks = ", ".join("?" for _ in kinds)
        with self._transaction() as database:
            row = database.execute(
                f"select id, kind, payload, attempts from jobs where state = 'waiting' and due <= ?"
                f" and kind in ({marks}) order by due, id limit 1",
                (now, *kinds),
            ).fetchone()
            if row is None:
                return None
            database.execute("update jobs set state = 'taken', worker = ? where id = ?", (worker, row[0]))
        return Job(row[0], row[1], json.loads(row[2]), row[3])

    def done(self, job: Job) -> None:
        """The job is finished."""
        with self._transaction() as database:
            database.execute("update jobs set state = 'done' where id = ?", (job.id,))

    def failed(self, job: Job, again_at: float) -> None:
        """The job did not work out: wait for another attempt, or leave it for a person to look at."""
        state = "waiting" if job.attempts + 1 < self._most else "stuck"
        with self._transaction() as database:
            values = (state, again_at, job.id)
            database.execute(
                "update jobs set state = ?, due = ?, attempts = attempts + 1, worker = null where id = ?", values
            )

    def count(self, state: str) -> int:
        """How many jobs are in a state."""
        return int(self._connection.execute("select count(*) from jobs where state = ?", (state,)).fetchone()[0])
