"""Ids that depend on what was done and by whom, never on which thread came first."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter

SHORT = 31
"""Bits of account, repository, issue and installation ids."""
LONG = 41
"""Bits of comment, review and check run ids: beyond 32, as GitHub's are."""


class IdMint:
    """Gives each thing an id derived from its key; a taken id is probed further, so ids are never used twice."""

    def __init__(self) -> None:
        self._used: set[int] = set()
        self._ordinals: Counter[tuple[str, ...]] = Counter()

    def of(self, bits: int, *key: object) -> int:
        """An unused id of exactly `bits` bits for `key`."""
        text = "\0".join(str(part).lower() for part in key)
        probe = 0
        while True:
            digest = hashlib.sha256(f"{text}\0{probe}".encode()).digest()
            candidate = int.from_bytes(digest[:8], "big") % (1 << (bits - 1)) + (1 << (bits - 1))
            if candidate not in self._used:
                self._used.add(candidate)
                return candidate
            probe += 1

    def next(self, *key: object) -> int:
        """A long id for the next thing with this key: kind, place and author, counted per author."""
        counted = tuple(str(part).lower() for part in key)
        self._ordinals[counted] += 1
        return self.of(LONG, *counted, self._ordinals[counted])


def node_id(kind: str, number: int) -> str:
    """An opaque GraphQL-like id."""
    return f"{kind}_" + base64.urlsafe_b64encode(number.to_bytes(8, "big")).decode().rstrip("=")
