"""What becomes of a run when tokens end, rights go, limits bite, deliveries are lost, or a second App comes along."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from bot.demo.app import AppProcess
from bot.demo.world import ORG, SLUG
from bot.sandbox.faults import Fault
from bot.sandbox.ports import free_port
from tests.flows.test_hazards import engine_rows, statuses
from tests.flows.world import TINY, Bench, bench, content, expected

pytestmark = pytest.mark.timeout(300)


def waiting(here: Bench, name: str) -> list[float]:
    """Seconds until each delayed workflow of that name may run."""
    engine = sqlite3.connect(here.data / "engine.db")
    rows = engine.execute(
        "SELECT delay_until_epoch_ms FROM workflow_status WHERE name = ? AND status = 'DELAYED'", (name,)
    ).fetchall()
    engine.close()
    return [row[0] / 1000 - time.time() for row in rows]


def let_time_pass(here: Bench, name: str) -> None:
    """What waits for its time is due."""
    engine = sqlite3.connect(here.data / "engine.db", timeout=30)
    engine.execute(
        "UPDATE workflow_status SET delay_until_epoch_ms = ? WHERE name = ? AND status = 'DELAYED'",
        (int(time.time() * 1000), name),
    )
    engine.commit()
    engine.close()


def cursor(here: Bench) -> str | None:
    """Up to when deliveries have been looked through."""
    if not (here.data / "app.db").exists():
        return None
    app = sqlite3.connect(here.data / "app.db")
    try:
        found = app.execute("SELECT value FROM cursors WHERE name = 'deliveries'").fetchone()
    except sqlite3.OperationalError:
        return None
    finally:
        app.close()
    return None if found is None else str(found[0])


def unlike(found: dict[str, set[str]], wanted: Sequence[str]) -> set[str]:
    return set().union(*found.values()) & set(wanted)


def test_tokens_that_end_in_mid_run_and_new_ones_that_are_refused_at_first_cost_nothing(tmp_path: Path) -> None:
    with bench(tmp_path) as here:
        here.ask(TINY)
        here.wait_for(lambda: here.made()["pull request"] >= 1)
        assert here.world.sandbox.expire_tokens(SLUG, ORG) > 0
        # A token that was minted a moment ago is not known everywhere.
        here.fault(Fault("refuse", "GET", f"/repos/{ORG}/*/pulls/*", status=401, message="Bad credentials", times=2))
        here.fault(Fault("refuse", "POST", "/repos/*/*/check-runs", status=401, message="Bad credentials", times=2))
        assert here.finish().stage == "done"
        assert here.world.sandbox.faults.left() == 0
        assert not unlike(statuses(here), ["error", "unable", "not_forked"])
        assert here.made() == expected(forks=2, reviewers=2, asks=0) or here.made()["pull request"] == 2
        assert len(here.ours("leaderboard")) == 1


def test_a_limit_that_names_no_time_is_waited_out_for_a_minute_and_nothing_is_sent_meanwhile(tmp_path: Path) -> None:
    with bench(tmp_path) as here:
        said = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
        here.fault(Fault("refuse", "POST", "/repos/*/*/pulls", status=403, message=said, times=2))
        here.ask(TINY)
        here.wait_for(lambda: here.world.sandbox.faults.left() == 0 and len(waiting(here, "open_fork")) == 2)
        assert all(45 < seconds < 75 for seconds in waiting(here, "open_fork"))
        time.sleep(2)
        assert here.made()["pull request"] == 0
        let_time_pass(here, "open_fork")
        assert here.finish().stage == "done"
        assert here.made()["pull request"] == here.made()["repository"] == 2
        assert not unlike(statuses(here), ["error", "unable", "not_forked"])


def test_an_app_that_is_uninstalled_in_mid_run_ends_it_with_reasons(tmp_path: Path) -> None:
    with bench(tmp_path) as here:
        here.ask(TINY)
        here.wait_for(lambda: here.made()["pull request"] >= 2)
        here.world.sandbox.uninstall(SLUG, ORG)
        outcome = here.finish()
        assert outcome.stage == "done"
        assert unlike(statuses(here), ["error"])
        app = sqlite3.connect(here.data / "app.db")
        note = app.execute("SELECT note FROM runs").fetchone()[0]
        reasons = [row[0] for row in app.execute("SELECT reason FROM trials WHERE status = 'error'")]
        app.close()
        assert "could not be posted" in note
        assert all("cannot be read any more" in reason for reason in reasons)
        assert here.made()["check run"] == 0
        assert here.app.exited is None
        assert not [row for row in engine_rows(here) if row[1] == "ERROR"]


def test_a_delivery_that_was_missed_while_the_app_was_down_is_taken_up_once(tmp_path: Path) -> None:
    with bench(tmp_path) as here:
        sandbox = here.world.sandbox
        here.wait_for(lambda: cursor(here) is not None)
        here.app.kill()
        sandbox.create_org("southwind", owner="mira-lund")
        sandbox.create_repo("southwind", "assay", private=True, files={"README.md": b"control\n"})
        sandbox.install(SLUG, "southwind")
        assert sandbox.deliveries.wait_idle()
        here.app.start()
        # Nothing but the delivery tells of a new installation.
        path = "/repos/southwind/assay/issues?state=all"
        here.wait_for(lambda: len(here.world.get("GET", path)) == 1)
        time.sleep(5)
        assert len(here.world.get("GET", path)) == 1
        assert [row for row in engine_rows(here) if row[0] == "welcome"] == [("welcome", "SUCCESS")]
        assert "missed deliveries: 1 events" in here.app.log.read_text()


def test_a_second_app_on_the_same_data_is_turned_away_and_the_first_goes_on(tmp_path: Path, reference: str) -> None:
    with bench(tmp_path) as here:
        here.wait_for(lambda: "takes deliveries" in here.app.tail(50))
        settings = here.world.app_settings(here.data) | {"ASSAY_BIND": f"127.0.0.1:{free_port()}"}
        second = AppProcess(settings, tmp_path / "second" / "log.txt")
        second.start()
        try:
            here.ask()
            outcome = here.finish()
            assert content(outcome.report) == reference
            assert here.made() == expected(forks=2, reviewers=4, asks=1)
            here.wait_for(lambda: second.exited is not None)
            assert second.exited == 3
            assert f"another worker uses {here.data}; stop it, or set another ASSAY_DATA_DIR" in second.tail(60)
        finally:
            second.kill()
