"""CodeVetter's public counts and its gates."""

from __future__ import annotations

from typing import Any

import pytest

from goldens.importers.codevetter import CODEVETTER
from scoring.bundle import Bundle
from scoring.catch import Caught, count
from scoring.model import Severity
from scoring.profiles import codevetter
from scoring.profiles.base import ProfileError
from tests.scoring.profiles.worlds import (
    bundle,
    candidate,
    data,
    golden,
    match,
    no_match,
    parsed,
    pull,
    said,
    trial,
)


def published() -> Bundle:
    return CODEVETTER.read(data("codevetter"))


@pytest.mark.parametrize("reviewer", ["codevetter", "raw-claude"])
def test_the_published_results_of_all_cases_are_reproduced(reviewer: str) -> None:
    result = codevetter.score(published())
    row = next(row for row in result.reviewers if row.reviewer == reviewer)
    stored = parsed("codevetter", "benchmark-results.json")[reviewer]["overall"]
    figures = row.figures
    assert row.recall.value == pytest.approx(stored["catchRate"], abs=1e-12)
    assert row.precision.value == pytest.approx(stored["precision"], abs=1e-12)
    assert row.f1.value == pytest.approx(stored["f1"], abs=1e-12)
    assert (figures["expected"], figures["caught"]) == (stored["totalExpected"], stored["totalCaught"])
    assert (figures["false_positives"], figures["redundant"]) == (stored["falsePositives"], stored["redundant"])
    assert figures["by_severity"] == pytest.approx(stored["bySeverity"], abs=1e-12)
    assert row.coverage.scored == 27


@pytest.mark.parametrize("reviewer", ["codevetter", "raw-claude"])
def test_the_published_table_of_cases_is_reproduced(reviewer: str) -> None:
    found = {row["case"]: row for row in codevetter.score(published()).tables["cases"] if row["reviewer"] == reviewer}
    stored = parsed("codevetter", "benchmark-results.json")[reviewer]["cases"]
    assert len(stored) == len(found) == 27
    for case in stored:
        shown = {key: found[case["id"]][key] for key in case if key in found[case["id"]]}
        assert shown == {key: case[key] for key in shown}
        assert set(shown) >= {"expected", "caught", "missed", "false_positives", "redundant", "catch_rate"}


CATEGORIES = [
    ("codevetter", "security", (19, 19, 24, 3), 0.413043, 0.584615),
    ("codevetter", "bug", (7, 7, 3, 3), 0.538462, 0.700000),
    ("codevetter", "maintainability", (2, 2, 1, 3), 0.333333, 0.500000),
    ("codevetter", "concurrency", (1, 1, 1, 0), 0.500000, 0.666667),
    ("raw-claude", "security", (19, 18, 26, 9), 0.339623, 0.500000),
    ("raw-claude", "bug", (7, 6, 5, 1), 0.500000, 0.631579),
    ("raw-claude", "maintainability", (2, 2, 0, 0), 1.0, 1.0),
    ("raw-claude", "concurrency", (1, 1, 0, 0), 1.0, 1.0),
]


@pytest.mark.parametrize(("reviewer", "category", "counts", "precision", "f1"), CATEGORIES)
def test_the_categories(
    reviewer: str, category: str, counts: tuple[int, int, int, int], precision: float, f1: float
) -> None:
    row = next(row for row in codevetter.score(published()).reviewers if row.reviewer == reviewer)
    found = row.figures["by_category"][category]
    assert (found["expected"], found["caught"], found["false_positives"], found["redundant"]) == counts
    assert found["precision"] == pytest.approx(precision, abs=5e-7)
    assert found["f1"] == pytest.approx(f1, abs=5e-7)


def test_one_finding_can_be_several_events() -> None:
    found = count(["a", "b"], [["a", "a", "ghost"], [], ["b"], ["a"]])
    assert (found.caught, found.missed) == (("a", "b"), ())
    assert (found.false_positives, found.redundant) == (2, 2)
    assert found.unknown == ("ghost",)
    assert found.kinds == ("caught", "false_positive", "caught", "redundant")
    assert found.sums.precision == 2 / 6


def test_nothing_expected_and_nothing_said_is_zero_here() -> None:
    assert (Caught().catch_rate, Caught().precision, Caught().f1) == (0.0, 0.0, 0.0)


def sample() -> Bundle:
    """Five labels in two cases, and three reviewers of different strength."""
    low, high = Severity.LOW, Severity.HIGH
    one = pull("one", [golden("a", severity=high, evidence="line 3"), golden("b", severity=low, evidence="line 9")])
    two = pull("two", [golden(name, severity=high, evidence="seen") for name in ("c", "d", "e")])
    reviews: dict[str, dict[str, list[str]]] = {
        "full": {"one": ["a", "b"], "two": ["c", "d", ""]},
        "bare": {"one": ["a"], "two": ["c"]},
        "base": {"one": ["b"], "two": [""]},
    }
    trials, judged = [], []
    for reviewer, cases in reviews.items():
        for case, labels in cases.items():
            findings = [candidate(f"{reviewer}-{case}-{at}") for at in range(len(labels))]
            trials.append(trial(case, reviewer, findings))
            made = [
                match(finding.id, label) if label else no_match(finding.id, "a" if case == "one" else "c")
                for finding, label in zip(findings, labels, strict=True)
            ]
            judged.append(said(case, made, reviewer))
    return bundle([one, two], trials, judged)


def test_the_agent_harness_counts_as_its_published_sample() -> None:
    rows = {row.reviewer: row.figures for row in codevetter.score(sample(), options={"rules": "agent_pr"}).reviewers}
    keys = ("precision", "catch_rate", "f1")
    assert [rows["full"][key] for key in keys] == [0.8, 0.8, 0.8]  # type: ignore[index]
    assert [rows["bare"][key] for key in keys] == [1.0, 0.4, 0.571429]  # type: ignore[index]
    assert [rows["base"][key] for key in keys] == [0.5, 0.2, 0.285714]  # type: ignore[index]


def test_what_a_reviewer_newly_catches_and_what_it_lost_is_named() -> None:
    result = codevetter.score(sample(), options={"rules": "agent_pr", "baseline": "base"})
    rows = {row["reviewer"]: row for row in result.tables["comparisons"]}
    assert rows["full"]["newly_caught"] == ["one/a", "two/c", "two/d"]
    assert rows["full"]["regressed"] == []
    assert rows["bare"]["newly_caught"] == ["one/a", "two/c"]
    assert rows["bare"]["regressed"] == ["one/b"]
    against = codevetter.score(sample(), options={"baseline": "bare", "reviewer": "full"}).tables["comparisons"]
    assert [(row["caught"], row["catch_rate"]) for row in against] == [(2, 0.4)]


def test_what_was_gained_is_unknown_where_only_numbers_were_published() -> None:
    result = codevetter.score(published(), options={"baseline": "raw-claude"})
    assert result.tables["comparisons"][0]["newly_caught"] is None
    assert result.tables["comparisons"][0]["caught"] == 2


GATES: list[tuple[dict[str, Any], bool]] = [
    ({}, True),
    ({"min_rate": 0.8}, True),
    ({"min_rate": 0.81}, False),
    ({"max_fp": 1}, True),
    ({"max_fp": 0}, False),
    ({"max_redundant": 0}, True),
    ({"min_severity": {"high": 0.75, "low": 1.0}}, True),
    ({"min_severity": {"high": 0.76}}, False),
    ({"min_severity": {"critical": 0.1}}, False),
]


@pytest.mark.parametrize(("gate", "met"), GATES, ids=str)
def test_a_gate_that_is_not_met_ends_with_two(gate: dict[str, Any], met: bool) -> None:
    result = codevetter.score(sample(), options={"reviewer": "full", **gate})
    assert result.exit_code == (0 if met else 2)
    assert bool(result.failures) is not met


def test_gates_apply_to_every_reviewer_unless_one_is_named() -> None:
    result = codevetter.score(sample(), options={"min_rate": 0.8})
    assert [failure.split(":")[0] for failure in result.failures] == ["bare", "base"]


def test_redundant_findings_can_be_limited() -> None:
    made = [match("c1", "a"), match("c2", "a")]
    held = bundle(
        [pull("one", [golden("a")])], [trial("one", candidates=[candidate("c1"), candidate("c2")])], [said("one", made)]
    )
    assert codevetter.score(held, options={"max_redundant": 0}).exit_code == 2
    assert codevetter.score(held, options={"max_redundant": 1}).exit_code == 0


def test_labels_and_matches_need_a_reason_that_is_no_todo() -> None:
    made = [match("c1", "a", reason="TODO"), match("c2", "b", reason="same line, same defect")]
    goldens = [golden("a", evidence="seen"), golden("b", evidence=" ")]
    held = bundle(
        [pull("one", goldens)], [trial("one", candidates=[candidate("c1"), candidate("c2")])], [said("one", made)]
    )
    assert codevetter.score(held).exit_code == 0
    result = codevetter.score(held, options={"require_rationales": True})
    assert len(result.failures) == 2
    assert result.exit_code == 2


def test_an_id_that_is_no_label_is_a_false_positive_in_public_and_an_error_in_the_harness() -> None:
    held = bundle(
        [pull("one", [golden("a")])],
        [trial("one", candidates=[candidate("c1")])],
        [said("one", [match("c1", "ghost")])],
    )
    assert codevetter.score(held).reviewers[0].counts.fp == 1
    with pytest.raises(ProfileError, match="'ghost', which is no label"):
        codevetter.score(held, options={"rules": "agent_pr"})


def test_a_reviewer_without_a_review_of_a_case_still_has_its_labels_to_catch() -> None:
    held = bundle(
        [pull("one", [golden("a")]), pull("two", [golden("b")])],
        [trial("one", candidates=[candidate("c1")])],
        [said("one", [match("c1", "a")])],
    )
    row = codevetter.score(held).reviewers[0]
    assert (row.figures["caught"], row.figures["expected"], row.counts.fn) == (1, 2, 1)


def test_a_severity_rate_is_not_invented_from_numbers_that_do_not_tell() -> None:
    case = pull("one", [golden("a", severity=Severity.HIGH), golden("b", severity=Severity.LOW)])
    details = {
        "published": {"one|acme": {"expected": 2, "caught": 1, "false_positives": 0, "redundant": 0}},
        "counts_only": ["one|acme"],
    }
    held = bundle([case], [trial("one")], [said("one", failed="counts only")], details)
    assert codevetter.score(held).reviewers[0].figures["by_severity"] == {"high": None, "low": None}
    assert codevetter.score(held, options={"min_severity": {"high": 0.1}}).exit_code == 2


def test_an_unknown_reviewer_is_named_with_those_there_are() -> None:
    with pytest.raises(ProfileError, match="no reviewer 'nobody'"):
        codevetter.score(sample(), options={"baseline": "nobody"})
