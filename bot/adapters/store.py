"""Our own record of runs, forks, trials and snapshots, on SQLAlchemy Core."""

from __future__ import annotations

import functools
import hashlib
import json
import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from pydantic import TypeAdapter

from bot import logs
from bot.adapters import rulings
from bot.adapters.database import writing
from bot.adapters.tables import cursors, forks, runs, snapshots, trials
from bot.model import Asks, ForkId, Orders, RepoName, RunId, RunPlan, RunProgress, Settled, Snapshot
from bot.ports import ForkCommits, ForkRow, RunRow, TrialRow
from bot.rulings import Ruling
from scoring.model import PullId, ReviewerId, TrialStatus

LOG = logging.getLogger("assay.trials")
_PLAN = TypeAdapter(RunPlan)
_COMMITS = TypeAdapter(ForkCommits)
_SNAPSHOT = TypeAdapter(Snapshot)
_ORDERS = TypeAdapter(Orders)
FINISHED = ("done", "cancelled", "failed")


class SqlStore:
    """`bot.ports.Store` on SQLite or PostgreSQL."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    @property
    def ready(self) -> bool:
        """Whether the tables have been made; a starting App makes them a moment after the file."""
        return sa.inspect(self._engine).has_table(cursors.name)

    # --- runs ---------------------------------------------------------------------------------------------------

    def create_run(self, run: RunRow, reviewers: Sequence[ReviewerId]) -> bool:
        with writing(self._engine) as db:
            if db.execute(sa.select(runs.c.id).where(runs.c.id == run.id)).first() is not None:
                return False
            db.execute(sa.insert(runs).values(_run_values(run)))
            for position, fork in enumerate(run.plan.forks):
                key = {"run": run.id, "id": fork.id}
                db.execute(
                    sa.insert(forks).values(key | {"position": position, "pull_id": fork.pull, "state": "planned"})
                )
                for reviewer in fork.reviewers:
                    values = {"run": run.id, "fork": fork.id, "reviewer": reviewer}
                    db.execute(sa.insert(trials).values(values | {"position": reviewers.index(reviewer)}))
        return True

    def run(self, run: RunId) -> RunRow:
        with self._engine.connect() as db:
            return _run_row(db.execute(sa.select(runs).where(runs.c.id == run)).one())

    def find_run(self, run: RunId) -> RunRow | None:
        return next(iter(self._runs(runs.c.id == run)), None)

    def settled(self, wanted: Sequence[RunId]) -> Mapping[RunId, Mapping[str, int]]:
        key = (trials.c.run, trials.c.status)
        chosen = trials.c.run == wanted[0] if len(wanted) == 1 else sa.true()
        query = sa.select(*key, sa.func.count()).where(trials.c.status.is_not(None), chosen).group_by(*key)
        found: dict[RunId, dict[str, int]] = {run: {} for run in wanted}
        with self._engine.connect() as db:
            for run, status, count in db.execute(query.order_by(*key)):
                found.setdefault(RunId(run), {})[status] = count
        return found

    def runs_of_issue(self, issue_id: int) -> tuple[RunRow, ...]:
        return self._runs(runs.c.issue_id == issue_id)

    def active_runs(self) -> tuple[RunRow, ...]:
        return self._runs(runs.c.stage.not_in(FINISHED))

    def all_runs(self) -> tuple[RunRow, ...]:
        """Every run, oldest first."""
        return self._runs(sa.true())

    def _runs(self, condition: sa.ColumnElement[bool]) -> tuple[RunRow, ...]:
        with self._engine.connect() as db:
            rows = db.execute(sa.select(runs).where(condition).order_by(runs.c.created_at, runs.c.id)).all()
        return tuple(_run_row(row) for row in rows)

    def set_stage(self, run: RunId, stage: str, note: str = "") -> None:
        with self._engine.begin() as db:
            db.execute(sa.update(runs).where(runs.c.id == run).values(stage=stage, note=note))

    def advance(self, run: RunId, from_stages: Sequence[str], to: str) -> bool:
        with self._engine.begin() as db:
            moved = db.execute(sa.update(runs).where(runs.c.id == run, runs.c.stage.in_(from_stages)).values(stage=to))
        return moved.rowcount == 1

    def mark_ended(self, now: datetime) -> None:
        with self._engine.begin() as db:
            over = (runs.c.stage.in_(FINISHED), runs.c.ended_at.is_(None))
            db.execute(sa.update(runs).where(*over).values(ended_at=now.isoformat()))

    def ended_runs(self, before: datetime) -> tuple[RunRow, ...]:
        unsettled = sa.select(forks.c.run).where(forks.c.retired == "")
        # Times are UTC and written in one way, so that their texts compare as they do.
        return self._runs(sa.and_(runs.c.ended_at < before.isoformat(), runs.c.id.in_(unsettled)))

    def extend(self, run: RunId, order: str, minutes: float) -> RunRow:
        def extended(orders: Orders) -> Orders:
            return replace(orders, extended=tuple((dict(orders.extended) | {order: minutes}).items()))

        self._order(run, extended)
        return self.run(run)

    def judged_by(self, run: RunId, judges: Sequence[str]) -> None:
        self._order(run, lambda orders: replace(orders, judges=tuple(dict.fromkeys((*orders.judges, *judges)))))

    def _order(self, run: RunId, change: Callable[[Orders], Orders]) -> None:
        with writing(self._engine) as db:
            row = db.execute(sa.select(runs.c.orders).where(runs.c.id == run).with_for_update()).scalar_one()
            orders = _ORDERS.dump_json(change(_ORDERS.validate_json(row))).decode()
            db.execute(sa.update(runs).where(runs.c.id == run).values(orders=orders))

    def save_report(self, run: RunId, report: str, report_hash: str) -> None:
        with self._engine.begin() as db:
            db.execute(sa.update(runs).where(runs.c.id == run).values(report=report, report_hash=report_hash))

    def report(self, run: RunId) -> str | None:
        with self._engine.connect() as db:
            report: str | None = db.execute(sa.select(runs.c.report).where(runs.c.id == run)).scalar_one()
        return report

    def add_ruling(self, run: RunId, ruling: Ruling) -> Ruling:
        return rulings.add(self._engine, run, ruling)

    def rulings(self, run: RunId) -> tuple[Ruling, ...]:
        return rulings.of_run(self._engine, run)

    def progress(self, run: RunId) -> RunProgress:
        row = self.run(run)
        fork_rows = self.forks(run)
        state = {fork.id: fork.state for fork in fork_rows}
        counts = Counter(
            trial.status.value if trial.status else ("queued" if state[trial.fork] == "planned" else "waiting")
            for trial in self.trials(run)
        )
        return RunProgress(
            stage=row.stage,
            forks=len(fork_rows),
            forks_open=sum(fork.state in ("planned", "open") for fork in fork_rows),
            trials_by_status=dict(sorted(counts.items())),
            warnings=row.plan.warnings,
            started=row.created_at,
            note=row.note,
        )

    # --- forks --------------------------------------------------------------------------------------------------

    def forks(self, run: RunId) -> tuple[ForkRow, ...]:
        with self._engine.connect() as db:
            rows = db.execute(sa.select(forks).where(forks.c.run == run).order_by(forks.c.position)).all()
        return tuple(_fork_row(row) for row in rows)

    def fork(self, run: RunId, fork: ForkId) -> ForkRow:
        with self._engine.connect() as db:
            return _fork_row(db.execute(sa.select(forks).where(forks.c.run == run, forks.c.id == fork)).one())

    def fork_by_repo(self, repo: RepoName) -> ForkRow | None:
        with self._engine.connect() as db:
            row = db.execute(sa.select(forks).where(forks.c.repo_key == str(repo).lower())).first()
        return None if row is None else _fork_row(row)

    def fork_by_repo_id(self, repo_id: int) -> ForkRow | None:
        with self._engine.connect() as db:
            row = db.execute(sa.select(forks).where(forks.c.repo_id == repo_id)).first()
        return None if row is None else _fork_row(row)

    def cursor(self, name: str) -> str | None:
        with self._engine.connect() as db:
            value: str | None = db.execute(
                sa.select(cursors.c.value).where(cursors.c.name == name)
            ).scalar_one_or_none()
        return value

    def set_cursor(self, name: str, value: str) -> None:
        with writing(self._engine) as db:
            if not db.execute(sa.update(cursors).where(cursors.c.name == name).values(value=value)).rowcount:
                db.execute(sa.insert(cursors).values(name=name, value=value))

    def fork_opened(self, fork: ForkRow, asks: Mapping[ReviewerId, datetime]) -> None:
        with self._engine.begin() as db:
            where = (forks.c.run == fork.run, forks.c.id == fork.id, forks.c.state.in_(("planned", "open")))
            db.execute(sa.update(forks).where(*where).values(_fork_values(fork)))
            for reviewer, at in asks.items():
                db.execute(
                    sa.update(trials)
                    .where(*_trial_key(fork.run, fork.id, reviewer), trials.c.asks == "[]")
                    .values(asks=json.dumps([at.isoformat()]))
                )

    def set_fork_state(self, run: RunId, fork: ForkId, state: str, problem: str = "") -> None:
        with self._engine.begin() as db:
            values = {"state": state} | ({"problem": problem} if problem else {})
            db.execute(sa.update(forks).where(forks.c.run == run, forks.c.id == fork).values(values))

    def retire(self, run: RunId, fork: ForkId, how: str) -> None:
        with self._engine.begin() as db:
            db.execute(sa.update(forks).where(forks.c.run == run, forks.c.id == fork).values(retired=how))

    def set_wake(self, run: RunId, fork: ForkId, at: datetime) -> None:
        with self._engine.begin() as db:
            where = (forks.c.run == run, forks.c.id == fork)
            db.execute(sa.update(forks).where(*where).values(wake_at=at.isoformat()))

    # --- trials -------------------------------------------------------------------------------------------------

    def trials(self, run: RunId, fork: ForkId | None = None) -> tuple[TrialRow, ...]:
        query = (
            sa.select(trials)
            .join(forks, sa.and_(forks.c.run == trials.c.run, forks.c.id == trials.c.fork))
            .where(trials.c.run == run)
            .order_by(forks.c.position, trials.c.position)
        )
        if fork is not None:
            query = query.where(trials.c.fork == fork)
        with self._engine.connect() as db:
            return tuple(_trial_row(row) for row in db.execute(query).all())

    def settle(
        self, run: RunId, fork: ForkId, reviewer: ReviewerId, settled: Settled, at: datetime, snapshot: int | None
    ) -> bool:
        with self._engine.begin() as db:
            done = db.execute(
                sa.update(trials)
                .where(*_trial_key(run, fork, reviewer), trials.c.status.is_(None))
                .values(
                    status=settled.status.value,
                    complete=settled.complete,
                    reason=settled.reason,
                    settled_at=at.isoformat(),
                    snapshot=snapshot,
                )
            )
        if done.rowcount == 1:
            with logs.about(run=run, fork=fork, reviewer=reviewer):
                LOG.info("settled as %s", settled.status.value)
        return done.rowcount == 1

    def asked(self, run: RunId, fork: ForkId, reviewer: ReviewerId, at: datetime) -> None:
        key = _trial_key(run, fork, reviewer)
        with writing(self._engine) as db:
            asks = json.loads(db.execute(sa.select(trials.c.asks).where(*key).with_for_update()).scalar_one())
            db.execute(sa.update(trials).where(*key).values(asks=json.dumps(sorted({*asks, at.isoformat()}))))

    # --- snapshots ----------------------------------------------------------------------------------------------

    def keep_snapshot(self, run: RunId, fork: ForkId, snapshot: Snapshot) -> int | None:
        body = _SNAPSHOT.dump_json(snapshot).decode()
        content = _content_hash(body)
        read_started = snapshot.read_started.isoformat()
        key = (snapshots.c.run == run, snapshots.c.fork == fork)
        with writing(self._engine) as db:
            # Looks at one fork may overlap: here they take turns.
            db.execute(sa.select(forks.c.id).where(forks.c.run == run, forks.c.id == fork).with_for_update())
            last = db.execute(sa.select(snapshots).where(*key).order_by(snapshots.c.version.desc()).limit(1)).first()
            if last is not None and datetime.fromisoformat(last.read_started) > snapshot.read_started:
                return None
            if last is not None and last.content_hash == content:
                newest = (*key, snapshots.c.version == last.version)
                db.execute(sa.update(snapshots).where(*newest).values(read_started=read_started))
                return int(last.version)
            version = 1 if last is None else int(last.version) + 1
            db.execute(
                sa.insert(snapshots).values(
                    run=run,
                    fork=fork,
                    version=version,
                    read_started=read_started,
                    content_hash=content,
                    body=body,
                )
            )
        return version

    def snapshots(self, run: RunId, fork: ForkId) -> tuple[Snapshot, ...]:
        query = (
            sa.select(snapshots.c.body)
            .where(snapshots.c.run == run, snapshots.c.fork == fork)
            .order_by(snapshots.c.version)
        )
        with self._engine.connect() as db:
            return tuple(_SNAPSHOT.validate_json(body) for body in db.execute(query).scalars())


def _content_hash(body: str) -> str:
    """The hash of what was read, whenever it was read."""
    content = json.loads(body)
    del content["read_started"]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _trial_key(run: RunId, fork: ForkId, reviewer: ReviewerId) -> tuple[sa.ColumnElement[bool], ...]:
    return (trials.c.run == run, trials.c.fork == fork, trials.c.reviewer == reviewer)


def _run_values(run: RunRow) -> dict[str, Any]:
    return {
        "id": run.id,
        "issue_id": run.issue_id,
        "installation": run.installation,
        "control_repo": str(run.control_repo),
        "issue": run.issue,
        "public": run.public,
        "plan": _PLAN.dump_json(run.plan).decode(),
        "secret": run.secret.hex(),
        "stage": run.stage,
        "created_at": run.created_at.isoformat(),
    }


@functools.lru_cache(maxsize=512)
def _plan(text: str) -> RunPlan:
    """A plan never changes, and the list of runs reads all of them."""
    return _PLAN.validate_json(text)


def _run_row(row: sa.Row[Any]) -> RunRow:
    return RunRow(
        id=RunId(row.id),
        issue_id=row.issue_id,
        installation=row.installation,
        control_repo=RepoName.parse(row.control_repo),
        issue=row.issue,
        public=row.public,
        plan=_plan(row.plan),
        secret=bytes.fromhex(row.secret),
        stage=row.stage,
        created_at=datetime.fromisoformat(row.created_at),
        note=row.note,
        report_hash=row.report_hash,
        ended_at=datetime.fromisoformat(row.ended_at) if row.ended_at else None,
        orders=_ORDERS.validate_json(row.orders),
    )


def _fork_values(fork: ForkRow) -> dict[str, Any]:
    return {
        "state": fork.state,
        "repo": str(fork.repo) if fork.repo else None,
        "repo_key": str(fork.repo).lower() if fork.repo else None,
        "repo_id": fork.repo_id,
        "pull": fork.pull,
        "commits": _COMMITS.dump_json(fork.commits).decode() if fork.commits else None,
        "opened_at": fork.opened_at.isoformat() if fork.opened_at else None,
    }


def _fork_row(row: sa.Row[Any]) -> ForkRow:
    return ForkRow(
        run=RunId(row.run),
        id=ForkId(row.id),
        pull_id=PullId(row.pull_id),
        state=row.state,
        repo=RepoName.parse(row.repo) if row.repo else None,
        repo_id=row.repo_id,
        pull=row.pull,
        commits=_COMMITS.validate_json(row.commits) if row.commits else None,
        problem=row.problem,
        opened_at=datetime.fromisoformat(row.opened_at) if row.opened_at else None,
        wake_at=datetime.fromisoformat(row.wake_at) if row.wake_at else None,
        retired=row.retired,
    )


def _trial_row(row: sa.Row[Any]) -> TrialRow:
    asks = tuple(datetime.fromisoformat(at) for at in json.loads(row.asks))
    return TrialRow(
        fork=ForkId(row.fork),
        reviewer=ReviewerId(row.reviewer),
        status=TrialStatus(row.status) if row.status else None,
        complete=row.complete,
        reason=row.reason,
        asks=Asks(asks) if asks else None,
        snapshot=row.snapshot,
    )
