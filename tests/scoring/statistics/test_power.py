from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.exact import mcnemar_exact
from scoring.model import GoldenId, PullId
from scoring.statistics.clusters import partition
from scoring.statistics.power import (
    Pilot,
    Power,
    Sample,
    achieved_power,
    correlation,
    goldens_needed,
    pilot,
    pilot_of,
    pulls_needed,
)
from tests.scoring.statistics.make import A, B, score, unrun

ONE_EACH = Pilot(pulls=100, goldens=100, difference=0.1, discordance=0.3, correlation=None, cluster=1.0)


def test_the_number_of_pairs_by_hand() -> None:
    # δ 0.2, ψ 0.4, 5 % two-sided, power 80 %: (1.959964·√0.4 + 0.841621·√0.36)² / 0.04
    # = (1.239590 + 0.504973)² / 0.04 = 3.043500 / 0.04 = 76.09
    assert goldens_needed(0.2, 0.4) == pytest.approx(76.09, abs=0.01)
    made = pulls_needed(0.2, replace(ONE_EACH, discordance=0.4))
    assert (made.pulls, made.goldens) == (77, 77)


def test_power_and_level_are_those_that_were_asked_for() -> None:
    # z 1.644854 (90 %), z' 1.281552 (90 %): (1.644854·0.632456 + 1.281552·0.6)² / 0.04 = 1.809228² / 0.04 = 81.83
    assert goldens_needed(0.2, 0.4, 0.9, 0.9) == pytest.approx(81.83, abs=0.01)
    assert pulls_needed(0.2, replace(ONE_EACH, discordance=0.4), 0.9, 0.9) == Sample(82, 82)


def test_the_chance_on_so_many_pull_requests_by_hand() -> None:
    # 77 pairs: (0.2·√77 - 1.959964·√0.4) / √0.36 = 0.515403 / 0.6, Φ = 0.80483; at 90 %, 0.714696 / 0.6, Φ = 0.88320
    known = replace(ONE_EACH, discordance=0.4)
    assert achieved_power(77, 0.2, known).value == pytest.approx(0.80483, abs=2e-5)
    assert achieved_power(77, 0.2, known, 0.9).value == pytest.approx(0.88320, abs=2e-5)
    # 48 pull requests of four with a design effect of 2.5 are worth 76.8 goldens: 0.513122 / 0.6, Φ = 0.80379
    alike = Pilot(pulls=50, goldens=200, difference=0.2, discordance=0.4, correlation=0.5, cluster=4.0)
    assert achieved_power(48, 0.2, alike).value == pytest.approx(0.80379, abs=2e-5)
    assert achieved_power(2, 0.1, ONE_EACH).value is not None


def test_a_number_that_is_whole_but_for_the_last_digit_is_not_rounded_up() -> None:
    # Likeness such that the 76.09 goldens of the formula become 77.
    alike = 77 / goldens_needed(0.2, 0.4) - 1
    known = replace(ONE_EACH, discordance=0.4, correlation=alike, cluster=2.0)
    assert pulls_needed(0.2, known) == Sample(77, 77)


def test_one_pull_request_is_never_enough() -> None:
    # 76.09 goldens at 100 a pull request would be one of them.
    many = Pilot(pulls=10, goldens=1000, difference=0.2, discordance=0.4, correlation=0.0, cluster=100.0)
    assert pulls_needed(0.2, many) == Sample(2, 200)


def test_the_formula_gives_the_power_it_promises_in_simulation() -> None:
    # 77 pairs with ψ 0.4 and δ 0.2: discordant with chance 0.4, of which the first wins three in four. The asymptotic
    # test should tell them apart in about 80 %; the exact one is known to ask for a little more.
    rng = np.random.default_rng(9)
    wins = rng.multinomial(77, (0.3, 0.1, 0.6), size=4000)
    exact = np.mean([mcnemar_exact(int(b), int(c)) <= 0.05 for b, c, _ in wins])
    scores = np.mean([(b - c) ** 2 > 3.841459 * (b + c) for b, c, _ in wins])
    assert scores == pytest.approx(0.80, abs=0.03)
    assert 0.70 < exact < scores


def test_a_pilot_of_two_reviewers_by_hand() -> None:
    trials = partition(
        [
            *[score("p1", A, "111"), score("p1", B, "100"), score("p2", A, "01?"), score("p2", B, "010")],
            *[unrun("p3", A), score("p3", B, "1")],
        ]
    )
    made = pilot(trials, A, B)
    assert (made.pulls, made.goldens) == (2, 5)
    assert made.difference == pytest.approx(2 / 5)
    assert made.discordance == pytest.approx(2 / 5)
    assert made.cluster == pytest.approx((9 + 4) / 5)
    # First less second: 0, 1, 1 and 0, 0. MSB = 3·(4/15)² + 2·(2/5)² = 8/15, MSW = (2/3)/3 = 2/9, m₀ = 5 - 13/5 = 12/5:
    # (8/15 - 2/9) / (8/15 + (7/5)·(2/9)) = 14/38
    assert made.correlation == pytest.approx(14 / 38)


def test_intraclass_correlation_by_hand() -> None:
    # Groups (1, 3) and (5, 7): mean 4, MSB = 2·(4 + 4)/1 = 16, MSW = 4·1/2 = 2, m₀ = (4 - 8/4)/1 = 2,
    # (16 - 2)/(16 + 2) = 7/9.
    assert correlation([(1, 3), (5, 7)]) == pytest.approx(7 / 9)
    assert correlation([(1, 1), (0, 0), (1, 1)]) == pytest.approx(1.0)
    assert correlation([(0, 2), (0, 2)]) == 0.0
    assert correlation([(1, 1), (1, 1)]) == 0.0
    # Three groups with means 2, 6 and 1: MSB = 2·(1 + 9 + 4)/2 = 14, MSW = 6/3 = 2, m₀ = (6 - 12/6)/2 = 2: 12/16
    assert correlation([(1, 3), (5, 7), (0, 2)]) == pytest.approx(0.75)
    # Unequal groups: grand mean 7/3, MSB = (4/3)² + 2·(2/3)² = 8/3, MSW = 2, m₀ = 3 - 5/3 = 4/3, (2/3)/(8/3 + 2/3)
    assert correlation([(1,), (2, 4)]) == pytest.approx(0.2)
    assert correlation([(1, 2)]) is None
    assert correlation([(1,), (2,), (0,)]) is None


def test_goldens_that_are_alike_need_more_pull_requests() -> None:
    # Four goldens a pull request and correlation 0.5: design effect 1 + 3·0.5 = 2.5, so 76.09·2.5/4 = 47.6 of them.
    known = Pilot(pulls=50, goldens=200, difference=0.2, discordance=0.4, correlation=0.5, cluster=4.0)
    made = pulls_needed(0.2, known)
    assert known.design_effect == 2.5
    assert (made.pulls, made.goldens) == (48, 192)
    independent = pulls_needed(0.2, replace(known, correlation=0.0))
    assert independent.pulls == 20


def test_a_pilot_that_cannot_say_gives_a_reason_and_no_number() -> None:
    assert pilot_of({}, {}) == Pilot(0, 0, None, None, None, None)
    none_scored = "the pilot has no golden that was scored for both"
    assert pulls_needed(0.1, pilot_of({}, {})) == Sample(None, None, none_scored)
    assert achieved_power(9, 0.1, pilot_of({}, {})) == Power(None, none_scored)
    same = {(PullId("p"), GoldenId("g")): True, (PullId("q"), GoldenId("g")): False}
    assert pulls_needed(0.1, pilot_of(same, same)).reason == (
        "in the pilot both found the same goldens, so it does not say how often they differ"
    )
    assert pulls_needed(0.5, ONE_EACH).reason == (
        "in the pilot the two differ on 30.0% of the goldens, so their recall cannot be 50.0% apart"
    )
    assert achieved_power(20, 0.5, ONE_EACH) == Power(None, pulls_needed(0.5, ONE_EACH).reason)
    one_pull = {(PullId("p"), GoldenId(f"g{number}")): number > 2 for number in range(5)}
    none = dict.fromkeys(one_pull, False)
    reason = "the pilot does not say how alike the goldens of one pull request are"
    assert pulls_needed(0.1, pilot_of(one_pull, none)).reason == reason
    assert achieved_power(20, 0.1, pilot_of(one_pull, none)).reason == reason
    assert achieved_power(1, 0.1, ONE_EACH).reason == "fewer than two pull requests have no spread"


def test_questions_that_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^the difference to tell is a share above 0 and up to 1, not 0$"):
        pulls_needed(0, ONE_EACH)
    with pytest.raises(ValueError, match="a share above 0 and up to 1, not 10"):
        achieved_power(20, 10, ONE_EACH)
    with pytest.raises(ValueError, match=r"not 1\.5$"):
        achieved_power(20, 1.5, ONE_EACH)
    with pytest.raises(ValueError, match=r"power lies above 0\.05, which chance gives, and below 1, not 1"):
        pulls_needed(0.1, ONE_EACH, power=1)
    with pytest.raises(ValueError, match="power lies above"):
        pulls_needed(0.1, ONE_EACH, power=1 - 0.95)


def test_one_that_wins_every_golden_is_told_apart_for_sure() -> None:
    always = replace(ONE_EACH, difference=1.0, discordance=1.0)
    assert achieved_power(4, 1.0, always).value == 1.0
    assert achieved_power(3, 1.0, always).value == 0.0


@given(
    st.floats(0.05, 0.5), st.floats(0.0, 0.5), st.floats(0.0, 1.0), st.integers(1, 6), st.sampled_from([0.5, 0.8, 0.95])
)
def test_the_number_found_is_the_fewest_that_reaches_the_power(
    difference: float, more: float, alike: float, size: int, power: float
) -> None:
    known = Pilot(40, 40 * size, difference, min(1.0, difference + more), alike, float(size))
    made = pulls_needed(difference, known, power)
    assert made.pulls is not None
    reached = achieved_power(made.pulls, difference, known).value
    assert reached is not None
    assert reached >= power - 1e-6
    if made.pulls > 2:
        below = achieved_power(made.pulls - 1, difference, known).value
        assert below is not None
        assert below < power + 1e-6
    assert (achieved_power(made.pulls + 10, difference, known).value or 0) >= reached
