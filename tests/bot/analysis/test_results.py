"""What the tables and records say, against figures that were counted by hand or by the statistics themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.analysis import comparison, figures, leaderboard, sample, strata, together
from bot.analysis.opening import Scored, open_scored
from bot.analysis.problems import Unusable
from bot.analysis.sheet import Document
from scoring.model import Counts, TrialStatus
from scoring.statistics.power import Pilot, pulls_needed
from tests.bot.analysis.evidence import SHARES, bundle, put, unrun


@pytest.fixture(name="scored", scope="module")
def _scored(tmp_path_factory: pytest.TempPathFactory) -> Scored:
    shares = {**SHARES, "absent": (5, 0)}
    made = unrun(bundle(shares), "absent", TrialStatus.RATE_LIMITED)
    return open_scored([put(made, tmp_path_factory.mktemp("results") / "b")], None)


@pytest.fixture(name="board", scope="module")
def _board(scored: Scored) -> figures.Board:
    return figures.board(scored, 0)


def rows(document: Document, sheet: str) -> list[dict[str, object]]:
    found = next(one for one in document.sheets if one.key == sheet)
    return [dict(zip([column.key for column in found.columns], row, strict=True)) for row in found.rows]


def test_who_was_rate_limited_has_no_rank_and_no_counts(board: figures.Board) -> None:
    document = leaderboard.document(board)
    last = rows(document, "leaderboard")[-1]
    assert (last["reviewer"], last["rank"], last["tp"], last["fn"]) == ("absent", None, None, None)
    assert last["coverage"] == "0 of 8 · 8 rate limited"
    assert document.record["reviewers"][-1]["coverage"]["by_status"] == {"rate_limited": 8}


def test_counts_are_those_that_were_planted(board: figures.Board) -> None:
    found = {
        row["reviewer"]: (row["tp"], row["fp"], row["fn"]) for row in rows(leaderboard.document(board), "leaderboard")
    }
    assert found["sharp"] == (12, 0, 0)
    assert found["middling"] == (6, 8, 6)
    assert found["dull"] == (3, 16, 9)


def test_a_reviewer_that_finds_all_is_ahead_of_one_that_finds_few(board: figures.Board) -> None:
    record = leaderboard.document(board).record
    assert {"ahead": "sharp", "behind": "dull"} in record["separated"]
    ranks = {row["reviewer"]: row["rank"] for row in record["reviewers"]}
    assert ranks["sharp"] < ranks["dull"]


def test_prices_are_means_over_scored_trials_only(board: figures.Board) -> None:
    price = {row["reviewer"]: row for row in leaderboard.document(board).record["reviewers"]}
    assert price["sharp"]["price"]["per_review"] == pytest.approx(0.05)
    assert price["sharp"]["price"]["per_find"] == pytest.approx(8 * 0.05 / 12)
    assert price["absent"]["price"] == {"priced": 0, "per_review": None, "per_find": None, "seconds": None}


def test_noise_on_clean_pull_requests(board: figures.Board) -> None:
    noise = {row["reviewer"]: row["noise"] for row in leaderboard.document(board).record["reviewers"]}
    assert noise["dull"]["clean_pulls"] == 2
    assert noise["dull"]["alarms_per_clean"]["value"] == 2
    assert noise["sharp"]["quiet"]["value"] == 1


def test_words_are_unknown_where_only_claims_are_held(scored: Scored) -> None:
    from dataclasses import replace

    from scoring.statistics.clusters import partition

    bare = [replace(one, trial=replace(one.trial, comments=())) for one in scored.report.trials]
    board = figures.board(replace(scored, trials=partition(bare)), 0)
    words = board.standings[0].noise.words_per_find
    assert (words.value, words.reason) == (None, "the bundle holds claims but not the comments")


@pytest.mark.parametrize("by", strata.KEYS)
def test_strata_add_up_to_the_whole(board: figures.Board, by: str) -> None:
    document = leaderboard.document(board, by)
    found = [row for row in document.record["strata"]["rows"] if row["reviewer"] == "middling"]
    assert sum(row["goldens"]["tp"] for row in found) == 6
    assert sum(row["goldens"]["fn"] for row in found) == 6
    assert document.main == "strata"


def test_sizes_are_in_their_order_not_in_the_alphabets(board: figures.Board) -> None:
    names = [row["size"] for row in rows(leaderboard.document(board, "size"), "strata")]
    assert list(dict.fromkeys(names)) == ["0-9", "10-49", "50-149"]


def test_each_pull_request_has_a_row_for_each_reviewer(board: figures.Board) -> None:
    document = leaderboard.document(board, per_pull=True)
    found = rows(document, "pulls")
    assert len(found) == 8 * 4
    assert sum(row["tp"] for row in found if row["reviewer"] == "dull" and isinstance(row["tp"], int)) == 3


def test_the_same_seed_gives_the_same_record_and_another_one_other_bounds(scored: Scored) -> None:
    def bounds(seed: int) -> object:
        return leaderboard.document(figures.board(scored, seed)).record

    assert bounds(3) == bounds(3)
    assert bounds(3) != bounds(4)


def test_a_comparison_says_its_sentence_and_its_shared_pull_requests(scored: Scored) -> None:
    made = comparison.versus(scored, "sharp", "dull", 0)
    document = comparison.document(made)
    assert document.lead[0].startswith("sharp is ahead of dull: F1 differs by +0.8")
    assert document.lead[0].endswith("on 8 shared pull requests.")
    assert document.record["counts"]["second"] == {**_zero(), "tp": 3, "fp": 16, "fn": 9}
    assert document.record["found"] == {"both": 3, "only_first": 9, "only_second": 0, "neither": 0}
    assert not made.worse
    assert comparison.versus(scored, "dull", "sharp", 0).worse


def _zero() -> dict[str, int]:
    return dict.fromkeys(Counts.__dataclass_fields__, 0)


def test_nothing_shared_is_not_comparable(scored: Scored) -> None:
    made = comparison.versus(scored, "sharp", "absent", 0)
    assert (made.comparable, made.worse) == (False, False)
    assert comparison.document(made, "category", per_pull=True).record["pulls"] == []


def test_nobody_is_compared_with_itself(scored: Scored) -> None:
    with pytest.raises(Unusable, match="--against"):
        comparison.versus(scored, "sharp", "sharp", 0)


def test_the_strata_of_a_comparison_are_of_its_two(scored: Scored) -> None:
    document = comparison.document(comparison.versus(scored, "sharp", "dull", 0), "language")
    assert {row["reviewer"] for row in document.record["strata"]["rows"]} == {"sharp", "dull"}


def test_the_overlap_is_of_those_that_ran(scored: Scored) -> None:
    made = together.together(scored, 0)
    record = together.document(made).record
    assert record["reviewers"] == ["dull", "middling", "sharp"]
    pair = next(one for one in record["overlaps"] if (one["first"], one["second"]) == ("dull", "sharp"))
    assert pair["found"] == {"both": 3, "only_first": 0, "only_second": 9, "neither": 0}
    assert pair["jaccard"] == pytest.approx(3 / 12)
    best = next(one for one in record["seconds"] if one["first"] == "dull")
    assert (best["reviewer"], best["gain"]["value"]) == ("sharp", pytest.approx(9 / 12))
    assert record["unseen"][0]["reviewers"] == "dull, middling, sharp"


def test_the_best_second_is_said_in_a_sentence(scored: Scored) -> None:
    lead = together.document(together.together(scored, 0, "dull")).lead
    assert lead == (
        "Best second to dull: sharp adds 75.0% of the goldens, and 0 false alarms, on 8 shared pull requests.",
    )
    assert together.document(together.together(scored, 0, "sharp")).lead == (
        "No second reviewer finds a golden that sharp does not.",
    )


def test_an_overlap_of_one_is_refused(tmp_path: Path) -> None:
    alone = open_scored([put(bundle({"only": (5, 1)}), tmp_path / "b")], None)
    with pytest.raises(Unusable, match="needs two reviewers"):
        together.together(alone, 0)
    with pytest.raises(Unusable, match="needs two reviewers"):
        sample.from_bundle(alone, (), (0.1,), 0.8)


def test_power_from_a_bundle_is_that_of_its_pilot(scored: Scored) -> None:
    made = sample.from_bundle(scored, ("sharp", "dull"), (0.2,), 0.8)
    known = made.plans[0].pilot
    assert (known.goldens, known.discordance) == (12, 0.75)
    assert made.plans[0].asked[0].needed == pulls_needed(0.2, known, 0.8)
    assert sample.document(made).record["pairs"][0]["asked"][0]["needed"]["pulls"] == pulls_needed(0.2, known).pulls


def test_power_of_a_supposed_pilot_follows_the_published_formula() -> None:
    needed = sample.supposed(0.3, 1, 0.0, (0.1,), 0.8).plans[0].asked[0].needed
    assert needed.goldens == needed.pulls == 234  # (1.96·√0.3 + 0.8416·√0.29)² / 0.01 = 233.1
    crowded = sample.supposed(0.3, 3, 0.5, (0.1,), 0.8).plans[0].asked[0].needed
    assert crowded.pulls == pulls_needed(0.1, Pilot(1, 3, None, 0.3, 0.5, 3.0)).pulls


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ((0.0, 1, 0.0, (0.1,), 0.8), "suppose a discordance"),
        ((0.3, 0.5, 0.0, (0.1,), 0.8), "suppose a discordance"),
        ((0.3, 1, 2.0, (0.1,), 0.8), "suppose a discordance"),
        ((0.3, 1, 0.0, (0.0,), 0.8), "difference to tell"),
        ((0.3, 1, 0.0, (0.1,), 1.0), "power lies above"),
        ((float("nan"), 1, 0.0, (0.1,), 0.8), "suppose a discordance"),
    ],
)
def test_numbers_out_of_their_range_are_refused(
    numbers: tuple[float, float, float, tuple[float], float], said: str
) -> None:
    with pytest.raises(Unusable, match=said):
        sample.supposed(*numbers)
