"""Filters of the order list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Filters:
    """What a list is narrowed down to."""

    status: str = "open"
    country: str = ""
    newest_first: bool = True


def from_query(query: Mapping[str, str]) -> Filters:
    """The filters that an address asks for."""
    return Filters(
        status=query.get("status", "open"),
        country=query.get("country", "")[:2].upper(),
        newest_first=query.get("order") != "oldest",
    )
