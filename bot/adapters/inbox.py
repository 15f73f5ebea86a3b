"""Deliveries between their acknowledgement and the engine's queues.

The engine's own row of a workflow costs a few hundred times what a row here does, and GitHub waits for neither.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from bot.adapters.tables import inbox

_KEEP = sa.text("INSERT INTO inbox (guid, event) VALUES (:guid, :event) ON CONFLICT (guid) DO NOTHING")

Delivery = tuple[str, Any]
"""A delivery's GUID, and its event as JSON."""


class SqlInbox:
    """Deliveries by GUID, each once."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def keep(self, deliveries: Sequence[Delivery]) -> None:
        """Keep deliveries in one transaction: durable, all of them, when this returns. One that is there joins."""
        rows = [{"guid": guid, "event": json.dumps(event)} for guid, event in deliveries]
        with self._engine.begin() as db:
            db.execute(_KEEP, rows)

    def oldest(self, most: int) -> Sequence[Delivery]:
        """The first to have come."""
        query = sa.select(inbox.c.guid, inbox.c.event).order_by(inbox.c.id).limit(most)
        with self._engine.connect() as db:
            return [(guid, json.loads(event)) for guid, event in db.execute(query)]

    def remove(self, guids: Sequence[str]) -> None:
        """Take out what the engine has."""
        with self._engine.begin() as db:
            db.execute(sa.delete(inbox).where(inbox.c.guid.in_(guids)))
