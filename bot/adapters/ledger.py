"""The ledger of outbound writes: what was meant, when it may go out, how often it was sent, what came of it."""

from __future__ import annotations

import json
import logging
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

LOG = logging.getLogger("assay.workers")
STALE_SECONDS = 600.0
"""A turn this long past has lapsed."""
SET_BACK_SECONDS = 60.0
"""A stamp of ours that lies farther ahead was made before the clock was set back; less may be two hosts' clocks."""
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

    def sent(self, key: str, now: datetime) -> datetime | None:
        at = now.timestamp()
        with writing(self._engine) as db:
            identity = db.execute(sa.select(writes.c.identity).where(writes.c.key == key)).scalar_one()
            _take_turns(db, identity)
            _undo_set_back(db, identity, now)
            # Who comes late finds others in front of it: what counts is when writes went out, not when they were to.
            slot = self._next_slot(db, identity, at, key, writes.c.attempts > 0)
            if slot > at:
                return datetime.fromtimestamp(slot, UTC)
            db.execute(sa.update(writes).where(writes.c.key == key).values(attempts=writes.c.attempts + 1, slot=at))
        return None

    def refused(self, key: str) -> None:
        with self._engine.begin() as db:
            db.execute(sa.update(writes).where(writes.c.key == key).values(attempts=writes.c.attempts - 1))

    def reserve(self, key: str, identity: str, now: datetime) -> datetime:
        at = now.timestamp()
        with writing(self._engine) as db:
            _take_turns(db, identity)
            _undo_set_back(db, identity, now)
            slot = db.execute(sa.select(writes.c.slot).where(writes.c.key == key)).scalar_one()
            first = self._next_slot(db, identity, at, key)
            # An outage leaves many turns unused; all of them taken at once would break the limits they keep. And one
            # that is farther away than all the others put it was given by a clock that was wrong.
            if slot is None or not at - STALE_SECONDS <= slot <= first:
                slot = first
                db.execute(sa.update(writes).where(writes.c.key == key).values(identity=identity, slot=slot))
        return datetime.fromtimestamp(slot, UTC)

    def _next_slot(self, db: sa.Connection, identity: str, at: float, key: str, *only: sa.ColumnElement[bool]) -> float:
        """The first moment from `at` on at which one more write breaks no limit, given every other's turn."""
        others = (writes.c.identity == identity, writes.c.slot > at - 3600, writes.c.key != key, *only)
        latest = sa.select(writes.c.slot).where(*others).order_by(writes.c.slot.desc()).limit(1)
        slot, limits = at, self._limits
        for most, seconds in ((1, limits.spacing_seconds), (limits.per_minute, 60), (limits.per_hour, 3600)):
            before = db.execute(latest.offset(most - 1)).scalar_one_or_none()
            if before is not None:
                slot = max(slot, before + seconds)
        return slot

    def pace(self, key: str, buckets: Sequence[Bucket], now: datetime) -> datetime:
        at = now.timestamp()
        with writing(self._engine) as db:
            _take_turns(db, "pace")
            for bucket in buckets:
                _undo_set_back(db, bucket.name, now)
            kept = [self._kept(db, _pace_key(bucket, key)) for bucket in buckets]
            slot = self._free_in_all(db, key, buckets, at)
            if all(one is not None and at - STALE_SECONDS <= one <= slot for one in kept):
                return datetime.fromtimestamp(max((one for one in kept if one is not None), default=at), UTC)
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

    def _free_in_all(self, db: sa.Connection, key: str, buckets: Sequence[Bucket], at: float) -> float:
        taken = [self._taken(db, key, bucket, at) for bucket in buckets]
        while True:
            free = max(
                (pacing.free(slots, at, b.most, b.seconds) for b, slots in zip(buckets, taken, strict=True)), default=at
            )
            if free == at:
                return at
            at = free

    def _taken(self, db: sa.Connection, key: str, bucket: Bucket, at: float) -> Sequence[float]:
        recent = (writes.c.identity == bucket.name, writes.c.slot > at - bucket.seconds)
        others = sa.select(writes.c.slot).where(*recent, writes.c.key != _pace_key(bucket, key))
        return db.execute(others.order_by(writes.c.slot)).scalars().all()

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


def _take_turns(db: sa.Connection, name: str) -> None:
    if db.dialect.name == "postgresql":
        db.execute(sa.text("SELECT pg_advisory_xact_lock(hashtext(:name))"), {"name": name})


def _undo_set_back(db: sa.Connection, identity: str, now: datetime) -> None:
    """Move all turns back where a clock was set back since they were given; else all would wait until it has caught up.

    That it was is proved by what was done at a moment which is yet to come. The distances between turns stay as they
    are. A clock that is set forward cannot be told from an outage: the time it skips counts as waited.
    """
    at = now.timestamp()
    meant, done, gone = db.execute(
        sa.select(
            sa.func.max(writes.c.intended_at),
            sa.func.max(writes.c.confirmed_at),
            sa.func.max(sa.case((writes.c.attempts > 0, writes.c.slot))),
        ).where(writes.c.identity == identity, writes.c.slot > at)
    ).one()
    stamps = [datetime.fromisoformat(stamp).timestamp() for stamp in (meant, done) if stamp is not None]
    back = max([*stamps, gone or at], default=at) - at
    if back <= SET_BACK_SECONDS:
        return
    LOG.warning("the clock was set back by %.0f s; what %s waits for moves with it", back, identity)
    rows = writes.c.identity == identity
    db.execute(sa.update(writes).where(rows).values(slot=writes.c.slot - back))
    for column in (writes.c.intended_at, writes.c.confirmed_at):
        db.execute(sa.update(writes).where(rows, column > now.isoformat()).values({column: now.isoformat()}))
