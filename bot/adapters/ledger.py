"""The ledger of outbound writes: what was meant, when it may go out, how often it was sent, what came of it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import sqlalchemy as sa

from bot import pacing
from bot.adapters.database import writing
from bot.adapters.tables import writes
from bot.model import Bucket, WriteLimits
from bot.ports import Json

STALE_SECONDS = 600.0
"""A turn this long past has lapsed."""


PACE = "turn"
"""The kind of a row that is no write, but a turn that was given out."""


@dataclass(frozen=True, slots=True)
class Queue:
    """Writes that are meant and not confirmed, and turns that lie ahead."""

    kinds: Mapping[str, int]
    next_at: datetime | None
    """The next turn that is given out already; None: nobody waits for one."""
    last_at: datetime | None
    oldest_at: datetime | None
    """When the first of those not confirmed was meant; None: there is none."""


def _pace_key(bucket: Bucket, key: str) -> str:
    return f"{PACE} {bucket.name}: {key}"


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

    def pace(self, key: str, buckets: Sequence[Bucket], now: datetime) -> datetime:
        at = now.timestamp()
        with writing(self._engine) as db:
            if db.dialect.name == "postgresql":
                db.execute(sa.text("SELECT pg_advisory_xact_lock(hashtext('pace'))"))
            kept = [self._kept(db, _pace_key(bucket, key)) for bucket in buckets]
            if all(slot is not None and slot >= at - STALE_SECONDS for slot in kept):
                return datetime.fromtimestamp(max((slot for slot in kept if slot is not None), default=at), UTC)
            slot = self._free_in_all(db, buckets, at)
            for bucket in buckets:
                self._keep(db, _pace_key(bucket, key), bucket.name, slot, now)
        return datetime.fromtimestamp(slot, UTC)

    def _kept(self, db: sa.Connection, key: str) -> float | None:
        slot: float | None = db.execute(sa.select(writes.c.slot).where(writes.c.key == key)).scalar_one_or_none()
        return slot

    def _keep(self, db: sa.Connection, key: str, name: str, slot: float, now: datetime) -> None:
        db.execute(sa.delete(writes).where(writes.c.key == key))
        stamp = now.isoformat()
        values = {"key": key, "kind": PACE, "identity": name, "slot": slot, "intended_at": stamp}
        db.execute(sa.insert(writes).values(values | {"confirmed_at": stamp, "result": "{}"}))

    def _free_in_all(self, db: sa.Connection, buckets: Sequence[Bucket], at: float) -> float:
        taken = [self._taken(db, bucket, at) for bucket in buckets]
        while True:
            free = max((pacing.free(slots, at, b.most, b.seconds) for b, slots in zip(buckets, taken, strict=True)))
            if free == at:
                return at
            at = free

    def _taken(self, db: sa.Connection, bucket: Bucket, at: float) -> Sequence[float]:
        recent = sa.select(writes.c.slot).where(writes.c.identity == bucket.name, writes.c.slot > at - bucket.seconds)
        return db.execute(recent.order_by(writes.c.slot)).scalars().all()

    def pending(self, now: datetime, run: str = "") -> Queue:
        """What is still to be written, and when, as far as that is known; of one run, or of all."""
        of_run = writes.c.key.contains(f" {run} ", autoescape=True) if run else sa.true()
        # What was given up stays unconfirmed; an hour after its turn, or after it was meant, it is no queue.
        lately = (now - timedelta(hours=1)).isoformat()
        waits = sa.or_(
            writes.c.slot > now.timestamp() - 3600, sa.and_(writes.c.slot.is_(None), writes.c.intended_at > lately)
        )
        columns = (writes.c.kind, writes.c.slot, writes.c.intended_at)
        unconfirmed = sa.select(*columns).where(of_run, writes.c.confirmed_at.is_(None), waits)
        ahead = (writes.c.kind == PACE, writes.c.slot > now.timestamp())
        paced = sa.select(*columns).where(of_run, *ahead)
        with self._engine.connect() as db:
            meant = db.execute(unconfirmed).all()
            rows = [*meant, *db.execute(paced)]
        later = sorted(row.slot for row in rows if row.slot is not None and row.slot > now.timestamp())
        kinds = Counter(row.kind for row in rows)
        moments = [datetime.fromtimestamp(slot, UTC) for slot in later]
        oldest = min((datetime.fromisoformat(row.intended_at) for row in meant), default=None)
        first, last = (moments[0], moments[-1]) if moments else (None, None)
        return Queue(dict(sorted(kinds.items())), first, last, oldest)

    def confirm(self, key: str, result: Json, now: datetime) -> None:
        with self._engine.begin() as db:
            db.execute(
                sa.update(writes)
                .where(writes.c.key == key)
                .values(confirmed_at=now.isoformat(), result=json.dumps(result, sort_keys=True))
            )
