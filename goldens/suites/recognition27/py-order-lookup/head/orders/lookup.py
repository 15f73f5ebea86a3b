"""Orders, a page at a time."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

PAGE = 50


def page_of(request: Mapping[str, str]) -> int:
    """The page that is asked for, from 1."""
    text = request.get("page", "1")
    return max(1, int(text)) if text.isdecimal() else 1


def orders(db: sqlite3.Connection, request: Mapping[str, str]) -> list[tuple[object, ...]]:
    """One page of the customer's orders, in the order of a column."""
    column = request.get("sort", "placed DESC")
    query = f"SELECT id, placed, total FROM orders WHERE customer = ? ORDER BY {column} LIMIT ? OFFSET ?"
    skip = (page_of(request) - 1) * PAGE
    return db.execute(query, (request["customer"], PAGE, skip)).fetchall()
