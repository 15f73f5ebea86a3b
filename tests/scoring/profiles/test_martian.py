"""Published evaluations re-counted from their candidates and matches, and what the profile does around them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from goldens.importers.martian import MARTIAN
from scoring.bundle import Bundle, load, parts
from scoring.model import OutcomeKind, TrialStatus
from scoring.profiles import martian
from scoring.profiles.base import ProfileResult
from scoring.profiles.records import to_record
from tests.goldens.importers.material import URL, candidates, evaluation, golden_file, put
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
    trial,
    undecided,
)

JUDGES = ("anthropic_claude-opus-4-5-20251101", "anthropic_claude-sonnet-4-5-20250929")


@pytest.mark.parametrize("judge", JUDGES)
def test_the_published_totals_are_reproduced_to_the_digit(judge: str) -> None:
    result = martian.score(MARTIAN.read(data("martian", judge)))
    found = {row.reviewer: {"tp": row.counts.tp, "fp": row.counts.fp, "fn": row.counts.fn} for row in result.reviewers}
    assert found == parsed("martian", "expected_totals.json")[judge]
    assert result.judge == judge


@pytest.mark.parametrize("judge", JUDGES)
def test_every_published_review_is_reproduced_with_its_stored_rates(judge: str) -> None:
    held = MARTIAN.read(data("martian", judge))
    published = parsed("martian", judge, "evaluations.json")
    urls = {one.id: one.url for one in held.pulls}
    for one in martian.score(held).trials:
        stored = published[urls[one.pull]][one.reviewer]
        assert (one.counts.tp, one.counts.fp, one.counts.fn) == (stored["tp"], stored["fp"], stored["fn"])
        assert one.figures["stored_precision"] == stored["precision"]
        assert one.figures["stored_recall"] == stored["recall"]


def test_stored_and_summed_precision_differ_and_both_are_given() -> None:
    rows = {row.reviewer: row for row in martian.score(MARTIAN.read(data("martian", JUDGES[0]))).reviewers}
    augment = rows["augment"]  # type: ignore[index]
    assert augment.precision.value == pytest.approx(54 / 117)
    stored = augment.figures["stored_precision_of_sums"]
    assert stored == pytest.approx(54 / augment.figures["candidates"])
    assert stored != pytest.approx(54 / 117)


def planted(order: tuple[str, ...] = ("c1", "c2", "c3")) -> Bundle:
    goldens = [golden("g1"), golden("g2")]
    candidates = [candidate(name) for name in order]
    judgements = all_pairs(goldens, candidates, {("g1", "c1"): 0.9, ("g1", "c2"): 0.6})
    return bundle([pull("p", goldens)], [trial("p", candidates=candidates)], [said("p", judgements)])


def row_of(held: Bundle, **options: str) -> tuple[int, int, int]:
    counts = martian.score(held, options=options).reviewers[0].counts
    return counts.tp, counts.fp, counts.fn


def test_planted_judgements_show_that_the_order_of_candidates_counts() -> None:
    assert row_of(planted()) == (1, 2, 1)
    assert row_of(planted(("c2", "c1", "c3"))) == (1, 1, 1)


def test_the_order_in_which_judgements_are_stored_does_not_count() -> None:
    """Only the order of goldens and candidates does: a bundle may keep judgements in any."""
    held = planted(("c2", "c1", "c3"))
    judged = held.judgements[0]
    shuffled = replace(judged.trials[0], judgements=tuple(reversed(judged.trials[0].judgements)))
    again = replace(held, judgements=(replace(judged, trials=(shuffled,)),))
    assert row_of(again) == row_of(held)


def test_an_inferred_match_keeps_its_stored_place() -> None:
    goldens, candidates = [golden("g1")], [candidate("c1"), candidate("late")]
    inferred = match("late", "g1", None, inferred=1.0, weight=0.45)
    judgements = [inferred, match("c1", "g1", 0.9)]
    held = bundle([pull("p", goldens)], [trial("p", candidates=candidates)], [said("p", judgements)])
    assert row_of(held) == (1, 0, 0)


def test_identity_is_the_text_of_goldens_and_candidates() -> None:
    goldens = [golden("g1", finding="same"), golden("g2", finding="same")]
    candidates = [candidate("c1", text="twin"), candidate("c2", text="twin")]
    judgements = all_pairs(goldens, candidates, {("g1", "c1"): 0.9, ("g2", "c1"): 0.9})
    held = bundle([pull("p", goldens)], [trial("p", candidates=candidates)], [said("p", judgements)])
    assert row_of(held) == (1, 0, 0)
    one = martian.score(held).trials[0]
    assert [outcome.kind for outcome in one.outcomes] == [OutcomeKind.TP, OutcomeKind.DUPLICATE]
    assert one.figures["total_candidates"] == 2
    assert one.figures["stored_precision"] == 0.5


def test_a_clean_pull_request_is_skipped_whatever_was_said_on_it() -> None:
    held = bundle([pull("clean")], [trial("clean", candidates=[candidate("c1")])], [said("clean")])
    result = martian.score(held)
    assert not result.trials[0].scored
    assert "skip" in result.trials[0].reason
    assert result.reviewers[0].precision.value == 0.0
    assert "Martian counts that as 0" in (result.reviewers[0].precision.reason or "")


def test_a_refusal_misses_every_golden_here_but_the_coverage_shows_it() -> None:
    held = bundle([pull("p", [golden("g1")])], [trial("p", status=TrialStatus.RATE_LIMITED)], [])
    row = martian.score(held).reviewers[0]
    assert (row.counts.tp, row.counts.fp, row.counts.fn) == (0, 0, 1)
    assert row.coverage.by_status == {"rate_limited": 1}


@pytest.mark.parametrize("status", [TrialStatus.NOT_INSTALLED, TrialStatus.NOT_FORKED, TrialStatus.CANCELLED])
def test_a_reviewer_that_was_never_asked_adds_nothing(status: TrialStatus) -> None:
    held = bundle([pull("p", [golden("g1")])], [trial("p", status=status)], [])
    result = martian.score(held)
    assert not result.trials[0].scored
    assert result.reviewers[0].counts.fn == 0


def test_a_review_that_this_judge_has_not_evaluated_adds_nothing() -> None:
    held = bundle([pull("p", [golden("g1")])], [trial("p", candidates=[candidate("c1")])], [])
    assert not martian.score(held).trials[0].scored


def test_a_skipped_evaluation_adds_nothing() -> None:
    judged = [said("p", failed="skipped: no goldens")]
    held = bundle([pull("p", [golden("g1")])], [trial("p", candidates=[candidate("c1")])], judged)
    assert martian.score(held).reviewers[0].counts.fn == 0


def test_a_failed_pair_is_no_match_and_is_counted_as_an_error() -> None:
    goldens, candidates = [golden("g1")], [candidate("c1")]
    held = bundle([pull("p", goldens)], [trial("p", candidates=candidates)], [said("p", [undecided("c1", "g1")])])
    result = martian.score(held)
    assert row_of(held) == (0, 1, 1)
    assert result.reviewers[0].figures["errors"] == 1


def imported(tmp_path: Path, files: dict[str, Any]) -> ProfileResult:
    """Score a judge's folder after it went through the parts of a bundle."""
    held = parts(MARTIAN.read(put(tmp_path, files) / "judge"))
    return martian.score(load(held.__getitem__))


def test_a_silent_review_that_was_never_evaluated_misses_nothing(tmp_path: Path) -> None:
    silent = candidates("a") | {URL + "0": {"bot": []}}
    files = {
        "golden_comments/acme.json": golden_file("g") + golden_file("h", url=URL + "0"),
        "judge/candidates.json": silent,
        "judge/evaluations.json": {URL: {"bot": evaluation([("g", "a", 0.9)], [], [])}},
    }
    row = imported(tmp_path, files).reviewers[0]
    assert (row.counts.tp, row.counts.fn, row.coverage.scored, row.coverage.trials) == (1, 0, 1, 2)


def test_a_silent_review_does_not_miss_a_golden_that_came_after_it_was_evaluated(tmp_path: Path) -> None:
    files = {
        "golden_comments/acme.json": golden_file("g", "later"),
        "judge/candidates.json": candidates(),
        "judge/evaluations.json": {URL: {"bot": evaluation([], [], ["g"])}},
    }
    counts = imported(tmp_path, files).reviewers[0].counts
    assert (counts.fn, counts.goldens_unscored) == (1, 1)


def test_groups_that_were_not_used_are_not_applied_though_a_beaten_twin_was_spared(tmp_path: Path) -> None:
    """In one review what was beaten lies in the group of what beat it; another shows that no group was used."""
    other = URL + "0"
    files = {
        "golden_comments/acme.json": golden_file("g") + golden_file("h", url=other),
        "judge/candidates.json": candidates("weak", "strong") | candidates("x", "twin", "winner", url=other),
        "judge/dedup_groups.json": {URL: {"bot": [[0, 1]]}, other: {"bot": [[0, 1], [2]]}},
        "judge/evaluations.json": {
            URL: {"bot": evaluation([("g", "strong", 0.9)], [], [], total_candidates=2)},
            other: {"bot": evaluation([("h", "winner", 0.9)], ["twin"], [], total_candidates=3)},
        },
    }
    result = imported(tmp_path, files)
    assert result.options == {"dedup": "none"}
    counts = result.reviewers[0].counts
    assert (counts.tp, counts.fp, counts.fn) == (2, 1, 0)


def test_stored_rates_and_errors_count_what_the_source_listed_twice(tmp_path: Path) -> None:
    """Without extracted candidates the claims are raw bodies, and an evaluation names each text once."""
    stored = evaluation(
        [("g", "a", 0.9)],
        ["b"],
        ["h"],
        total_candidates=5,
        errors=[{"golden": "h", "candidate": "b", "error": ""}],
        errors_count=1,
    )
    stored |= {"total_golden": 3, "recall": 1 / 3}
    files = {
        "golden_comments/acme.json": golden_file("g", "h"),
        "judge/evaluations.json": {URL: {"bot": stored}},
    }
    figures = imported(tmp_path, files).trials[0].figures
    assert (figures["stored_precision"], figures["stored_recall"], figures["errors"]) == (1 / 5, 1 / 3, 1)


def test_counts_that_were_only_published_are_summed_with_those_that_are_counted() -> None:
    goldens, candidates = [golden("g1")], [candidate("c1")]
    details = {"published": {"q|acme": {"tp": 2, "fp": 5, "fn": 1}}, "counts_only": ["q|acme"]}
    held = bundle(
        [pull("p", goldens), pull("q", [golden("g9")])],
        [trial("p", candidates=candidates), trial("q")],
        [said("p", [match("c1", "g1")])],
        details,
    )
    assert row_of(held) == (3, 5, 1)


def test_siblings_are_spared_by_default_unless_the_stored_lists_say_otherwise() -> None:
    goldens, candidates = [golden("g1")], [candidate("c1"), candidate("c2")]
    judged = [said("p", [match("c1", "g1"), no_match("c2", "g1")], groups=(("c1", "c2"),))]
    held = bundle([pull("p", goldens)], [trial("p", candidates=candidates)], judged)
    assert row_of(held) == (1, 0, 0)
    assert row_of(held, dedup="none") == (1, 1, 0)
    stored = replace(held, judgements=(replace(held.judgements[0], details={"dedup": "none"}),))
    assert row_of(stored) == (1, 1, 0)
    assert martian.score(stored).options == {"dedup": "none"}


def test_a_judge_may_be_asked_now() -> None:
    class Echo:
        name = "echo"

        def judge(self, candidates: object, goldens: object) -> list[object]:
            return [match("c1", "g1"), no_match("c1", "g2")]

    held = bundle([pull("p", [golden("g1"), golden("g2")])], [trial("p", candidates=[candidate("c1")])])
    result = martian.score(held, judge=Echo())  # type: ignore[arg-type]
    assert result.judge == "echo"
    assert (result.reviewers[0].counts.tp, result.reviewers[0].counts.fn) == (1, 1)


def test_the_leaderboard_is_in_percent_with_one_decimal() -> None:
    board = to_record(martian.score(planted()))["tables"]["leaderboard"]
    assert board == [
        {"reviewer": "acme", "tp": 1, "fp": 2, "fn": 1, "precision_pct": 33.3, "recall_pct": 50.0, "f1_pct": 40.0}
    ]
