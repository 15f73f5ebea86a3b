"""What a whole run that nothing disturbed leaves behind, over real HTTP and real git."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest

from bot.demo.story import Outcome
from tests.flows.world import Bench, bench, content, expected

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Bench, Outcome]]:
    """A run that has ended, which the tests here only look at."""
    with bench(tmp_path_factory.mktemp("ended")) as here:
        here.ask()
        yield here, here.finish()


def test_a_run_ends_with_check_runs_on_every_fork_and_a_leaderboard(
    ended: tuple[Bench, Outcome], reference: str
) -> None:
    here, outcome = ended
    assert outcome.stage == "done"
    assert list(here.world.complaints(here.data, outcome.run)) == []
    assert here.made() == expected(forks=2, reviewers=4, asks=1)
    assert content(outcome.report) == reference, "two runs must give the same report to the byte"
    here.wait_for(lambda: "done" in here.ours("progress")[0])
    assert len(here.ours("leaderboard")) == 1


def test_nothing_that_reveals_a_golden_reaches_github_before_every_trial_is_over(
    ended: tuple[Bench, Outcome],
) -> None:
    here, _ = ended
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


def test_what_we_write_on_a_fork_tells_neither_suite_nor_tool(ended: tuple[Bench, Outcome]) -> None:
    here, _ = ended
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
