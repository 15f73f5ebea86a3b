"""Whole runs on the sandbox, over real HTTP and real git, with the App as a process of its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.sandbox.faults import Fault
from tests.flows.world import TINY, bench, content, expected

pytestmark = pytest.mark.timeout(300)


def test_missed_all_webhooks(tmp_path: Path, reference: str) -> None:
    with bench(tmp_path, webhooks=False) as here:
        here.ask()
        outcome = here.finish()
        assert content(outcome.report) == reference
        assert here.made() == expected(forks=2, reviewers=4, asks=1)


def test_post_returned_502_but_it_was_done(tmp_path: Path, reference: str) -> None:
    with bench(tmp_path) as here:
        for path in ("/orgs/*/repos", "/repos/*/*/pulls", "/repos/*/*/issues/*/comments", "/repos/*/*/check-runs"):
            here.fault(Fault("error_after", "POST", path, times=2))
        here.ask()
        outcome = here.finish()
        assert here.world.sandbox.faults.left() == 0
        assert here.made() == expected(forks=2, reviewers=4, asks=1)
        assert content(outcome.report) == reference


def test_a_secondary_limit_is_waited_out(tmp_path: Path, reference: str) -> None:
    with bench(tmp_path) as here:
        said = "You have exceeded a secondary rate limit"
        limit = Fault("refuse", "POST", "/repos/*/*/pulls", status=403, headers={"Retry-After": "1"}, message=said)
        here.fault(limit)
        here.ask()
        outcome = here.finish()
        assert here.made() == expected(forks=2, reviewers=4, asks=1)
        assert content(outcome.report) == reference


def test_duplicated_reordered_and_lost_deliveries_change_nothing(tmp_path: Path, reference: str) -> None:
    with bench(tmp_path) as here:
        here.fault(Fault("duplicate_delivery", event="issues.opened", app="northwind-checks"))
        here.fault(Fault("lose_delivery", event="pull_request*", app="northwind-checks", times=6))
        here.fault(Fault("reorder_delivery", event="issue_comment*", app="northwind-checks", times=3))
        here.ask()
        outcome = here.finish()
        assert content(outcome.report) == reference
        assert here.made() == expected(forks=2, reviewers=4, asks=1)


def test_a_push_refused_by_protection_costs_one_fork_and_not_the_run(tmp_path: Path) -> None:
    with bench(tmp_path) as here:
        message = "error: GH013: Repository rule violations found for refs/heads/main. Push cannot contain secrets"
        here.fault(Fault("push_refusal", message=message, times=1))
        here.ask(TINY)
        outcome = here.finish()
        assert outcome.stage == "done"
        report = json.loads(outcome.report or "")
        by_status = [row["coverage"]["by_status"] for row in report["reviewers"]]
        assert all(found["not_forked"] == 1 for found in by_status)


def test_a_name_that_is_taken_is_left_alone_and_the_next_one_used(tmp_path: Path) -> None:
    with bench(tmp_path / "probe") as probe:
        probe.ask(TINY)
        probe.finish()
        taken = sorted({path.split("/")[3] for method, path, _ in probe.done() if path.endswith("/pulls")})[0]
    with bench(tmp_path / "taken") as here:
        here.world.sandbox.create_repo("northwind", taken, private=True, files={"keep.txt": b"mine\n"})
        here.ask(TINY)
        outcome = here.finish()
        assert outcome.stage == "done"
        assert here.made() == expected(forks=2, reviewers=2, asks=0)
        assert here.world.get("GET", f"/repos/northwind/{taken}/pulls?state=all") == []


def test_cancel_ends_the_run_and_scores_nothing(tmp_path: Path) -> None:
    with bench(tmp_path) as here:
        here.ask()
        here.wait_for(lambda: here.made()["pull request"] >= 1)
        here.say("/assay cancel")
        outcome = here.finish()
        assert outcome.stage == "cancelled"
        assert outcome.report is None
        here.wait_for(lambda: len(here.ours("reply")) == 1)
        assert here.made()["check run"] == 0


def test_a_second_run_of_the_same_suite_is_refused_while_one_is_active(tmp_path: Path) -> None:
    with bench(tmp_path) as here:
        here.ask(TINY)
        first = here.issue
        here.wait_for(lambda: bool(here.ours("progress")))
        here.ask(TINY)
        here.wait_for(lambda: len(here.ours("problems")) == 1)
        assert f"{first}" in here.ours("problems")[0]
        assert here.finish().stage == "done"
        assert here.made()["repository"] == 2
