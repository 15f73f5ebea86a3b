"""CR-Bench's three labels, its Table 4, and where its measures are undefined."""

from __future__ import annotations

from dataclasses import replace
from math import isinf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.bundle import Bundle
from scoring.model import Category, Impact, ReviewerId, Severity
from scoring.profiles import crbench
from scoring.profiles.records import to_record
from scoring.usefulness import Comments, snr_from_usefulness
from tests.scoring.profiles.worlds import (
    bundle,
    candidate,
    golden,
    match,
    no_match,
    pull,
    said,
    table,
    trial,
    undecided,
)
from tests.shared import case


def test_table_4_follows_from_the_witness_counts() -> None:
    published = {(row["agent"], row["model"]): row for row in table("crbench", "table4.csv")}
    witnesses = table("crbench", "witnesses.csv")
    assert len(witnesses) == 4
    names = {"bug_hit": "bug_hit_reviews", "valid": "valid_suggestions", "noise": "noise"}
    names |= {"distinct_bugs": "distinct_bugs_hit", "defects": "n_defects"}
    totals = {
        f"{row['agent']} {row['model']}": {key: int(row[column]) for key, column in names.items()} for row in witnesses
    }
    held = bundle([], [], [], {"published_totals": totals})
    rows = {row["reviewer"]: row for row in crbench.score(held).tables["table4"]}
    for row in witnesses:
        found, stated = rows[f"{row['agent']} {row['model']}"], published[row["agent"], row["model"]]
        for key in ("recall_pct", "precision_pct", "f1_pct", "usefulness_pct", "snr"):
            assert found[key] == float(stated[key])


def test_edge_cases_of_usefulness_and_signal_to_noise() -> None:
    shown = case("98")
    for name, tool in shown["input"]["tools"].items():
        sums = Comments(valid=tool["useful"], noise=tool["noise"])
        assert sums.usefulness == shown["expected"]["usefulness_rate"][name]
        wanted = shown["expected"]["signal_to_noise"][name]
        found = sums.signal_to_noise
        assert isinf(found or 0.0) if wanted == "inf" else found == wanted


@given(st.integers(0, 500), st.integers(0, 500), st.integers(1, 500))
def test_signal_to_noise_follows_from_usefulness(hit: int, valid: int, noise: int) -> None:
    sums = Comments(hit, valid, noise)
    assert sums.usefulness is not None
    assert snr_from_usefulness(sums.usefulness) == pytest.approx(sums.signal_to_noise, rel=1e-9)


@pytest.mark.parametrize("share", [-0.1, 1.1])
def test_a_share_outside_the_unit_is_refused(share: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        snr_from_usefulness(share)


def planted(valid: tuple[str, ...] | None = ("c3",)) -> Bundle:
    """Two comments on the one defect, a sound one, noise, and one the judge could not answer."""
    said_of = [match("c1", "g"), match("c2", "g"), no_match("c3", "g"), no_match("c4", "g"), undecided("c5", "g")]
    candidates = [candidate(f"c{at}") for at in range(1, 6)]
    return bundle([pull("p", [golden("g")])], [trial("p", candidates=candidates)], [said("p", said_of, valid=valid)])


def test_recall_counts_defects_and_precision_counts_comments() -> None:
    row = crbench.score(planted()).reviewers[0]
    assert (row.recall.value, row.precision.value) == (1.0, 0.5)
    assert (row.counts.tp, row.counts.valid, row.counts.fp, row.counts.unscored) == (2, 1, 1, 1)
    assert row.figures["usefulness"].value == 0.75
    assert row.figures["signal_to_noise"].value == 3.0
    assert crbench.score(planted()).trials[0].figures["labels"] == {
        "c1": "bug_hit",
        "c2": "bug_hit",
        "c3": "valid_suggestion",
        "c4": "noise",
        "c5": "unscored",
    }


def test_without_someone_who_told_valid_from_noise_usefulness_is_not_judged() -> None:
    row = crbench.score(planted(None)).reviewers[0]
    assert row.figures["usefulness"].value is None
    assert "not asked" in row.figures["usefulness"].reason
    assert row.figures["table4"]["snr"] is None
    assert row.precision.value == 0.5


def test_no_noise_is_an_infinite_ratio_that_json_holds_as_null_and_a_flag() -> None:
    held = bundle(
        [pull("p", [golden("g")])],
        [trial("p", candidates=[candidate("c1")])],
        [said("p", [match("c1", "g")], valid=())],
    )
    figures = to_record(crbench.score(held))["reviewers"][0]["figures"]
    assert figures["signal_to_noise"]["value"] is None
    assert figures["snr_infinite"] is True
    assert figures["table4"]["snr_infinite"] is True


def test_silence_is_undefined_and_the_table_shows_zero_and_says_so() -> None:
    held = bundle([pull("p", [golden("g")])], [trial("p")], [said("p")])
    row = crbench.score(held).reviewers[0]
    assert row.precision.value is None
    assert row.precision.reason == "nothing was said"
    assert (row.figures["table4"]["precision_pct"], row.figures["table4"]["no_comments"]) == (0.0, True)
    assert row.recall.value == 0.0


def test_recall_is_broken_down_by_category_impact_and_severity() -> None:
    pulls = [
        pull("p", [golden("g", severity=Severity.CRITICAL)], tags={"category": "memory", "impact": "reliability"}),
        pull("q", [golden("h", severity=Severity.HIGH, category=Category.SECURITY)]),
    ]
    trials = [trial("p", candidates=[candidate("c1")]), trial("q", candidates=[candidate("c2")])]
    judged = [said("p", [no_match("c1", "g")], valid=()), said("q", [match("c2", "h")], valid=())]
    rows = crbench.score(bundle(pulls, trials, judged)).tables["recall_by"]
    found = {(row["axis"], row["label"]): row["recall"] for row in rows}
    assert found["category", "memory"] == 0.0
    assert found["category", "security"] == 1.0
    assert found["impact", "reliability"] == 0.0
    assert found["severity", "high"] == 0.5, "critical counts under high"
    assert not [key for key in found if not key[1]]


def test_the_impact_that_a_golden_says_is_used_where_the_source_tags_none() -> None:
    known = replace(golden("g"), impact=Impact.SECURITY)
    held = bundle([pull("p", [known])], [trial("p", candidates=[candidate("c")])], [said("p", [match("c", "g")])])
    found = {(row["axis"], row["label"]): row["recall"] for row in crbench.score(held).tables["recall_by"]}
    assert found["impact", "security"] == 1.0


def test_a_row_of_totals_stands_beside_a_row_that_is_counted() -> None:
    held = planted()
    totals = {"other": {"bug_hit": 1, "valid": 0, "noise": 1, "distinct_bugs": 1, "defects": 2}}
    judged = held.judgements[0]
    both = bundle(held.pulls, held.trials, judged.trials, {"published_totals": totals})
    assert {row.reviewer for row in crbench.score(both).reviewers} == {ReviewerId("acme"), ReviewerId("other")}
