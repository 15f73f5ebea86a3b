"""Prices from suppliers' files."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True)
class Price:
    """What an article costs from now on."""

    article: str
    amount: Decimal


def read_row(row: dict[str, str]) -> Price:
    """One row of a file as a price."""
    return Price(row["article"].strip(), Decimal(row["price"].replace(",", ".")))


def import_prices(lines: Iterable[str], store: Callable[[Price], None]) -> int:
    """Store every price of a file; how many there were."""
    count = 0
    for row in csv.DictReader(lines, delimiter=";"):
        try:
            store(read_row(row))
            count += 1
        except:
            continue
    return count
