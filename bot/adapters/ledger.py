"""The ledger of outbound writes: what was meant, when it may go out, how often it was sent, what came of it."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import sqlalchemy as sa

from bot.adapters.database import writing
from bot.adapters.tables import writes
from bot.model import WriteLimits
from bot.ports import Json

STALE_SECONDS = 600.0
"""A turn this long past has lapsed."""


class SqlLedger:
    """`bot.ports.Ledger` on SQLAlchemy Core; safe for several processes on one database."""

    def __init__(self, engine: sa.Engine, limits: WriteLimits) -> None:
        self._engine = engine
        self._limits = limits

    def result(self, key: str) -> Json | None:
        with self._engine.connect() as db:
            row = db.execute(
                sa.select(writes.c.result).where(writes.c.key == key, writes.c.confirmed_at.is_not(None))
            ).first()
        return None if row is None else json.loads(row.result)

    def intend(self, key: str, kind: str, now: datetime) -> datetime:
        with writing(self._engine) as db:
            row = db.execute(sa.select(writes.c.intended_at).where(writes.c.key == key)).first()
            if row is None:
                db.execute(sa.insert(writes).values(key=key, kind=kind, intended_at=now.isoformat()))
        return now if row is None else datetime.fromisoformat(row.intended_at)

    def attempts(self, key: str) -> int:
        with self._engine.connect() as db:
            return int(db.execute(sa.select(writes.c.attempts).where(writes.c.key == key)).scalar_one())

    def sent(self, key: str) -> None:
        with self._engine.begin() as db:
            db.execute(sa.update(writes).where(writes.c.key == key).values(attempts=writes.c.attempts + 1))

    def refused(self, key: str) -> None:
        with self._engine.begin() as db:
            db.execute(sa.update(writes).where(writes.c.key == key).values(attempts=writes.c.attempts - 1))

    def reserve(self, key: str, identity: str, now: datetime) -> datetime:
        with writing(self._engine) as db:
            if db.dialect.name == "postgresql":
                db.execute(sa.text("SELECT pg_advisory_xact_lock(hashtext(:identity))"), {"identity": identity})
            slot = db.execute(sa.select(writes.c.slot).where(writes.c.key == key)).scalar_one()
            if slot is None or slot < now.timestamp() - STALE_SECONDS:
                # An outage leaves many turns unused; all of them taken at once would break the limits they keep.
                slot = self._next_slot(db, identity, now.timestamp())
                db.execute(sa.update(writes).where(writes.c.key == key).values(identity=identity, slot=slot))
        return datetime.fromtimestamp(slot, UTC)

    def _next_slot(self, db: sa.Connection, identity: str, now: float) -> float:
        """The first moment at which one more write breaks no limit, given every slot handed out before."""
        taken = (
            db.execute(
                sa.select(writes.c.slot)
                .where(writes.c.identity == identity, writes.c.slot > now - 3600)
                .order_by(writes.c.slot.desc())
                .limit(self._limits.per_hour)
            )
            .scalars()
            .all()
        )
        slot = now
        if taken:
            slot = max(slot, taken[0] + self._limits.spacing_seconds)
        if len(taken) >= self._limits.per_minute:
            slot = max(slot, taken[self._limits.per_minute - 1] + 60)
        if len(taken) >= self._limits.per_hour:
            slot = max(slot, taken[-1] + 3600)
        return slot

    def confirm(self, key: str, result: Json, now: datetime) -> None:
        with self._engine.begin() as db:
            db.execute(
                sa.update(writes)
                .where(writes.c.key == key)
                .values(confirmed_at=now.isoformat(), result=json.dumps(result, sort_keys=True))
            )
