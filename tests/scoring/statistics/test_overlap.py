from __future__ import annotations

import json
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.model import Candidate, Counts, Estimate, Place, ReviewerId, Side, TrialScore
from scoring.statistics.bootstrap import FEW_CLUSTERS, NO_SPREAD
from scoring.statistics.clusters import partition
from scoring.statistics.overlap import (
    Ensemble,
    Overlap,
    Unique,
    best_second,
    claim_groups,
    finds,
    intersection,
    near,
    overlap,
    overlaps,
    union,
    uniques,
)
from scoring.statistics.paired import FoundBy
from scoring.stats import wilson
from tests.scoring.statistics.make import A, B, C, claim, contained, resampler, score, unrun
from tests.shared import SHARED


def at(number: int, first: int, last: int | None = None, path: str = "a.py", side: Side = Side.RIGHT) -> Candidate:
    return claim(number, Place(path, (first, last or first), side))


def test_jaccard_agrees_with_every_reference_vector() -> None:
    path = SHARED / "data" / "reference_vectors.json"
    if not path.exists():
        pytest.skip(f"no {path}: the shared reference material is not here")
    vectors = [one for one in json.loads(path.read_text(encoding="utf-8"))["vectors"] if one["fn"] == "jaccard"]
    assert len(vectors) >= 7
    for vector in vectors:
        both, ours, theirs = (vector["input"][name] for name in ("both", "x_only", "y_only"))
        marks = "1" * (both + ours) + "0" * theirs, "1" * both + "0" * ours + "1" * theirs
        trials = partition([score("p1", A, marks[0] + "0"), score("p1", B, marks[1] + "0")])
        made = overlap(A, B, finds(trials)).jaccard
        assert made == (None if vector["expected"] is None else pytest.approx(vector["expected"]))


def test_overlap_and_unique_finds_by_hand() -> None:
    trials = partition(
        [
            *[score("p1", A, "1100"), score("p1", B, "1010"), score("p1", C, "1000")],
            *[score("p2", A, "1"), unrun("p2", B), unrun("p2", C)],
        ]
    )
    found = finds(trials)
    pairs = overlaps(found)
    assert list(pairs) == [(A, B), (A, C), (B, C)]
    assert pairs[A, B].jaccard == pytest.approx(1 / 3)
    assert pairs[A, C].jaccard == pytest.approx(1 / 2)
    alone = uniques(found)
    # On p2 acme was the only one that ran: finding alone there is no merit.
    assert alone[A] == Unique(A, 2, 1, wilson(1, 2))
    assert alone[C] == Unique(C, 1, 0, wilson(0, 1))
    assert pairs[A, B] == Overlap(A, B, FoundBy(1, 1, 1, 1), 1 / 3)


def test_two_that_found_nothing_have_no_overlap() -> None:
    found = finds(partition([score("p1", A, "00"), score("p1", B, "00")]))
    assert overlap(A, B, found).jaccard is None
    nothing = Estimate(None, None, None, 0, "it found nothing that another was asked for")
    assert uniques(found)[A] == Unique(A, 0, 0, nothing)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (at(1, 10), at(2, 15), True),
        (at(1, 10), at(2, 16), False),
        (at(1, 10, 20), at(2, 1, 5), True),
        (at(1, 10, 20), at(2, 26), False),
        (at(1, 10), at(2, 10, path="b.py"), False),
        (at(1, 10), at(2, 10, side=Side.LEFT), False),
        (claim(1, Place("a.py")), claim(2, Place("a.py")), False),
        (claim(1), claim(2), False),
        (at(1, 10), claim(2, Place("a.py")), False),
        (at(1, 10), claim(2), False),
    ],
)
def test_claims_are_at_one_place_within_five_lines(one: Candidate, other: Candidate, same: bool) -> None:
    assert near(one, other) is same
    assert near(other, one) is same


def test_one_claim_does_not_chain_two_of_another_reviewer_together() -> None:
    # bolt's claim at 14 is near both of acme's at 10 and 18, which are two.
    groups = claim_groups([(A, at(1, 10)), (A, at(2, 18)), (B, at(3, 14))])
    assert [[name for name, _ in group] for group in groups] == [[A, B], [A]]


def both(acme: tuple[int, ...], bolt: tuple[int, ...]) -> list[TrialScore]:
    """acme and bolt on one pull request with two goldens, each with false alarms at the given lines."""
    first = [claim(90), *[at(line, line) for line in acme]]
    second = [claim(90), claim(91), *[at(line, line) for line in bolt]]
    return [
        score("p1", A, "10", fp=len(acme), claims=first),
        score("p1", B, "11", fp=len(bolt), claims=second),
    ]


def test_a_union_finds_what_any_finds_and_raises_one_alarm_at_one_place() -> None:
    made = union(partition(both(acme=(10, 40), bolt=(12, 80))), [A, B])
    assert made.counts == Counts(tp=2, fp=3, fn=0, duplicate=2)
    assert (made.pulls, made.members) == (1, (A, B))


def test_an_intersection_keeps_what_all_say() -> None:
    made = intersection(partition(both(acme=(10, 40), bolt=(12, 80))), [B, A])
    assert made.counts == Counts(tp=1, fp=1, fn=1)


def test_sound_claims_of_an_ensemble_are_grouped_like_alarms_and_what_was_unscored_stays() -> None:
    acme = score("p1", A, valid=2, claims=[at(1, 10), at(2, 40)])
    bolt = replace(score("p1", B, valid=1, claims=[at(3, 12)]), counts=Counts(valid=1, duplicate=2, unscored=4))
    trials = partition([acme, bolt, score("p2", A, fp=1)])
    assert union(trials, [B, A]) == Ensemble((A, B), 1, Counts(valid=2, duplicate=2 + 1, unscored=4))
    assert intersection(trials, [A, B]) == Ensemble((A, B), 1, Counts(valid=1))


def test_a_second_adds_only_the_alarms_that_are_not_the_firsts_by_the_sameness_that_is_asked_for() -> None:
    trials = partition(both(acme=(10, 40), bolt=(12, 80)))
    (added,) = best_second(trials, A, resampler())
    # Four alarms of which two are at one place; acme alone raises two.
    assert (added.union.counts.fp, added.alarms_added) == (3, 1)
    (none,) = best_second(trials, A, resampler(), lambda one, other: True)
    assert (none.union.counts.fp, none.alarms_added) == (2, 0)
    assert intersection(trials, [A, B], lambda one, other: True).counts == Counts(tp=1, fp=2, fn=1)


def test_an_intersection_misses_what_one_missed() -> None:
    trials = partition([score("p1", A, "110"), score("p1", B, "100")])
    assert intersection(trials, [A, B]).counts == Counts(tp=1, fn=2)


def test_one_golden_on_each_of_two_pull_requests_is_spread_enough_for_a_gain() -> None:
    scores = [score("p1", A, "0"), score("p1", B, "1"), score("p2", A, "1"), score("p2", B, "1")]
    (added,) = best_second(partition(scores), A, resampler())
    assert (added.gain.value, added.gain.n) == (0.5, 2)
    assert added.gain.low is not None


def test_what_two_were_asked_for_and_one_found_is_unique() -> None:
    made = uniques(finds(partition([score("p1", A, "10"), score("p1", B, "00")])))
    assert made[A] == Unique(A, 1, 1, wilson(1, 1))


def test_a_golden_that_one_could_not_be_judged_on_is_missed_by_a_union_only_if_all_missed_it() -> None:
    trials = partition([score("p1", A, "??10"), score("p1", B, "10?0")])
    assert union(trials, [A, B]).counts == Counts(tp=2, fn=1, goldens_unscored=1, duplicate=0)
    assert intersection(trials, [A, B]).counts == Counts(tp=0, fn=2, goldens_unscored=2)


def test_an_ensemble_of_one_or_of_one_twice_is_refused() -> None:
    trials = partition([score("p1", A, "1")])
    with pytest.raises(ValueError, match="two or more different members, not acme, acme"):
        union(trials, [A, A])
    with pytest.raises(ValueError, match=r"^an ensemble has two or more different members, not none$"):
        union(trials, [])
    with pytest.raises(ValueError, match=r"two or more different members, not acme$"):
        union(trials, [A])
    with pytest.raises(ValueError, match="no trial is of reviewer bolt"):
        union(trials, [A, B])


def test_the_best_second_is_the_one_that_finds_other_things_not_the_one_that_finds_most() -> None:
    scores = []
    for number in range(12):
        extra = "1" if number % 3 == 0 else "0"
        scores += [score(f"p{number:02}", A, "1110"), score(f"p{number:02}", B, "1110", fp=1)]
        scores += [score(f"p{number:02}", C, "000" + extra, fp=2)]
    made = best_second(partition(scores), A, resampler())
    assert [one.reviewer for one in made] == [C, B]
    # crow adds 4 of 48 goldens, at 24 false alarms; the union finds 36 + 4.
    assert made[0].gain.value == pytest.approx(4 / 48)
    assert contained(made[0].gain.value, made[0].gain.low, made[0].gain.high)
    assert (made[0].alarms_added, made[0].union.counts.tp, made[0].union.counts.fn) == (24, 40, 8)
    assert made[0].gain.n == 48
    assert made[1].gain == Estimate(0.0, None, None, 48, NO_SPREAD)


def test_a_second_that_shares_no_pull_request_is_last_with_a_reason() -> None:
    trials = partition([score("p1", A, "10"), score("p1", B, "01"), unrun("p1", C), score("p2", C, "11")])
    made = best_second(trials, A, resampler())
    assert [(one.reviewer, one.gain.value) for one in made] == [(B, 0.5), (C, None)]
    assert made[0].gain == Estimate(0.5, None, None, 2, FEW_CLUSTERS)
    assert made[1].gain == Estimate(None, None, None, 0, "no golden was scored, so there was nothing to find")


lines = st.lists(st.integers(1, 60), max_size=4)
Drawn = tuple[str, list[int], list[int], list[int], Random]
pulls = st.lists(
    st.tuples(st.text("10?", max_size=3), lines, lines, lines, st.randoms(use_true_random=False)), max_size=5
)


def world(drawn: list[Drawn]) -> list[TrialScore]:
    scores = []
    for number, (marks, *alarms, random) in enumerate(drawn):
        for name, own in zip((A, B, C), alarms, strict=True):
            found = "".join(random.sample(list(marks), len(marks)))
            said = [claim(100 + hit) for hit in range(found.count("1"))]
            said += [at(order, line) for order, line in enumerate(own)]
            scores.append(score(f"p{number}", name, found, fp=len(own), claims=said))
    return [*scores, *[score("q", name) for name in (A, B, C)]]


@settings(max_examples=60, deadline=None)
@given(pulls, st.permutations([A, B, C]))
def test_unions_and_intersections_stay_within_their_members(drawn: list[Drawn], order: list[ReviewerId]) -> None:
    scores = world(drawn)
    trials = partition(scores)
    apart = [sum(trials.counts(name).values(), Counts()) for name in (A, B, C)]
    all_of, any_of = intersection(trials, order).counts, union(trials, order).counts
    assert any_of.tp >= max(one.tp for one in apart)
    assert max(one.fp for one in apart) <= any_of.fp <= sum(one.fp for one in apart)
    assert all_of.tp <= min(one.tp for one in apart)
    assert all_of.fp <= min(one.fp for one in apart)
    goldens = sum(len(one.goldens) for one in scores) // 3
    assert any_of.tp + any_of.fn + any_of.goldens_unscored == goldens
    assert all_of.tp + all_of.fn + all_of.goldens_unscored == goldens
    claims = sum(len(one.candidates) for one in scores)
    assert any_of.tp + any_of.fp + any_of.valid + any_of.duplicate + any_of.unscored == claims
    assert (all_of, any_of) == (intersection(trials, [A, B, C]).counts, union(trials, [A, B, C]).counts)
