"""Reading the audit trail."""

import sqlite3
from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """One thing somebody did."""

    id: int
    at: str
    actor: str
    action: str
    target: str


def entries(connection: sqlite3.Connection, account: int, limit: int = 100) -> list[Entry]:
    """The newest entries of an account, newest first."""
    rows = connection.execute(
        "SELECT id, at, actor, action, target FROM audit WHERE account = ? ORDER BY id DESC LIMIT ?",
        (account, limit),
    )
    return [Entry(*row) for row in rows]
