from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import kendalltau

from scoring.model import Golden, GoldenId, PullId, ReviewerId
from scoring.statistics.agreement import Unit, cohens_kappa
from scoring.statistics.bootstrap import Resampler
from tests.bench import __main__ as bench
from tests.bench import bench_lexical
from tests.bench.bench_lexical import Review, compare, kappa_of, similarities, tau_of
from tests.scoring.make import candidate, golden


def labels(found: str) -> dict[Unit, str]:
    """Goldens of four pull requests in turn: f found, m missed."""
    return {
        (PullId(f"p{at % 4}"), ReviewerId("r"), GoldenId(f"g{at}")): "found" if letter == "f" else "missed"
        for at, letter in enumerate(found)
    }


def test_kappa_of_cells_is_cohens() -> None:
    expected = cohens_kappa([[30, 5], [7, 20]]).value.value
    assert float(kappa_of(np.array([[30.0, 5.0, 7.0, 20.0]]))[0]) == pytest.approx(expected)


def test_a_judge_that_is_always_right_is_ahead_and_the_discordant_goldens_are_counted() -> None:
    truth, wrong = labels("ffmmffmmffmm"), labels("fmmmmfmfffmm")
    made = compare(truth, wrong, truth, Resampler(np.random.default_rng(1), draws=500))
    assert (made.only_first, made.only_second) == (3, 0)
    assert made.difference.value is not None
    assert made.difference.value > 0
    turned = compare(wrong, truth, truth, Resampler(np.random.default_rng(1), draws=500))
    assert turned.difference.value == pytest.approx(-made.difference.value)
    assert (turned.only_first, turned.only_second) == (0, 3)


def test_tau_of_counts_is_scipys_ties_included() -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        counts = rng.integers(1, 4, size=(1, 3 * 2 * 6)).astype(np.float64)
        f1 = [2 * a / (2 * a + b + c) for a, b, c in counts.reshape(12, 3)]
        assert float(tau_of(6, counts)[0]) == pytest.approx(kendalltau(f1[:6], f1[6:]).statistic)


def test_words_of_the_measured_repository_weigh_nothing_where_frequencies_are_of_the_others() -> None:
    known: tuple[Golden, ...] = (golden("g", "zebra quagga"),)
    own = (candidate("c#1", "zebra quagga"),)
    reviews: list[Review] = [
        ("one", PullId("p"), ReviewerId("r"), own, known),
        ("two", PullId("q"), ReviewerId("r"), (candidate("d#1", "lock leak"),), (golden("h", "lock leak"),)),
    ]
    assert similarities(reviews, "others")[0][0, 0] == 0
    assert similarities(reviews, "review")[0][0, 0] == pytest.approx(1)
    assert similarities(reviews, "all")[0][0, 0] == pytest.approx(1)


def test_without_the_published_reviews_it_says_so_and_measures_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bench_lexical, "SHARED", tmp_path)
    assert bench_lexical.run() == []
    assert capsys.readouterr().err.startswith("nothing is measured: ")
    assert "lexical" in bench.known()
