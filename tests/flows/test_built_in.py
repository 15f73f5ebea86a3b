"""A run with a bot, a linter and a model beside it: killed and robbed of its queue, it comes to the same, paid once."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.demo.world import AUTHOR, Asked, form_body
from bot.issue_form import Label
from goldens.importers.folder import read_bundle
from scoring.bundle import BundleTrial
from tests.flows.world import Bench, bench
from tests.judging import server
from tests.judging.server import Models, serving
from tests.studies.server import review

pytestmark = pytest.mark.timeout(400)

MODEL = "single-shot:openai/finder"
BESIDE = Asked(reviewers=("lintwarden",), pulls="order-totals, ring-buffer", built_in=("static", MODEL))


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> Iterator[Models]:
    monkeypatch.setitem(server._CHARACTERS, "finder", lambda prompt, turn: review(prompt))
    with serving() as found:
        yield found


def settings(models: Models) -> dict[str, str]:
    return {
        "ASSAY_REVIEW_MODELS": "openai/finder",
        "ASSAY_LLM_API_BASE": models.base,
        "ASSAY_LLM_CONCURRENCY": "1",
        "OPENAI_API_KEY": "x",
    }


def rob(data: Path) -> int:
    """Take every review out of the engine's tables that has not ended: nothing will make it any more."""
    with sqlite3.connect(data / "engine.db") as db:
        open_yet = "workflow_uuid LIKE 'review-%' AND status NOT IN ('SUCCESS', 'ERROR')"
        gone = db.execute(f"DELETE FROM workflow_status WHERE {open_yet}").rowcount
    db.close()
    return gone


def said(here: Bench, run: str) -> dict[tuple[str, str], Any]:
    """What the built-in reviewers said, without the time it took."""
    found = read_bundle(here.data / "bundles" / run)
    return {(trial.pull, trial.reviewer): _words(trial) for trial in found.trials if trial.reviewer != "lintwarden"}


def _words(trial: BundleTrial) -> Any:
    bodies = [(comment.body, comment.place) for comment in trial.comments]
    return trial.status, trial.complete, bodies, trial.candidates, trial.cost


@pytest.mark.long
@pytest.mark.timeout(300)
def test_killed_and_robbed_it_comes_to_the_same_and_no_answer_is_paid_twice(tmp_path: Path, models: Models) -> None:
    models.pause = 1.5
    with bench(tmp_path, extra=settings(models)) as here:
        here.ask(BESIDE)
        here.wait_for(lambda: len(models.seen) >= 1)
        here.app.kill()
        assert rob(here.data) > 0
        here.app.start()
        here.wait_for(lambda: len({one.prompt for one in models.seen}) >= 2)
        here.app.kill()
        here.app.start()
        outcome = here.finish(150)
        assert outcome.stage == "done", here.app.tail(60)
        assert list(here.world.complaints(here.data, outcome.run)) == []
        asked = Counter(one.prompt for one in models.seen)
        assert len(asked) == 2
        assert max(asked.values()) <= 2, "only what was under way when it was killed is asked again"
        assert len(models.seen) <= 4
        report = json.loads(outcome.report or "")
        assert {row["reviewer"] for row in report["reviewers"]} == {"lintwarden", "static", MODEL}
        first = said(here, outcome.run)
        assert {status.value for status, *_ in first.values()} == {"reviewed_findings", "reviewed_clean"}
        assert {reviewer: bodies for (pull, reviewer), (_, _, bodies, *_) in first.items() if bodies}.keys() == {
            "static",
            MODEL,
        }
        paid = len(models.seen)
        here.ask(BESIDE)
        here.wait_for(lambda: len(here.ours("progress")) == 1)
        again = here.finish(150)
        assert again.run != outcome.run
        assert said(here, again.run) == first
        assert len(models.seen) == paid, "what a model has answered is not asked again"
        spoken = [body for (_, _, bodies, *_) in first.values() for body, _ in bodies]
        assert spoken
        written = talk(here, outcome.run)
        assert written, "the bot has said something there"
        assert not any(text in body for text in spoken for body in written)


def talk(here: Bench, run: str) -> list[str]:
    """Everything that stands in the conversations of a run's forks."""
    found: list[str] = []
    for fork in json.loads(read_bundle(here.data / "bundles" / run).extra["evidence/forks.json"]):
        repo = f"{fork['repo']['owner']}/{fork['repo']['name']}"
        for kind in (
            f"issues/{fork['pull']}/comments",
            f"pulls/{fork['pull']}/comments",
            f"pulls/{fork['pull']}/reviews",
        ):
            found += [str(one["body"]) for one in here.world.get("GET", f"/repos/{repo}/{kind}?per_page=100")]
    return found


def test_what_may_not_review_is_told_before_anything_is_forked_and_what_may_post_posts_once_where_it_is_alone(
    tmp_path: Path, models: Models
) -> None:
    with bench(tmp_path, extra=settings(models)) as here:
        wrong = ("command:id", "single-shot:openai/other", "cold:openai/finder")
        here.ask(Asked(reviewers=("lintwarden",), built_in=wrong))
        here.wait_for(lambda: len(here.ours("problems")) == 1)
        told = here.ours("problems")[0]
        assert "runs a program" in told
        assert "may not review here" in told
        assert "cold suite" in told
        posting = Asked(reviewers=("lintwarden",), pulls="order-totals", built_in=("static?post=yes",))
        here.ask(posting)
        here.wait_for(lambda: len(here.ours("problems")) == 1)
        assert "would post where the other reviewers read" in here.ours("problems")[0]
        assert here.made()["repository"] == 0
        assert models.seen == []
        alone = f"### {Label.ISOLATION.value}\n\n"
        body = form_body(posting, here.world.registry).replace(f"{alone}_No response_", f"{alone}per-reviewer")
        here.open_issue(body)
        outcome = here.finish(150)
        assert outcome.stage == "done", here.app.tail(60)
        posted = {
            path for method, path, who in here.done() if method == "POST" and who == AUTHOR and "/comments" in path
        }
        assert len(posted) == 1, "once, on its own fork"
        written = [text for text in talk(here, outcome.run) if text.startswith("Review by `static?post=yes`")]
        trial = next(t for t in read_bundle(here.data / "bundles" / outcome.run).trials if t.reviewer != "lintwarden")
        assert len(written) == 1
        assert written[0].count("\n- ") == len(trial.comments) > 0
