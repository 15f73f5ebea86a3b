from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.metrics import total
from scoring.model import Category, Counts, Estimate, PullId, Severity
from scoring.statistics.bootstrap import FEW_CLUSTERS, Figures, micro_intervals
from scoring.statistics.strata import BY_CATEGORY, BY_LANGUAGE, BY_SEVERITY, PullKey, Stratum, by, by_size
from scoring.stats import wilson
from tests.scoring.statistics.make import A, B, claim, contained, golden, resampler, score, unrun


def test_languages_by_hand_and_the_unknown_last() -> None:
    scores = [score("p1", A, "10", fp=1, language="python"), score("p2", A, "1", language="go"), unrun("p3", A)]
    scores += [score("p4", A, "0", language=""), score("p5", A, "11", language="python")]
    made = by(scores, BY_LANGUAGE)
    assert list(made) == ["go", "python", "unknown"]
    assert made["python"].goldens == made["python"].claims == Counts(tp=3, fp=1, fn=1)
    assert made["python"].figures.precision.value == 0.75
    assert made["python"].figures.f1.value == pytest.approx(6 / 8)
    assert made["unknown"].figures.precision.value is None
    assert (made["python"].name, made["python"].pulls) == ("python", 2)


def test_severity_puts_goldens_by_what_they_are_and_claims_by_what_was_said() -> None:
    known = [golden(0, Severity.CRITICAL), golden(1, Severity.LOW), golden(2, Severity.LOW)]
    said = [
        claim(0, severity=Severity.HIGH),
        claim(1, severity=Severity.LOW),
        claim(2, severity=Severity.HIGH),
        claim(3),
    ]
    made = by([score("p1", A, "110", fp=2, goldens=known, claims=said)], BY_SEVERITY)
    assert list(made) == ["critical", "high", "low", "unknown"]
    assert made["critical"].figures.recall.value == 1.0
    assert made["critical"].figures.precision.value is None
    assert made["low"].figures.recall.value == 0.5
    assert made["high"].claims == Counts(tp=1, fp=1)
    assert made["high"].figures.precision.value == 0.5
    assert made["high"].figures.recall.value is None
    assert made["unknown"].figures.precision.value == 0.0
    common = Estimate(None, None, None, 0, "claims and goldens of the stratum have no common true positives")
    assert made["low"] == Stratum(
        "low", 1, Counts(tp=1, fn=1), Counts(tp=1), Figures(wilson(1, 1), wilson(1, 2), common)
    )
    assert made["critical"].claims == Counts()
    assert made["critical"].figures.precision.reason == "no scored candidate, so nothing was right or wrong"


def test_category_has_recall_and_says_why_it_has_no_precision() -> None:
    known = [golden(0, category=Category.SECURITY), golden(1, category=Category.API)]
    made = by([score("p1", A, "1?", fp=3, goldens=known)], BY_CATEGORY)
    assert made["security"].figures.recall.value == 1.0
    no_stratum = Estimate(None, None, None, 0, "a false alarm belongs to no stratum of the goldens")
    assert made["security"].figures.precision == no_stratum
    assert made["security"].claims is None
    assert made["api"].goldens == Counts(goldens_unscored=1)
    assert made["api"].figures.recall.value is None


def test_sizes_are_half_open_and_in_order() -> None:
    lines = {PullId(f"p{number}"): size for number, size in enumerate((0, 9, 10, 49, 50, 149, 150, 9999, None))}
    made = by([score(pull, A, "1") for pull in lines], by_size(lines))
    assert {name: one.pulls for name, one in made.items()} == {
        "0-9": 2,
        "10-49": 2,
        "50-149": 2,
        "150+": 2,
        "unknown": 1,
    }
    assert list(made) == ["0-9", "10-49", "50-149", "150+", "unknown"]
    assert list(by([score("p1", A, "1")], by_size({}))) == ["unknown"]


def test_edges_may_begin_at_one_line() -> None:
    key = by_size({PullId("p1"): 0, PullId("p2"): 1}, (1, 5))
    assert (key.name, key.order) == ("size", ("0-0", "1-4", "5+"))
    assert list(by([score("p1", A, "1"), score("p2", A, "1")], key)) == ["0-0", "1-4"]


@pytest.mark.parametrize("edges", [(), (0, 5), (10, 10), (50, 10)])
def test_edges_that_make_no_strata_are_refused(edges: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="edges of size rise from 1"):
        by_size({}, edges)


def test_two_reviewers_are_not_mixed_into_one_stratum() -> None:
    with pytest.raises(ValueError, match="strata are of one reviewer, not of acme, bolt"):
        by([score("p1", A, "1"), score("p1", B, "0")], BY_LANGUAGE)


def test_a_key_of_ones_own_and_intervals_that_know_of_pull_requests() -> None:
    scores = [score(f"p{number}", A, "10" if number % 2 else "11", fp=number) for number in range(6)]
    key = PullKey("half", lambda one: "late" if one.trial.pull > "p2" else "early", ("late", "early"))
    made = by(scores, key, resampler())
    assert list(made) == ["late", "early"]
    recall = made["late"].figures.recall
    assert contained(recall.value, recall.low, recall.high)
    assert recall.reason is None
    lone = by([scores[0]], key, resampler())["early"].figures.recall
    assert lone.reason == FEW_CLUSTERS
    severe = by(scores, BY_SEVERITY, resampler())["high"].figures.recall
    assert severe.value == pytest.approx(9 / 12)
    assert severe.low is not None


def test_strata_of_goldens_and_of_claims_each_resample_the_pull_requests_that_bear_on_them() -> None:
    scores, goldens, claims = [], {}, {}
    for number in range(6):
        pull, found = PullId(f"p{number}"), number % 3
        said = [claim(at, severity=Severity.HIGH) for at in range(found + 1)]
        scores.append(score(pull, A, "1" * found + "0", fp=1, claims=said))
        goldens[pull], claims[pull] = Counts(tp=found, fn=1), Counts(tp=found, fp=1)
    made = by(scores, BY_SEVERITY, resampler())["high"]
    assert made.figures.recall == micro_intervals(goldens, resampler()).recall
    assert made.figures.precision == micro_intervals(claims, resampler()).precision
    assert (made.name, made.pulls, made.figures.recall.n, made.figures.precision.n) == ("high", 6, 12, 12)


rows = st.lists(
    st.tuples(st.lists(st.sampled_from(Severity), max_size=4), st.sampled_from(["go", "c", ""]), st.integers(0, 3)),
    max_size=6,
)


@given(rows, st.randoms(use_true_random=False))
def test_strata_add_up_to_the_whole_in_any_order(drawn: list[tuple[list[Severity], str, int]], random: Random) -> None:
    scores = []
    for number, (levels, language, fp) in enumerate(drawn):
        known = [golden(at, level) for at, level in enumerate(levels)]
        marks = "".join(random.choice("10?") for _ in known)
        scores.append(score(f"p{number}", A, marks, fp=fp, goldens=known, language=language))
    whole = total(scores)
    for key in (BY_LANGUAGE, BY_SEVERITY, BY_CATEGORY):
        made = by(scores, key)
        goldens = sum((one.goldens for one in made.values()), Counts())
        assert (goldens.tp, goldens.fn, goldens.goldens_unscored) == (whole.tp, whole.fn, whole.goldens_unscored)
        told = [one.claims for one in made.values() if one.claims is not None]
        if told:
            assert (sum(told, Counts()).tp, sum(told, Counts()).fp) == (whole.tp, whole.fp)
        assert by(list(reversed(scores)), key) == made
        assert by([*scores, unrun("z", A)], key) == made
