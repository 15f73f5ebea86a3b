"""Answers of models, kept in one SQLite file: what was paid for once is never asked for again.

Keys are hashes over everything that decides an answer, so nothing here ever grows old. An answer is on disk before
anybody uses it: a process that is killed the next moment has it when it comes back.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from dataclasses import asdict
from pathlib import Path

from bot.ports import Json
from scoring.judges.asks import Reply

_TABLES = """
CREATE TABLE IF NOT EXISTS replies (
    key TEXT PRIMARY KEY, reply TEXT NOT NULL, account TEXT NOT NULL, cost REAL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS verdicts (key TEXT PRIMARY KEY, said TEXT NOT NULL) WITHOUT ROWID;
"""
_WAIT_SECONDS = 60.0


class SqliteReplies:
    """Implements `bot.ports.Replies`. The file is made at the first look-up; threads and processes may share it."""

    def __init__(self, path: Path, *, several_hosts: bool = False) -> None:
        """Answers in a file.

        Args:
            path: The file.
            several_hosts: Whether it may lie on a network file system. A write-ahead log cannot.
        """
        self._path = path
        self._journal = "DELETE" if several_hosts else "WAL"
        self._lock = threading.Lock()
        self._open: sqlite3.Connection | None = None

    def get(self, key: str) -> Reply | None:
        found = self._read("SELECT reply FROM replies WHERE key = ?", key)
        return None if found is None else Reply(**found)

    def put(self, key: str, reply: Reply, account: str = "") -> None:
        self._write("INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?)", key, asdict(reply), account, reply.cost)

    def spent(self, account: str) -> float:
        with self._lock:
            query = "SELECT COALESCE(SUM(cost), 0) FROM replies WHERE account = ?"
            return float(self._connection().execute(query, (account,)).fetchone()[0])

    def totals(self) -> tuple[int, float]:
        """How many answers there are, and the US dollars paid for them, as far as prices are known."""
        with self._lock:
            calls, cost = self._connection().execute("SELECT COUNT(*), COALESCE(SUM(cost), 0) FROM replies").fetchone()
        return int(calls), float(cost)

    def verdicts(self, key: str) -> Json | None:
        return self._read("SELECT said FROM verdicts WHERE key = ?", key)

    def keep_verdicts(self, key: str, said: Json) -> None:
        self._write("INSERT OR REPLACE INTO verdicts VALUES (?, ?)", key, said)

    def close(self) -> None:
        """Let the file go; the next look-up opens it again."""
        with self._lock:
            if self._open is not None:
                self._open.close()
                self._open = None

    def _read(self, query: str, key: str) -> Json | None:
        with self._lock:
            row = self._connection().execute(query, (key,)).fetchone()
        return None if row is None else json.loads(row[0])

    def _write(self, statement: str, key: str, value: Json, *more: Json) -> None:
        text = json.dumps(value, ensure_ascii=True, sort_keys=True)
        with self._lock, self._connection() as transaction:
            transaction.execute(statement, (key, text, *more))

    def _connection(self) -> sqlite3.Connection:
        if self._open is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._open = sqlite3.connect(self._path, timeout=_WAIT_SECONDS, check_same_thread=False)
            self._open.execute(f"PRAGMA journal_mode = {self._journal}")
            self._open.executescript(_TABLES)
        return self._open
