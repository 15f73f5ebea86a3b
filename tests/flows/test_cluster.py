"""Several workers on one PostgreSQL: the same run, whoever dies, and what an operator sees of it."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path

import pytest

from bot.demo import world as demo_world
from tests.bot.test_metrics import read
from tests.flows.cluster import Cluster, cluster
from tests.flows.world import SMALL, content, expected
from tests.postgres import Postgres

pytestmark = pytest.mark.timeout(300)


def metrics(where: str) -> dict[tuple[str, ...], float]:
    with urllib.request.urlopen(f"http://{where}/metrics", timeout=10) as answer:
        return read(answer.read())


def test_three_workers_share_a_run_and_two_of_them_are_killed(
    tmp_path: Path, postgres: Postgres, reference: str
) -> None:
    with cluster(tmp_path, postgres, workers=3, extra={"ASSAY_LOG": "json"}) as here:
        here.ask(SMALL)
        here.kill_at_work()
        here.wait_for(lambda: here.made()["pull request"] >= 1)
        here.kill_at_work()
        outcome = here.finish()
        assert outcome.stage == "done"
        assert content(outcome.report) == reference
        assert list(here.world.complaints(here.database, outcome.run)) == []
        assert here.made() == expected(2, 4, 1)
        whole, last = metrics(here.hook), metrics(here.metrics[here.living()])
        _check_metrics(whole, last)
        _check_logs(here, outcome.run)


def _check_metrics(whole: dict[tuple[str, ...], float], worker: dict[tuple[str, ...], float]) -> None:
    assert whole["assay_runs", "done"] == 1
    assert sum(count for key, count in whole.items() if key[0] == "assay_trials") == 8
    assert whole["assay_deliveries_total", "queued"] > 5
    assert whole["assay_deliveries_total", "rejected"] == whole["assay_deliveries_total", "failed"] == 0
    assert not any(key[0] == "assay_runs" for key in worker), "the web server tells what all of them share"
    accounts = {key[1] for key in worker if key[0] == "assay_github_rate_left"}
    assert accounts and all(account in ("app", "author") or account.startswith("installation ") for account in accounts)


def _check_logs(here: Cluster, run: str) -> None:
    lines = here.logs()
    told = [json.loads(line) for line in lines]
    assert {f"working as slot-{number}" for number in range(3)} <= {one["message"] for one in told}
    assert any(one["message"].startswith("took over the work of slot-") for one in told)
    settled = [one for one in told if one["message"].startswith("settled as ")]
    assert {one["run"] for one in settled} == {run}
    assert len({(one["fork"], one["reviewer"]) for one in settled}) == 8
    assert any(one.get("delivery") for one in told if one["message"] == "queued")
    settings = here.world.app_settings(here.data)
    key = Path(settings["ASSAY_PRIVATE_KEY_FILE"]).read_text().splitlines()[1]
    for secret in (settings["ASSAY_AUTHOR_TOKEN"], demo_world.SECRET, key, "ghs_"):
        assert not any(secret in line for line in lines)


def test_a_run_outlives_an_outage_of_the_database_and_the_replacing_of_every_worker(
    tmp_path: Path, postgres: Postgres, reference: str
) -> None:
    with cluster(tmp_path, postgres, workers=2) as here:
        here.ask(SMALL)
        here.wait_for(lambda: here.made()["pull request"] >= 1)
        postgres.restart(down=3)
        here.wait_for(lambda: here.made()["pull request"] >= 2)
        for worker in here.workers:
            worker.stop()
            worker.start()
        outcome = here.finish()
        assert outcome.stage == "done"
        assert content(outcome.report) == reference
        assert here.made() == expected(2, 4, 1)
        assert not any("lost slot" in line for line in here.logs())
