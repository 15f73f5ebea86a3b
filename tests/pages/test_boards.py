"""Leaderboards, comparisons and histories: what is said is what was counted, whatever is asked for."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bot.analysis import comparison
from bot.pages import views, views_board, views_reviewers
from bot.pages.analysis import PICTURES, Choice
from bot.pages.links import FileLinks, ServedLinks
from bot.pages.shelf import Shelf
from bot.pages.standings import SORTS, STRATA, Asked, rank
from bot.render.figures import UNDEFINED
from scoring.model import PullId
from tests.pages.world import made_bundle, read, reviewer_names, write

LINKS = ServedLinks()


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    folder = tmp_path_factory.mktemp("bundles")
    newer = made_bundle(8, judges=("model-x", "model-y"), disputed=True)
    return Shelf([write(newer, folder / "newer"), write(made_bundle(8, version="0", seed=2), folder / "older")])


def test_a_rank_is_given_in_words_and_agrees_with_the_evidence(shelf: Shelf) -> None:
    analysis = shelf.analysis("newer")
    assert analysis is not None
    for one in analysis.board.standings:
        said = rank(one)
        assert said == (
            str(one.place.rank)
            if one.place.rank == one.place.worst
            else f"{one.place.rank}{UNDEFINED}{one.place.worst}"
        )
    assert "tied" in read(views_board.leaderboard(shelf, LINKS, "newer")).text


@pytest.mark.parametrize("sort", SORTS)
def test_a_table_can_be_sorted_by_every_column_and_says_by_which(shelf: Shelf, sort: str) -> None:
    page = read(views_board.leaderboard(shelf, LINKS, "newer", Asked(sort=sort)))
    sorted_heads = [one for one in page.all("th") if "aria-sort" in one]
    assert len(sorted_heads) == 1
    analysis = shelf.analysis("newer")
    assert analysis is not None
    rows = [one for tag, one in page.tags if tag == "a" and one["href"].startswith("/reviewers/revbot")]
    assert len(rows) == 3


def test_sorting_by_alarms_puts_the_quietest_first(shelf: Shelf) -> None:
    analysis = shelf.analysis("newer")
    assert analysis is not None
    counts = {one.reviewer: one.row.counts.fp for one in analysis.board.standings}
    text = views_board.leaderboard(shelf, LINKS, "newer", Asked(sort="alarms"))
    shown = re.findall(r'<th scope="row"><a href="/reviewers/[^"]+">([^<]+)</a>', text)
    assert [counts[name] for name in shown] == sorted(counts.values())


@pytest.mark.parametrize("by", STRATA)
def test_the_figures_can_be_had_by_every_property(shelf: Shelf, by: str) -> None:
    page = read(views_board.leaderboard(shelf, LINKS, "newer", Asked(by=by)))
    assert f"By {by}" in page.text


@pytest.mark.parametrize("asked", [Asked(sort="f2"), Asked(by="size "), Asked(profile="assy"), Asked(judge="model-z")])
def test_what_is_not_there_is_refused_with_what_there_is(shelf: Shelf, asked: Asked) -> None:
    with pytest.raises(views.NotThere, match="there is:"):
        views_board.leaderboard(shelf, LINKS, "newer", asked)


def test_the_judge_can_be_switched_and_stays_switched(shelf: Shelf) -> None:
    page = read(views_board.leaderboard(shelf, LINKS, "newer", Asked(judge="model-y")))
    assert "judge model-y" in page.text
    assert "/runs/newer/compare?judge=model-y" in page.addresses
    assert "/runs/newer/forest.svg?judge=model-y" in page.addresses
    other = shelf.analysis("newer", Choice("model-y"))
    assert other is not None
    assert other.scored.report.judge == "model-y"


def test_without_disputed_goldens_fewer_goldens_count(shelf: Shelf) -> None:
    assert shelf.goldens("newer") == ("undisputed", "0")
    with_all, without = shelf.analysis("newer"), shelf.analysis("newer", Choice(goldens="undisputed"))
    assert with_all is not None
    assert without is not None
    for row, less in zip(with_all.scored.report.reviewers, without.scored.report.reviewers, strict=True):
        assert less.counts.tp + less.counts.fn <= row.counts.tp + row.counts.fn
    assert with_all.scored.report.reviewers != without.scored.report.reviewers


def test_goldens_of_another_version_are_counted_as_far_as_this_run_knows_them(tmp_path: Path) -> None:
    few, many = made_bundle(2, version="1"), made_bundle(3, version="2")
    shelf = Shelf([write(few, tmp_path / "few"), write(many, tmp_path / "many")])
    as_few = shelf.analysis("many", Choice(goldens="1"))
    assert as_few is not None
    counted = {one.trial.pull: sum(g.status.scored for g in one.trial.goldens) for one in as_few.scored.report.trials}
    assert counted[PullId("change-0")] == 3
    assert counted[PullId("change-2")] == 0


def test_a_or_b_is_the_sentence_of_the_comparison_and_its_picture(shelf: Shelf) -> None:
    analysis = shelf.analysis("newer")
    assert analysis is not None
    page = read(views_board.compare(shelf, LINKS, "newer", "revbot-ab", "revbot-ac"))
    expected = comparison.versus(analysis.scored, "revbot-ab", "revbot-ac", 20260101).result.sentence
    assert expected in page.text
    image = page.all("img")[0]
    assert image["src"] == "/runs/newer/compare.svg?first=revbot-ab&second=revbot-ac"
    assert "revbot-ab less revbot-ac" in image["alt"]


@pytest.mark.parametrize(("first", "second"), [("revbot-ab", "revbot-ab"), ("revbot-a", "revbot-ab")])
def test_who_cannot_be_compared_is_said(shelf: Shelf, first: str, second: str) -> None:
    with pytest.raises(views.NotThere, match=r"cannot be compared with itself|Did you mean"):
        views_board.compare(shelf, LINKS, "newer", first, second)


def test_one_reviewer_alone_has_pages_that_say_so(tmp_path: Path) -> None:
    shelf = Shelf([write(made_bundle(3, ("revbot-aa",)), tmp_path / "alone")])
    assert "Two reviewers with scored trials are needed" in read(views_board.compare(shelf, LINKS, "alone")).text
    assert "an overlap needs two reviewers" in read(views_board.overlap(shelf, LINKS, "alone")).text


def test_the_best_second_is_named_for_whom_we_have(shelf: Shelf) -> None:
    page = read(views_board.overlap(shelf, LINKS, "newer", first="revbot-ab"))
    assert re.search(r"Best second to revbot-ab:|No second reviewer finds a golden that revbot-ab does not", page.text)
    assert "Best second to revbot-aa" not in page.text


@pytest.mark.parametrize("kind", PICTURES)
def test_a_picture_is_a_document_of_its_own_with_text_and_words_for_who_cannot_see_it(shelf: Shelf, kind: str) -> None:
    svg = views_board.picture(shelf, "newer", kind)
    root = ElementTree.fromstring(svg)
    ids = {one.get("id") for one in root.iter() if one.get("id")}
    assert set(str(root.get("aria-labelledby")).split()) <= ids
    used = set(re.findall(r"(?:url\(#|href=\"#)([^)\"]+)", svg))
    assert used <= ids
    assert "<text" in svg
    assert "<script" not in svg
    analysis = shelf.analysis("newer")
    assert analysis is not None
    assert "revbot-aa" in analysis.picture(kind).alt


def test_many_reviewers_are_drawn_as_far_as_a_picture_can_be_read(tmp_path: Path) -> None:
    shelf = Shelf([write(made_bundle(3, reviewer_names(20)), tmp_path / "many")])
    analysis = shelf.analysis("many")
    assert analysis is not None
    assert analysis.picture("overlap").svg.count("found by both.") == 16 * 15 // 2


def test_a_published_systems_rules_are_shown_or_why_they_do_not_fit(shelf: Shelf) -> None:
    pages = {
        name: read(views_board.leaderboard(shelf, LINKS, "newer", Asked(profile=name)))
        for name in ("martian", "cpp16", "vibeops", "codevetter", "crbench", "swe")
    }
    fits = [name for name, page in pages.items() if page.all("img")]
    assert fits
    for name in pages.keys() - set(fits):
        assert "cannot be put under these rules" in pages[name].text


def test_the_history_of_a_bot_has_every_run_with_its_suite_version(shelf: Shelf) -> None:
    text = views_reviewers.reviewer(shelf, LINKS, "revbot-ab")
    page = read(text)
    assert page.text.index("newer") < page.text.index("older")
    assert "made 1" in page.text
    assert "made 0" in page.text
    assert "newer: " in page.all("img")[0]["alt"]
    with pytest.raises(views.NotThere):
        views_reviewers.reviewer(shelf, LINKS, "revbot-zz")


def test_what_is_worked_out_once_is_not_worked_out_again(shelf: Shelf) -> None:
    first, again = shelf.analysis("newer"), shelf.analysis("newer")
    assert first is not None
    assert again is first
    assert first.board is first.board
    assert first.versus("revbot-aa", "revbot-ab") is first.versus("revbot-aa", "revbot-ab")


def test_a_page_without_a_server_has_no_form(shelf: Shelf) -> None:
    for text in (
        views.run(shelf, FileLinks(1), "newer"),
        views_board.leaderboard(shelf, FileLinks(2), "newer"),
        views_board.compare(shelf, FileLinks(2), "newer"),
        views_board.overlap(shelf, FileLinks(2), "newer"),
    ):
        page = read(text)
        assert not page.all("form")
        assert not page.all("script")


def test_long_tables_of_pairs_and_cases_are_cut_and_say_where_the_rest_is(tmp_path: Path) -> None:
    shelf = Shelf([write(made_bundle(6, reviewer_names(13)), tmp_path / "many")])
    together = read(views_board.overlap(shelf, LINKS, "many"))
    assert "The first 60 of 78 rows; `assay overlap --json` gives all." in together.text
    cases = read(views_board.leaderboard(shelf, LINKS, "many", Asked(profile="codevetter")))
    assert "The first 60 of 78 rows; `assay rescore --profile codevetter --json` gives all." in cases.text
