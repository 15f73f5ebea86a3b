"""Whole runs on the sandbox, over real HTTP and real git, with the App as a process of its own."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from bot.sandbox.faults import Fault
from tests.flows.world import SMALL, TINY, bench, content, expected

pytestmark = pytest.mark.timeout(300)


def test_a_run_ends_with_check_runs_on_every_fork_and_a_leaderboard(tmp_path: Path, reference: str) -> None:
    with bench(tmp_path) as here:
        here.ask()
        outcome = here.finish()
        assert outcome.stage == "done"
        assert list(here.world.complaints(here.data, outcome.run)) == []
        assert here.made() == expected(forks=2, reviewers=4, asks=1)
        assert content(outcome.report) == reference, "two runs must give the same report to the byte"
        here.wait_for(lambda: "done" in here.ours("progress")[0])
        assert len(here.ours("leaderboard")) == 1


def test_missed_all_webhooks(tmp_path: Path, reference: str) -> None:
    with bench(tmp_path, webhooks=False) as here:
        here.ask()
        outcome = here.finish()
        assert content(outcome.report) == reference
        assert here.made() == expected(forks=2, reviewers=4, asks=1)


def test_nothing_that_reveals_a_golden_reaches_github_before_every_trial_is_over(tmp_path: Path) -> None:
    with bench(tmp_path) as here:
        here.ask()
        here.finish()
        log = here.done()
        checks = [index for index, (method, path, _) in enumerate(log) if path.endswith("/check-runs")]
        asks = [index for index, (_, path, _) in enumerate(log) if path.endswith("/pulls")]
        assert min(checks) > max(asks)
        [bundle] = (here.data / "bundles").glob("[!.]*")
        pulls = json.loads((bundle / "pulls.json").read_text())
        findings = [golden["finding"] for pull in pulls for golden in pull["goldens"]]
        assert len(findings) == 4
        [progress] = here.ours("progress")
        assert not [text for text in findings if text[:40] in progress]
        assert not re.search(r"/pull/\d|\bTP\b|\bFP\b", progress)


def test_what_we_write_on_a_fork_tells_neither_suite_nor_tool(tmp_path: Path) -> None:
    with bench(tmp_path) as here:
        here.ask()
        here.finish()
        forks = {path.split("/")[3] for method, path, _ in here.done() if path.endswith("/pulls")}
        assert len(forks) == 2
        for fork in forks:
            repo = here.world.get("GET", f"/repos/northwind/{fork}")
            [pull] = here.world.get("GET", f"/repos/northwind/{fork}/pulls?state=all")
            commits = here.world.get("GET", f"/repos/northwind/{fork}/pulls/{pull['number']}/commits")
            said = json.dumps([repo["name"], repo["description"], pull["title"], pull["body"], pull["head"]["ref"]])
            said += json.dumps([commit["commit"] for commit in commits])
            assert repo["private"]
            assert not re.search(r"assay|golden|bench|smoke|order-totals|ring-buffer|lintwarden", said, re.IGNORECASE)
            assert pull["user"]["type"] == "User"


def test_bad_input_is_answered_once_with_every_problem_and_starts_nothing(tmp_path: Path) -> None:
    with bench(tmp_path) as here:
        body = "### Suite\n\nsmok\n\n### Reviewers\n\nlintwardn, quillreview\n\n### Judge\n\nlitellm:acme/model-1\n"
        here.open_issue(body)
        here.wait_for(lambda: len(here.ours("problems")) == 1)
        [answer] = here.ours("problems")
        for wanted in ("smoke", "lintwarden", "litellm:acme/model-1", "lexical"):
            assert wanted in answer
        assert here.made() == {"comment": 1}


def test_an_outsider_cannot_spend_money_and_is_told(tmp_path: Path) -> None:
    with bench(tmp_path) as here:
        token = here.world.sandbox.create_user("stranger")
        here.world.add_person("stranger", token, role="read")
        from bot.demo.world import form_body

        here.open_issue(form_body(SMALL, here.world.registry), login="stranger")
        here.wait_for(lambda: len(here.ours("refusal")) == 1)
        assert here.made()["repository"] == 0


def test_an_issue_that_is_not_the_form_gets_the_link_once(tmp_path: Path) -> None:
    with bench(tmp_path) as here:
        here.open_issue("please run everything")
        here.wait_for(lambda: len(here.ours("not-a-form")) == 1)
        assert "benchmark.yml" in here.ours("not-a-form")[0]


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


def test_a_new_installation_is_answered_with_the_next_step_once(tmp_path: Path) -> None:
    with bench(tmp_path) as here:
        sandbox = here.world.sandbox
        here.wait_for(lambda: "takes deliveries" in here.app.tail(50))
        sandbox.create_org("southwind", owner="mira-lund")
        sandbox.create_repo("southwind", "assay", private=True, files={"README.md": b"control\n"})
        sandbox.install("northwind-checks", "southwind")
        path = "/repos/southwind/assay/issues?state=all"
        here.wait_for(lambda: len(here.world.get("GET", path)) == 1)
        [issue] = here.world.get("GET", path)
        assert issue["user"]["login"] == "northwind-checks[bot]"
        assert "benchmark.yml" in issue["body"]


def test_an_issue_outside_the_control_repository_is_ignored(tmp_path: Path) -> None:
    with bench(tmp_path) as here:
        here.world.sandbox.create_repo("northwind", "elsewhere", private=True, files={"README.md": b"x\n"})
        issue = {"title": "Benchmark", "body": "### Suite\n\nsmoke\n\n### Reviewers\n\nlintwarden\n"}
        made = here.world.get("POST", "/repos/northwind/elsewhere/issues", body=issue, login="devon-ray")
        here.ask()
        here.wait_for(lambda: bool(here.ours("progress")))
        assert here.world.get("GET", f"/repos/northwind/elsewhere/issues/{made['number']}/comments") == []
