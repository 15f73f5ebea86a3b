"""Balances of accounts from a list of postings, to the cent."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import ROUND_HALF_EVEN, Decimal

CENT = Decimal("0.01")


@dataclass(frozen=True)
class Posting:
    """An amount that goes to an account; taken away where it is negative."""

    account: str
    amount: Decimal
    day: date
    note: str = ""


@dataclass
class Statement:
    """What happened on one account in a period."""

    account: str
    opening: Decimal
    postings: list[Posting] = field(default_factory=list)

    @property
    def closing(self) -> Decimal:
        return self.opening + sum((posting.amount for posting in self.postings), Decimal(0))


def balances(postings: Iterable[Posting], upto: date) -> dict[str, Decimal]:
    """The balance of every account at the end of a day."""
    found: dict[str, Decimal] = defaultdict(Decimal)
    for posting in postings:
        if posting.day <= upto:
            found[posting.account] += posting.amount
    return dict(found)


def statement(account: str, postings: Iterable[Posting], first: date, last: date) -> Statement:
    """Everything on an account from the first to the last day, both included."""
    own = [posting for posting in postings if posting.account == account]
    opening = sum((posting.amount for posting in own if posting.day < first), Decimal(0))
    listed = [posting for posting in own if first <= posting.day <= last]
    return Statement(account, opening, sorted(listed, key=lambda posting: posting.day))


def split(amount: Decimal, shares: Mapping[str, int]) -> dict[str, Decimal]:
    """An amount divided by shares, in whole cents that add up to it again."""
    total = sum(shares.values())
    if total <= 0:
        raise ValueError("shares must add up to something")
    parts = {name: (amount * share / total).quantize(CENT, ROUND_HALF_EVEN) for name, share in shares.items()}
    rest = amount - sum(parts.values(), Decimal(0))
    largest = max(shares, key=lambda name: (shares[name], name))
    parts[largest] += rest
    return parts


def trial_balance(postings: Iterable[Posting]) -> Decimal:
    """Zero if every amount that left one account went to another."""
    return sum((posting.amount for posting in postings), Decimal(0))
