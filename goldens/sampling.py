"""Samples that anybody can draw again: by row, and by repository in turn.

Both follow the published recipes of SWE-Review-Bench to the digit. They rest on how CPython's generator shuffles and
samples, which its documentation promises to keep for `random()` only; the tests hold the published samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random


class SampleError(ValueError):
    """A sample cannot be drawn as asked."""


@dataclass(frozen=True, slots=True)
class Item:
    """Something to be drawn, and the repository it belongs to."""

    id: str
    repository: str


def rows(total: int, count: int, seed: int) -> tuple[int, ...]:
    """The numbers of the drawn rows, from 0, in order.

    Raises:
        SampleError: there are not so many rows.
    """
    _enough(total, count)
    return tuple(sorted(Random(seed).sample(range(total), count)))  # nosec B311 # to be drawn again by anybody


def by_repository(items: Sequence[Item], count: int, seed: int) -> tuple[Item, ...]:
    """Items of all repositories in turn, in the order they are drawn.

    Repositories are taken as they are first met; the items of each are sorted by id and shuffled by one generator for
    all. Then each repository gives one in turn, the largest first and those of one size by name.

    Raises:
        SampleError: there are not so many items, or an id is there twice.
    """
    _enough(len(items), count)
    if len({item.id for item in items}) < len(items):
        raise SampleError("an id is there twice; each item must be there once")
    piles: dict[str, list[Item]] = {}
    for item in items:
        piles.setdefault(item.repository, []).append(item)
    generator = Random(seed)  # nosec B311 # to be drawn again by anybody
    for pile in piles.values():
        pile.sort(key=lambda item: item.id)
        generator.shuffle(pile)
    turns = sorted(piles, key=lambda name: (-len(piles[name]), name))
    longest = max(map(len, piles.values()), default=0)
    drawn = [piles[name][turn] for turn in range(longest) for name in turns if turn < len(piles[name])]
    return tuple(drawn[:count])


def _enough(total: int, count: int) -> None:
    if not 0 < count <= total:
        raise SampleError(f"{count} of {total} cannot be drawn; say a number from 1 to {total}")
