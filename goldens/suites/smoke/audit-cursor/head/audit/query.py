"""Reading the audit trail."""

import sqlite3
from dataclasses import dataclass

from audit.cursor import decode, encode

MAX_LIMIT = 500


@dataclass(frozen=True)
class Entry:
    """One thing somebody did."""

    id: int
    at: str
    actor: str
    action: str
    target: str


@dataclass(frozen=True)
class Page:
    """Some entries, and where to go on; ``after`` is None on the last page."""

    entries: list[Entry]
    after: str | None


def entries(connection: sqlite3.Connection, account: int, limit: int = 100) -> list[Entry]:
    """The newest entries of an account, newest first."""
    rows = connection.execute(
        "SELECT id, at, actor, action, target FROM audit WHERE account = ? ORDER BY id DESC LIMIT ?",
        (account, limit),
    )
    return [Entry(*row) for row in rows]


def search(connection: sqlite3.Connection, account: int, limit: int = 100, after: str | None = None,
           actor: str | None = None, action: str | None = None, target: str | None = None) -> Page:
    """A page of an account's entries, newest first, narrowed by the filters that are given."""
    limit = max(1, min(limit, MAX_LIMIT))
    clauses: list[str] = ["account = ?"]
    values: list[int | str] = [account]
    for column, wanted in (("actor", actor), ("action", action), ("target", target)):
        if wanted is not None:
            clauses.append(f"{column} = ?")
            values.append(wanted)
    if after is not None:
        clauses.append("id < ?")
        values.append(decode(after))
    # One row more than asked for tells whether there is another page.
    query = f"SELECT id, at, actor, action, target FROM audit WHERE {' AND '.join(clauses)} ORDER BY id DESC LIMIT ?"
    found = [Entry(*row) for row in connection.execute(query, (*values, limit + 1))]
    page = found[:limit]
    return Page(page, encode(page[-1].id) if len(found) > limit else None)
