"""Orders as billing sees them."""

from dataclasses import dataclass, field
from decimal import Decimal


@dataclass(frozen=True)
class Line:
    """One position of an order."""

    sku: str
    unit_cents: int
    quantity: Decimal


@dataclass(frozen=True)
class Order:
    """What a customer bought, and the tax rate of the country it goes to."""

    number: str
    lines: list[Line] = field(default_factory=list)
    tax_rate: Decimal = Decimal("0.19")
