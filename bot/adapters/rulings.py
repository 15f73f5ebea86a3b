"""The record of what people ruled. Rows are added and never changed; taking one back is a row too."""

from __future__ import annotations

import dataclasses

import sqlalchemy as sa

from bot.adapters.database import writing
from bot.adapters.tables import rulings
from bot.model import RunId
from bot.rulings import AlreadyUndone, Ruling

_FIELDS = tuple(one.name for one in dataclasses.fields(Ruling))


def add(engine: sa.Engine, run: RunId, ruling: Ruling) -> Ruling:
    """Keep a ruling; it gets its number.

    Raises:
        AlreadyUndone: it takes back what was taken back before, or is none of this run.
    """
    values = {name: getattr(ruling, name) for name in _FIELDS if name != "id"}
    with writing(engine) as db:
        if ruling.undoes is not None:
            own = sa.select(rulings.c.id).where(rulings.c.id == ruling.undoes, rulings.c.run == run)
            twice = sa.select(rulings.c.id).where(rulings.c.undoes == ruling.undoes)
            if db.execute(own).first() is None or db.execute(twice).first() is not None:
                raise AlreadyUndone(ruling.undoes)
        made = db.execute(sa.insert(rulings).values(run=run, **values).returning(rulings.c.id)).scalar_one()
    return dataclasses.replace(ruling, id=made)


def of_run(engine: sa.Engine, run: RunId) -> tuple[Ruling, ...]:
    """Every ruling about a run, oldest first."""
    columns = [rulings.c[name] for name in _FIELDS]
    with engine.connect() as db:
        rows = db.execute(sa.select(*columns).where(rulings.c.run == run).order_by(rulings.c.id)).all()
    return tuple(Ruling(*row) for row in rows)
