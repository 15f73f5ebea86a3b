"""Rendered pages, kept until what they show has changed."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field


@dataclass
class Entry:
    """A page and the things it shows."""

    body: str
    shows: frozenset[str]
    size: int = field(init=False)

    def __post_init__(self) -> None:
        self.size = len(self.body.encode("utf-8"))


class PageCache:
    """Keeps the pages asked for last, up to a number of bytes."""

    def __init__(self, capacity: int) -> None:
        if capacity <= 0:
            raise ValueError("a cache needs room")
        self._capacity = capacity
        self._used = 0
        self._pages: OrderedDict[Hashable, Entry] = OrderedDict()
        self._shown_by: dict[str, set[Hashable]] = {}

    def __len__(self) -> int:
        return len(self._pages)

    @property
    def used(self) -> int:
        """Bytes of all pages together."""
        return self._used

    def page(self, key: Hashable, render: Callable[[], tuple[str, frozenset[str]]]) -> str:
        """The page, rendered if it is not here."""
        known = self._pages.get(key)
        if known is not None:
            self._pages.move_to_end(key)
            return known.body
        body, shows = render()
        entry = Entry(body, shows)
        if entry.size <= self._capacity:
            self._put(key, entry)
        return body

    def _put(self, key: Hashable, entry: Entry) -> None:
        while self._pages and self._used + entry.size > self._capacity:
            self._drop(next(iter(self._pages)))
        self._pages[key] = entry
        self._used += entry.size
        for thing in entry.shows:
            self._shown_by.setdefault(thing, set()).add(key)

    def _drop(self, key: Hashable) -> None:
        entry = self._pages.pop(key)
        self._used -= entry.size
        for thing in entry.shows:
            keys = self._shown_by[thing]
            keys.discard(key)
            if not keys:
                del self._shown_by[thing]

    def changed(self, thing: str) -> int:
        """Forget every page that shows a thing; how many that were."""
        keys = list(self._shown_by.get(thing, ()))
        for key in keys:
            self._drop(key)
        return len(keys)
