"""Every table against figures counted on paper, and the reason in the place of one that cannot be made."""

from __future__ import annotations

import pytest

from bot.studies.record import Condition, Nested, Took
from bot.studies.tables import TABLES, sheets
from bot.studies.tables.common import holm_adjusted
from bot.studies.tables.judged import signal_to_noise
from scoring.model import Candidate, Estimate, PullId, ReviewerId
from scoring.stats import wilson
from tests.scoring.profiles.worlds import table as published
from tests.studies.worlds import bundle, missing, placed, pull, remarked, rows, spoken, table, world

TEN = [pull(f"p{at}") for at in range(10)]


def value(cell: object) -> float | None:
    assert isinstance(cell, Estimate)
    return cell.value


def first(hits: int, alarms: int = 0, of: int = 10, begin: int = 0) -> dict[str, tuple[int, int]]:
    """Found on so many of ten pull requests, from a number on."""
    return {f"p{at}": (int(begin <= at < begin + hits), alarms) for at in range(of)}


def _names(sites: list[dict[str, str]]) -> list[str]:
    return list(dict.fromkeys(row["instance_id"] for row in sites))


def condition(name: str, reviewer: str, prompt: str = "", repeat: int = 1, stage: str = "") -> Condition:
    return Condition(ReviewerId(name), reviewer, reviewer, prompt, repeat, stage)


def test_holm_multiplies_and_never_falls_below_the_one_before() -> None:
    assert holm_adjusted([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm_adjusted([0.9, 0.8]) == [1.0, 1.0]
    assert holm_adjusted([]) == []


def test_head_to_head_counts_goldens_that_one_alone_finds() -> None:
    made = world(TEN, {"a": first(9), "b": first(2), "c": first(2)})
    row = next(one for one in rows(table(made, "head_to_head")) if (one["first"], one["second"]) == ("a", "b"))
    assert (row["only_first"], row["only_second"]) == (7, 0)
    assert row["mcnemar_p"] == pytest.approx(2 / 2**7)
    assert row["mcnemar_p_holm"] == pytest.approx(3 * 2 / 2**7)
    same = next(one for one in rows(table(made, "head_to_head")) if (one["first"], one["second"]) == ("b", "c"))
    assert same["verdict"] == "neither"


def test_a_prompt_that_only_adds_hits_is_told_from_the_other() -> None:
    known = [condition("gpt@A", "gpt", "A"), condition("gpt@B", "gpt", "B"), condition("x", "x")]
    pulls = [pull(f"p{at}") for at in range(30)]
    made = world(pulls, {"gpt@A": first(7, of=30), "gpt@B": first(29, of=30), "x": first(0, of=30)}, known)
    (row,) = rows(table(made, "prompt_sensitivity"))
    assert (row["both"], row["only_first"], row["only_second"], row["neither"]) == (7, 0, 22, 1)
    assert row["mcnemar_p"] == pytest.approx(4.76837158203125e-07)
    assert row["jaccard"] == pytest.approx(7 / 29)
    assert "two prompts" in missing(table(world(TEN, {"a": first(1)}), "prompt_sensitivity"))


def test_found_by_all_and_by_none() -> None:
    made = world(TEN, {"a": first(6), "b": first(4, begin=3)})
    pulls, goldens = rows(table(made, "agreement"))
    assert pulls["n"] == goldens["n"] == 10
    assert (value(pulls["all_found"]), value(pulls["none_found"]), value(pulls["some_found"])) == (0.3, 0.3, 0.4)
    assert pulls["all_found"] == wilson(3, 10)


def test_a_union_never_loses_recall_and_an_intersection_never_wins_it() -> None:
    made = world(TEN, {"a": first(6, alarms=1), "b": first(4, begin=3, alarms=2)})
    either, both = rows(table(made, "ensembles"))
    assert (either["mode"], either["tp"], either["fn"], either["fp"]) == ("any", 7, 3, 20)
    assert (both["mode"], both["tp"], both["fn"], both["fp"]) == ("all", 3, 7, 10)
    assert str(either["best"]).startswith("a (")


def test_who_costs_more_and_finds_less_is_beaten() -> None:
    made = world(
        TEN, {"cheap": first(5), "dear": first(4), "best": first(8)}, costs={"cheap": 0.1, "dear": 0.3, "best": 0.5}
    )
    told = {str(row["reviewer"]): (row["frontier"], row["beaten_by"]) for row in rows(table(made, "frontier"))}
    assert told == {"cheap": ("yes", ""), "dear": ("no", "cheap"), "best": ("yes", "")}
    assert "prices" in missing(table(world(TEN, {"a": first(1)}), "frontier"))


def test_synthetic_against_real_says_what_is_missing_instead_of_a_zero() -> None:
    mixed = [pull(f"p{at}", origin="synthetic" if at < 5 else "real") for at in range(10)]
    found = {"a": {f"p{at}": (int(at in (0, 1, 2, 3, 5)), 0) for at in range(10)}}
    (row,) = rows(table(world(mixed, found), "origin"))
    assert (value(row["f1_synthetic"]), value(row["f1_real"])) == pytest.approx((8 / 9, 2 / 6))
    assert row["drop"] == pytest.approx(1 - (2 / 6) / (8 / 9))
    assert "real" in missing(table(world(TEN, {"a": first(1)}), "origin"))


def test_size_and_origin_are_crossed() -> None:
    mixed = [pull("p0", origin="synthetic", changed_lines=9), pull("p1", origin="real", changed_lines=150)]
    told = rows(table(world(mixed, {"a": {"p0": (1, 0), "p1": (0, 0)}}), "size_and_origin"))
    assert [(row["size"], row["origin"], row["pulls"]) for row in told] == [
        ("<10", "synthetic", 1),
        (">150", "real", 1),
    ]


def test_enrichment_gives_the_published_odds() -> None:
    """Four of twenty hit with a defect, one of ten without: 2.25 [.2170551, 23.3235758], Fisher .6400151573."""
    audited = [pull(f"p{at}", tags={"audit": "bug" if at < 20 else "no_bug"}) for at in range(30)]
    found = {"a": {f"p{at}": (int(at < 4 or at == 20), 0) for at in range(30)}}
    row = rows(table(world(audited, found), "enrichment"))[0]
    odds = row["odds"]
    assert isinstance(odds, Estimate)
    assert (odds.value, odds.low, odds.high) == pytest.approx((2.25, 0.2170551, 23.3235758), abs=1e-6)
    assert row["odds_raw"] == 2.25
    assert row["fisher_p"] == pytest.approx(0.6400151573)
    assert "audited" in missing(table(world(TEN, {"a": first(1)}), "enrichment"))


def test_a_zero_cell_is_corrected_and_shown_as_counted_too() -> None:
    audited = [pull(f"p{at}", tags={"audit": "bug" if at < 20 else "no_bug"}) for at in range(30)]
    row = rows(table(world(audited, {"a": {f"p{at}": (int(at < 2), 0) for at in range(30)}}), "enrichment"))[0]
    assert value(row["odds"]) == pytest.approx(2.8378378)
    assert row["odds_raw"] is None


def test_an_audit_has_the_intervals_of_its_sample() -> None:
    """24 bug, 7 related and 17 unrelated of 48 places: .5 [.364, .636]; 10 of 30 instances without: [.192, .512]."""
    kinds = ["bug"] * 24 + ["related"] * 7 + ["unrelated"] * 17
    dealt: list[list[str]] = [[] for _ in range(30)]
    for at, kind in enumerate(kinds):
        dealt[at % 20 if kind == "bug" else 20 + at % 10].append(kind)
    pulls = [
        pull(f"p{at}", tags={f"audit:g{number}": kind for number, kind in enumerate(own)})
        for at, own in enumerate(dealt)
    ]
    told = {str(row["what"]): row for row in rows(table(world(pulls, {"a": {"p0": (0, 0)}}), "audit"))}
    shares = [told["places: bug"]["share"], told["pull requests without"]["share"]]
    bounds = [(one.value, one.low, one.high) for one in shares if isinstance(one, Estimate)]
    assert bounds[0] == pytest.approx((0.5, 0.364, 0.636), abs=5e-4)
    assert bounds[1] == pytest.approx((1 / 3, 0.192, 0.512), abs=5e-4)


def test_the_sweep_finds_no_less_the_wider_it_is() -> None:
    made = world(TEN, {"a": first(3, alarms=1)}, tolerances=(3, 0, 10))
    told = [(row["tolerance"], value(row["hit_rate"])) for row in rows(table(made, "tolerance_sweep"))]
    assert told == [("0", 0.3), ("3", 0.3), ("10", 0.3)]
    (row,) = rows(table(made, "sites"))
    assert (value(row["hit_rate"]), value(row["site_recall"]), row["fp_mean"]) == (0.3, 0.3, 1)


def test_repeats_are_their_own_table_and_nobody_elses() -> None:
    known = [condition("r#1", "r", repeat=1), condition("r#2", "r", repeat=2), condition("s", "s")]
    made = world(TEN, {"r#1": first(6), "r#2": first(5, begin=1), "s": first(1)}, known)
    (row,) = rows(table(made, "run_to_run"))
    assert row["f1_each"] == "0.75, 0.67"
    assert (value(row["always"]), value(row["sometimes"])) == (0.5, 0.1)
    assert [one["reviewer"] for one in rows(table(made, "by_suite"))] == ["r#1", "s"]
    assert "repeats" in missing(table(world(TEN, {"a": first(1)}), "run_to_run"))


def test_rounds_are_scored_each() -> None:
    known = [condition("r~draft", "r", stage="draft"), condition("r", "r")]
    took = [Took(PullId("p0"), ReviewerId("r~draft"), 1, 90, 10), Took(PullId("p0"), ReviewerId("r"), 2, 190, 10)]
    told = rows(table(world(TEN, {"r~draft": first(3), "r": first(5)}, known, took=took), "rounds"))
    assert [(row["round"], row["tp"]) for row in told] == [("draft", 3), ("last", 5)]
    assert [value(row["tokens"]) for row in told] == [100, 200]


def test_mean_ranks_share_the_place_of_ties() -> None:
    parts = [Nested("small", (PullId("p0"), PullId("p1"))), Nested("all", tuple(one.id for one in TEN))]
    made = world(TEN, {"a": first(5), "b": first(3), "c": first(1)}, nested=parts)
    told = {str(row["reviewer"]): row["mean_rank"] for row in rows(table(made, "nested"))}
    assert told == {"a": (1.5 + 1) / 2, "b": (1.5 + 2) / 2, "c": 3.0}
    (row,) = rows(table(made, "rank_agreement"))
    assert row["tau_b"] == pytest.approx(2 / 6**0.5)


def test_signal_to_noise_carries_the_interval_of_usefulness() -> None:
    useful = wilson(8, 10)
    made = signal_to_noise(useful)
    assert useful.low is not None
    assert made.value == pytest.approx(4)
    assert made.low == pytest.approx(useful.low / (1 - useful.low))
    assert signal_to_noise(wilson(10, 10)).reason == "infinite: there is no noise"


def test_judges_that_agree_are_said_to() -> None:
    made = world(TEN, {"a": first(5, alarms=1), "b": first(2)}, judges=("hand", "other"))
    goldens, claims = rows(table(made, "judge_to_judge"))
    assert (value(goldens["observed"]), value(goldens["kappa"]), claims["tau_b"]) == (1.0, 1.0, 1.0)
    assert "one judge" in missing(table(world(TEN, {"a": first(1)}), "judge_to_judge"))


def test_no_table_is_absent_in_silence() -> None:
    made = sheets(world(TEN, {"a": first(5)}))
    assert [sheet.key for sheet in made] == list(TABLES)
    assert all(sheet.rows for sheet in made)
    assert all(len(missing(sheet)) > 20 for sheet in made if sheet.columns[0].key == "missing")


def test_tables_are_a_function_of_the_bundle() -> None:
    held = bundle(TEN, {"a": first(5, alarms=1), "b": first(3)})
    from bot.studies.material import material

    assert sheets(material(held)) == sheets(material(held))


def test_the_pilot_of_swe_review_bench_scores_as_published() -> None:
    """Twenty instances with 32 sites: hits 0, 3 and 3; at 0 lines 0, 2, 2; at 10 lines 1, 4, 5."""
    sites = [row for row in published("swe", "oracle_sites_n100.csv") if row["in_pilot20"] == "True"]
    pulls = [placed(name, [row for row in sites if row["instance_id"] == name]) for name in _names(sites)]
    said: dict[str, dict[str, list[Candidate]]] = {}
    for number, row in enumerate(published("swe", "pilot20_comments.csv")):
        remark = remarked(f"c{number}", row)
        said.setdefault(row["reviewer"], {}).setdefault(row["instance_id"], []).append(remark)
    made = spoken(pulls, said)
    told = {str(row["reviewer"]): row for row in rows(table(made, "sites"))}
    assert {name: value(row["hit_rate"]) for name, row in told.items()} == {
        "claude-sonnet-4-5": 0.0,
        "gpt-4o-mini": 0.15,
        "static": 0.15,
    }
    assert {name: (row["fp_mean"], row["fp_median"]) for name, row in told.items()} == {
        "claude-sonnet-4-5": (1.5, 1.0),
        "gpt-4o-mini": (2.2, 2.5),
        "static": (11.75, 15.5),
    }
    assert [told["gpt-4o-mini"][key] for key in ("p1", "p3", "p5")] == pytest.approx([0.15, 0.10, 0.08])
    swept = {
        (row["tolerance"], row["reviewer"]): value(row["hit_rate"]) for row in rows(table(made, "tolerance_sweep"))
    }
    names = ("claude-sonnet-4-5", "gpt-4o-mini", "static")
    assert [swept["0", name] for name in names] == [0.0, 0.1, 0.1]
    assert [swept["10", name] for name in names] == [0.05, 0.2, 0.25]
