"""Commands to a run that is under way, edits before it begins, and what may be written where others can see it."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.demo.world import CONTROL, Asked, form_body
from bot.issue_form import Label
from bot.sandbox.faults import Fault
from tests.flows.test_commands_run import ONE, answer, checks, forks, rows
from tests.flows.world import TINY, Bench, bench

pytestmark = pytest.mark.timeout(300)


def filled(here: Bench, asked: Asked, answers: dict[Label, str]) -> str:
    """The form's text with further answers."""
    body = form_body(asked, here.world.registry)
    for label, text in answers.items():
        empty = f"### {label.value}\n\n_No response_"
        assert empty in body
        body = body.replace(empty, f"### {label.value}\n\n{text}")
    return body


THREE = Asked(reviewers=("lintwarden", "meterbot", "mutebot"), pulls="order-totals, ring-buffer")
"""One that answers, one that is rate limited, one that says nothing: given an hour, the last two keep a run waiting."""


def test_mended_commanded_cancelled_removed_and_repeated(tmp_path: Path) -> None:
    with bench(tmp_path) as here:
        body = filled(here, THREE, {Label.WAIT: "60"})
        here.open_issue(body.replace("smoke", "smok"))
        here.wait_for(lambda: len(here.ours("problems")) == 1)
        path = f"/repos/{CONTROL}/issues/{here.issue}"
        here.world.get("PATCH", path, body={"body": body.replace("smoke", "smoek")})
        here.wait_for(lambda: "smoek" in here.ours("problems")[0])
        here.world.get("PATCH", path, body={"body": body})
        here.wait_for(lambda: "has started" in here.ours("problems")[0])
        over = "SELECT 1 FROM trials WHERE status IS NOT NULL AND reviewer = 'lintwarden'"
        here.wait_for(lambda: len(rows(here, over)) == 2, 60)

        longer = here.say("/assay extend 2 minutes")
        assert "have 2 minutes more: 4 trials" in answer(here, longer)
        assert "at most 1438 are left" in answer(here, here.say("/assay extend 9999"))
        asked = answer(here, here.say("/assay retry meterbot"))
        assert "Asking Meterbot again on pull requests where it has not answered: 2." in asked
        again = "SELECT 1 FROM trials WHERE reviewer = 'meterbot' AND json_array_length(asks) = 2"
        here.wait_for(lambda: len(rows(here, again)) == 2)
        mute = answer(here, here.say("/assay retry mutebot"))
        assert "cannot be asked again (no known way, or asked as often as may be): 2" in mute
        assert "once it is over" in answer(here, here.say("/assay rejudge deterministic"))
        assert "keep theirs: 1." in answer(here, here.say("/assay cleanup"), "keep theirs")
        assert here.made()["comment"] == 10, "two asks, the progress, the mended problems and six answers"

        assert "is cancelled" in answer(here, here.say("/assay cancel"))
        assert here.finish().stage == "cancelled"
        made = [repo for repo, _ in forks(here)]
        removed = answer(here, here.say("/assay cleanup delete"), "deleted: 2")
        assert all(f"| `{repo}` | deleted |" in removed for repo in made)
        assert rows(here, "SELECT retired FROM forks") == [("deleted",), ("deleted",)]

        repeated = answer(here, here.say("/assay retry lintwarden"))
        assert "with Lintwarden alone, on the 1 pull request" in repeated
        here.wait_for(lambda: rows(here, "SELECT stage FROM runs WHERE id LIKE '%-2'") == [("done",)], 60)
        assert rows(here, "SELECT fork, reviewer FROM trials WHERE run LIKE '%-2'") == [("ring-buffer", "lintwarden")]
        here.wait_for(lambda: len(here.ours("leaderboard")) == 1)
        assert here.made()["repository"] == 3


def test_what_is_not_named_is_written_only_where_nobody_else_sees_it(tmp_path: Path) -> None:
    with bench(tmp_path) as here:
        here.fault(
            Fault("refuse", "PATCH", "/repos/northwind/*-??????", status=422, message="Validation Failed", times=1)
        )
        here.fault(Fault("delay", "POST", "/repos/*/*/check-runs", seconds=2, times=6))
        modes = {Label.PUBLISH_EACH: "named: meterbot"}
        body = filled(here, TINY, modes | {Label.VISIBILITY: "public", Label.PUBLISH: "anonymous"})
        here.open_issue(body)
        here.wait_for(lambda: rows(here, "SELECT stage FROM runs") == [("publishing",)], 90)
        late = answer(here, here.say("/assay cancel"))
        assert "too late to cancel" in late
        assert here.finish().stage == "done"

        seen = {}
        for repo, sha in forks(here):
            private = here.world.get("GET", f"/repos/{repo}")["private"]
            seen[private] = {check["name"]: check["output"]["summary"] for check in checks(here, repo, sha)}
        assert set(seen) == {True, False}, "one could be made private, the other could not"
        assert "assay / Lintwarden" in seen[True]
        assert set(seen[False]) == {"assay / Meterbot", "assay / summary"}
        assert "may not be named: 1" in seen[False]["assay / summary"]
        assert "intwarden" not in "".join(seen[False].values())
        assert len(here.ours("leaderboard")) == 1


def test_a_public_control_repository_gets_no_details(tmp_path: Path) -> None:
    with bench(tmp_path) as here:
        world = here.world.sandbox.world
        with world.lock:
            owner, _, name = CONTROL.partition("/")
            world.repo(owner, name).private = False
        here.open_issue(filled(here, ONE, {Label.PUBLISH: "anonymous", Label.PUBLISH_EACH: "private: meterbot"}))
        assert here.finish().stage == "done"
        here.wait_for(lambda: len(here.ours("leaderboard")) == 1)
        retried = answer(here, here.say("/assay cleanup"), "archived: 1")
        ours = "\n".join([*here.ours("leaderboard"), *here.ours("progress"), retried])
        assert "Tool A" in ours
        assert "Private and not shown: 1" in ours
        for (repo, _), telling in zip(forks(here), ("intwarden",), strict=True):
            assert repo not in ours
            assert telling not in ours
            assert "eterbot" not in ours
            assert "discussion_r" not in ours
