"""How much a caller may ask for: requests an hour and, if set, content a minute."""

from __future__ import annotations

from collections import Counter, deque
from datetime import datetime, timedelta

from bot.sandbox.errors import ApiError

HOURLY = 5000
_BLOCKED = (
    "You have exceeded a secondary rate limit and have been temporarily blocked from content creation. "
    "Please retry your request again later."
)
_WINDOW = timedelta(minutes=1)


class RateLimit:
    """The primary limit and the one on creating content, for each caller."""

    def __init__(self) -> None:
        self.hourly = HOURLY
        self.content_per_minute: int | None = None
        """None: content is not limited."""
        self._used: Counter[str] = Counter()
        self._reset: dict[str, datetime] = {}
        self._content: dict[str, deque[datetime]] = {}

    def state(self, name: str, now: datetime) -> dict[str, int]:
        """What `GET /rate_limit` tells."""
        if name not in self._reset or now >= self._reset[name]:
            self._reset[name], self._used[name] = now + timedelta(hours=1), 0
        used = min(self._used[name], self.hourly)
        reset = int(self._reset[name].timestamp())
        return {"limit": self.hourly, "used": used, "remaining": self.hourly - used, "reset": reset}

    def spend(self, name: str, now: datetime) -> None:
        """Count a request.

        Raises:
            ApiError: 403, when none is left.
        """
        if self.state(name, now)["remaining"] <= 0:
            raise ApiError(403, f"API rate limit exceeded for {name}.")
        self._used[name] += 1

    def give_back(self, name: str) -> None:
        """A 304 costs nothing."""
        self._used[name] -= 1

    def create(self, name: str, now: datetime) -> None:
        """Count something that is created.

        Raises:
            ApiError: 403 with Retry-After, when it is too much for one minute.
        """
        if self.content_per_minute is None:
            return
        recent = self._content.setdefault(name, deque())
        while recent and recent[0] <= now - _WINDOW:
            recent.popleft()
        if len(recent) >= self.content_per_minute:
            raise ApiError(403, _BLOCKED, headers={"Retry-After": "60"})
        recent.append(now)
