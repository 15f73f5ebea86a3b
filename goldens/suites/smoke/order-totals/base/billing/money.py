"""Amounts of money in whole cents."""

from decimal import ROUND_HALF_UP, Decimal


def to_cents(amount: Decimal) -> int:
    """Round an exact number of cents to whole cents, halves up."""
    return int(amount.quantize(Decimal("1"), rounding=ROUND_HALF_UP))


def format_cents(cents: int, currency: str = "EUR") -> str:
    """Write an amount the way invoices show it: ``12.50 EUR``."""
    sign = "-" if cents < 0 else ""
    whole, rest = divmod(abs(cents), 100)
    return f"{sign}{whole}.{rest:02d} {currency}"
