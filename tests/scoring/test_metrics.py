from __future__ import annotations

from dataclasses import replace

import pytest

from scoring import metrics
from scoring.metrics import Weighted, severity_weighted
from scoring.model import Counts, Coverage, Estimate, ReviewerId, ReviewerScore, Severity
from scoring.stats import f1, wilson
from tests.scoring.statistics.make import A, claim, golden, score, unrun

CRITICAL, HIGH, MEDIUM, LOW = Severity.CRITICAL, Severity.HIGH, Severity.MEDIUM, Severity.LOW


def test_each_figure_is_its_own_ratio_of_the_counts() -> None:
    counts = Counts(tp=2, fp=1, fn=6, valid=3, duplicate=7, unscored=9, goldens_unscored=3)
    assert (metrics.precision(counts).value, metrics.precision(counts).n) == (2 / 3, 3)
    assert (metrics.recall(counts).value, metrics.recall(counts).n) == (2 / 8, 8)
    assert (metrics.f1(counts).value, metrics.f1(counts).n) == (4 / 11, 9)
    assert (metrics.usefulness(counts, True).value, metrics.usefulness(counts, True).n) == (5 / 6, 6)
    assert (metrics.recall_bound(counts, 4).value, metrics.recall_bound(counts, 4).n) == (2 / 15, 15)


def test_an_undefined_figure_says_why_in_its_own_words() -> None:
    nothing = Counts(duplicate=1, unscored=1)
    assert metrics.precision(nothing).reason == "no scored candidate, so nothing was right or wrong"
    assert metrics.recall(nothing).reason == "no golden was scored, so there was nothing to find"
    assert metrics.usefulness(nothing, True).reason == "no scored candidate, so nothing was useful or useless"
    assert metrics.recall_bound(nothing, 0).reason == "the suite has no golden for this reviewer"
    assert metrics.usefulness(Counts(tp=3), False) == Estimate(
        None, None, None, 0, "not judged: nobody was asked which claims are sound though no golden covers them"
    )


def test_weights_by_hand() -> None:
    # Found 8 + 1 = 9, missed 4 + 2 = 6, alarms 4 + 1 for the unsaid: 9/14, 9/15, F1 = 2 * 9 / (2 * 9 + 5 + 6)
    made = severity_weighted([CRITICAL, LOW], [HIGH, MEDIUM], [HIGH, None])
    assert made.f1 == pytest.approx(18 / 29)
    assert made == Weighted(9 / 14, 9 / 15, made.f1, dict(metrics.WEIGHTS), 1.0)
    # With an unsaid one of 3: 9/16
    other = severity_weighted([CRITICAL, LOW], [HIGH, MEDIUM], [HIGH, None], weight_unsaid=3.0)
    assert (other.precision, other.weight_unsaid) == (9 / 16, 3.0)
    flat = dict.fromkeys(Severity, 1.0)
    assert severity_weighted([CRITICAL], [LOW], [], flat) == Weighted(1.0, 0.5, 1.0 / 1.5, flat, 1.0)


@pytest.mark.parametrize(
    ("found", "missed", "alarms", "wanted"),
    [
        ([], [], [], (None, None, None)),
        ([], [], [LOW], (0.0, None, None)),
        ([], [LOW], [], (None, 0.0, None)),
        ([], [LOW], [LOW], (0.0, 0.0, None)),
    ],
)
def test_a_weighted_figure_without_weight_is_undefined_and_not_zero(
    found: list[Severity], missed: list[Severity], alarms: list[Severity], wanted: tuple[float | None, ...]
) -> None:
    made = severity_weighted(found, missed, alarms)
    assert (made.precision, made.recall, made.f1) == wanted


def test_a_row_of_the_leaderboard_by_hand() -> None:
    # Two with goldens: 2 of 3 found, 1 alarm, 1 sound claim. Two clean: one silent, one with an alarm. Two that did not
    # run, one of them a clean pull request, with 2 goldens; one had claimed something before it failed.
    judged = [
        replace(score("p1", A, "10", fp=1, valid=1), valid_judged=True),
        replace(score("p2", A, "1"), valid_judged=True),
        replace(score("c1", A, fp=1), valid_judged=True),
    ]
    failed = replace(unrun("p3", A, goldens=2), candidates=(claim(1),))
    row = metrics.reviewer_score(A, [*judged, score("c2", A), failed, unrun("c3", A, goldens=0)])
    assert row == ReviewerScore(
        reviewer=ReviewerId("acme"),
        counts=Counts(tp=2, fp=2, fn=1, valid=1),
        precision=wilson(2, 4),
        recall=wilson(2, 3),
        f1=f1(2, 2, 1),
        recall_bound=wilson(2, 5),
        clean_pulls=2,
        clean_quiet=1,
        coverage=Coverage(6, 4, {"reviewed_findings": 3, "reviewed_clean": 1, "timeout": 2}),
        valid_judged=True,
        usefulness=wilson(3, 5),
    )


def test_one_unjudged_trial_with_a_claim_leaves_usefulness_open() -> None:
    row = metrics.reviewer_score(A, [replace(score("p1", A, "1"), valid_judged=True), score("p2", A, "1")])
    assert (row.valid_judged, row.usefulness) == (False, metrics.usefulness(Counts(), False))


def test_a_trial_is_evidence_only_if_it_is_scored_and_complete() -> None:
    whole = score("p1", A, "1", goldens=[golden(1)]).trial
    assert metrics.scorable(whole)
    assert not metrics.scorable(replace(whole, complete=False))
    assert not metrics.scorable(unrun("p1", A).trial)
