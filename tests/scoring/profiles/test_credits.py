"""Two passes with half credits: who is settled where, what it is worth, and what several reviewers find together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.credits import (
    WEIGHTS,
    Credits,
    Dup,
    Kind,
    Note,
    Ruling,
    Tally,
    fits,
    kind_said,
    settle,
    tally,
)
from scoring.ensembles import cost_of, gap_to_real, intersection, mean_rank, size_bucket, union
from scoring.model import CandidateId, GoldenId, Severity
from scoring.prf import percent, prf
from scoring.sites import Span
from tests.scoring.profiles.worlds import table
from tests.shared import case


def note(
    name: str, line: int = 10, kind: Kind | None = Kind.BUG, level: Severity | None = Severity.HIGH, **more: str
) -> Note:
    return Note(name, Span(more.get("path", "x.py"), (line, line)), kind, level, more.get("said"))


def ruling(golden: str, credit: float = 1.0, confidence: float | None = None) -> Ruling:
    return Ruling(GoldenId(golden), credit, confidence)


def earned(result: Credits) -> dict[str, tuple[str, float]]:
    return {finding: (golden, worth) for finding, (golden, worth) in result.credit.items()}


@pytest.mark.parametrize(("line", "hit"), [(4, False), (5, True), (15, True), (16, False)])
def test_pass_one_reaches_five_lines(line: int, hit: bool) -> None:
    assert fits(note("f", line), note("g")) is hit


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("Bug", Kind.BUG),
        ("logic", Kind.BUG),
        ("best_practice", Kind.BEST_PRACTICE),
        ("best-practice", Kind.BEST_PRACTICE),
        ("SECURITY", Kind.SECURITY),
        ("vibes", None),
        (None, None),
    ],
)
def test_types_are_known_by_their_words(word: str | None, kind: Kind | None) -> None:
    assert kind_said(word) is kind


def test_an_unknown_type_goes_with_nothing_and_is_deferred() -> None:
    result = settle([note("f", kind=None)], [note("g", kind=None)], {})
    assert result.credit == {}
    assert result.unjudged == ("f",)


def test_the_nearer_finding_gets_the_annotation_and_the_other_is_a_false_positive() -> None:
    result = settle([note("far", 14), note("near", 11)], [note("g")], {"far": [ruling("g")]})
    assert earned(result) == {"near": ("g", 1.0)}
    assert result.false_positives == ("far",)
    assert result.duplicates == ("far",)


def test_a_duplicate_can_be_left_out_of_the_denominator() -> None:
    findings, annotations = [note("far", 14), note("near", 11)], [note("g")]
    kept = settle(findings, annotations, {"far": [ruling("g")]}, Dup.FP)
    left = settle(findings, annotations, {"far": [ruling("g")]}, Dup.IGNORE)
    assert (kept.findings, left.findings) == (2, 1)
    assert left.false_positives == ()
    assert tally(left, findings, annotations, dup=Dup.IGNORE).plain.precision == 1.0


def test_at_one_distance_the_same_word_and_then_the_worse_annotation_come_first() -> None:
    mild = note("mild", level=Severity.LOW, said="bug")
    worse = note("worse", level=Severity.CRITICAL, said="bug")
    assert earned(settle([note("f", said="bug")], [mild, worse], {})) == {"f": ("worse", 1.0)}
    logic = note("logic", level=Severity.CRITICAL, said="logic")
    assert earned(settle([note("f", said="bug")], [logic, mild], {})) == {"f": ("mild", 1.0)}


def test_a_finding_in_a_file_without_annotations_is_never_the_judges_business() -> None:
    result = settle([note("f", path="y.py")], [note("g")], {"f": [ruling("g")]})
    assert result.false_positives == ("f",)
    assert result.passes == {"f": 1}


def test_a_deferred_finding_gets_what_the_judge_gives() -> None:
    findings = [note("full", 90), note("half", 91), note("none", 92), note("open", 93)]
    annotations = [note("g"), note("h", 12)]
    rulings = {"full": [ruling("g")], "half": [ruling("h", 0.5)], "none": [], "open": None}
    result = settle(findings, annotations, rulings)
    assert earned(result) == {"full": ("g", 1.0), "half": ("h", 0.5)}
    assert (result.false_positives, result.unjudged, result.findings) == (("none",), ("open",), 3)
    figures = tally(result, findings, annotations).plain
    assert figures.precision == pytest.approx(1.5 / 3)
    assert figures.recall == pytest.approx(1.5 / 2)


def test_a_full_credit_is_given_before_a_half_one_whatever_the_order() -> None:
    annotations = [note("g")]
    rulings = {"half": [ruling("g", 0.5)], "full": [ruling("g")]}
    for order in (["half", "full"], ["full", "half"]):
        result = settle([note(name, 90) for name in order], annotations, rulings)
        assert earned(result) == {"full": ("g", 1.0)}


def test_a_ruling_on_an_annotation_that_is_not_there_is_worth_nothing() -> None:
    result = settle([note("f", 90)], [note("g")], {"f": [ruling("ghost")]})
    assert result.credit == {}


def test_half_a_credit_is_half_a_false_positive_and_half_a_miss() -> None:
    findings = [note("f", 90, level=Severity.LOW)]
    annotations = [note("g", level=Severity.CRITICAL)]
    sums = tally(settle(findings, annotations, {"f": [ruling("g", 0.5)]}), findings, annotations)
    assert (sums.plain.precision, sums.plain.recall, sums.plain.f1) == (0.5, 0.5, 0.5)
    assert sums.weighted.precision == pytest.approx((4 * 0.5) / (4 * 0.5 + 0.5 * 0.5))
    assert sums.weighted.recall == pytest.approx(0.5)


def test_weights_are_those_of_the_study() -> None:
    assert [WEIGHTS[level] for level in Severity] == [4.0, 2.0, 1.0, 0.5]


def test_a_weighted_figure_with_a_false_alarm_that_says_no_severity() -> None:
    """The shared case has other weights; the formula is the same."""
    shown = case("90")
    weights = {Severity(name): float(value) for name, value in shown["input"]["weights"].items()}
    annotations, findings = [], []
    for at, one in enumerate(shown["input"]["goldens"]):
        annotations.append(note(f"g{at}", 100 * at + 10, level=Severity(one["severity"])))
        if one["found"]:
            findings.append(note(f"f{at}", 100 * at + 10, level=Severity(one["severity"])))
    for at, said in enumerate(shown["input"]["false_positives_severity"]):
        findings.append(note(f"wrong{at}", path="y.py", level=None if said is None else Severity(said)))
    result = settle(findings, annotations, {})
    sums = tally(result, findings, annotations, weights, shown["input"]["weight_without_severity"])
    expected = shown["expected"]
    assert sums.weighted.precision == pytest.approx(expected["weighted_precision"])
    assert sums.weighted.recall == pytest.approx(expected["weighted_recall"])
    assert sums.weighted.f1 == pytest.approx(expected["weighted_f1"])
    assert (sums.plain.precision, sums.plain.recall) == (expected["plain"]["precision"], expected["plain"]["recall"])


def test_where_nothing_is_and_nothing_was_said_there_is_no_figure_but_silence_on_defects_is_zero() -> None:
    clean = tally(settle([], [], {}), [], [])
    assert clean.clean == 1
    assert clean.plain == (None, None, None)
    silent = tally(settle([], [note("g")], {}), [], [note("g")])
    assert silent.plain == (0.0, 0.0, 0.0)
    loud = tally(settle([note("f")], [], {}), [note("f")], [])
    assert loud.plain == (0.0, 0.0, 0.0)
    assert (clean + loud).plain == (0.0, 0.0, 0.0)
    assert Tally().plain.f1 is None


@pytest.mark.parametrize(
    ("lines", "name"),
    [
        (0, "<10"),
        (9, "<10"),
        (10, "10-50"),
        (49, "10-50"),
        (50, "50-150"),
        (149, "50-150"),
        (150, ">150"),
        (562, ">150"),
        (None, ""),
    ],
)
def test_sizes_are_half_open(lines: int | None, name: str) -> None:
    assert size_bucket(lines) == name


# --- published tables


def test_the_sizes_are_those_of_figure_three() -> None:
    for row in table("vibeops", "fig3_size_buckets_haiku.csv"):
        assert size_bucket(int(row["lo_incl"])) == row["bucket"]
        if row["hi_excl_proposed"]:
            assert size_bucket(int(row["hi_excl_proposed"]) - 1) == row["bucket"]


def test_the_drop_from_synthetic_to_real_is_as_published() -> None:
    for row in table("vibeops", "table7_synth_real.csv"):
        drop = gap_to_real(float(row["f1_synthetic"]), float(row["f1_real"]))
        assert percent(drop, 0) == float(row["drop_pct_published"])
    assert gap_to_real(0.0, 0.1) is None
    assert gap_to_real(None, 0.1) is None


def test_the_martian_rows_of_the_study_follow_from_their_counts() -> None:
    for row in table("vibeops", "table10_martian.csv"):
        found = prf(int(row["tp"]), int(row["fp"]), int(row["fn"]), zero=0.0)
        wanted = [float(row[name]) for name in ("precision_pct", "recall_pct", "f1_pct")]
        assert [percent(value) for value in found] == wanted


def test_the_go_row_follows_from_its_only_whole_solution() -> None:
    (row,) = (row for row in table("vibeops", "table8_language_haiku.csv") if row["language"] == "go")
    found = prf(16, 1, 33, zero=0.0)
    assert round(found.f1 or 0, 3) == float(row["f1"])
    assert round(found.precision or 0, 3) == float(row["precision"])


def test_the_headline_f1_follows_from_its_precision_and_recall() -> None:
    rows = {row["metric"]: row for row in table("vibeops", "table4_5_headtohead.csv")}
    for model in ("haiku_4_5", "sonnet_4_6"):
        precision, recall = (float(rows[name][model]) for name in ("precision", "recall"))
        f1 = 2 * precision * recall / (precision + recall)
        assert f1 == pytest.approx(float(rows["f1_n150"][model]), abs=1e-3)


def test_costs_are_tokens_times_prices() -> None:
    prices = {
        row["model"]: (float(row["usd_per_mtok_in"]), float(row["usd_per_mtok_out"]))
        for row in table("vibeops", "table1_prices.csv")
    }
    tokens = {row["model"]: int(row["mean_output_tokens"]) for row in table("vibeops", "table12_output.csv")}
    for model, published in (("Claude Haiku 4.5", 0.003), ("Claude Sonnet 4.6", 0.010)):
        assert round(cost_of(1550, tokens[model], *prices[model]), 3) == published


def test_equal_figures_share_their_ranks() -> None:
    assert mean_rank([{"a": 0.9, "b": 0.5}, {"a": 0.9, "b": 0.5}, {"a": 0.1, "b": 0.2}])["a"] == pytest.approx(4 / 3)
    assert mean_rank([{"a": 0.5, "b": 0.5, "c": 0.1}]) == {"a": 1.5, "b": 1.5, "c": 3.0}


def test_a_union_cannot_lose_recall_so_the_published_ensembles_are_none() -> None:
    alone, *ensembles = table("vibeops", "table9_ensembles_as_published.csv")
    assert all(float(row["recall"]) < float(alone["recall"]) for row in ensembles)


# --- ensembles

kinds = st.sampled_from([Kind.BUG, Kind.SECURITY, None])
places = st.tuples(st.integers(1, 40), kinds, st.sampled_from(["x.py", "y.py"]))


def notes(prefix: str, made: Sequence[tuple[int, Kind | None, str]]) -> list[Note]:
    return [note(f"{prefix}{at}", line, kind, path=path) for at, (line, kind, path) in enumerate(made)]


worths = st.lists(st.tuples(st.integers(0, 4), st.sampled_from([0.0, 0.5, 1.0])), max_size=2)
lists = st.lists(places, max_size=5)


@st.composite
def worlds(draw: st.DrawFn) -> tuple[list[list[Note]], list[Note], dict[str, list[Ruling] | None]]:
    annotations = notes("g", draw(st.lists(places, max_size=5)))
    reviewers = [notes(f"{name}/", draw(lists)) for name in ("a", "b", "c")]
    rulings: dict[str, list[Ruling] | None] = {}
    for finding in (one for own in reviewers for one in own):
        said = draw(st.none() | worths)
        rulings[finding.id] = None if said is None else [ruling(f"g{at}", worth) for at, worth in said]
    return reviewers, annotations, rulings


def recall(findings: Sequence[Note], annotations: Sequence[Note], rulings: Mapping[str, list[Ruling] | None]) -> float:
    return settle(findings, annotations, rulings).earned


@given(worlds(), st.sampled_from(Dup))
def test_a_union_finds_what_each_finds_with_no_more_false_positives_than_all(
    world: tuple[list[list[Note]], list[Note], dict[str, list[Ruling] | None]], dup: Dup
) -> None:
    reviewers, annotations, rulings = world
    kept = union(reviewers, annotations, rulings, dup)
    together = settle(kept, annotations, rulings, dup)
    alone = [settle(own, annotations, rulings, dup) for own in reviewers]
    assert together.earned >= max(one.earned for one in alone)
    assert len(kept) <= sum(len(own) for own in reviewers)
    assert len(together.false_positives) <= sum(len(one.false_positives) for one in alone)
    for one in alone:
        assert all(together.of_golden[golden] >= worth for golden, worth in one.of_golden.items())


@given(worlds())
def test_every_finding_has_exactly_one_end(
    world: tuple[list[list[Note]], list[Note], dict[str, list[Ruling] | None]],
) -> None:
    reviewers, annotations, rulings = world
    for dup in Dup:
        result = settle(reviewers[0], annotations, rulings, dup)
        aside = [one for one in result.duplicates if one not in result.false_positives]
        ends = [*result.credit, *result.false_positives, *result.unjudged, *aside]
        assert sorted(ends) == sorted(one.id for one in reviewers[0])
        assert len(result.of_golden) == len(result.credit)
        figures = tally(result, reviewers[0], annotations, dup=dup)
        for value in (*figures.plain, *figures.weighted):
            assert value is None or 0 <= value <= 1 + 1e-12


@given(worlds())
def test_the_union_of_one_is_that_one(
    world: tuple[list[list[Note]], list[Note], dict[str, list[Ruling] | None]],
) -> None:
    reviewers, annotations, rulings = world
    assert union(reviewers[:1], annotations, rulings) == reviewers[0]


def test_two_false_alarms_at_one_spot_are_one_alarm_of_the_union() -> None:
    kept = union([[note("a/f", 90)], [note("b/f", 92)]], [note("g")], {"a/f": [], "b/f": []})
    assert [one.id for one in kept] == ["a/f"]


def test_an_intersection_keeps_what_all_said() -> None:
    first = [note("a/1", 10), note("a/2", 50)]
    assert [one.id for one in intersection([first, [note("b/1", 12)]])] == ["a/1"]
    assert intersection([first, []]) == []


def test_ids_of_a_union_must_differ() -> None:
    with pytest.raises(ValueError, match="one id"):
        union([[note("f")], [note("f")]], [], {})


def test_ids_keep_their_types() -> None:
    result = settle([note("f")], [note("g")], {})
    assert result.credit == {CandidateId("f"): (GoldenId("g"), 1.0)}
