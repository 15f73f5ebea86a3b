"""What Prometheus reads is what there is, and a database that is away is a gap and no error."""

from __future__ import annotations

import re
import time
import urllib.request
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa
from click.testing import CliRunner
from prometheus_client.parser import text_string_to_metric_families

from bot import composition_web
from bot.adapters.counts import SqlCounts
from bot.adapters.database import upgrade
from bot.adapters.github_rates import Rates
from bot.adapters.ledger import SqlLedger
from bot.adapters.replies import SqliteReplies
from bot.adapters.store import SqlStore
from bot.cli import cli
from bot.composition import Databases, utc_now
from bot.judging import store as judging_store
from bot.model import ForkId, WriteLimits
from bot.ports_github import RateLeft
from bot.sandbox.ports import free_port
from bot.settings import load_settings
from bot.web.metrics import Metrics, Standing
from scoring.judges.asks import Reply
from tests.bot.test_store import NOW, RUN, SETTLED, row
from tests.postgres import Postgres

Open = Callable[[str], sa.Engine]


def read(text: bytes) -> dict[tuple[str, ...], float]:
    """(name, label values...) -> value."""
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text.decode())
        for sample in family.samples
    }


@pytest.fixture(params=["sqlite", "postgresql"])
def databases(request: pytest.FixtureRequest, tmp_path: Path, opened: Open) -> Databases:
    url = f"sqlite:///{tmp_path / 'app.db'}"
    if request.param == "postgresql":
        url = request.getfixturevalue("postgres").database()
    engine = opened(url)
    upgrade(engine)
    return Databases(engine, engine, url)


def test_the_whole_installation_is_counted(databases: Databases, tmp_path: Path) -> None:
    store, ledger = SqlStore(databases.app), SqlLedger(databases.app, WriteLimits())
    store.create_run(row(), row().plan.request.reviewers)
    first, second = store.forks(RUN)[0], store.trials(RUN)[0]
    store.set_fork_state(RUN, first.id, "open")
    store.settle(RUN, first.id, second.reviewer, SETTLED, NOW, 1)
    for key, age in (("comment a", 100), ("comment b", 40), ("check c", 20)):
        ledger.intend(key, key.partition(" ")[0], utc_now() - timedelta(seconds=age))
        ledger.reserve(key, "author", utc_now())
    ledger.confirm("comment a", {}, utc_now())
    settings = load_settings({"ASSAY_DATA_DIR": str(tmp_path)})
    standing = composition_web.standing_of(settings, databases)
    assert standing().judge_calls == 0
    assert not (tmp_path / "bundles").exists(), "looking makes no file"
    replies = SqliteReplies(tmp_path / "bundles" / judging_store.CACHE)
    replies.put("k1", Reply("yes", "openai/gpt-4o", cost=0.25), RUN)
    replies.put("k2", Reply("no", "openai/gpt-4o", cost=0.5), "an older run")
    try:
        told = read(Metrics(lambda: (), standing).exposition())
    finally:
        replies.close()
    trials = row().plan.trials
    waiting = sum(trial.fork == first.id for trial in store.trials(RUN)) - 1
    assert told["assay_runs", "forking"] == 1
    assert told["assay_trials", SETTLED.status.value] == 1
    assert told["assay_trials", "waiting"] == waiting
    assert told["assay_trials", "queued"] == trials - waiting - 1
    assert (told["assay_write_queue", "comment"], told["assay_write_queue", "check"]) == (1, 1)
    assert 40 <= told["assay_write_queue_oldest_seconds",] < 60
    assert told["assay_judge_calls_total",] == 2
    assert (told["assay_judge_paid_dollars_total",], told["assay_judge_cost_dollars",]) == (0.75, 0.25)
    assert told["assay_database_up",] == 1


def test_deliveries_are_counted_by_what_became_of_them() -> None:
    metrics = Metrics(lambda: (), lambda: Standing({}, {}, {}, 0, 0, 0, 0))
    for outcome in ("queued", "queued", "rejected"):
        metrics.delivered(outcome)
    told = read(metrics.exposition())
    counts = [told["assay_deliveries_total", name] for name in ("queued", "ignored", "rejected", "failed")]
    assert counts == [2, 0, 1, 0]


def test_a_database_that_is_away_leaves_a_gap(postgres: Postgres, opened: Open, tmp_path: Path) -> None:
    engine = opened(postgres.database())
    settings = load_settings({"ASSAY_DATA_DIR": str(tmp_path)})
    metrics = Metrics(lambda: (), composition_web.standing_of(settings, Databases(engine, engine, "")))
    told = read(metrics.exposition())
    assert told["assay_database_up",] == 0
    assert ("assay_runs", "forking") not in told and "assay_write_queue_oldest_seconds" not in {key[0] for key in told}
    assert ("process_resident_memory_bytes",) in told


def test_however_often_it_is_read_the_databases_are_asked_once_a_second() -> None:
    asked: list[int] = []

    def standing() -> Standing:
        asked.append(1)
        return Standing({}, {}, {}, 0, 0, 0, 0)

    metrics = Metrics(lambda: (), standing)
    assert asked == []
    for _ in range(5):
        metrics.exposition()
    assert len(asked) == 1


def headers(left: str, resets_in: float = 600, resource: str = "core") -> dict[str, str]:
    reset = str(int(time.time() + resets_in))
    return {
        "x-ratelimit-remaining": left,
        "x-ratelimit-limit": "5000",
        "x-ratelimit-reset": reset,
        "x-ratelimit-resource": resource,
    }


def test_what_github_said_last_of_each_account_is_told() -> None:
    rates = Rates()
    rates.note("installation 7", headers("4711"))
    rates.note("installation 7", headers("4710"))
    rates.note("author", headers("12", resets_in=-5))
    rates.note("author", headers("29", resource="search"))
    rates.note("author", {})
    rates.note("app", headers("many"))
    rates.note("app", headers("9" * 40))
    told = read(Metrics(rates.left).exposition())
    assert told["assay_github_rate_left", "installation 7", "core"] == 4710
    assert told["assay_github_rate_left", "author", "core"] == 5000, "its hour is over"
    assert told["assay_github_rate_left", "author", "search"] == 29
    assert not any(key[:2] == ("assay_github_rate_left", "app") for key in told)


def test_a_server_that_invents_resources_does_not_fill_our_memory() -> None:
    rates = Rates()
    for number in range(3000):
        rates.note("author", headers("1", resource=f"r{number}"))
    rates.note("author", headers("5", resource="r1"))
    assert len(rates.left()) == 1000
    assert RateLeft("author", "r1", 5, 5000, rates.left()[1].resets_at) in rates.left()


def test_a_hostile_label_breaks_no_line_of_the_answer() -> None:
    hostile = 'x"} 1\nassay_runs{stage="forged'
    metrics = Metrics(lambda: (RateLeft("author", hostile, 3, 5000, 2**40),))
    told = read(metrics.exposition())
    assert told["assay_github_rate_left", "author", hostile] == 3
    assert not any(key[0] == "assay_runs" for key in told)


def test_a_worker_serves_its_own_at_an_address_of_its_own() -> None:
    port = free_port()
    Metrics(lambda: (RateLeft("author", "core", 3, 5000, 2**40),)).serve("127.0.0.1", port)
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
        assert read(answer.read())["assay_github_rate_left", "author", "core"] == 3


def test_every_metric_that_the_manual_names_exists() -> None:
    manual = (Path(__file__).parents[2] / "docs" / "operations.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(assay_[a-z_]+)", manual))
    metrics = Metrics(
        lambda: (RateLeft("a", "core", 1, 1, 1),), lambda: Standing({"a": 1}, {"a": 1}, {"a": 1}, 0, 0, 0, 0)
    )
    told = {key[0] for key in read(metrics.exposition()) if not key[0].endswith("_created")}
    assert named == {name for name in told if name.startswith("assay_")}


def test_forks_are_told_apart(databases: Databases) -> None:
    """`queued` and `waiting` speak of the trial's own fork, also where two runs have forks of the same name."""
    store = SqlStore(databases.app)
    store.create_run(row(), row().plan.request.reviewers)
    before = SqlCounts(databases.app).trials()
    store.set_fork_state(RUN, ForkId("clean"), "open")
    after = SqlCounts(databases.app).trials()
    assert sum(before.values()) == sum(after.values()) == row().plan.trials
    assert "waiting" not in before and after["waiting"] > 0


@pytest.mark.parametrize("where", ["9100", ":9100", "localhost:port", "localhost:70000", "localhost:\u0661"])
@pytest.mark.parametrize("command", [["worker"], ["serve", "--web-only"]])
def test_an_address_that_is_none_is_bad_input(command: list[str], where: str) -> None:
    result = CliRunner().invoke(cli, [*command, "--metrics", where])
    assert result.exit_code == 2 and "is not host:port; for example" in result.output
