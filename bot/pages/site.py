"""The pages as files, for a place that only serves files or for a folder on a disk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bot.pages import views, views_board, views_pull, views_reviewers
from bot.pages.analysis import AS_RUN, Choice
from bot.pages.library import Library, RunCard
from bot.pages.links import FileLinks, file_of
from bot.pages.matrix import variants
from bot.pages.paper import static_file, static_names
from bot.pages.standings import SORTS, STRATA, Asked

File = tuple[str, bytes]


def files(library: Library) -> Iterator[File]:
    """Every file of the site: (path from the top, content). A link on a page leads to one of them."""
    pages = views.part(library.runs(), 1).pages
    for number in range(1, pages + 1):
        yield _page((), _paged(number), views.runs(library, FileLinks(0), page=number))
    yield _page(("reviewers",), {}, views_reviewers.reviewers(library, FileLinks(0)))
    for card in library.runs():
        yield from _run(library, card)
    for one in views_reviewers.known(library):
        yield from _reviewer(library, one)
    for name in sorted(static_names()):
        # Scripts only speak to a server.
        if not name.endswith(".js"):
            yield f"static/{name}", static_file(name)


def _page(parts: tuple[str, ...], query: Mapping[str, str], text: str) -> File:
    return file_of(parts, query), text.encode()


def _paged(number: int) -> dict[str, str]:
    return {"page": str(number)} if number > 1 else {}


def _reviewer(library: Library, one: views_reviewers.Known) -> Iterator[File]:
    for number in range(1, views.part(one.runs, 1, views_reviewers.PAGE).pages + 1):
        query = _paged(number)
        text = views_reviewers.reviewer(library, FileLinks(1), one.slug, page=number)
        yield _page(("reviewers", one.slug), query, text)
        if views_reviewers.counted(library, one.slug, number):
            svg = views_reviewers.history_picture(library, one.slug, number)
            yield file_of(("reviewers", one.slug, "history"), query, ".svg"), svg.encode()


def _run(library: Library, card: RunCard) -> Iterator[File]:
    here = ("runs", card.slug)
    yield _page(here, {}, views.run(library, FileLinks(1), card.slug))
    analysis = library.analysis(card.slug)
    if analysis is None:
        return
    for wanted in variants(views.matrix_of(analysis)):
        yield _page(here, wanted.query, views.run(library, FileLinks(1), card.slug, wanted))
    yield from _boards(library, card)
    for pull, look in views_pull.variants(analysis):
        yield _page((*here, "pulls", pull), look.query, views_pull.pull(library, FileLinks(3), card.slug, pull, look))
    yield _page((*here, "overlap"), {}, views_board.overlap(library, FileLinks(2), card.slug))
    yield _page((*here, "compare"), {}, views_board.compare(library, FileLinks(2), card.slug))
    for first, second in views_board.pairs(analysis):
        query = {"first": first, "second": second}
        yield _page((*here, "compare"), query, views_board.compare(library, FileLinks(2), card.slug, first, second))
        yield file_of((*here, "compare"), query, ".svg"), analysis.picture_of(first, second).svg.encode()


def _boards(library: Library, card: RunCard) -> Iterator[File]:
    """The leaderboard in every variant that a page links to."""
    here = ("runs", card.slug, "leaderboard")
    for asked in asked_of(library, card):
        yield _page(here, asked.query, views_board.leaderboard(library, FileLinks(2), card.slug, asked))
        if asked.profile:
            svg = views_board.picture(library, card.slug, "profile", asked)
            yield file_of((*here[:-1], "profile"), asked.query, ".svg"), svg.encode()
    for choice in {asked.choice: None for asked in asked_of(library, card)}:
        yield from _pictures(library, card, choice)


def _pictures(library: Library, card: RunCard, choice: Choice) -> Iterator[File]:
    made = views.analysis_of(library, card.slug, choice)
    for name, drawing in made.pictures.items():
        # The page of all together is of the run's own judge only.
        if name != "overlap" or choice == AS_RUN:
            yield file_of(("runs", card.slug, name), views_board.chosen(choice), ".svg"), drawing.svg.encode()


def asked_of(library: Library, card: RunCard) -> Iterator[Asked]:
    """What can be asked of a leaderboard without a server."""
    for judge in ("", *library.judges(card.slug)[1:]):
        yield Asked(judge=judge)
        yield from (Asked(judge=judge, by=key) for key in STRATA)
        yield from (
            Asked(judge=judge, profile=name) for name in views_board.usable_profiles(library, card, Choice(judge))
        )
    yield from (Asked(goldens=version) for version in library.goldens(card.slug))
    yield from (Asked(sort=sort) for sort in SORTS if sort != "rank")
