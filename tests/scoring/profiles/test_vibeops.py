"""The VibeOps profile on planted bundles: strata, ensembles, cost, quality."""

from __future__ import annotations

import pytest

from scoring.bundle import Bundle
from scoring.model import Category, GoldenState, OutcomeKind, Severity, TrialStatus
from scoring.profiles import vibeops
from scoring.profiles.base import ProfileError
from scoring.profiles.records import to_record
from tests.scoring.profiles.worlds import bundle, candidate, golden, match, no_match, pull, said, trial, undecided


def planted() -> Bundle:
    """One synthetic sample that both reviewers find, one real sample that one half finds, one clean sample."""
    easy = pull(
        "easy",
        [golden("g", "x.py", (10, 10), severity=Severity.CRITICAL)],
        language="go",
        changed_lines=8,
        origin="synthetic",
    )
    hard = pull(
        "hard",
        [golden("h", "y.py", (40, 44), category=Category.SECURITY)],
        language="python",
        changed_lines=150,
        origin="real",
    )
    clean = pull("clean", language="go", changed_lines=12, origin="real")
    trials = [
        trial("easy", "one", [candidate("c1", "x.py", (12, 12), kind="logic", severity=Severity.HIGH)], cost=0.002),
        trial("hard", "one", [candidate("c2", "y.py", (90, 90), kind="security", severity=Severity.LOW)], cost=0.004),
        trial("clean", "one", [], TrialStatus.REVIEWED_CLEAN),
        trial(
            "easy",
            "two",
            [
                candidate("c1", "x.py", (9, 9), kind="bug", severity=Severity.HIGH),
                candidate("c2", "z.py", (1, 1), kind="bug"),
            ],
        ),
        trial("hard", "two", [], TrialStatus.REVIEWED_CLEAN),
        trial("clean", "two", [], TrialStatus.RATE_LIMITED),
    ]
    judged = [said("hard", [match("c2", "h", 0.7, credit=0.5, specificity=4.0, depth=2.0)], "one")]
    return bundle([easy, hard, clean], trials, judged)


def test_two_passes_and_half_credits_add_up() -> None:
    rows = {row.reviewer: row for row in vibeops.score(planted()).reviewers}
    one = rows["one"]  # type: ignore[index]
    assert (one.figures["credit"], one.figures["partial"], one.figures["findings"]) == (1.5, 1, 2)
    assert (one.precision.value, one.recall.value, one.f1.value) == (0.75, 0.75, 0.75)
    assert (one.counts.tp, one.counts.fp, one.counts.fn) == (1, 0, 0)
    two = rows["two"]  # type: ignore[index]
    assert (two.precision.value, two.recall.value) == (0.5, 0.5)
    assert two.counts.fp == 1
    assert one.figures["clean_samples"] == 1


def test_figures_weigh_a_critical_annotation_four_times() -> None:
    row = next(row for row in vibeops.score(planted()).reviewers if row.reviewer == "one")
    weighted = row.figures["severity_weighted"]
    assert weighted["recall"] == pytest.approx((4 + 2 * 0.5) / (4 + 2))
    assert weighted["precision"] == pytest.approx((4 + 2 * 0.5) / (4 + 2 * 0.5 + 0.5 * 0.5))


def test_samples_are_shown_by_language_size_and_origin_and_crossed() -> None:
    rows = [row for row in vibeops.score(planted()).tables["strata"] if row["reviewer"] == "one"]
    found = {(row["axis"], row["label"]): row for row in rows}
    assert found["size", "<10"]["f1"] == 1.0
    assert found["size", ">150"]["f1"] == 0.5
    assert found["size", "10-50"]["f1"] is None
    assert found["language", "go"]["samples"] == 2
    assert ("size x origin", ">150 real") in found
    figures = next(row for row in vibeops.score(planted()).reviewers if row.reviewer == "one").figures
    assert figures["synthetic_to_real_drop"] == pytest.approx(0.5)


def test_recall_is_shown_by_type() -> None:
    rows = [row for row in vibeops.score(planted()).tables["recall_by_type"] if row["reviewer"] == "one"]
    assert {row["type"]: row["recall"] for row in rows} == {"bug": 1.0, "security": 0.5}


def test_cost_is_the_mean_over_the_reviews_whose_cost_is_known() -> None:
    rows = {row.reviewer: row.figures for row in vibeops.score(planted()).reviewers}
    assert rows["one"]["cost_per_review"] == pytest.approx(0.003)  # type: ignore[index]
    assert rows["one"]["reviews_with_cost"] == 2  # type: ignore[index]
    assert rows["two"]["cost_per_review"] is None  # type: ignore[index]


def test_qualities_are_means_over_graded_findings_and_none_without() -> None:
    row = next(row for row in vibeops.score(planted()).reviewers if row.reviewer == "one")
    assert row.figures["quality"] == {
        "depth": 2.0,
        "context_awareness": None,
        "specificity": 4.0,
        "suggestion_correctness": None,
    }


def test_two_reviewers_together_are_scored_on_the_samples_both_have() -> None:
    (row,) = vibeops.score(planted()).tables["ensembles"]
    assert row["reviewers"] == ["one", "two"]
    assert (row["samples"], row["credit"], row["annotations"]) == (3, 1.5, 2)
    assert row["findings"] == 3, "what both say of one defect is one finding of the union"
    (met,) = vibeops.score(planted(), options={"mode": "intersection"}).tables["ensembles"]
    assert (met["findings"], met["credit"]) == (1, 1.0)


def test_candidates_of_two_reviewers_with_one_id_stay_apart() -> None:
    """Both reviewers of the planted bundle have a c1 and a c2; a ruling on one is none on the other."""
    held = planted()
    rows = {row.reviewer: row.figures["credit"] for row in vibeops.score(held).reviewers}
    assert rows == {"one": 1.5, "two": 1.0}


def test_a_reviewer_that_is_not_there_cannot_be_put_together() -> None:
    with pytest.raises(ProfileError, match="'nobody'"):
        vibeops.score(planted(), options={"ensembles": [["one", "nobody"]]})


def test_a_reviewer_cannot_be_put_together_with_itself_nor_lines_matched_at_a_negative_distance() -> None:
    with pytest.raises(ProfileError, match="one cannot be put together with itself"):
        vibeops.score(planted(), options={"ensembles": [["one", "one"]]})
    with pytest.raises(ProfileError, match="0 lines or more"):
        vibeops.score(planted(), options={"tolerance": -1})


def test_agreement_counts_samples_that_all_or_none_found() -> None:
    (row,) = vibeops.score(planted()).tables["agreement"]
    assert (row["samples"], row["all_found"], row["none_found"]) == (3, 1, 1)


def test_a_deferred_finding_without_a_ruling_is_unscored_and_no_false_positive() -> None:
    goldens, candidates = (
        [golden("g", "x.py", (10, 10))],
        [candidate("c1", "x.py", (90, 90)), candidate("c2", "x.py", (91, 91))],
    )
    for judged in (None, [said("p", [undecided("c1", "g"), undecided("c2", "g")])]):
        result = vibeops.score(bundle([pull("p", goldens)], [trial("p", candidates=candidates)], judged))
        counts = result.reviewers[0].counts
        assert (counts.tp, counts.fp, counts.fn, counts.unscored) == (0, 0, 1, 2)
        assert result.trials[0].outcomes[0].kind is OutcomeKind.UNSCORED
        assert result.trials[0].goldens[0].state is GoldenState.MISSED


def test_without_a_judge_pass_one_is_scored() -> None:
    held = bundle(
        [pull("p", [golden("g", "x.py", (10, 10))])],
        [trial("p", candidates=[candidate("c1", "x.py", (10, 10), kind="bug")])],
    )
    result = vibeops.score(held)
    assert result.judge == "none"
    assert result.reviewers[0].f1.value == 1.0
    assert result.reviewers[0].figures["settled_in_pass_1"] == 1.0


def test_duplicates_are_false_positives_or_left_out() -> None:
    goldens = [golden("g", "x.py", (10, 10))]
    candidates = [candidate("c1", "x.py", (10, 10), kind="bug"), candidate("c2", "x.py", (90, 90), kind="bug")]
    held = bundle([pull("p", goldens)], [trial("p", candidates=candidates)], [said("p", [match("c2", "g")])])
    strict = vibeops.score(held).reviewers[0].counts
    mild = vibeops.score(held, options={"dup": "ignore"}).reviewers[0].counts
    assert (strict.fp, strict.duplicate) == (1, 0)
    assert (mild.fp, mild.duplicate) == (0, 1)


def test_the_sources_own_word_for_a_type_wins() -> None:
    goldens = [golden("g", "x.py", (10, 10), category=Category.CORRECTNESS)]
    held = bundle(
        [pull("p", goldens, tags={"category:g": "performance"})],
        [trial("p", candidates=[candidate("c1", "x.py", (10, 10), kind="performance")])],
        [said("p", [no_match("c1", "g")])],
    )
    assert vibeops.score(held).reviewers[0].f1.value == 1.0


def test_a_bundle_of_clean_samples_has_no_figures() -> None:
    held = bundle([pull("p")], [trial("p")], [])
    row = to_record(vibeops.score(held))["reviewers"][0]
    assert row["f1"]["value"] is None
    assert row["f1"]["reason"] == "no finding and no annotation"
    assert row["figures"]["clean_samples"] == 1
