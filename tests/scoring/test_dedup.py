from __future__ import annotations

import random

from scoring.dedup import gap, groups, same_file
from scoring.model import Candidate, Place
from tests.scoring.make import candidate, place


def grouped(*candidates: Candidate) -> list[tuple[str, ...]]:
    return [group for group in groups(candidates) if len(group) > 1]


LEAK = "The connection is never closed when `read()` throws, so the pool runs dry."


def test_the_same_remark_at_the_same_spot_is_one_group() -> None:
    one = candidate("a#1", LEAK, place("src/a.py", 10))
    two = candidate(
        "b#1", "When `read()` throws, the connection is never closed and the pool runs dry.", place("a.py", 12)
    )
    assert grouped(one, two) == [("a#1", "b#1")]


def test_the_same_text_at_two_places_stays_two_claims() -> None:
    one = candidate("a#1", LEAK, place("src/a.py", 10))
    assert grouped(one, candidate("b#1", LEAK, place("src/b.py", 10))) == []
    assert grouped(one, candidate("b#1", LEAK, place("src/a.py", 90))) == []


def test_two_defects_on_one_line_stay_two_claims() -> None:
    one = candidate("a#1", "The token is compared with `==`, which leaks timing.", place("src/a.py", 10))
    two = candidate("b#1", "The socket is never closed when reading fails.", place("src/a.py", 10))
    assert grouped(one, two) == []


def test_remarks_alike_but_for_the_name_they_are_about_stay_apart() -> None:
    one = candidate("a#1", "`firstName` is not checked for null before use", place("src/a.py", 10))
    two = candidate("b#1", "`lastName` is not checked for null before use", place("src/a.py", 11))
    assert grouped(one, two) == []


def test_without_a_place_only_near_identical_text_is_the_same() -> None:
    assert grouped(candidate("a#1", LEAK), candidate("b#1", LEAK, place("src/a.py", 4))) == [("a#1", "b#1")]
    assert grouped(candidate("a#1", LEAK), candidate("b#1", "The pool runs dry.")) == []
    assert grouped(candidate("a#1", ""), candidate("b#1", "")) == []


def test_a_chain_of_small_steps_does_not_join_its_ends() -> None:
    far = [candidate(f"{at}#1", LEAK, place("src/a.py", at * 5 + 1)) for at in range(5)]
    for group in groups(far):
        lines = [one.place.lines[0] for one in far if one.id in group and one.place and one.place.lines]
        assert max(lines) - min(lines) <= 5


def test_the_order_of_candidates_changes_no_group() -> None:
    several = [candidate(f"{at}#1", LEAK if at % 2 else f"{LEAK} Again.", place("src/a.py", at)) for at in range(9)]
    wanted = groups(several)
    for seed in range(5):
        assert groups(random.Random(seed).sample(several, len(several))) == wanted


def test_suggestions_are_compared_where_nothing_is_said() -> None:
    one = candidate("a#1", "", place("src/a.py", 3), suggestions=("    total = count + 1",))
    two = candidate("b#1", "", place("src/a.py", 3), suggestions=("    total = count + 1",))
    other = candidate("c#1", "", place("src/a.py", 3), suggestions=("    return None",))
    assert grouped(one, two, other) == [("a#1", "b#1")]


def test_gaps_and_shortened_paths() -> None:
    assert gap(Place("a.py", (1, 4)), Place("a.py", (4, 9))) == 0
    assert gap(Place("a.py", (1, 4)), Place("src/a.py", (7, 9))) == 3
    assert gap(Place("a.py", None), Place("a.py", (7, 9))) is None
    assert gap(Place("a.py", (1, 1)), Place("ba.py", (1, 1))) is None
    assert same_file("app/a.py", "src/app/a.py")
    assert not same_file("a.py", "src/ba.py")
