"""What is left of GitHub's hourly limits, as the answers said last: asking for it would cost requests."""

from __future__ import annotations

import threading
from collections.abc import Mapping

from bot.ports_github import RateLeft

_MOST = 1000
"""Accounts and resources remembered; a server that invents resources does not fill our memory."""


class Rates:
    """The last word on each account's limits. Safe between threads."""

    def __init__(self) -> None:
        self._last: dict[tuple[str, str], RateLeft] = {}
        self._lock = threading.Lock()

    def note(self, account: str, headers: Mapping[str, str]) -> None:
        """Read an answer's headers; those without a limit say nothing."""
        read = [_number(headers, f"x-ratelimit-{name}") for name in ("remaining", "limit", "reset")]
        left, limit, resets_at = read
        if left is None or limit is None or resets_at is None:
            return
        resource = headers.get("x-ratelimit-resource", "core")[:40]
        with self._lock:
            if (account, resource) in self._last or len(self._last) < _MOST:
                self._last[account, resource] = RateLeft(account, resource, left, limit, resets_at)

    def left(self) -> tuple[RateLeft, ...]:
        """What was said last of each account and resource."""
        with self._lock:
            return tuple(self._last[key] for key in sorted(self._last))


def _number(headers: Mapping[str, str], name: str) -> int | None:
    text = headers.get(name, "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 16 else None
