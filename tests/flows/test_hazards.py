"""What the world does to a run while it is under way: outages, lost rows, refused tokens, forks and rights that go."""

from __future__ import annotations

import json
import sqlite3
import time
from pathlib import Path

import pytest

from bot.demo.app import AppProcess
from bot.demo.world import AUTHOR, SECRET
from bot.sandbox.faults import Fault
from tests.flows.world import TINY, Bench, bench, content, expected

pytestmark = pytest.mark.timeout(300)


def engine_rows(here: Bench) -> list[tuple[str, str]]:
    """(workflow, status) of every row of the engine."""
    engine = sqlite3.connect(here.data / "engine.db")
    rows: list[tuple[str, str]] = engine.execute("SELECT name, status FROM workflow_status").fetchall()
    engine.close()
    return rows


def checks(here: Bench) -> list[tuple[str, str]]:
    """(fork, name) of every check run that stands on a fork."""
    app = sqlite3.connect(here.data / "app.db")
    forks = app.execute("SELECT repo, commits FROM forks WHERE repo IS NOT NULL").fetchall()
    app.close()
    found = []
    for repo, commits in forks:
        path = f"/repos/{repo}/commits/{json.loads(commits)['head_sha']}/check-runs?per_page=100"
        found += [(repo, check["name"]) for check in here.world.get("GET", path)["check_runs"]]
    return [(repo, name) for repo, name in found if name.startswith("assay / ")]


def statuses(here: Bench) -> dict[str, set[str]]:
    """Fork -> the statuses of its trials."""
    app = sqlite3.connect(here.data / "app.db")
    found: dict[str, set[str]] = {}
    for fork, status in app.execute("SELECT fork, status FROM trials"):
        found.setdefault(fork, set()).add(status)
    app.close()
    return found


@pytest.mark.parametrize("writes", [4, 12])
def test_started_again_while_github_is_out_the_run_goes_on_when_it_is_back(
    tmp_path: Path, reference: str, writes: int
) -> None:
    with bench(tmp_path, gated=True) as here:
        here.ask()
        here.wait_for(lambda: len(here.done()) >= writes)
        here.app.kill()
        here.gate.shut()
        here.app.start()
        here.wait_for(lambda: "takes deliveries" in here.app.log.read_text().rpartition("Starting gunicorn")[2])
        time.sleep(4)
        here.gate.open()
        outcome = here.finish()
        assert outcome.stage == "done"
        assert content(outcome.report) == reference
        assert here.made() == expected(forks=2, reviewers=4, asks=1)
        assert not [row for row in engine_rows(here) if row[1] == "ERROR"]


def test_what_the_engine_lost_is_found_and_done(tmp_path: Path) -> None:
    with bench(tmp_path, webhooks=False) as here:
        here.ask(TINY)
        here.wait_for(lambda: here.made()["repository"] >= 1)
        here.app.kill()
        engine = sqlite3.connect(here.data / "engine.db")
        lost = engine.execute("UPDATE workflow_status SET status = 'ERROR' WHERE name = 'open_fork'").rowcount
        engine.commit()
        engine.close()
        assert lost == 2
        here.app.start()
        assert here.finish().stage == "done"
        assert here.made()["repository"] == here.made()["pull request"] == 2


def test_a_lost_publishing_is_found_and_done(tmp_path: Path) -> None:
    with bench(tmp_path) as here:
        here.fault(Fault("delay", "POST", "/repos/*/*/check-runs", seconds=3, times=4))
        here.ask(TINY)
        here.wait_for(lambda: bool(here.ours("progress")))
        here.wait_for(lambda: ("publish_fork", "PENDING") in engine_rows(here))
        here.app.kill()
        engine = sqlite3.connect(here.data / "engine.db")
        lost = engine.execute("UPDATE workflow_status SET status = 'ERROR' WHERE name = 'publish_fork'").rowcount
        engine.commit()
        engine.close()
        assert lost == 2
        here.app.start()
        assert here.finish().stage == "done"
        assert len(checks(here)) == len(set(checks(here))) == 6
        assert len(here.ours("leaderboard")) == 1


def test_a_token_that_is_refused_once_costs_no_trial_and_none_is_kept(tmp_path: Path) -> None:
    with bench(tmp_path) as here:
        comments = "/repos/northwind/assay/issues/*/comments"
        for method, path in (("GET", "/repos/*/*/commits/*/status"), ("POST", comments)):
            here.fault(Fault("refuse", method, path, status=401, message="Bad credentials"))
        here.ask(TINY)
        assert here.finish().stage == "done"
        assert here.world.sandbox.faults.left() == 0
        assert not set().union(*statuses(here).values()) & {"error", "unable", "not_forked"}
        assert len(here.ours("progress")) == 1
        assert_no_secret(here)


def assert_no_secret(here: Bench) -> None:
    """Databases, bundles and logs hold no key, token, webhook secret or raw delivery."""
    world = here.world.sandbox.world
    with world.lock:
        secrets = {token.encode() for token in world.tokens}
    key = (here.data / "app-key.pem").read_bytes().splitlines()
    secrets |= {SECRET.encode(), key[len(key) // 2]}
    assert len(secrets) > 4
    for path in here.data.rglob("*"):
        if path.is_file() and path.name != "app-key.pem":
            held = path.read_bytes()
            assert not [secret for secret in secrets if secret in held], path
            assert b"x-hub-signature" not in held.lower(), path


def test_a_fork_that_is_deleted_costs_its_trials_and_not_the_run(tmp_path: Path) -> None:
    with bench(tmp_path) as here:
        here.ask(TINY)
        here.wait_for(lambda: here.made()["pull request"] >= 1)
        gone = next(path.split("/")[3] for _, path, _ in here.done() if path.endswith("/pulls"))
        world = here.world.sandbox.world
        with world.lock:
            world.delete_repo(world.repo("northwind", gone), world.account(AUTHOR))
        outcome = here.finish()
        assert outcome.stage == "done"
        assert {"error"} in statuses(here).values()
        assert len(here.ours("leaderboard")) == 1
        assert here.made()["repository"] == 2


def test_a_check_run_that_is_refused_does_not_hold_the_others_back(tmp_path: Path) -> None:
    with bench(tmp_path) as here:
        # The first two meet a reviewer that announces itself with a check of its own.
        here.fault(Fault("refuse", "POST", "/repos/*/*/check-runs", status=422, message="Validation Failed", times=3))
        here.ask(TINY)
        assert here.finish().stage == "done"
        assert len(checks(here)) == 5
        here.wait_for(lambda: "Not every check run could be written on 1 of 2" in here.ours("progress")[0])


def test_a_cancelled_run_opens_and_asks_nothing_more(tmp_path: Path) -> None:
    with bench(tmp_path) as here:
        here.fault(Fault("delay", "POST", "/orgs/*/repos", seconds=20, times=2))
        here.ask()
        here.wait_for(lambda: bool(here.ours("progress")))
        here.say("/assay cancel")
        assert here.finish().stage == "cancelled"
        here.world.sandbox.faults.clear()
        here.wait_for(lambda: here.made()["repository"] >= 2)
        here.wait_for(lambda: ("open_fork", "PENDING") not in engine_rows(here))
        assert here.made()["pull request"] == 0


def test_an_app_that_cannot_start_ends_and_says_why(tmp_path: Path) -> None:
    with bench(tmp_path) as here:
        settings = here.world.app_settings(tmp_path / "other") | {
            "ASSAY_BIND": "127.0.0.1:0",
            "ASSAY_DATABASE_URL": f"sqlite:///{tmp_path}/no/such/folder/app.db",
        }
        broken = AppProcess(settings, tmp_path / "other" / "log.txt")
        broken.start()
        try:
            here.wait_for(lambda: broken.exited is not None)
            assert broken.exited == 3
            assert "No such file or directory" in broken.tail(60)
            assert "no/such/folder/app.db" in broken.tail(60)
        finally:
            broken.kill()
