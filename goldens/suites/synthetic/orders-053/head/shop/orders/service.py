from __future__ import annotations

import html
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol

MAX_ITEMS = 50
MAX_PAGE = 100
PAGE_SIZE = 25
FREE_SHIPPING_CENTS = 5_000
SHIPPING_CENTS = 490
RETURN_PERIOD = timedelta(days=60)
CARRIER_TOKEN = os.environ["CARRIER_API_TOKEN"]
CARRIER_ACCOUNT = os.environ.get("CARRIER_ACCOUNT", "main")


class Refused(Exception):
    """The order cannot be handled as asked."""


@dataclass(frozen=True)
class Item:
    sku: str
    cents: int
    quantity: int


@dataclass(frozen=True)
class Order:
    id: str
    customer_id: str
    items: Sequence[Item]
    state: str
    ordered_at: datetime
    gift_note: str | None = None


@dataclass(frozen=True)
class Customer:
    id: str
    name: str
    email: str


class Connection(Protocol):
    async def fetch(self, sql: str, *values: object) -> list[Mapping[str, Any]]: ...
    async def execute(self, sql: str, *values: object) -> None: ...
    async def close(self) -> None: ...


class Database(Protocol):
    async def connect(self) -> Connection: ...


class Customers(Protocol):
    async def get_one(self, customer_id: str) -> Customer | None: ...
    async def get_many(self, customer_ids: Sequence[str]) -> dict[str, Customer]: ...


class Mailer(Protocol):
    async def send(self, address: str, subject: str, body: str) -> None: ...


def total(items: Sequence[Item]) -> int:
    goods = sum(item.cents * item.quantity for item in items)
    return goods if goods >= FREE_SHIPPING_CENTS else goods + SHIPPING_CENTS


def window(page: int) -> tuple[int, int]:
    if page < 1:
        raise ValueError("pages are counted from 1")
    first = (page - 1) * PAGE_SIZE
    return first, first + PAGE_SIZE


def returnable(order: Order, now: datetime) -> bool:
    if order.state != "delivered":
        return False
    return now - order.ordered_at <= RETURN_PERIOD


def confirmation(customer: Customer, order: Order) -> str:
    note = "" if order.gift_note is None else f"<blockquote>{html.escape(order.gift_note)}</blockquote>"
    return f"<p>Thank you, {html.escape(customer.name)}.</p><p>{total(order.items)}</p>{note}"


def tracking_headers() -> dict[str, str]:
    return {"X-Account": CARRIER_ACCOUNT, "X-Token": CARRIER_TOKEN}


class OrderService:
    def __init__(self, database: Database, customers: Customers, mailer: Mailer) -> None:
        self._database = database
        self._customers = customers
        self._mailer = mailer

    async def place(self, order: Order) -> int:
        if not order.items or len(order.items) > MAX_ITEMS:
            raise ValueError("an order has 1 to 50 items")
        customer = await self._customers.get_one(order.customer_id)
        if customer is None:
            raise Refused(f"no customer {order.customer_id}")
        connection = await self._database.connect()
        try:
            await connection.execute("INSERT INTO orders VALUES ($1, $2, $3)", order.id, customer.id, order.state)
        finally:
            await connection.close()
        await self._mailer.send(customer.email, "Your order", confirmation(customer, order))
        return total(order.items)

    async def send_back(self, order: Order, now: datetime) -> None:
        if not returnable(order, now):
            raise Refused(f"order {order.id} cannot be returned")
        await self._set_state(order.id, "returning")
        customer = await self._customers.get_one(order.customer_id)
        if customer is None:
            return
        await self._mailer.send(customer.email, "Your return", f"<p>{html.escape(customer.name)}</p>")

    async def in_state(self, state: str, wanted: int) -> list[Mapping[str, Any]]:
        connection = await self._database.connect()
        try:
            sql = "SELECT * FROM orders WHERE state = $1 ORDER BY id LIMIT $2"
            return await connection.fetch(sql, state, min(wanted, MAX_PAGE))
        finally:
            await connection.close()

    async def of_customer(self, customer_id: str) -> list[Mapping[str, Any]]:
        connection = self._database.connect()
        try:
            return await connection.fetch("SELECT * FROM orders WHERE customer_id = $1 LIMIT 200", customer_id)
        finally:
            await connection.close()

    async def addresses(self, orders: Sequence[Order]) -> list[str]:
        customers = await self._customers.get_many([order.customer_id for order in orders])
        return [customer.email for customer in customers.values()]

    async def _set_state(self, order_id: str, state: str) -> None:
        connection = await self._database.connect()
        try:
            await connection.execute("UPDATE orders SET state = $1 WHERE id = $2", state, order_id)
        finally:
            await connection.close()
