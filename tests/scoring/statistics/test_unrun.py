"""Whatever is asked: a trial that did not run is no evidence, so it moves nothing, and least of all downwards."""

from __future__ import annotations

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.model import TrialScore
from scoring.statistics import agreement, bradley_terry, capture, noise, overlap, power
from scoring.statistics.bootstrap import leaderboard_intervals
from scoring.statistics.clusters import partition
from scoring.statistics.ranks import rank
from tests.scoring.statistics.make import A, B, C, resampler, score, unrun

worlds = st.lists(st.tuples(st.integers(0, 3), st.lists(st.integers(0, 7), min_size=3, max_size=3)), max_size=6)
skipped = st.sets(st.tuples(st.sampled_from(["x1", "x2"]), st.sampled_from([A, B, C])))


def world(drawn: list[tuple[int, list[int]]]) -> list[TrialScore]:
    scores = [
        score(f"p{number}", name, f"{bits:03b}"[:goldens], fp=bits % 3)
        for number, (goldens, own) in enumerate(drawn)
        for name, bits in zip((A, B, C), own, strict=True)
    ]
    return [*scores, *[score("clean", name) for name in (A, B, C)]]


def everything(scores: list[TrialScore]) -> list[object]:
    trials, draws = partition(scores), resampler(3, 200)
    found = overlap.finds(trials)
    return [
        leaderboard_intervals(trials, draws),
        rank(trials, draws, family=False),
        bradley_terry.duels(trials),
        found,
        overlap.uniques(found),
        overlap.best_second(trials, A, draws),
        overlap.union(trials, [A, B]),
        noise.noise(trials.scored(B), draws),
        capture.incidence(trials, [A, B, C]),
        power.pilot(trials, A, B),
        agreement.golden_labels(scores),
    ]


@settings(max_examples=25, deadline=None)
@given(worlds, skipped, st.randoms(use_true_random=False))
def test_trials_that_did_not_run_move_no_statistic(
    drawn: list[tuple[int, list[int]]], more: set[tuple[str, str]], random: Random
) -> None:
    scores = world(drawn)
    with_unrun = [*scores, *[unrun(pull, name) for pull, name in more]]
    random.shuffle(with_unrun)
    assert everything(with_unrun) == everything(scores)
