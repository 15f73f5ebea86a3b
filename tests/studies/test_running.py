"""A study against a model over HTTP: killed and gone on with, stopped by its budget, and never paying twice."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.judging.test_commands import Done, assay, environment
from tests.studies.server import Loopback, loopback
from tests.studies.test_shipped import parts

pytestmark = pytest.mark.timeout(480)
STUDY = """study: killed
title: A study that is killed
suites:
- suite: smoke
  pulls: [order-totals, ring-buffer, rate-limit]
reviewers:
- name: static
  spec: static
- name: loop
  spec: single-shot:hosted_vllm/loop
  prompts: {plain: {context: 'no'}, more: {context: 'yes'}}
judges:
- litellm:hosted_vllm/judge
- lexical
prices:
  hosted_vllm/loop: {input: 1, output: 2}
  hosted_vllm/judge: {input: 1, output: 2}
tables: [leaderboard, output, frontier, prompt_sensitivity, judge_to_judge]
"""


@pytest.fixture
def model() -> Iterator[Loopback]:
    with loopback() as found:
        yield found


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "study.yaml"
    path.write_text(STUDY, encoding="utf-8")
    return path


def run(file: Path, model: Loopback, place: Path, *more: str) -> Done:
    arguments = ("study", str(file), "-o", str(place), "--concurrency", "1", "--model-base", model.base, *more)
    return assay(place, *arguments, env=environment())


def killed(file: Path, model: Loopback, place: Path, at: int) -> int:
    """Start the study as a process of its own, which is killed at its `at`-th request; how it ended."""
    arguments = ("study", str(file), "-o", str(place), "--concurrency", "1", "--model-base", model.base)
    begin = "import sys; from bot.cli import main; sys.argv = ['assay', *sys.argv[1:]]; main()"
    model.kill_at = len(model.asked) + at
    process = subprocess.Popen(
        [sys.executable, "-c", begin, *arguments],
        env=environment(),
        cwd=file.parent,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    model.victim = process.pid
    return process.wait(timeout=200)


def test_a_study_killed_at_any_request_goes_on_and_pays_for_nothing_twice(
    file: Path, model: Loopback, tmp_path: Path
) -> None:
    file.write_text(STUDY.replace("- name: static\n  spec: static\n", ""), encoding="utf-8")
    whole = run(file, model, tmp_path / "whole")
    assert whole.returncode == 0, whole.stderr
    paid = Counter(model.answered)
    assert len(paid) > 6
    assert max(paid.values()) == 1
    model.answered.clear()
    place, left = tmp_path / "killed", len(paid)
    rng = random.Random(20261130)
    for most in (left // 2, left // 2):
        at = rng.randint(2, most)
        assert killed(file, model, place, at) == -9
        left -= at - 1
        assert len(model.answered) == len(paid) - left
    assert not (place / "bundle").exists()
    done = run(file, model, place)
    assert done.returncode == 0, done.stderr
    assert Counter(model.answered) == paid
    assert done.stdout == whole.stdout
    assert parts(place) == parts(tmp_path / "whole")


def test_a_finished_study_asks_nobody_and_a_wider_one_asks_what_is_new(
    file: Path, model: Loopback, tmp_path: Path
) -> None:
    run(file, model, tmp_path / "one")
    asked = len(model.asked)
    run(file, model, tmp_path / "one")
    assert len(model.asked) == asked
    wider = STUDY.replace("rate-limit]", "rate-limit, profile-cache]")
    file.write_text(wider, encoding="utf-8")
    done = run(file, model, tmp_path / "one", "--json")
    assert done.returncode == 0
    assert len(model.asked) == asked + 3
    assert {row["trials"] for row in json.loads(done.stdout)["tables"]["output"]["rows"]} == {4}


def test_a_budget_that_is_used_up_stops_the_study_and_says_how_to_go_on(
    file: Path, model: Loopback, tmp_path: Path
) -> None:
    place = tmp_path / "one"
    short = run(file, model, place, "--max-calls", "2")
    assert short.returncode == 1
    assert "the budget is used up; raise --max-cost or --max-calls" in short.stderr
    assert "budget: all 2 calls are used" in short.stderr
    assert len(model.answered) == 2
    assert "4 of 9 reviews" in short.stderr
    done = run(file, model, place)
    assert done.returncode == 0, done.stderr
    assert max(Counter(model.answered).values()) == 1
    assert done.stdout == run(file, model, tmp_path / "other").stdout


def test_money_spent_before_counts_against_the_budget(file: Path, model: Loopback, tmp_path: Path) -> None:
    place = tmp_path / "one"
    run(file, model, place, "--max-calls", "2")
    poor = run(file, model, place, "--max-cost", "0.000001")
    assert poor.returncode == 1
    assert len(model.answered) == 2
    assert "$0.0000 of $0.00 are left" in poor.stderr


def test_a_limit_that_cannot_be_kept_is_refused_before_anything_is_asked(
    file: Path, model: Loopback, tmp_path: Path
) -> None:
    file.write_text(STUDY.replace("  hosted_vllm/judge: {input: 1, output: 2}\n", ""), encoding="utf-8")
    done = run(file, model, tmp_path / "one", "--max-cost", "3")
    assert done.returncode == 2
    assert "no price of hosted_vllm/judge is known" in done.stderr
    assert model.asked == []


def test_reviews_that_fail_are_errors_and_no_clean_reviews(file: Path, model: Loopback, tmp_path: Path) -> None:
    file.write_text(STUDY.replace("spec: static\n", "spec: command:false\n", 1), encoding="utf-8")
    done = run(file, model, tmp_path / "one", "--json")
    rows = {row["reviewer"]: row for row in json.loads(done.stdout)["tables"]["output"]["rows"]}
    assert done.returncode == 1
    assert (rows["static"]["failed"], rows["static"]["reviews"]) == (3, 0)
    assert "3 of 9 reviews and 0 verdicts are missing; run the same again" in done.stderr


@pytest.mark.parametrize(
    ("good", "bad", "told"),
    [
        ("spec: static\n", "spec: statik\n", "study.yaml:8: reviewers[0].spec: there is no reviewer 'statik'"),
        ("- lexical", "- lexcal", "study.yaml:14: judges[1].judge: there is no judge 'lexcal'; did you mean lexical?"),
        ("- lexical", "- replay:human", "study.yaml:14: judges[1].judge: replay:human answers from a bundle"),
    ],
)
def test_a_reviewer_or_judge_that_cannot_be_had_is_told_with_its_line(
    good: str, bad: str, told: str, file: Path, model: Loopback, tmp_path: Path
) -> None:
    file.write_text(STUDY.replace(good, bad, 1), encoding="utf-8")
    done = run(file, model, tmp_path / "one")
    assert done.returncode == 2
    assert told in done.stderr
    assert model.asked == []


def test_a_cold_reviewer_that_would_be_shown_the_place_ends_the_study(tmp_path: Path, model: Loopback) -> None:
    """What is withheld of the pull request stands in the prompt, so no score may come of it."""
    suite = tmp_path / "leaky"
    for side, text in (("base", "a = 1\n"), ("head", "a = 1\nb = a / 0\n")):
        (suite / "divides" / side).mkdir(parents=True)
        (suite / "divides" / side / "calc.py").write_text(text, encoding="utf-8")
    entry = {
        "id": "divides", "language": "python", "title": "Add b", "body": "b = a / 0", "source": "files",
        "goldens": [{"id": "zero", "path": "calc.py", "lines": [2, 2], "category": "correctness", "severity": "high",
                     "finding": "It divides by zero."}],
    }  # fmt: skip
    told = {"suite": "leaky", "version": "1", "title": "t", "licence": "MIT", "provenance": "made", "pulls": [entry]}
    (suite / "suite.yaml").write_text(json.dumps(told), encoding="utf-8")
    (suite / "withheld.json").write_text(
        json.dumps({"divides": {"names": ["one source file, whole"]}}), encoding="utf-8"
    )
    file = tmp_path / "study.yaml"
    text = STUDY.replace("- suite: smoke\n  pulls: [order-totals, ring-buffer, rate-limit]", "- leaky/")
    text = text.replace("single-shot:hosted_vllm/loop\n  prompts: {plain: {context: 'no'}, more: {context: 'yes'}}",
                        "cold:hosted_vllm/loop")  # fmt: skip
    file.write_text(text, encoding="utf-8")
    done = run(file, model, tmp_path / "one")
    assert done.returncode == 1
    assert "the study is void" in done.stderr
    assert model.asked == []
    assert not (tmp_path / "one" / "bundle").exists()
