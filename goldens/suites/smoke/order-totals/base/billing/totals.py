"""What an order costs."""

from dataclasses import dataclass
from decimal import Decimal

from billing.models import Line, Order
from billing.money import to_cents


@dataclass(frozen=True)
class Totals:
    """The figures at the foot of an invoice, in cents."""

    net: int
    tax: int
    total: int


def line_net(line: Line) -> int:
    """Net amount of one position; quantities may be fractional (cloth by the metre)."""
    return to_cents(line.unit_cents * line.quantity)


def order_net(order: Order) -> int:
    """Net amount of all positions."""
    return sum(line_net(line) for line in order.lines)


def order_totals(order: Order) -> Totals:
    """Net, tax and total of an order."""
    net = order_net(order)
    tax = to_cents(net * order.tax_rate)
    return Totals(net=net, tax=tax, total=net + tax)
