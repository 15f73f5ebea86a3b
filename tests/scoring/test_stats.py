from __future__ import annotations

import json

import pytest

from scoring.model import Estimate
from scoring.stats import f1, wilson, wilson_bounds, z_of
from tests.shared import SHARED, case


def test_wilson_agrees_with_published_bounds_at_both_ends_and_between() -> None:
    for row in case("91")["expected"]["intervals"]:
        made = wilson(row["k"], row["n"])
        assert made.low == (None if row["low"] is None else pytest.approx(row["low"], abs=1e-9))
        assert made.high == (None if row["high"] is None else pytest.approx(row["high"], abs=1e-9))


def test_wilson_agrees_with_every_reference_vector() -> None:
    path = SHARED / "data" / "reference_vectors.json"
    if not path.exists():
        pytest.skip(f"no {path}: the shared reference material is not here")
    vectors = [one for one in json.loads(path.read_text(encoding="utf-8"))["vectors"] if one["fn"] == "wilson"]
    assert len(vectors) >= 18
    for vector in vectors:
        k, n, z = (vector["input"][name] for name in ("k", "n", "z"))
        assert wilson_bounds(k, n, z) == pytest.approx(tuple(vector["expected"]), abs=vector["tol"])


def test_the_quantile_is_exact_and_not_rounded_to_two_digits() -> None:
    assert z_of(0.95) == pytest.approx(1.959963984540054, abs=1e-15)
    with pytest.raises(ValueError, match="between 0 and 1, not 95"):
        z_of(95)


def test_wilson_of_three_in_seven_by_hand() -> None:
    # p = 3/7, z² = 3.841458820694124: centre (3/7 + z²/14) / (1 + z²/7) = 0.453881, half-width 0.295662
    made = wilson(3, 7)
    assert made.value == 3 / 7
    assert made.low == pytest.approx(0.453881 - 0.295662, abs=2e-6)
    assert made.high == pytest.approx(0.453881 + 0.295662, abs=2e-6)


def test_nothing_of_nothing_has_no_value_and_a_reason() -> None:
    made = wilson(0, 0, reason="no trial ran")
    assert (made.value, made.low, made.high, made.n, made.reason) == (None, None, None, 0, "no trial ran")
    assert wilson(0, 0).reason == "nothing was observed"


@pytest.mark.parametrize(("k", "n"), [(-1, 3), (4, 3), (1, 0), (0, -2)])
def test_counts_that_cannot_be_are_refused(k: int, n: int) -> None:
    with pytest.raises(ValueError, match="successes must lie in"):
        wilson(k, n)


def test_bounds_close_exactly_at_the_ends() -> None:
    for n in range(1, 60):
        assert wilson(0, n).low == 0.0
        assert wilson(n, n).high == 1.0


def test_f1_interval_is_the_wilson_interval_of_the_jaccard_index_carried_over() -> None:
    made = f1(3, 3, 3)
    inner = wilson(3, 9)
    assert made.value == pytest.approx(0.5)
    assert inner.low is not None
    assert inner.high is not None
    assert made.low == pytest.approx(2 * inner.low / (1 + inner.low))
    assert made.high == pytest.approx(2 * inner.high / (1 + inner.high))
    assert made.n == 9


def test_f1_at_another_level_is_narrower_by_hand() -> None:
    # J = 3/9, z = 1.644854 (90 %), z² = 2.705543: centre (1/3 + z²/18) / (1 + z²/9) = 0.371855,
    # half-width z √(2/81 + z²/324) / (1 + z²/9) = 0.229885; F1 = 2J / (1 + J) of 0.141970 and 0.601740
    made = f1(3, 3, 3, 0.9)
    assert made.low == pytest.approx(2 * 0.141970 / 1.141970, abs=2e-6)
    assert made.high == pytest.approx(2 * 0.601740 / 1.601740, abs=2e-6)


def test_no_rounding_takes_a_bound_out_of_the_unit_interval() -> None:
    # Here the formula as written gives a hair below 0 or above 1.
    n = 7_941_521_776_298_706
    assert wilson_bounds(1, n, z_of(0.95))[0] >= 0
    assert wilson_bounds(n - 1, n, z_of(0.95))[1] <= 1


def test_f1_of_a_clean_pull_request_is_undefined_and_of_silence_on_goldens_is_zero() -> None:
    assert f1(0, 2, 0) == Estimate(None, None, None, 0, "no golden was scored, so there was nothing to find")
    assert f1(0, 0, 3).value == 0.0
    assert f1(4, 0, 0).value == 1.0
