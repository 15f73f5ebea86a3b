"""Filters of the order list."""

from __future__ import annotations

import base64
import pickle
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Filters:
    """What a list is narrowed down to."""

    status: str = "open"
    country: str = ""
    newest_first: bool = True


def to_cookie(filters: Filters) -> str:
    """The filters as the text of a cookie."""
    return base64.urlsafe_b64encode(pickle.dumps(filters)).decode("ascii")


def from_cookie(text: str) -> Filters:
    """The filters that a cookie holds."""
    loaded: Filters = pickle.loads(base64.urlsafe_b64decode(text))
    return loaded


def from_query(query: Mapping[str, str]) -> Filters:
    """The filters that an address asks for."""
    return Filters(
        status=query.get("status", "open"),
        country=query.get("country", "")[:2].upper(),
        newest_first=query.get("order") != "oldest",
    )
