from __future__ import annotations

import json
import re
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.model import Estimate, GoldenId, PullId, TrialScore
from scoring.statistics.bootstrap import FEW_CLUSTERS, Figures
from scoring.statistics.clusters import partition
from scoring.statistics.paired import Comparison, FoundBy, Standing, compare, compare_all, found_by, say, two_sided
from tests.scoring.statistics.make import A, B, C, contained, resampler, score, unrun
from tests.shared import SHARED, case


def against(first: list[str], second: list[str], fp: tuple[int, int] = (1, 1)) -> Comparison:
    scores = [score(f"p{number:02}", A, marks, fp=fp[0]) for number, marks in enumerate(first)]
    scores += [score(f"p{number:02}", B, marks, fp=fp[1]) for number, marks in enumerate(second)]
    return compare(partition(scores), A, B, resampler())


def test_mcnemar_of_the_goldens_agrees_with_the_published_tests() -> None:
    for row in case("92")["expected"]["results"]:
        made = FoundBy(3, row["only_first"], row["only_second"], 5).p_value
        assert made == pytest.approx(row["p_exact"], abs=1e-12)


def test_mcnemar_agrees_with_every_reference_vector() -> None:
    path = SHARED / "data" / "reference_vectors.json"
    if not path.exists():
        pytest.skip(f"no {path}: the shared reference material is not here")
    vectors = [one for one in json.loads(path.read_text(encoding="utf-8"))["vectors"] if one["fn"] == "mcnemar_exact"]
    assert len(vectors) >= 7
    for vector in vectors:
        found = FoundBy(0, vector["input"]["b"], vector["input"]["c"], 0)
        assert found.p_value == pytest.approx(vector["expected"], abs=vector["tol"])


def test_mcnemar_of_eight_to_one_by_hand() -> None:
    # 2 (C(9,0) + C(9,1)) / 2^9 = 20/512
    assert FoundBy(40, 8, 1, 6).p_value == pytest.approx(20 / 512)


def test_goldens_are_paired_by_pull_request_and_only_where_both_were_judged() -> None:
    trials = partition([score("p1", A, "110?"), score("p2", A, "1"), score("p1", B, "10?1"), score("p2", B, "0")])
    assert found_by(trials.goldens(A), trials.goldens(B)) == FoundBy(1, 2, 0, 0)
    same_id = {(PullId("p1"), GoldenId("g")): True}, {(PullId("p2"), GoldenId("g")): True}
    assert found_by(*same_id) == FoundBy(0, 0, 0, 0)
    five = partition([score("p1", A, "11000"), score("p1", B, "10100")])
    assert compare(five, A, B, resampler()).found == FoundBy(both=1, only_first=1, only_second=1, neither=2)
    assert compare(five, B, A, resampler()).found == FoundBy(1, 1, 1, 2)
    lead = compare(partition([score("p1", A, "111"), score("p1", B, "000")]), A, B, resampler())
    assert lead.found == FoundBy(0, 3, 0, 0)


def test_a_clear_lead_is_said_in_one_sentence() -> None:
    made = against(["111", "110", "111", "101"] * 6, ["100", "000", "010", "100"] * 6)
    assert made.standing is Standing.FIRST_AHEAD
    # 72 goldens, 24 false alarms each. acme finds 60: F1 120/(120 + 24 + 12); bolt 18: 36/(36 + 24 + 54).
    assert made.differences.f1.value == pytest.approx(120 / 156 - 36 / 114)
    assert re.fullmatch(
        r"acme is ahead of bolt: F1 differs by \+0\.453; the 95% interval of the difference is "
        r"\+0\.\d{3} to \+0\.\d{3}, on 24 shared pull requests\.",
        made.sentence,
    )
    assert made.p_value is not None
    assert made.p_value < 0.01


def test_the_one_ahead_comes_first_in_the_sentence_whoever_was_named_first() -> None:
    made = against(["100", "000", "010", "100"] * 6, ["111", "110", "111", "101"] * 6)
    assert made.standing is Standing.SECOND_AHEAD
    assert made.sentence.startswith("bolt is ahead of acme: F1 differs by +0.453; the 95% interval")
    assert made.differences.f1.value is not None
    assert made.differences.f1.value < 0


def test_a_small_lead_on_few_pull_requests_is_no_lead() -> None:
    made = against(["10", "01", "11"], ["10", "01", "01"])
    assert made.standing is Standing.NOT_SEPARATED
    assert made.sentence.startswith("acme and bolt are not separated: F1 differs by +0.")
    assert made.sentence.endswith("on 3 shared pull requests.")
    turned = against(["10", "01", "01"], ["10", "01", "11"])
    assert (turned.differences.f1.high, turned.standing) == (0.0, Standing.NOT_SEPARATED)


def test_equal_reviewers_are_not_separated_and_get_no_interval_of_zero_width() -> None:
    made = against(["10", "01"] * 5, ["10", "01"] * 5)
    assert (made.differences.f1.value, made.differences.f1.low, made.p_value) == (0.0, None, None)
    assert made.standing is Standing.NOT_SEPARATED
    assert "without an interval, because every resample" in made.sentence


def test_no_shared_pull_request_is_said_and_not_zero() -> None:
    trials = partition([score("p1", A, "11"), score("p2", B, "00"), unrun("p1", B)])
    made = compare(trials, A, B, resampler())
    none = Estimate(None, None, None, 0, "no shared pull requests")
    assert (made.shared, made.standing, made.p_value) == (0, Standing.NOT_COMPARABLE, None)
    assert made.differences == Figures(none, none, none)
    assert made.sentence == "acme and bolt cannot be compared: no shared pull requests."


def test_clean_pull_requests_alone_give_no_f1_to_compare() -> None:
    made = compare(partition([score("p1", A, fp=2), score("p1", B)]), A, B, resampler())
    assert made.standing is Standing.NOT_COMPARABLE
    assert made.sentence == (
        "acme and bolt cannot be compared on 1 shared pull request: no golden was scored, so there was nothing to find."
    )


def test_a_pull_request_on_which_one_was_silent_is_no_pair_of_precisions() -> None:
    trials = partition([score("p1", A, "1", fp=1), score("p2", A, "1"), score("p1", B, "1"), score("p2", B, "0")])
    made = compare(trials, A, B, resampler()).differences
    assert made.precision == Estimate(2 / 3 - 1, None, None, 2, FEW_CLUSTERS)
    assert made.recall.n == made.f1.n == 2
    silent = compare(partition([score("p1", A, "1"), score("p1", B, "0")]), A, B, resampler()).differences
    assert silent.precision == Estimate(None, None, None, 0, "one of them claimed nothing that was scored")
    assert silent.recall == Estimate(1.0, None, None, 1, FEW_CLUSTERS)


def test_failing_on_hard_pull_requests_puts_nobody_ahead() -> None:
    easy = [score(f"e{number}", name, "11") for number in range(6) for name in (A, B)]
    hard = [score(f"h{number}", A, "00") for number in range(6)] + [unrun(f"h{number}", B) for number in range(6)]
    made = compare(partition([*easy, *hard]), A, B, resampler())
    assert (made.shared, made.differences.f1.value) == (6, 0.0)


def test_pairing_separates_what_two_separate_intervals_would_not() -> None:
    # Pull requests differ wildly in how hard they are, and acme finds one golden more on each.
    rng = np.random.default_rng(3)
    scores: list[TrialScore] = []
    for number in range(30):
        found = int(rng.integers(0, 10))
        scores.append(score(f"p{number:02}", A, "1" * (found + 1) + "0" * (9 - found)))
        scores.append(score(f"p{number:02}", B, "1" * found + "0" * (10 - found)))
    made = compare(partition(scores), A, B, resampler())
    from scoring.statistics.bootstrap import leaderboard_intervals

    alone = leaderboard_intervals(partition(scores), resampler())
    first, second = alone[A].micro.f1, alone[B].micro.f1
    assert first.low is not None and second.high is not None
    assert first.low < second.high
    assert made.standing is Standing.FIRST_AHEAD


def test_a_reviewer_is_not_compared_with_itself() -> None:
    with pytest.raises(ValueError, match="acme cannot be compared with itself"):
        compare(partition([score("p1", A, "1")]), A, A, resampler())


def test_p_from_draws_is_never_zero_and_one_for_a_difference_of_nothing() -> None:
    assert two_sided(np.full(999, 0.3)) == pytest.approx(2 / 1000)
    assert two_sided(np.zeros(999)) == 1.0
    # One draw of 0 counts on both sides and once in all: 2 (1 + 1) / (19 + 1)
    for side in (2.0, -2.0):
        assert two_sided(np.array([0.0, *[side] * 18])) == pytest.approx(0.2)
    assert two_sided(np.array([-1.0, 1.0, np.nan, 2.0])) == 1.0


def test_a_sentence_without_bounds_says_why() -> None:
    said = say((A, B), 1, Estimate(0.25, None, None, 1, "there is one"), Standing.NOT_SEPARATED, 0.95)
    assert said == (
        "acme and bolt are not separated: F1 differs by +0.250 on 1 shared pull request, "
        "without an interval, because there is one."
    )


def test_a_lead_of_the_second_is_told_with_its_own_bounds_in_order() -> None:
    said = say((A, B), 9, Estimate(-0.25, -0.4, -0.1, 9), Standing.SECOND_AHEAD, 0.9)
    assert said == (
        "bolt is ahead of acme: F1 differs by +0.250; the 90% interval of the difference is "
        "+0.100 to +0.400, on 9 shared pull requests."
    )


marks = st.text("10?", min_size=0, max_size=3)
worlds = st.lists(st.tuples(marks, st.integers(0, 2), st.integers(0, 2), st.randoms(use_true_random=False)), max_size=8)


def world(drawn: list[tuple[str, int, int, Random]]) -> list[TrialScore]:
    scores = []
    for number, (row, one, two, random) in enumerate(drawn):
        other = "".join(random.choice("10") for _ in row)
        scores += [score(f"p{number}", A, row, fp=one), score(f"p{number}", B, other, fp=two)]
    return [*scores, score("q", A), score("q", B), score("q", C)]


@settings(max_examples=30, deadline=None)
@given(worlds)
def test_swapping_the_two_turns_the_difference_round(drawn: list[tuple[str, int, int, Random]]) -> None:
    trials = partition(world(drawn))
    one, other = (compare(trials, *pair, resampler(5, 200)) for pair in ((A, B), (B, A)))
    for ours, theirs in (
        (one.differences.f1, other.differences.f1),
        (one.differences.precision, other.differences.precision),
        (one.differences.recall, other.differences.recall),
    ):
        assert contained(ours.value, ours.low, ours.high)
        assert (ours.value is None) == (theirs.value is None)
        if ours.low is not None and ours.value is not None and theirs.value is not None:
            assert ours.value == pytest.approx(-theirs.value)
            assert ours.low == pytest.approx(-(theirs.high or 0), abs=0.02)
    assert one.found.p_value == other.found.p_value
    assert one.shared == other.shared


@settings(max_examples=20, deadline=None)
@given(worlds)
def test_all_pairs_at_once_say_what_each_pair_says_alone(drawn: list[tuple[str, int, int, Random]]) -> None:
    trials = partition(world(drawn))
    together = compare_all(trials, resampler(5, 200))
    assert list(together) == [(A, B), (A, C), (B, C)]
    assert together == {pair: compare(trials, *pair, resampler(5, 200)) for pair in together}
