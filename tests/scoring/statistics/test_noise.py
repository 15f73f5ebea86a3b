from __future__ import annotations

import time

import pytest

from scoring.model import Estimate
from scoring.statistics.bootstrap import FEW_CLUSTERS, NO_SPREAD
from scoring.statistics.clusters import partition
from scoring.statistics.noise import NO_CLEAN, NO_FIND, noise, visible_words
from scoring.stats import wilson
from tests.scoring.statistics.make import A, contained, resampler, score, unrun
from tests.shared import case


def test_noise_by_hand() -> None:
    scores = [score("p1", A, fp=3, bodies=["one two three"]), score("p2", A), score("p3", A, fp=1), unrun("p4", A, 0)]
    scores += [score("p5", A, "110", bodies=["four words are here", "one"]), score("p6", A, "1", bodies=["two words"])]
    made = noise(partition(scores).scored(A), resampler())
    assert made.clean_pulls == 3
    assert made.alarms_per_clean.value == pytest.approx(4 / 3)
    assert made.quiet == wilson(1, 3)
    assert (made.alarms_per_clean.n, made.words_per_find.n) == (3, 3)
    assert made.words == 10
    assert made.words_per_find.value == pytest.approx(10 / 3)
    for one in (made.alarms_per_clean, made.quiet, made.words_per_find):
        assert contained(one.value, one.low, one.high)
        assert one.low is not None


def test_a_clean_pull_request_is_judged_by_its_silence() -> None:
    expected, given = case("86")["expected"], case("86")["input"]["tools"]
    for name, alarms in given.items():
        trial = unrun("p1", name, 0) if alarms is None else score("p1", name, fp=alarms)
        made = noise(partition([trial]).scored(trial.trial.reviewer), resampler())
        if expected[name] == "not counted":
            assert made.quiet == Estimate(None, None, None, 0, NO_CLEAN)
        else:
            assert made.alarms_per_clean.value == expected[name]["fp"]
            assert made.quiet.value == float(expected[name].get("true_quiet", False))


def test_words_for_nothing_have_no_price() -> None:
    made = noise(partition([score("p1", A, "0", fp=1, bodies=["much ado"])]).scored(A), resampler())
    assert (made.words, made.words_per_find.value, made.words_per_find.reason) == (2, None, NO_FIND)
    assert made.alarms_per_clean.reason == NO_CLEAN
    assert made.quiet == Estimate(None, None, None, 0, NO_CLEAN)


def test_one_pull_request_with_a_find_has_a_price_and_no_interval() -> None:
    scores = [score("p1", A, "1", bodies=["three plain words"]), score("p2", A, "0", bodies=["and two"])]
    made = noise(partition([*scores, score("p3", A), score("p4", A)]).scored(A), resampler(confidence=0.8), len)
    assert made.words_per_find == Estimate(24.0, None, None, 1, FEW_CLUSTERS)
    assert (made.words, made.quiet) == (17 + 7, wilson(2, 2, 0.8))


def test_always_silent_is_not_certain_to_stay_so() -> None:
    made = noise(partition([score(f"p{number}", A) for number in range(5)]).scored(A), resampler())
    assert (made.alarms_per_clean.value, made.alarms_per_clean.low, made.alarms_per_clean.reason) == (
        0.0,
        None,
        NO_SPREAD,
    )
    assert made.quiet.low is not None
    assert made.quiet.low < 0.6


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("Two words", 2),
        ("", 0),
        ("**bold** - `x = 1` ...", 3),
        ("<details><summary>Open me</summary>inside</details>", 3),
        ("seen <!-- not seen at all --> again", 2),
        ("seen <!-- a --> b <!-- never closed, so the rest is hidden", 2),
        ("one<br>two", 2),
        ("seen<!-- x -->again<!-- y -->and again", 4),
        ("if a < b and c > d", 6),
        ("```python\nreturn None\n```", 3),
    ],
)
def test_words_are_those_a_reader_meets(body: str, words: int) -> None:
    assert visible_words(body) == words


@pytest.mark.parametrize("body", ["<!--" * 60_000, "<a " * 80_000, "<!---->" * 40_000, "<" * 240_000])
def test_hostile_bodies_cost_no_more_than_their_length(body: str) -> None:
    began = time.process_time()
    visible_words(body)
    assert time.process_time() - began < 20
