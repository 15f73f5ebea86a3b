"""What stands in the way of an analysis."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches


class Unusable(ValueError):
    """A bundle cannot be analysed as asked; the message is one line and says what would do."""


def one_of(what: str, name: str, known: Collection[str]) -> Unusable:
    """The error for a name that is not there."""
    near = get_close_matches(name, known, n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    return Unusable(f"no {what} {name!r}; there is: {', '.join(sorted(known)) or 'none'}.{hint}")
