"""Our own record: nothing is written twice, nothing that ended begins again, whatever order the looks come in."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot.adapters.database import open_engine, upgrade
from bot.adapters.store import SqlStore
from bot.adapters.tables import metadata
from bot.model import ForkId, RepoName, RunId, Settled, Sha, Snapshot
from bot.ports import ForkCommits, RunRow
from scoring.model import ReviewerId, TrialStatus
from tests.bot import talk
from tests.bot.render_world import plan

NOW = datetime(2026, 1, 2, 10, tzinfo=UTC)
RUN = RunId("700-1")
SETTLED = Settled(TrialStatus.REVIEWED_FINDINGS, True, "done signal")


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[sa.Engine]:
    made = open_engine(f"sqlite:///{tmp_path / 'app.db'}")
    upgrade(made)
    yield made
    made.dispose()


@pytest.fixture
def store(engine: sa.Engine) -> SqlStore:
    made = SqlStore(engine)
    assert made.create_run(row(), row().plan.request.reviewers)
    return made


def row() -> RunRow:
    return RunRow(RUN, 700, 5, RepoName("acme", "control"), 12, plan(), b"s" * 32, "forking", NOW, public=False)


def first(store: SqlStore) -> tuple[ForkId, ReviewerId]:
    trial = store.trials(RUN)[0]
    return trial.fork, trial.reviewer


def test_a_run_comes_back_as_it_was_stored(store: SqlStore) -> None:
    assert store.run(RUN) == row()
    assert [fork.id for fork in store.forks(RUN)] == [fork.id for fork in row().plan.forks]
    assert len(store.trials(RUN)) == row().plan.trials


def test_a_run_that_is_there_is_not_written_again(store: SqlStore) -> None:
    assert not store.create_run(replace(row(), stage="planned"), row().plan.request.reviewers)
    assert store.run(RUN).stage == "forking"


def test_a_settled_trial_never_reopens(store: SqlStore) -> None:
    fork, reviewer = first(store)
    assert store.settle(RUN, fork, reviewer, SETTLED, NOW, 1)
    assert not store.settle(RUN, fork, reviewer, Settled(TrialStatus.TIMEOUT, False, "no answer"), NOW, 2)
    trial = store.trials(RUN, fork)[0]
    assert (trial.status, trial.snapshot, trial.reason) == (TrialStatus.REVIEWED_FINDINGS, 1, "done signal")


def snapshot(seconds: int, body: str = "hello") -> Snapshot:
    comments = (talk.comment(1, "acme-reviewer[bot]", body, "10:05:00"),)
    repo = RepoName("acme", "svc-4k2p9d")
    return Snapshot(repo, 1, "c" * 40, NOW + timedelta(seconds=seconds), {"head": {}}, issue_comments=comments)


def test_a_look_that_began_earlier_does_not_overwrite_a_later_one(store: SqlStore) -> None:
    fork, _ = first(store)
    assert store.keep_snapshot(RUN, fork, snapshot(10, "new")) == 1
    assert store.keep_snapshot(RUN, fork, snapshot(5, "old")) is None
    assert [kept.issue_comments[0]["body"] for kept in store.snapshots(RUN, fork)] == ["new"]


def test_the_same_conversation_is_one_version_however_often_it_is_read(store: SqlStore) -> None:
    fork, _ = first(store)
    assert store.keep_snapshot(RUN, fork, snapshot(1)) == 1
    assert store.keep_snapshot(RUN, fork, snapshot(9)) == 1
    assert store.keep_snapshot(RUN, fork, snapshot(10, "edited")) == 2
    assert store.keep_snapshot(RUN, fork, snapshot(8)) is None
    assert len(store.snapshots(RUN, fork)) == 2


def test_opening_a_fork_twice_keeps_the_first_asks(store: SqlStore) -> None:
    fork, reviewer = first(store)
    commits = ForkCommits(Sha("1" * 40), Sha("2" * 40), Sha("3" * 40), Sha("4" * 40), "5" * 40)
    made = replace(
        store.fork(RUN, fork), state="open", repo=RepoName("Acme", "Svc"), repo_id=9, pull=1, commits=commits
    )
    store.fork_opened(made, {reviewer: NOW})
    store.fork_opened(made, {reviewer: NOW + timedelta(minutes=5)})
    asks = store.trials(RUN, fork)[0].asks
    assert asks is not None
    assert asks.at == (NOW,)
    found = store.fork_by_repo(RepoName("acme", "svc"))
    assert found is not None
    assert found.commits == commits


def test_looks_at_a_fork_that_overlap_are_each_kept_or_refused(store: SqlStore) -> None:
    fork, _ = first(store)
    with ThreadPoolExecutor(6) as threads:
        kept = list(threads.map(lambda n: store.keep_snapshot(RUN, fork, snapshot(n, f"look {n}")), range(12)))
    versions = [version for version in kept if version is not None]
    assert len(set(versions)) == len(versions)
    bodies = [one.issue_comments[0]["body"] for one in store.snapshots(RUN, fork)]
    assert bodies == sorted(bodies, key=lambda body: int(body.removeprefix("look ")))
    assert bodies[-1] == "look 11"


def test_asking_again_is_remembered_once(store: SqlStore) -> None:
    fork, reviewer = first(store)
    for _ in range(2):
        store.asked(RUN, fork, reviewer, NOW)
    store.asked(RUN, fork, reviewer, NOW + timedelta(minutes=1))
    asks = store.trials(RUN, fork)[0].asks
    assert asks is not None
    assert asks.at == (NOW, NOW + timedelta(minutes=1))


def test_a_run_advances_from_where_it_is_and_from_nowhere_else(store: SqlStore) -> None:
    assert store.advance(RUN, ["forking"], "waiting")
    assert not store.advance(RUN, ["forking"], "waiting")
    assert [run.id for run in store.active_runs()] == [RUN]
    store.set_stage(RUN, "cancelled", "by hand")
    assert store.active_runs() == ()
    assert store.run(RUN).note == "by hand"


def test_progress_counts_every_trial_once(store: SqlStore) -> None:
    fork, reviewer = first(store)
    store.set_fork_state(RUN, fork, "open")
    store.settle(RUN, fork, reviewer, SETTLED, NOW, 1)
    progress = store.progress(RUN)
    assert sum(progress.trials_by_status.values()) == row().plan.trials
    assert progress.trials_by_status["reviewed_findings"] == 1
    assert progress.forks_open == len(row().plan.forks)


def test_the_migrations_make_exactly_the_tables_that_the_code_uses(engine: sa.Engine) -> None:
    inspector = sa.inspect(engine)
    assert set(inspector.get_table_names()) == {*metadata.tables, "alembic_version"}
    for table in metadata.sorted_tables:
        made = {column["name"]: column["nullable"] for column in inspector.get_columns(table.name)}
        assert made == {column.name: bool(column.nullable) for column in table.columns}
        assert {i["name"] for i in inspector.get_indexes(table.name)} == {i.name for i in table.indexes}


def test_sqlite_is_opened_for_durability(engine: sa.Engine) -> None:
    with engine.connect() as db:
        assert db.exec_driver_sql("PRAGMA journal_mode").scalar_one() == "wal"
        assert db.exec_driver_sql("PRAGMA synchronous").scalar_one() == 2
        assert db.exec_driver_sql("SELECT unixepoch('subsec')").scalar_one() > 1_700_000_000


# --- after a run has begun, and ended ---------------------------------------------------------------------------


def test_an_order_moves_the_deadlines_once_however_often_it_is_carried_out(store: SqlStore) -> None:
    store.extend(RUN, "comment 1", 30)
    store.extend(RUN, "comment 1", 30)
    assert store.extend(RUN, "comment 2", 10).orders.extra_seconds == 40 * 60


def test_judges_are_noted_once_and_in_their_order(store: SqlStore) -> None:
    store.judged_by(RUN, ["lexical/2", "litellm:a/b"])
    store.judged_by(RUN, ["litellm:a/b", "lexical/2"])
    store.extend(RUN, "comment 1", 5)
    assert store.run(RUN).orders.judges == ("lexical/2", "litellm:a/b")
    assert store.run(RUN).orders.extra_seconds == 300


def test_a_run_that_ended_is_due_once_its_time_has_come_and_until_every_fork_is_decided(store: SqlStore) -> None:
    store.mark_ended(NOW)
    assert store.ended_runs(NOW + timedelta(days=99)) == ()
    store.set_stage(RUN, "done")
    store.mark_ended(NOW)
    store.mark_ended(NOW + timedelta(days=5))
    assert store.run(RUN).ended_at == NOW
    assert store.ended_runs(NOW) == ()
    assert [run.id for run in store.ended_runs(NOW + timedelta(seconds=1))] == [RUN]
    first, *rest = store.forks(RUN)
    store.retire(RUN, first.id, "archived")
    assert [run.id for run in store.ended_runs(NOW + timedelta(days=1))] == [RUN]
    for fork in rest:
        store.retire(RUN, fork.id, "kept")
    assert store.ended_runs(NOW + timedelta(days=1)) == ()
    assert store.fork(RUN, first.id).retired == "archived"
