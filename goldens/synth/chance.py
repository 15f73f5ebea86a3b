"""Choices that are the same in every Python version: only `rng.random()` is asked, which has never changed."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

Item = TypeVar("Item")


def below(rng: Random, bound: int) -> int:
    """A whole number from 0 up to, and without, `bound`."""
    return min(int(rng.random() * bound), bound - 1)


def pick(rng: Random, items: Sequence[Item]) -> Item:
    """One of several."""
    return items[below(rng, len(items))]


def shuffled(rng: Random, items: Sequence[Item]) -> list[Item]:
    """The same in another order."""
    found = list(items)
    for last in range(len(found) - 1, 0, -1):
        other = below(rng, last + 1)
        found[last], found[other] = found[other], found[last]
    return found
