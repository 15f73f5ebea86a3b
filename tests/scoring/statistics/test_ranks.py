from __future__ import annotations

from math import exp, log, sqrt
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.model import Estimate, PullId, ReviewerId
from scoring.statistics.bradley_terry import Duel, Strength, bradley_terry, duels
from scoring.statistics.clusters import partition
from scoring.statistics.ranks import holm, places, rank
from tests.scoring.statistics.make import A, B, C, D, contained, resampler, score, unrun


def estimate(value: float | None) -> Estimate:
    return Estimate(value, None, None, 10)


def test_reviewers_that_the_evidence_does_not_separate_share_a_rank() -> None:
    # a is ahead of c and d, b of d only: a 1, b 1, c 2, d 3; b may be anything but last.
    ahead = frozenset({(A, C), (A, D), (B, D)})
    made = places({A: estimate(0.6), B: estimate(0.5), C: estimate(0.4), D: estimate(0.3)}, ahead)
    assert [(one.reviewer, one.rank, one.worst) for one in made] == [(A, 1, 2), (B, 1, 3), (C, 2, 4), (D, 3, 4)]


def test_the_rank_goes_before_the_value_and_a_value_of_zero_comes_after_one_above_it() -> None:
    made = places({A: estimate(0.6), B: estimate(0.5), C: estimate(0.0), D: estimate(0.1)}, frozenset({(B, A)}))
    assert [(one.reviewer, one.rank) for one in made] == [(B, 1), (D, 1), (C, 1), (A, 2)]


def test_a_leader_that_comes_last_by_id_is_ahead_all_the_same() -> None:
    scores = [score(f"p{at}", A, ("100", "000", "010")[at % 3]) for at in range(9)]
    scores += [score(f"p{at}", B, ("111", "110", "111")[at % 3]) for at in range(9)]
    assert rank(partition(scores), resampler()).ahead == {(B, A)}


def test_one_without_f1_is_unranked_and_last() -> None:
    made = places({A: estimate(None), B: estimate(0.5)}, frozenset())
    assert [(one.reviewer, one.rank, one.worst) for one in made] == [(B, 1, 1), (A, None, None)]


def test_holm_steps_by_hand() -> None:
    # 0.01·4, 0.013·3 = 0.039, 0.02·2 = 0.04 pass 0.05; 0.3 does not. Without stopping, 0.024·1 would pass below.
    assert holm([0.3, 0.01, 0.02, 0.013], 0.05) == [False, True, True, True]
    assert holm([0.01, 0.03, 0.024], 0.05) == [True, True, True]
    assert holm([0.02, 0.03, 0.024], 0.05) == [False, False, False]
    assert holm([0.9], 1.0) == [True]
    assert holm([0.9, 0.8], 1.0) == [True, True]
    assert holm([0.025, 0.05], 0.05) == [True, True]


def test_a_clear_leader_is_alone_and_equals_tie() -> None:
    scores = []
    for number in range(30):
        scores.append(score(f"p{number:02}", A, "1111", fp=0))
        scores.append(score(f"p{number:02}", B, "1000" if number % 2 else "0100", fp=number % 3))
        scores.append(score(f"p{number:02}", C, "0100" if number % 2 else "1000", fp=(number + 1) % 3))
        scores.append(unrun(f"p{number:02}", D))
    made = rank(partition(scores), resampler())
    assert [(one.reviewer, one.rank) for one in made.places] == [(A, 1), (B, 2), (C, 2), (D, None)]
    assert made.ahead == {(A, B), (A, C)}


def test_a_family_is_given_as_many_draws_as_its_smallest_p_value_needs() -> None:
    # Three pairs: with the 100 draws that were asked for no p-value is under 2/101, and 0.05/3 is less. So 4·3/0.05.
    # A lead in every draw has 2/(240 + 1).
    marks = {A: ("111", "110", "111"), B: ("100", "000", "010"), C: ("000", "010", "100")}
    trials = partition([score(f"p{at}", name, own[at % 3]) for at in range(9) for name, own in marks.items()])
    made = rank(trials, resampler(draws=100))
    assert made.ahead == {(A, B), (A, C)}
    assert made.comparisons[A, B].p_value == pytest.approx(2 / 241)
    alone = rank(trials, resampler(draws=100), family=False)
    assert alone.comparisons[A, B].p_value == pytest.approx(2 / 101)
    # 3 · 2/101 is more than 0.05, but each pair alone passes.
    assert alone.ahead == {(A, B), (A, C)}


def test_equal_reviewers_are_seldom_separated_as_a_family() -> None:
    # Eight reviewers of one skill, 28 pairs: each pair alone at 95 % would separate one or two of them.
    import numpy as np

    rng = np.random.default_rng(4)
    names = [ReviewerId(f"r{number}") for number in range(8)]
    scores = [
        score(f"p{pull:02}", name, "".join(rng.choice(["0", "1"], 4)), fp=int(rng.integers(0, 3)))
        for pull in range(40)
        for name in names
    ]
    trials = partition(scores)
    assert len(rank(trials, resampler()).ahead) == 0
    assert len(rank(trials, resampler(), family=False).ahead) <= 4


def games(table: list[tuple[ReviewerId, ReviewerId, int, int]]) -> list[Duel]:
    found, number = [], 0
    for one, other, won, lost in table:
        for result in [1.0] * won + [0.0] * lost:
            found.append(Duel(PullId(f"p{number}"), one, other, result))
            number += 1
    return found


def test_strengths_of_the_1987_baseball_season_are_as_published() -> None:
    # A. Agresti, Categorical Data Analysis, table 10.10: seven teams of the American League, 13 games a pair, and the
    # estimates relative to Baltimore.
    names = [ReviewerId(name) for name in ("mil", "det", "tor", "ny", "bos", "cle", "bal")]
    wins = [
        (0, 7, 9, 7, 7, 9, 11),
        (6, 0, 7, 5, 11, 9, 9),
        (4, 6, 0, 7, 7, 8, 12),
        (6, 8, 6, 0, 6, 7, 10),
        (6, 2, 6, 7, 0, 7, 12),
        (4, 4, 5, 6, 6, 0, 6),
        (2, 4, 1, 3, 1, 7, 0),
    ]
    pairs = [(names[i], names[j], wins[i][j], wins[j][i]) for i in range(7) for j in range(i)]
    made = {one.reviewer: one.log_strength for one in bradley_terry(games(pairs))}
    base = made[names[-1]]
    assert base is not None
    relative = [round(value - base, 2) for name in names[:-1] if (value := made[name]) is not None]
    assert relative == [1.58, 1.44, 1.29, 1.25, 1.11, 0.68]


def test_two_reviewers_by_hand() -> None:
    # 30 wins of 40: log odds ln 3, half for each. Every duel is a pull request of its own, so the clustered error of
    # the log odds is that of a proportion, 1/√(n·p·q), times √(K/(K-1)); each strength has half of it.
    first, second = bradley_terry(games([(A, B, 30, 10)]))
    assert (first.reviewer, second.reviewer) == (A, B)
    assert first.log_strength == pytest.approx(log(3) / 2)
    assert first.error == pytest.approx(sqrt(1 / (40 * 0.75 * 0.25)) * sqrt(40 / 39) / 2)
    assert first.wins.value == pytest.approx(sqrt(3) / (1 + sqrt(3)))
    assert contained(first.wins.value, first.wins.low, first.wins.high)
    assert first.duels == 40


def test_the_chance_to_beat_the_average_has_the_interval_of_the_level_asked_for() -> None:
    first, second = bradley_terry(games([(A, B, 30, 10)]), 0.9)
    error = sqrt(1 / (40 * 0.75 * 0.25)) * sqrt(40 / 39) / 2
    for one, strength in ((first, log(3) / 2), (second, -log(3) / 2)):
        low, high = (1 / (1 + exp(side * 1.6448536269514722 * error - strength)) for side in (1, -1))
        assert one.log_strength == pytest.approx(strength)
        assert one.error == pytest.approx(error)
        assert (one.wins.low, one.wins.high) == pytest.approx((low, high))
        assert (one.wins.n, one.duels) == (40, 40)


def test_duels_on_one_pull_request_alone_show_no_spread() -> None:
    only = [Duel(PullId("p"), A, B, 1.0), Duel(PullId("p"), A, B, 0.0)]
    lone = Estimate(0.5, None, None, 2, "all duels were on one pull request, so no spread is seen")
    assert bradley_terry(only) == (Strength(A, 0.0, None, lone, 2), Strength(B, 0.0, None, lone, 2))


def test_two_pull_requests_are_enough_for_an_error() -> None:
    # One win each: log odds 0; 1/√(2·½·½) times √(2/1), half for each.
    made = bradley_terry([Duel(PullId("p1"), A, B, 1.0), Duel(PullId("p2"), A, B, 0.0)])
    assert [one.error for one in made] == [pytest.approx(1.0)] * 2


@pytest.mark.parametrize(
    ("acme", "bolt", "won"),
    [
        (("", 1), ("", 2), 1.0),  # clean, one alarm fewer
        (("10", 0), ("11", 0), 0.0),  # F1 2/3 and 1
        (("11", 0), ("11", 3), 1.0),  # 1 and 4/7
        (("100", 0), ("110", 0), 0.0),  # 1/2 and 4/5
    ],
)
def test_a_duel_by_hand(acme: tuple[str, int], bolt: tuple[str, int], won: float) -> None:
    trials = partition([score("p", A, acme[0], fp=acme[1]), score("p", B, bolt[0], fp=bolt[1])])
    assert [one.won for one in duels(trials)] == [won]


def test_duels_of_one_pull_request_are_not_taken_as_independent() -> None:
    apart = [Duel(PullId(f"p{number}"), A, B, float(number % 4 > 0)) for number in range(40)]
    alike = [Duel(PullId(f"p{number % 4}"), A, B, float(number % 4 > 0)) for number in range(40)]
    (free, *_), (bound, *_) = bradley_terry(apart), bradley_terry(alike)
    assert free.log_strength == pytest.approx(bound.log_strength)
    assert bound.error is not None and free.error is not None
    assert bound.error > 3 * free.error


def test_ties_are_half_a_win_each() -> None:
    made = bradley_terry([Duel(PullId(f"p{number}"), A, B, 0.5) for number in range(4)])
    assert [one.wins.value for one in made] == [0.5, 0.5]
    assert made[0].wins == Estimate(0.5, None, None, 4, "every pull request went the same way, so no spread is seen")


def test_a_reviewer_nobody_beat_has_no_strength_and_the_groups_are_named() -> None:
    made = bradley_terry([*games([(A, B, 3, 0), (B, C, 1, 1)])])
    unbound = Estimate(
        None,
        None,
        None,
        0,
        "no chain of wins leads from everyone to everyone, so strengths are without bound; groups: acme; bolt, crow",
    )
    met = {A: 3, B: 5, C: 2}
    assert made == tuple(Strength(name, None, None, unbound, duels) for name, duels in met.items())


def test_every_group_of_three_is_named_by_its_own_members() -> None:
    made = bradley_terry(games([(A, B, 1, 0), (B, C, 1, 0)]))
    assert (made[0].wins.reason or "").endswith("groups: acme; bolt; crow")


def test_the_strongest_comes_first_whatever_its_id() -> None:
    assert [one.reviewer for one in bradley_terry(games([(A, B, 10, 30)]))] == [B, A]


def test_reviewers_that_never_met_are_not_compared() -> None:
    made = bradley_terry(games([(A, B, 2, 2), (C, D, 2, 2)]))
    assert {one.wins.value for one in made} == {None}
    assert bradley_terry([]) == ()


def test_who_wins_a_duel_goes_by_f1_and_on_clean_pull_requests_by_silence() -> None:
    scores = [score("p1", A, "11", fp=2), score("p1", B, "10")]  # F1 4/6 and 2/3: a tie to the last digit
    scores += [score("p2", A, fp=2), score("p2", B, fp=1)]  # clean: bolt raised fewer
    scores += [score("p3", A, "??"), score("p3", B, "10")]  # acme could not be judged
    scores += [score("p4", A, "10"), unrun("p4", B)]
    found = duels(partition(scores))
    assert [(one.pull, one.first, one.second, one.won) for one in found] == [("p1", A, B, 0.5), ("p2", A, B, 0.0)]


rounds = st.lists(
    st.tuples(st.integers(0, 5), st.sampled_from([(A, B), (B, C), (A, C)]), st.sampled_from([0.0, 0.5, 1.0])),
    max_size=20,
)


@settings(max_examples=40, deadline=None)
@given(rounds, st.randoms(use_true_random=False))
def test_the_order_of_duels_and_who_is_named_first_change_nothing(
    drawn: list[tuple[int, tuple[ReviewerId, ReviewerId], float]], random: Random
) -> None:
    fought = [Duel(PullId(f"p{pull}"), *pair, won) for pull, pair, won in drawn]
    turned = [Duel(one.pull, one.second, one.first, 1 - one.won) for one in fought]
    random.shuffle(turned)
    ours = {one.reviewer: one for one in bradley_terry(fought)}
    theirs = {one.reviewer: one for one in bradley_terry(turned)}
    assert ours.keys() == theirs.keys()
    for name, one in ours.items():
        assert one.log_strength == pytest.approx(theirs[name].log_strength, abs=1e-6)
        assert contained(one.wins.value, one.wins.low, one.wins.high)
        assert (one.log_strength is None) == (one.wins.value is None)
