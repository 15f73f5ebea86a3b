"""The runs of a database as pages: few questions however many runs, and nothing of a run that is not one's own."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot.adapters.database import open_engine, upgrade
from bot.adapters.store import SqlStore
from bot.model import RepoName, RunId, Settled
from bot.pages import views, views_board, views_reviewers
from bot.pages.links import ServedLinks, slug
from bot.ports import RunRow
from bot.web.records import Records
from scoring.model import TrialStatus
from tests.bot.render_world import plan
from tests.pages.world import made_bundle, read, write

NOW = datetime(2026, 1, 2, 10, tzinfo=UTC)
LINKS = ServedLinks()


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[sa.Engine]:
    made = open_engine(f"sqlite:///{tmp_path / 'app.db'}")
    upgrade(made)
    yield made
    made.dispose()


def add(store: SqlStore, name: str, control: str = "control", at: datetime = NOW) -> RunRow:
    asked = plan()
    row = RunRow(RunId(name), 700, 5, RepoName("acme", control), 12, asked, b"s" * 32, "waiting", at, public=False)
    assert store.create_run(row, asked.request.reviewers)
    return row


@contextmanager
def questions(engine: sa.Engine) -> Iterator[list[str]]:
    """Every statement that is sent to the database meanwhile."""
    asked: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        asked.append(statement)

    sa.event.listen(engine, "before_cursor_execute", note)
    try:
        yield asked
    finally:
        sa.event.remove(engine, "before_cursor_execute", note)


def library(engine: sa.Engine, folder: Path, seen: str = "control") -> Records:
    return Records(SqlStore(engine), folder, "https://forge.example", lambda row: row.control_repo.name == seen)


@pytest.mark.parametrize("count", [1, 40])
def test_the_list_of_runs_takes_two_questions_however_many_runs_there_are(
    engine: sa.Engine, tmp_path: Path, count: int
) -> None:
    for at in range(count):
        add(SqlStore(engine), f"run-{at}", at=NOW + timedelta(minutes=at))
    with questions(engine) as asked:
        text = views.runs(library(engine, tmp_path), LINKS)
    assert len(asked) == 2
    assert f"{count} run" in read(text).text


def test_every_page_takes_few_questions_and_no_more_with_more_runs(engine: sa.Engine, tmp_path: Path) -> None:
    store = SqlStore(engine)
    write(made_bundle(4), tmp_path / "run-0")
    reviewer = str(plan().request.reviewers[0])
    pages: dict[str, Callable[[Records], str]] = {
        "run": lambda held: views.run(held, LINKS, "run-0"),
        "leaderboard": lambda held: views_board.leaderboard(held, LINKS, "run-0"),
        "compare": lambda held: views_board.compare(held, LINKS, "run-0"),
        "overlap": lambda held: views_board.overlap(held, LINKS, "run-0"),
        "reviewers": lambda held: views_reviewers.reviewers(held, LINKS),
        "reviewer": lambda held: views_reviewers.reviewer(held, LINKS, slug(reviewer)),
    }
    taken: dict[str, list[int]] = {name: [] for name in pages}
    for at in range(12):
        add(store, f"run-{at}", at=NOW + timedelta(minutes=at))
        if at:
            shutil.copytree(tmp_path / "run-0", tmp_path / f"run-{at}")
        if at not in (0, 11):
            continue
        for name, page in pages.items():
            with questions(engine) as asked:
                page(library(engine, tmp_path))
            taken[name].append(len(asked))
    assert all(few == many <= 8 for few, many in taken.values()), taken


def test_trials_that_are_over_are_counted_by_status_and_the_others_are_open(engine: sa.Engine, tmp_path: Path) -> None:
    store = SqlStore(engine)
    row = add(store, "run-1")
    trial = store.trials(row.id)[0]
    assert store.settle(row.id, trial.fork, trial.reviewer, Settled(TrialStatus.SKIPPED, True, "too large"), NOW, None)
    card = library(engine, tmp_path).card("run-1")
    assert card is not None
    assert card.trials_by_status == {"skipped": 1}
    assert card.open_trials == row.plan.trials - 1
    page = read(views.run(library(engine, tmp_path), LINKS, "run-1"))
    (bar,) = page.all("progress")
    assert (bar["value"], bar["max"]) == ("1", str(row.plan.trials))


def test_a_run_under_way_is_watched_and_one_that_is_over_is_not(engine: sa.Engine, tmp_path: Path) -> None:
    store = SqlStore(engine)
    add(store, "run-1")
    held = library(engine, tmp_path)
    assert 'sse-connect="/runs/run-1/events"' in views.run(held, LINKS, "run-1")
    store.set_stage(RunId("run-1"), "done")
    text = views.run(held, LINKS, "run-1")
    assert "sse-connect" not in text
    assert "There is no evidence to count" in text


def test_a_run_of_somebody_elses_control_repository_is_not_there(engine: sa.Engine, tmp_path: Path) -> None:
    add(SqlStore(engine), "run-1", "theirs")
    write(made_bundle(2), tmp_path / "run-1")
    held = library(engine, tmp_path)
    assert held.runs() == ()
    assert held.analysis("run-1") is None
    assert held.board("run-1") is None
    assert held.judges("run-1") == ()
    for page in (views.run, views.progress, views_board.leaderboard, views_board.overlap):
        with pytest.raises(views.NotThere):
            page(held, LINKS, "run-1")


def test_rights_that_were_lost_end_what_was_read_before(engine: sa.Engine, tmp_path: Path) -> None:
    add(SqlStore(engine), "run-1")
    write(made_bundle(2), tmp_path / "run-1")
    rights = {"control"}
    held = Records(SqlStore(engine), tmp_path, "", lambda row: row.control_repo.name in rights)
    assert held.runs()
    rights.clear()
    assert held.analysis("run-1") is None


def test_new_answers_in_a_bundle_are_seen_at_once(engine: sa.Engine, tmp_path: Path) -> None:
    add(SqlStore(engine), "run-1")
    held, made = library(engine, tmp_path), made_bundle(2, plan={"judge": "model-x"})
    write(made, tmp_path / "run-1")
    assert held.judges("run-1") == ("model-x",)
    write(replace(made, judgements=(*made.judgements, replace(made.judgements[0], judge="human"))), tmp_path / "run-1")
    assert held.judges("run-1") == ("model-x", "human")


def test_evidence_that_was_changed_is_said_and_does_not_take_the_page_down(engine: sa.Engine, tmp_path: Path) -> None:
    add(SqlStore(engine), "run-1")
    folder = write(made_bundle(2), tmp_path / "run-1")
    (folder / "trials.json").write_text("[]")
    page = read(views.run(library(engine, tmp_path), LINKS, "run-1"))
    assert "cannot be counted" in page.text
    assert "differs from its hash" in page.text
