"""Every reference vector by id, against our functions. A vector that no function answers is a failure."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scoring import exact, sites
from scoring.catch import Caught
from scoring.prf import percent, prf
from scoring.profiles.swe import wilson_or_zero
from scoring.usefulness import Comments, snr_from_usefulness

VECTORS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "reference_vectors.json").read_text(encoding="utf-8")
)["vectors"]


def wilson(k: int, n: int, z: float) -> tuple[float, float]:
    return wilson_or_zero(k, n, z)


def odds_ratio_woolf(table: list[int], z: float) -> tuple[float, float, float, bool]:
    found = exact.odds_ratio((table[0], table[1], table[2], table[3]), z)
    return found.value, found.low, found.high, found.corrected


def fisher_two_sided(table: list[int]) -> float:
    return exact.fisher_two_sided((table[0], table[1], table[2], table[3]))


def codevetter_score(caught: int, expected: int, false_positives: int, redundant: int) -> dict[str, float]:
    sums = Caught(expected, caught, false_positives, redundant)
    return {"precision": sums.precision, "catch_rate": sums.catch_rate, "f1": sums.f1}


def crbench_score(**counts: int) -> dict[str, float | None]:
    sums = Comments(counts["bug_hit"], counts["valid"], counts["noise"], counts["distinct_bugs"], counts["defects"])
    assert sums.reviews == counts["reviews"]
    return {
        "recall_pct": percent(sums.recall, 6),
        "precision_pct": percent(sums.precision, 6),
        "f1_pct": percent(sums.f1, 6),
        "usefulness_pct": percent(sums.usefulness, 6),
        "snr": sums.signal_to_noise,
    }


def prf_counts(tp: int, fp: int, fn: int) -> dict[str, float | None]:
    return prf(tp, fp, fn, zero=0.0)._asdict()


def sample_indices(population: int, n: int, seed: int) -> list[int]:
    return sites.sample_rows(population, n, random.Random(seed))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "wilson": wilson,
    "odds_ratio_woolf": odds_ratio_woolf,
    "fisher_two_sided": fisher_two_sided,
    "mcnemar_exact": lambda b, c: exact.mcnemar_exact(b, c),
    "jaccard": lambda both, x_only, y_only: exact.jaccard(both, x_only, y_only),
    "codevetter_score": codevetter_score,
    "crbench_score": crbench_score,
    "snr_from_usefulness_pct": lambda u: snr_from_usefulness(u / 100),
    "prf_counts": prf_counts,
    "sample_indices": sample_indices,
}


def flat(value: Any) -> list[Any]:
    """A result as a list of its numbers."""
    if isinstance(value, dict):
        return list(value.values())
    return list(value) if isinstance(value, list | tuple) else [value]


def expected(vector: dict[str, Any]) -> tuple[list[Any], list[str] | None]:
    wanted = vector["expected"]
    return flat(wanted), list(wanted) if isinstance(wanted, dict) else None


def test_there_are_as_many_vectors_as_there_should_be() -> None:
    assert len(VECTORS) == 153
    assert {vector["fn"] for vector in VECTORS} == set(FUNCTIONS)


@pytest.mark.parametrize("at", range(len(VECTORS)), ids=lambda at: f"{at:03d}-{VECTORS[at]['fn']}")
def test_a_reference_vector_is_reproduced(at: int) -> None:
    vector = VECTORS[at]
    got = FUNCTIONS[vector["fn"]](**vector["input"])
    wanted, names = expected(vector)
    if names is not None:
        got = [got[name] for name in names]
    if "haldane" in vector:
        *got, corrected = got
        assert corrected is vector["haldane"]
    found = flat(got)
    assert len(found) == len(wanted)
    scale = 100 if vector.get("percent") else 1
    for value, figure in zip(found, wanted, strict=True):
        if figure is None:
            assert value is None
        elif "round_dp" in vector:
            assert round(value * scale, vector["round_dp"]) == figure
        else:
            assert value == pytest.approx(figure, rel=0, abs=vector.get("tol", 0.0))


def test_the_smaller_sample_lies_in_the_larger_one_for_this_seed() -> None:
    """A property of these values, not of the sampler, so it is asserted and not assumed."""
    small, large = sample_indices(300, 20, 42), sample_indices(300, 100, 42)
    assert set(small) < set(large)
