"""What an order costs."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from billing.models import Line, Order, Voucher
from billing.money import to_cents


@dataclass(frozen=True)
class Totals:
    """The figures at the foot of an invoice, in cents."""

    net: int
    discount: int
    tax: int
    total: int
    vouchers: tuple[str, ...] = ()


def line_net(line: Line) -> int:
    """Net amount of one position; quantities may be fractional (cloth by the metre)."""
    return to_cents(line.unit_cents * line.quantity)


def order_net(order: Order) -> int:
    """Net amount of all positions."""
    return sum(line_net(line) for line in order.lines)


def voucher_discount(net: int, voucher: Voucher) -> int:
    """What one voucher takes off a net amount."""
    return int(net * voucher.percent / 100)


def redeem(net: int, vouchers: Iterable[Voucher], today: date, redeemed: list[str] = []) -> tuple[int, list[str]]:
    """Add up the vouchers that are valid today, each code once.

    Returns the discount, never more than the net amount, and the codes that went into it.
    """
    discount = 0
    for voucher in vouchers:
        if voucher.valid_until < today or voucher.code in redeemed:
            continue
        discount += voucher_discount(net, voucher)
        redeemed.append(voucher.code)
    return min(discount, net), redeemed


def order_totals(order: Order, vouchers: Iterable[Voucher], today: date) -> Totals:
    """Net, discount, tax and total of an order. Tax is due on what is left after the discount."""
    net = order_net(order)
    discount, codes = redeem(net, vouchers, today)
    tax = to_cents((net - discount) * order.tax_rate)
    return Totals(net=net, discount=discount, tax=tax, total=net - discount + tax, vouchers=tuple(codes))
