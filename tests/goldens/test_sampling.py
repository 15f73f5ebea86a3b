"""Samples that others published come out again; what is drawn does not depend on what nobody chose."""

from __future__ import annotations

import csv
from collections.abc import Mapping

import pytest

from goldens.sampling import Item, SampleError, by_repository, rows
from tests.shared import SHARED

PILOT = (12, 13, 15, 16, 44, 47, 52, 57, 71, 101, 111, 114, 119, 125, 140, 214, 216, 258, 279, 287)


def table(name: str) -> list[Mapping[str, str]]:
    path = SHARED / "data" / "swe" / name
    if not path.exists():
        pytest.skip(f"no {path}: the shared reference material is not here")
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


def test_the_published_pilot_is_drawn_again() -> None:
    assert rows(300, 20, 42) == PILOT


def test_the_published_hundred_and_audit_are_drawn_again() -> None:
    sites = table("oracle_sites_n100.csv")
    hundred = dict.fromkeys((int(row["dataset_row"]), row["instance_id"]) for row in sites)
    assert rows(300, 100, 42) == tuple(number for number, _ in hundred)
    # Not a property of the recipe: CPython samples the two sizes in two ways.
    assert set(PILOT) <= {number for number, _ in hundred}
    items = [Item(name, name.rpartition("-")[0].replace("__", "/")) for _, name in hundred]
    audited = list(dict.fromkeys(row["instance_id"] for row in table("oracle_validity_template.csv")))
    assert [item.id for item in by_repository(items, 30, 7)] == audited


def test_repositories_take_turns_the_largest_first() -> None:
    items = [Item(f"{name}-{at}", name) for name, size in (("small", 1), ("b", 3), ("a", 3)) for at in range(size)]
    drawn = by_repository(items, 7, 1)
    assert [item.repository for item in drawn] == ["a", "b", "small", "a", "b", "a", "b"]
    assert sorted(drawn, key=lambda item: item.id) == sorted(items, key=lambda item: item.id)
    assert by_repository(items, 4, 1) == drawn[:4]


def test_the_order_within_a_repository_does_not_matter() -> None:
    items = [Item(f"x-{at}", "x") for at in range(9)]
    assert by_repository(items[::-1], 5, 3) == by_repository(items, 5, 3) != tuple(items[:5])


@pytest.mark.parametrize("count", [0, -1, 4])
def test_more_than_there_is_cannot_be_drawn(count: int) -> None:
    with pytest.raises(SampleError, match="from 1 to 3"):
        rows(3, count, 1)
    with pytest.raises(SampleError, match="from 1 to 3"):
        by_repository([Item(str(at), "x") for at in range(3)], count, 1)


def test_an_id_that_is_there_twice_is_told() -> None:
    with pytest.raises(SampleError, match="twice"):
        by_repository([Item("a", "x"), Item("a", "y")], 1, 1)
