"""Runs whose judge is a language model, on loopback: judged once, paid once, whatever happens in between."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.demo.world import form_body
from bot.issue_form import Label
from goldens.importers.folder import read_bundle
from tests.flows.world import SMALL, bench
from tests.judging.server import Models, serving

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def models() -> Iterator[Models]:
    with serving() as found:
        yield found


def settings(models: Models, judge: str = "litellm:openai/honest") -> dict[str, str]:
    return {
        "ASSAY_JUDGE": judge,
        "ASSAY_LLM_API_BASE": models.base,
        "ASSAY_LLM_CONCURRENCY": "1",
        "OPENAI_API_KEY": "x",
    }


def test_killed_while_a_model_judges_nothing_is_paid_twice(tmp_path: Path, models: Models) -> None:
    models.pause = 1.0
    with bench(tmp_path, extra=settings(models)) as here:
        here.ask()
        here.wait_for(lambda: len(models.seen) >= 2)
        here.app.kill()
        here.app.start()
        outcome = here.finish(150)
        assert outcome.stage == "done", here.app.tail(60)
        assert list(here.world.complaints(here.data, outcome.run)) == []
    report = json.loads(outcome.report or "")
    assert report["judge"].startswith("litellm:openai/honest/")
    asked = Counter(one.prompt for one in models.seen)
    assert asked[models.seen[0].prompt] == 1, "its answer was there when the App was killed"
    assert asked[models.seen[1].prompt] == 2, "it was under way, and nobody had its answer"
    assert len(asked) == 2
    [judged] = read_bundle(here.data / "bundles" / outcome.run).judgements
    assert judged.details["calls"] == len(asked)
    assert judged.details["unscored"] == []
    assert sum(row["unscored"] for row in report["reviewers"]) == 0
    assert sum(row["tp"] + row["fp"] for row in report["reviewers"]) > 0


def test_a_judge_without_its_key_or_a_limit_nobody_can_keep_stops_before_anything_is_forked(
    tmp_path: Path, models: Models
) -> None:
    extra = settings(models)
    with bench(tmp_path, extra=extra) as here:
        body = form_body(SMALL, here.world.registry)
        nobody = f"### {Label.JUDGE.value}\n\n_No response_"
        assert nobody in body
        here.open_issue(body.replace(nobody, f"### {Label.JUDGE.value}\n\nlitellm:anthropic/claude-opus-4-5"))
        here.wait_for(lambda: len(here.ours("problems")) == 1)
        assert "ANTHROPIC\\_API\\_KEY" in here.ours("problems")[0] or "ANTHROPIC_API_KEY" in here.ours("problems")[0]
        cost = f"### {Label.COST.value}\n\n_No response_"
        assert cost in body
        here.open_issue(body.replace(cost, f"### {Label.COST.value}\n\n5"))
        here.wait_for(lambda: len(here.ours("problems")) == 1)
        assert "price" in here.ours("problems")[0]
        assert here.made()["repository"] == 0
        assert models.seen == []
