"""The pages, by name: each asks the library for values and renders them. Web and static site call the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from bot.analysis.problems import Unusable, one_of
from bot.pages.analysis import Analysis, Choice
from bot.pages.library import Library, RunCard
from bot.pages.links import Links
from bot.pages.matrix import EVERYTHING, Matrix, Wanted, of_report
from bot.pages.paper import NOBODY, Visitor, render
from scoring.bundle import BundleError

PAGE = 25
"""Runs on one page of a list."""
_T = TypeVar("_T")


class NotThere(LookupError):
    """There is no such page; the message is for people."""


@dataclass(frozen=True, slots=True)
class Part(Generic[_T]):
    """A page's worth of a long list."""

    items: tuple[_T, ...]
    number: int
    pages: int
    total: int


def part(items: Sequence[_T], number: int, size: int = PAGE) -> Part[_T]:
    """One page of a list.

    Raises:
        NotThere: there is no such page.
    """
    pages = max(1, -(-len(items) // size))
    if not 1 <= number <= pages:
        raise NotThere(f"There is no page {number}; there are {pages}.")
    return Part(tuple(items[(number - 1) * size : number * size]), number, pages, len(items))


def runs(library: Library, links: Links, visitor: Visitor = NOBODY, page: int = 1) -> str:
    """The list of runs, the newest first, a page at a time.

    Raises:
        NotThere: there is no such page.
    """
    return render("runs.html", links, visitor, area="runs", part=part(library.runs(), page))


def run(library: Library, links: Links, name: str, wanted: Wanted = EVERYTHING, visitor: Visitor = NOBODY) -> str:
    """One run: its state, and the matrix once there is something to count.

    A cell leads to `links.page("runs", run, "pulls", slug(pull)) + "#" + anchor(reviewer)`.

    Raises:
        NotThere: there is no such run, or nothing of what is filtered by.
    """
    card, problem, matrix = card_of(library, name), "", None
    try:
        analysis = library.analysis(card.slug)
        matrix = None if analysis is None else matrix_of(analysis, wanted)
    except (Unusable, BundleError) as error:
        problem = str(error)
    if matrix is not None:
        check(wanted, matrix)
    return render(
        "run.html", links, visitor, area="runs", tab="matrix", card=card, matrix=matrix, wanted=wanted, problem=problem
    )


def matrix_of(analysis: Analysis, wanted: Wanted = EVERYTHING) -> Matrix:
    """The matrix of a run, as far as it may be shown."""
    shown = analysis.trials
    return of_report(shown.report, shown.bundle.pulls, wanted)


def check(wanted: Wanted, matrix: Matrix) -> None:
    """Refuse a filter by what is not there.

    Raises:
        NotThere: with what there is.
    """
    for name, value in wanted.query.items():
        if value not in matrix.choices[name]:
            raise NotThere(str(one_of(name, value, list(matrix.choices[name]))))


def progress(library: Library, links: Links, name: str) -> str:
    """The part of a run's page that changes while it is under way.

    Raises:
        NotThere: there is no such run.
    """
    return render("run_progress.html", links, card=card_of(library, name))


def counting(library: Library, links: Links, name: str, visitor: Visitor = NOBODY) -> str:
    """A run whose figures are still being worked out; the page comes back by itself.

    Raises:
        NotThere: there is no such run.
    """
    return render("counting.html", links, visitor, area="runs", card=card_of(library, name))


def card_of(library: Library, name: str) -> RunCard:
    """A run's card.

    Raises:
        NotThere: there is no such run.
    """
    card = library.card(name)
    if card is None:
        raise NotThere("There is no such run, or it is not yours to see.")
    return card


def analysis_of(library: Library, name: str, choice: Choice) -> Analysis:
    """What is counted of a run.

    Raises:
        NotThere: there is no such run, judge or version of the goldens, or nothing to count yet.
    """
    card = card_of(library, name)
    try:
        made = library.analysis(card.slug, choice)
        if made is not None:
            _ = made.scored
    except Unusable as error:
        raise NotThere(f"This run cannot be counted so: {error}") from None
    if made is None:
        raise NotThere("There is nothing to count yet." if card.sums is None else "Of this run only counts are shown.")
    return made
