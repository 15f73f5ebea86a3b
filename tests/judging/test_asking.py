"""Asking over real HTTP through the real client: nothing is paid twice, nothing is lost, nothing is believed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.judging.budget import BudgetError, Limits
from bot.judging.bundles import Judged, carry_out, plan_bundle
from scoring.bundle import Bundle
from scoring.judges.llm import LlmJudge
from scoring.model import Verdict
from tests.judging.make import Time, bundle, changed, means
from tests.judging.server import Models, serving


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> Iterator[Models]:
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    with serving() as found:
        yield found


def ask(models: Models, folder: Path, held: Bundle, name: str = "honest", **options: object) -> Judged:
    limits = options.pop("limits", None)
    concurrency = options.pop("concurrency", 4)
    time = options.pop("time", None)
    judge = LlmJudge(f"openai/{name}", **options)  # type: ignore[arg-type]
    with_means = means(folder, models.base, limits, concurrency=concurrency, time=time)  # type: ignore[arg-type]
    found = carry_out(held, plan_bundle(held, judge, with_means), with_means)
    with_means.replies.close()
    return found


def verdicts(judged: Judged) -> dict[tuple[str, str, str], Verdict]:
    return {
        (trial.pull, one.candidate, one.golden): one.verdict for trial in judged.said.trials for one in trial.judgements
    }


def right(judged: Judged) -> bool:
    """Whether the verdicts are those of a good judge: `sharp` finds every golden, nothing else matches."""
    said = verdicts(judged)
    return bool(said) and all((verdict is Verdict.MATCH) == ("sharp" in key[1]) for key, verdict in said.items())


@pytest.mark.parametrize("name", ["honest", "sloppy", "slow", "wrapping", "truncating", "no-schema"])
def test_a_model_with_manners_of_its_own_gives_the_same_verdicts(models: Models, tmp_path: Path, name: str) -> None:
    judged = ask(models, tmp_path, bundle(), name)
    assert right(judged)
    assert judged.unscored == ()
    assert judged.said.details["trusted"] is True
    assert models.answered == judged.spent.calls == (12 if name == "truncating" else 6)


def test_a_second_run_asks_nobody_and_says_the_same(models: Models, tmp_path: Path) -> None:
    first = ask(models, tmp_path, bundle())
    before = len(models.seen)
    second = ask(models, tmp_path, bundle())
    assert len(models.seen) == before
    assert second.said == first.said
    assert (second.spent.calls, second.spent.cost) == (0, 0.0)


def test_a_changed_candidate_asks_again_about_itself_alone(models: Models, tmp_path: Path) -> None:
    held = bundle(extra=("Another remark about logging in this file.",))
    ask(models, tmp_path, held)
    before = len(models.seen)
    found = ask(models, tmp_path, changed(held, 1, "Please add a changelog entry to the release notes."))
    assert len(models.seen) == before + 1
    assert "changelog" in models.seen[-1].prompt
    assert "Another remark" not in models.seen[-1].prompt
    assert right(found)


def test_two_orders_are_two_calls_a_trial(models: Models, tmp_path: Path) -> None:
    assert right(ask(models, tmp_path, bundle(), orders=2))
    assert models.answered == 12


def test_a_model_that_invents_ids_is_asked_again_and_then_not_scored(models: Models, tmp_path: Path) -> None:
    judged = ask(models, tmp_path, bundle(1), "wrong-id")
    assert set(verdicts(judged).values()) == {Verdict.UNDECIDED}
    assert all("judge_reply" in line for line in judged.unscored)
    assert models.answered == 6
    assert all(trial.failed.startswith("judge_reply") for trial in judged.said.trials)


def test_a_hijacked_model_gives_itself_away(models: Models, tmp_path: Path) -> None:
    judged = ask(models, tmp_path, bundle(), "hijacked")
    assert judged.said.details["trusted"] is False
    assert any("decoys" in line for line in judged.said.details["warnings"])
    assert all(one.evidence["untrusted_judge"] for trial in judged.said.trials for one in trial.judgements)


def test_one_dying_call_loses_only_itself(models: Models, tmp_path: Path) -> None:
    held = changed(bundle(), 2, "This one DIES on the wire.")
    judged = ask(models, tmp_path, held, "dying")
    assert len(judged.unscored) == 1
    assert judged.unscored[0].startswith("pull-1 | sharp: judge_out")
    left = {key: verdict for key, verdict in verdicts(judged).items() if key[1] != "sharp-1-0"}
    assert all((verdict is Verdict.MATCH) == ("sharp" in key[1]) for key, verdict in left.items())
    assert models.answered == 5


@pytest.mark.parametrize(("name", "least"), [("limited-politely", 3.0), ("limited", 1.0)])
def test_a_limit_is_waited_out(models: Models, tmp_path: Path, name: str, least: float) -> None:
    time = Time()
    assert right(ask(models, tmp_path, bundle(), name, time=time, concurrency=1))
    assert time.now >= least * 2
    assert models.answered == 6
    assert len(models.seen) == 8


def test_a_key_that_is_refused_is_never_shown_and_never_retried(models: Models, tmp_path: Path) -> None:
    judged = ask(models, tmp_path, bundle(1), "refused")
    assert len(models.seen) == 2
    assert all("401" in line and "sk-abcdefgh" not in line for line in judged.unscored)


def test_a_provider_that_is_down_is_not_asked_forever(models: Models, tmp_path: Path) -> None:
    judged = ask(models, tmp_path, bundle(8), "broken", concurrency=1)
    assert len(judged.unscored) == 16
    assert len(models.seen) == 8 * 6
    assert "not asked" in judged.unscored[-1]


def test_calls_are_limited_and_the_rest_is_done_later(models: Models, tmp_path: Path) -> None:
    first = ask(models, tmp_path, bundle(), limits=Limits(max_calls=4))
    assert models.answered == 4
    assert [line.partition(": ")[2][:6] for line in first.unscored] == ["budget", "budget"]
    second = ask(models, tmp_path, bundle(), limits=Limits(max_calls=4))
    assert models.answered == 6
    assert right(second)
    assert second.unscored == ()


def test_a_cost_limit_without_a_price_is_refused_before_anything_is_asked(models: Models, tmp_path: Path) -> None:
    with pytest.raises(BudgetError, match="no price of openai/honest"):
        ask(models, tmp_path, bundle(), limits=Limits(max_cost=1))
    assert models.seen == []


def test_money_is_kept_together(models: Models, tmp_path: Path) -> None:
    judged = ask(models, tmp_path, bundle(), "gpt-4o", limits=Limits(max_cost=0.10))
    spent = judged.spent.cost
    assert spent is not None
    assert 0 < spent <= 0.10
    stopped = ask(models, tmp_path / "poor", bundle(), "gpt-4o", limits=Limits(max_cost=0.05))
    assert (stopped.spent.cost or 0) <= 0.05
    assert stopped.unscored
    assert all("budget: $" in line for line in stopped.unscored)


def test_calls_run_side_by_side_and_no_more_than_allowed(models: Models, tmp_path: Path) -> None:
    models.pause = 0.1
    ask(models, tmp_path, bundle(6), concurrency=3)
    assert 2 <= models.most_at_once <= 3


def test_the_same_question_from_two_trials_is_paid_once(models: Models, tmp_path: Path) -> None:
    held = bundle(1, extra=())
    twin = changed(changed(held, 0, "The very same words."), 1, "The very same words.")
    judged = ask(models, tmp_path, twin)
    assert models.answered == judged.spent.calls == 1
    assert len(verdicts(judged)) == 2


def test_judge_and_reviewer_of_one_house_are_warned_of(models: Models, tmp_path: Path) -> None:
    judged = ask(models, tmp_path, bundle(1), "gpt-4o")
    assert any("sharp" in line and "OpenAI" in line for line in judged.said.details["warnings"])


def test_every_call_is_on_record(models: Models, tmp_path: Path) -> None:
    details = ask(models, tmp_path, bundle()).said.details
    assert details["calls"] == len(details["log"]) == 6
    assert details["prompt_tokens"] == models.tokens()
    for row in details["log"]:
        assert row["model"] == "honest-2026"
        assert row["parameters"]["temperature"] == 0
        assert len(row["key"]) == 64
        assert row["seconds"] > 0
