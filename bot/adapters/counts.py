"""Counts of everything, for an operator's monitor: four questions, however many runs there are."""

from __future__ import annotations

from collections.abc import Mapping

import sqlalchemy as sa

from bot.adapters.store import FINISHED
from bot.adapters.tables import forks, runs, trials


class SqlCounts:
    """Runs by stage, trials by status."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def runs(self) -> Mapping[str, int]:
        """Stage -> how many runs."""
        return self._counted(sa.select(runs.c.stage, sa.func.count()).group_by(runs.c.stage))

    def under_way(self) -> tuple[str, ...]:
        """The runs that have not ended."""
        with self._engine.connect() as db:
            return tuple(db.execute(sa.select(runs.c.id).where(runs.c.stage.not_in(FINISHED))).scalars())

    def trials(self) -> Mapping[str, int]:
        """Status -> how many trials; one that is open is `queued` until its fork is made, then `waiting`."""
        open_yet = sa.case((forks.c.state == "planned", "queued"), else_="waiting")
        status = sa.func.coalesce(trials.c.status, open_yet).label("standing")
        joined = trials.join(forks, sa.and_(forks.c.run == trials.c.run, forks.c.id == trials.c.fork))
        return self._counted(sa.select(status, sa.func.count()).select_from(joined).group_by(sa.text("standing")))

    def _counted(self, query: sa.Executable) -> Mapping[str, int]:
        with self._engine.connect() as db:
            return {row[0]: row[1] for row in db.execute(query)}
