"""What a server said before, so that it need only say what is new. An ETag belongs to the token it was given to."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass

MOST_BYTES = 16 * 1024 * 1024
MOST_OF_ONE = 512 * 1024


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer."""

    etag: str
    headers: Mapping[str, str]
    text: str


class Seen:
    """The last answers, the least used of them forgotten first. Safe between threads."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most = most_bytes
        self._kept: OrderedDict[tuple[str, str], Answer] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    @property
    def bytes(self) -> int:
        """How much is kept."""
        return self._bytes

    def get(self, token: str, url: str) -> Answer | None:
        """What was said to this token."""
        with self._lock:
            found = self._kept.get((token, url))
            if found is not None:
                self._kept.move_to_end((token, url))
            return found

    def put(self, token: str, url: str, headers: Mapping[str, str], text: str) -> None:
        """Keep an answer, if it has an ETag and is not too long."""
        etag = headers.get("etag")
        if not etag or len(text) > MOST_OF_ONE:
            return
        answer = Answer(etag, dict(headers), text)
        with self._lock:
            self._drop((token, url))
            self._kept[token, url] = answer
            self._bytes += _size(answer)
            while self._bytes > self._most:
                self._drop(next(iter(self._kept)))

    def _drop(self, key: tuple[str, str]) -> None:
        gone = self._kept.pop(key, None)
        if gone is not None:
            self._bytes -= _size(gone)


def _size(answer: Answer) -> int:
    """About what it takes, with its headers and its key."""
    return len(answer.text) + 2000
