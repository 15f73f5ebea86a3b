"""The C/C++ benchmark's leaderboards from their counts, and its rules on planted bundles."""

from __future__ import annotations

from collections import defaultdict

import pytest

from goldens.importers.cloudaeye import CLOUDAEYE
from scoring.profiles import cpp16
from tests.scoring.profiles.worlds import (
    all_pairs,
    bundle,
    candidate,
    data,
    golden,
    match,
    no_match,
    parsed,
    pull,
    said,
    table,
    trial,
)

GPT = "openai_gpt-5.2"


def test_every_published_leaderboard_row_follows_from_its_counts() -> None:
    versions: dict[str, dict[str, tuple[int, int, int]]] = defaultdict(dict)
    published = table("cpp16", "leaderboards.csv")
    for row in published:
        versions[row["version"]][row["reviewer"]] = (int(row["tp"]), int(row["fp"]), int(row["fn"]))
    boards = {version: {row["reviewer"]: row for row in cpp16.rank(rows)} for version, rows in versions.items()}
    assert len(published) == 19
    for row in published:
        found = boards[row["version"]][row["reviewer"]]
        for key in ("precision_pct", "recall_pct", "f1_pct"):
            assert found[key] == float(row[key])


def test_the_rows_stand_in_the_published_order() -> None:
    published = [row for row in table("cpp16", "leaderboards.csv") if row["version"] == "opus45_2026-07-02"]
    counts = {row["reviewer"]: (int(row["tp"]), int(row["fp"]), int(row["fn"])) for row in published}
    board = cpp16.rank(dict(sorted(counts.items())))
    assert [row["reviewer"] for row in board] == [row["reviewer"] for row in published]


def test_rows_of_one_f1_stand_in_the_order_of_their_names() -> None:
    board = cpp16.rank({"b": (1, 1, 1), "c": (2, 0, 0), "a": (1, 1, 1)})
    assert [row["reviewer"] for row in board] == ["c", "a", "b"]


def test_a_judge_with_counts_per_pull_request_is_counted_again_and_agrees_with_its_totals() -> None:
    held = CLOUDAEYE.read(data("cpp16"))
    result = cpp16.score(held, judge=GPT)
    totals = parsed("cpp16", "judge_totals.json")["totals"][GPT]
    assert {row.reviewer for row in result.reviewers} == set(totals)
    for row in result.reviewers:
        assert {
            "tp": row.counts.tp,
            "fp": row.counts.fp,
            "fn": row.counts.fn,
            "f1": round(100 * (row.f1.value or 0), 1),
        } == totals[row.reviewer]
        assert row.coverage.scored == 16
        assert row.counts.tp + row.counts.fn == 20
    assert not [note for note in result.notes if "published" in note]


@pytest.mark.parametrize("judge", ["anthropic_claude-sonnet-4-5-20250929", "anthropic_claude-opus-4-5-20251101"])
def test_a_judge_with_totals_only_gives_its_leaderboard(judge: str) -> None:
    result = cpp16.score(CLOUDAEYE.read(data("cpp16")), judge=judge)
    totals = parsed("cpp16", "judge_totals.json")["totals"][judge]
    assert {
        row["reviewer"]: (row["tp"], row["fp"], row["fn"], row["f1_pct"]) for row in result.tables["leaderboard"]
    } == {tool: (one["tp"], one["fp"], one["fn"], one["f1"]) for tool, one in totals.items()}


def test_a_total_that_the_counts_do_not_give_is_said() -> None:
    details = {
        "published": {"p|acme": {"tp": 1, "fp": 1, "fn": 0}},
        "counts_only": ["p|acme"],
        "published_totals": {"acme": {"tp": 1, "fp": 4, "fn": 0}},
    }
    held = bundle([pull("p", [golden("g1")])], [trial("p")], [said("p", failed="counts only")], details)
    assert any("acme: counted" in note for note in cpp16.score(held).notes)


@pytest.mark.parametrize(("dedup", "fp"), [("none", 3), ("propagate", 2), ("merge", 1)])
def test_the_three_ways_with_duplicates(dedup: str, fp: int) -> None:
    goldens, candidates = [golden("g")], [candidate(name) for name in ("c1", "c2", "c3", "c4")]
    judgements = all_pairs(goldens, candidates, {("g", "c1"): 0.9, ("g", "c2"): 0.8})
    judged = [said("p", judgements, groups=(("c1", "c2"), ("c3", "c4")))]
    held = bundle([pull("p", goldens)], [trial("p", candidates=candidates)], judged)
    row = cpp16.score(held, options={"dedup": dedup}).reviewers[0]
    assert (row.counts.tp, row.counts.fp, row.counts.fn) == (1, fp, 0)


def test_a_golden_that_left_the_benchmark_is_neither_found_nor_missed_and_false_positives_stay() -> None:
    goldens = [golden("g1"), golden("g2"), golden("old")]
    candidates = [candidate("c1"), candidate("c2"), candidate("c3")]
    judgements = all_pairs(goldens, candidates, {("g1", "c1"): 0.9, ("old", "c2"): 0.9})
    held = bundle(
        [pull("p", goldens, tags={"stale:old": "only in evaluations"})],
        [trial("p", candidates=candidates)],
        [said("p", judgements)],
    )
    row = cpp16.score(held).reviewers[0]
    assert (row.counts.tp, row.counts.fp, row.counts.fn) == (1, 1, 1)


def test_two_goldens_of_one_cause_earn_two_hits_and_one_root_cause() -> None:
    goldens = [golden("g1", group="rc"), golden("g2", group="rc")]
    judgements = [match("c1", "g1"), match("c1", "g2")]
    held = bundle([pull("p", goldens)], [trial("p", candidates=[candidate("c1")])], [said("p", judgements)])
    row = cpp16.score(held).reviewers[0]
    assert (row.counts.tp, row.figures["root_causes"]) == (2, 1)


def test_a_tool_without_a_record_on_a_pull_request_gets_no_misses_there() -> None:
    held = bundle(
        [pull("p", [golden("g1")]), pull("q", [golden("g2")])],
        [trial("p", candidates=[candidate("c1")])],
        [said("p", [no_match("c1", "g1")])],
    )
    row = cpp16.score(held).reviewers[0]
    assert (row.counts.tp, row.counts.fp, row.counts.fn) == (0, 1, 1)
