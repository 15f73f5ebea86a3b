"""The profile of SWE-Review-Bench: the pilot from its import, and the published tables from their counts."""

from __future__ import annotations

import pytest

from goldens.importers.swe import SWE
from scoring import exact
from scoring.model import PullId, ReviewerId, Severity, TrialStatus
from scoring.profiles import swe
from scoring.profiles.base import ProfileError
from scoring.profiles.records import to_record
from scoring.sites import Sums
from tests.scoring.profiles.worlds import bundle, candidate, data, golden, pull, table, trial

OLD_Z = 1.96
EXACT_Z = 1.959963984540054


@pytest.mark.parametrize(
    ("file", "z", "columns"),
    [
        (
            "pilot20_round1_with_ci.csv",
            EXACT_Z,
            {
                "instance_hit_rate": "instance_hit_rate_ci",
                "site_recall": "site_recall_ci",
                "file_level_hit_rate": "file_level_hit_rate_ci",
            },
        ),
        ("pilot20_file_level_metrics.csv", OLD_Z, {"file_level_hit_rate": "file_level_hit_rate_ci"}),
    ],
)
def test_the_pilot_is_reproduced_with_its_intervals(file: str, z: float, columns: dict[str, str]) -> None:
    result = swe.score(SWE.read(data("swe")), options={"z": z})
    rows = {row["reviewer"]: row for row in result.tables["summary"]}
    published = table("swe", file)
    assert {row["reviewer"] for row in published} == set(rows)
    ends = ("_ci_low", "_ci_high") if z == EXACT_Z else ("_wilson_lo", "_wilson_hi")
    for row in published:
        found = rows[row["reviewer"]]
        for value, interval in columns.items():
            assert found[value] == pytest.approx(float(row[value]), abs=1e-12)
            wanted = [float(row[value + end]) for end in ends]
            assert found[interval] == pytest.approx(wanted, abs=1e-12)
        assert found["n_instances"] == found["n_scored"] == 20


def test_the_import_of_the_pilot_gives_the_published_sweep_and_medians() -> None:
    result = swe.score(SWE.read(data("swe")))
    hits = {(row["reviewer"], row["tolerance"]): row["instance_hits"] for row in result.tables["tolerance_sweep"]}
    assert [hits["gpt-4o-mini", at] for at in (0, 3, 10)] == [2, 3, 4]
    assert [hits["static", at] for at in (0, 3, 10)] == [2, 3, 5]
    assert [hits["claude-sonnet-4-5", at] for at in (0, 3, 10)] == [0, 0, 1]
    medians = {row.reviewer: row.figures["false_positives_per_instance_median"] for row in result.reviewers}
    assert medians == {"claude-sonnet-4-5": 1.0, "gpt-4o-mini": 2.5, "static": 15.5}


def sums_of(row: dict[str, str], sites: int) -> Sums:
    n = int(row["n_instances"])
    return Sums(
        instances=n,
        scored=n,
        instance_hits=round(n * float(row["instance_hit_rate"])),
        sites=sites,
        sites_hit=round(sites * float(row["site_recall"])),
        comments=0,
        hit_comments=0,
        file_hits=round(n * float(row.get("file_level_hit_rate") or 0)),
        false_positives_mean=0.0,
        false_positives_median=0.0,
        precision_at={},
    )


def test_the_headline_table_follows_from_its_counts() -> None:
    sites = len(table("swe", "oracle_sites_n100.csv"))
    assert sites == 149
    for row in table("swe", "variant_summary.csv"):
        found = swe.summary(row["reviewer"], sums_of(row, sites), OLD_Z)
        for name in ("instance_hit_rate", "site_recall", "file_level_hit_rate"):
            assert found[name] == pytest.approx(float(row[name]), abs=1e-12)
            wanted = [float(row[f"{name}_wilson_lo"]), float(row[f"{name}_wilson_hi"])]
            assert found[f"{name}_ci"] == pytest.approx(wanted, abs=1e-12)


def test_the_static_row_follows_from_its_counts() -> None:
    (row,) = table("swe", "static_summary.csv")
    found = swe.summary("static", sums_of(row, 149), EXACT_Z)
    assert (found["instance_hits"], found["sites_hit"]) == (27, 31)
    assert found["instance_hit_rate_ci"] == pytest.approx((0.193, 0.364), abs=5e-4)


def hit_sets(row: dict[str, str]) -> tuple[frozenset[PullId], frozenset[PullId]]:
    """Two hit sets with the published overlaps."""
    both, first, second = int(row["both_hit"]), int(row["x_only"]), int(row["y_only"])
    shared = {PullId(f"both {at}") for at in range(both)}
    one = shared | {PullId(f"x {at}") for at in range(first)}
    other = shared | {PullId(f"y {at}") for at in range(second)}
    return frozenset(one), frozenset(other)


def test_the_paired_comparisons_are_reproduced() -> None:
    for row in table("swe", "paired_comparison.csv"):
        found = swe.pair("x", "y", *hit_sets(row), int(row["n"]))
        for name in ("n", "x_hits", "y_hits", "both_hit", "x_only", "y_only", "neither"):
            assert found[name] == int(row[name])
        assert found["mcnemar_p"] == pytest.approx(float(row["p_value"]), abs=1e-12)


def test_the_overlap_matrix_is_reproduced() -> None:
    for row in table("swe", "hit_overlap_matrix.csv"):
        found = swe.pair("x", "y", *hit_sets(row), int(row["n"]))
        assert (found["union"], found["neither"]) == (int(row["union"]), int(row["neither"]))
        assert found["jaccard"] == pytest.approx(float(row["jaccard"]), abs=1e-12)


def test_the_enrichment_table_is_reproduced() -> None:
    for row in table("swe", "no_enrichment.csv"):
        cells = tuple(int(row[name]) for name in ("hit_bug", "miss_bug", "hit_nobug", "miss_nobug"))
        found = swe.enrichment(row["group"], (cells[0], cells[1], cells[2], cells[3]), EXACT_Z)
        assert found["odds_ratio"] == pytest.approx(float(row["odds_ratio"]), abs=1e-9)
        assert found["odds_ratio_ci"] == pytest.approx((float(row["or_ci_low"]), float(row["or_ci_high"])), abs=1e-9)
        assert found["fisher_exact_p"] == pytest.approx(float(row["fisher_exact_p"]), abs=1e-9)
        assert str(found["haldane_applied"]) == row["haldane_applied"]
        for side in ("bug", "nobug"):
            wanted = (float(row[f"hit_rate_{side}_ci_low"]), float(row[f"hit_rate_{side}_ci_high"]))
            assert found[f"hit_rate_{side}_ci"] == pytest.approx(wanted, abs=1e-12)


def test_the_audit_fractions_follow_from_the_verdicts() -> None:
    verdicts = table("swe", "oracle_validity_template.csv")
    bugs = [row for row in verdicts if row["verdict"] == "bug"]
    instances = {row["instance_id"] for row in verdicts}
    assert (len(bugs), len(verdicts), len(instances)) == (24, 48, 30)
    assert len({row["instance_id"] for row in bugs}) == 20
    assert swe.wilson_or_zero(24, 48, OLD_Z) == pytest.approx((0.364, 0.636), abs=5e-4)
    assert swe.wilson_or_zero(10, 30, OLD_Z) == pytest.approx((0.192, 0.512), abs=5e-4)
    assert swe.wilson_or_zero(0, 0, OLD_Z) == (0.0, 0.0)


# --- rules on planted bundles


def test_an_instance_without_a_review_counts_as_missed_and_not_as_quiet() -> None:
    site = ("x.py", (10, 12))
    held = bundle(
        [pull("p", [golden("g", *site)]), pull("q", [golden("h", *site)]), pull("never run", [golden("i", *site)])],
        [
            trial("p", candidates=[candidate("c1", *site)]),
            trial("q", status=TrialStatus.NOT_INSTALLED),
        ],
    )
    (row,) = swe.score(held).reviewers
    assert (row.figures["n_instances"], row.figures["n_scored"]) == (2, 1)
    assert row.figures["instance_hit_rate"] == 0.5
    assert row.figures["false_positives_per_instance_mean"] == 0.0
    assert row.f1.value is None
    assert "no F1" in (row.f1.reason or "")


def test_a_comment_without_a_place_is_a_false_positive_and_never_a_hit() -> None:
    held = bundle([pull("p", [golden("g", "x.py", (10, 12))])], [trial("p", candidates=[candidate("c1")])])
    (row,) = swe.score(held).reviewers
    assert (row.counts.tp, row.counts.fp, row.counts.fn) == (0, 1, 1)
    assert row.figures["buckets"] == {"invalid": 1}


def test_reviewers_are_paired_on_all_instances_of_the_run() -> None:
    pulls = [pull(f"p{at}", [golden("g", "x.py", (10, 12))]) for at in range(6)]
    hit, miss = ("x.py", (10, 10)), ("x.py", (99, 99))
    trials = [trial(f"p{at}", "one", [candidate("c", *(hit if at < 5 else miss))]) for at in range(6)]
    trials += [trial("p5", "two", [candidate("c", *hit)])]
    (found,) = swe.score(bundle(pulls, trials)).tables["pairs"]
    assert (found["both_hit"], found["x_only"], found["y_only"], found["neither"]) == (0, 5, 1, 0)
    assert found["mcnemar_p"] == exact.mcnemar_exact(5, 1)
    assert found["jaccard"] == 0.0


def test_hits_are_compared_with_an_audit_where_there_is_one() -> None:
    site = ("x.py", (10, 12))
    pulls = [
        pull("p", [golden("g", *site)], tags={"audit": "bug"}),
        pull("q", [golden("h", *site)], tags={"audit": "no_bug"}),
    ]
    trials = [trial("p", candidates=[candidate("c", *site)]), trial("q", candidates=[candidate("c", "y.py", (1, 1))])]
    rows = swe.score(bundle(pulls, trials)).tables["enrichment"]
    assert [row["group"] for row in rows] == ["acme", "any-cell"]
    assert (rows[0]["hit_bug"], rows[0]["miss_bug"], rows[0]["hit_nobug"], rows[0]["miss_nobug"]) == (1, 0, 0, 1)
    assert swe.score(bundle([pull("p")], [trial("p")])).tables["enrichment"] == ()


def test_a_wrong_audit_word_is_refused() -> None:
    held = bundle([pull("p", tags={"audit": "maybe"})], [trial("p")])
    with pytest.raises(ProfileError, match="bug or no_bug"):
        swe.score(held)


def test_a_severity_above_their_scale_ranks_with_their_highest() -> None:
    site = ("x.py", (10, 12))
    said = [
        candidate("c1", "x.py", (90, 90), severity=Severity.MEDIUM),
        candidate("c2", *site, severity=Severity.CRITICAL),
        candidate("c3", *site),
    ]
    (row,) = swe.score(bundle([pull("p", [golden("g", *site)])], [trial("p", candidates=said)])).reviewers
    assert row.figures["precision_at_1"] == 1.0


@pytest.mark.parametrize("options", [{"tolerance": -1}, {"sweep": [0, -3]}])
def test_a_negative_tolerance_is_refused(options: dict[str, object]) -> None:
    with pytest.raises(ProfileError, match="0 lines or more"):
        swe.score(bundle([], []), options=options)


def test_an_empty_bundle_gives_an_empty_record() -> None:
    record = to_record(swe.score(bundle([], [])))
    assert record["reviewers"] == []
    assert record["tables"]["pairs"] == []
    assert ReviewerId("x") not in record["reviewers"]
