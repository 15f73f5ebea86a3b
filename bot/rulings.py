"""What people rule about claims and goldens. The record is only ever added to: what holds is worked out from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace


class AlreadyUndone(ValueError):
    """There is no such ruling to take back, or somebody was quicker."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """One thing that a person did."""

    id: int
    """Counts up; 0 before it is kept."""
    pull: str
    reviewer: str
    candidate: str
    golden: str
    """The golden it is about. With `valid` it is about all of them."""
    verdict: str
    note: str
    by: str
    at: str
    """When: ISO 8601, UTC."""
    replaced: str = ""
    """What each judge had said."""
    undoes: int | None = None
    """The ruling that this one takes back; the other fields are then those of that ruling."""


def standing(rulings: Sequence[Ruling]) -> tuple[Ruling, ...]:
    """The rulings that nobody has taken back, oldest first."""
    undone = {one.undoes for one in rulings if one.undoes is not None}
    return tuple(one for one in rulings if one.undoes is None and one.id not in undone)


def as_of(rulings: Sequence[Ruling], last: int) -> tuple[Ruling, ...]:
    """The record as it was once a ruling had been added."""
    return tuple(one for one in rulings if one.id <= last)


def taking_back(ruling: Ruling, by: str, at: str) -> Ruling:
    """The row that takes a ruling back."""
    return replace(ruling, id=0, by=by, at=at, undoes=ruling.id)
