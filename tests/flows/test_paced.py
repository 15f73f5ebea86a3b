"""Repositories are made, and reviewers asked, no faster than they may be, over however long a time."""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from bot import inspect
from bot.settings import load_settings
from tests.flows.foreign import Foreign, Json, Repo
from tests.flows.test_bots import entry, nobody, registry, rows
from tests.flows.test_foreign import place
from tests.flows.test_rights import let_time_pass, waiting
from tests.flows.world import TINY, Bench, bench

pytestmark = pytest.mark.timeout(300)

FORM = "### Suite\n\nsmoke\n\n### Reviewers\n\nslow\n\n### Pull requests\n\norder-totals, ring-buffer\n"


def sooner(here: Bench, seconds: float) -> None:
    """The turns that were given out are as much sooner as if that time had passed."""
    app = sqlite3.connect(here.data / "app.db", timeout=30)
    app.execute("UPDATE writes SET slot = slot - ? WHERE kind = 'turn'", (seconds,))
    app.commit()
    app.close()


def told(here: Bench) -> dict[str, Any]:
    """What `assay status` says of the run."""
    [run] = inspect.runs(load_settings({"ASSAY_DATA_DIR": str(here.data)}), None)
    return run


def due_in(run: dict[str, Any]) -> float:
    """Seconds to the next turn."""
    assert run["writes"]["pending"]["turn"] == 1
    return datetime.fromisoformat(run["writes"]["next"]).timestamp() - time.time()


def tries(here: Bench, name: str) -> list[int]:
    """Which try each delayed workflow of that name is, by its last argument."""
    with closing(sqlite3.connect(here.data / "engine.db")) as engine:
        query = (
            "SELECT i.inputs FROM workflow_input i JOIN workflow_status USING (workflow_uuid)"
            " WHERE name = ? AND status = 'DELAYED'"
        )
        return [json.loads(inputs)["positionalArgs"][-1] for (inputs,) in engine.execute(query, (name,))]


def deferrals(here: Bench, name: str) -> int:
    """How many workflows of that name have waited or wait for their time."""
    with closing(sqlite3.connect(here.data / "engine.db")) as engine:
        query = "SELECT count(*) FROM workflow_status WHERE name = ? AND delay_until_epoch_ms IS NOT NULL"
        return int(engine.execute(query, (name,)).fetchone()[0])


def test_repositories_are_made_over_hours_and_a_restart_loses_none(tmp_path: Path) -> None:
    with bench(tmp_path, extra={"ASSAY_REPOSITORIES_PER_HOUR": "1"}) as here:
        here.ask(TINY)
        here.wait_for(lambda: bool(here.ours("progress")))
        here.wait_for(lambda: len(waiting(here, "open_fork")) == 1)
        [seconds] = waiting(here, "open_fork")
        assert 3500 < seconds < 3610
        # However often a fork waits for its turn, it has not failed once.
        for turn in (1, 2):
            assert tries(here, "open_fork") == [1]
            let_time_pass(here, "open_fork")
            here.wait_for(lambda turn=turn: deferrals(here, "open_fork") > turn)  # type: ignore[misc]
            here.wait_for(lambda: len(waiting(here, "open_fork")) == 1)
        # A write of this very moment may still stand before it.
        here.wait_for(lambda: due_in(told(here)) == pytest.approx(seconds, abs=30))
        run = told(here)
        assert run["writes"]["expected_end"] >= run["writes"]["last"]
        assert "writes waiting: " in inspect.as_text([run])
        here.app.kill()
        sooner(here, 3600)
        let_time_pass(here, "open_fork")
        here.app.start()
        assert here.finish().stage == "done"
        assert here.made()["repository"] == here.made()["pull request"] == 2


def test_a_reviewer_is_asked_no_faster_than_its_quota_says(tmp_path: Path) -> None:
    def speak(world: Foreign, repo: Repo, issue: Json) -> None:
        world.review(repo, issue["number"], "slow[bot]", "Slow is done.", [])

    quota = "quotas: [{reviews: 1, hours: 0.002}]\n    signals: {done: ['Slow is done'], clean: ['Slow is done']}"
    known = registry(entry("slow", quiet=30, more=quota))
    keep = {"ASSAY_REVIEWER_QUOTAS": "keep"}
    with place(tmp_path, registry=known, bots=(speak, nobody), first=FORM, extra=keep) as here:
        assert rows(here)["slow"]["status"] == "reviewed_clean"
        opened = sorted(
            datetime.fromisoformat(issue["created_at"])
            for repo in here.world.repos.values()
            for issue in repo.issues.values()
            if "sha" in issue
        )
        assert len(opened) == 2
        assert (opened[1] - opened[0]).total_seconds() >= 6
