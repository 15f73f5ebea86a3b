"""The matrix of a run: what each cell says, what a filter keeps, and that nothing hostile comes alive in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.pages import views
from bot.pages.links import ServedLinks, anchor, slug
from bot.pages.matrix import Wanted, variants
from bot.pages.shelf import Shelf
from scoring.model import TrialStatus
from tests.pages.world import HOSTILE, made_bundle, read, write

LINKS = ServedLinks()


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    return Shelf([write(made_bundle(9), tmp_path_factory.mktemp("bundles") / "made")])


def test_every_trial_has_a_cell_that_leads_to_its_reviewer_on_the_pull_request(shelf: Shelf) -> None:
    page = read(views.run(shelf, LINKS, "made"))
    addresses = page.addresses
    for trial in made_bundle(9).trials:
        assert f"/runs/made/pulls/{slug(trial.pull)}#{anchor(trial.reviewer)}" in addresses


def test_a_cell_says_why_a_trial_is_not_scored_instead_of_giving_it_nothing_found(shelf: Shelf) -> None:
    analysis = shelf.analysis("made")
    assert analysis is not None
    matrix = views.matrix_of(analysis)
    unscored = [
        spot for row in matrix.rows for spot in row.spots if spot.status not in ("reviewed_findings", "reviewed_clean")
    ]
    assert unscored
    assert all(spot.counts is None and spot.said not in ("quiet", "") for spot in unscored)


@pytest.mark.parametrize("outcome", ["found", "missed", "alarm", "quiet"])
def test_a_filter_by_outcome_keeps_the_pull_requests_that_have_it_and_no_other(shelf: Shelf, outcome: str) -> None:
    analysis = shelf.analysis("made")
    assert analysis is not None
    everything, kept = views.matrix_of(analysis), views.matrix_of(analysis, Wanted(outcome=outcome))
    expected = [row.pull for row in everything.rows if any(spot.has(outcome) for spot in row.spots)]
    assert [row.pull for row in kept.rows] == expected


def test_filters_work_together_and_without_a_script(shelf: Shelf) -> None:
    text = views.run(shelf, LINKS, "made", Wanted(reviewer="revbot-ab", language="go", outcome="found"))
    page = read(text)
    heads = [one for tag, one in page.tags if tag == "th" and one.get("scope") == "col"]
    assert len(heads) == 3
    form = next(one for one in page.all("form") if one["action"] == "/runs/made")
    assert form["method"] == "get"
    chosen = [one["value"] for one in page.all("option") if "selected" in one]
    assert chosen == ["go", "revbot-ab", "found"]


def test_a_filter_by_what_is_not_there_says_what_there_is(shelf: Shelf) -> None:
    with pytest.raises(views.NotThere, match=r"no language 'pythn'.*Did you mean python\?"):
        views.run(shelf, LINKS, "made", Wanted(language="pythn"))


def test_a_place_without_a_server_offers_one_filter_at_a_time(shelf: Shelf) -> None:
    analysis = shelf.analysis("made")
    assert analysis is not None
    offered = list(variants(views.matrix_of(analysis)))
    assert offered
    assert all(len(one.query) == 1 and not one.reviewer for one in offered)


def test_no_run_is_said_as_such_and_no_error() -> None:
    page = read(views.runs(Shelf([]), LINKS))
    assert "No run yet." in page.text


def test_names_and_titles_that_are_markup_stay_text(tmp_path: Path) -> None:
    hostile = made_bundle(2, (f"bot-{HOSTILE}", "javascript:alert(1)"), title=HOSTILE)
    shelf = Shelf([write(hostile, tmp_path / "made")])
    text = views.run(shelf, LINKS, "made")
    page = read(text)
    assert "<script>alert" in page.text
    assert not [one for one in page.all("script") if not one.get("src", "").startswith("/static/")]
    assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in text
    assert not [address for address in page.addresses if not address.startswith(("/", "#"))]


def test_the_list_of_runs_is_paged_and_a_page_that_is_none_is_refused(tmp_path: Path) -> None:
    bundle = made_bundle(1, ("revbot-aa",))
    paths = [write(bundle, tmp_path / f"run-{at:02}") for at in range(views.PAGE + 2)]
    shelf = Shelf(paths)
    first, second = read(views.runs(shelf, LINKS)), read(views.runs(shelf, LINKS, page=2))
    assert sum(one.get("class") == "card" for one in first.all("li")) == views.PAGE
    assert sum(one.get("class") == "card" for one in second.all("li")) == 2
    assert "/?page=2" in first.addresses
    with pytest.raises(views.NotThere, match="There is no page 3; there are 2"):
        views.runs(shelf, LINKS, page=3)


def test_open_trials_are_open_and_no_status(shelf: Shelf) -> None:
    card = shelf.card("made")
    assert card is not None
    assert set(card.trials_by_status) <= {one.value for one in TrialStatus}
    assert card.open_trials == 0
