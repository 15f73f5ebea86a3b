"""The pages, by name: each asks the library for values and renders them. Web and static site call the same."""

from __future__ import annotations

from collections.abc import Mapping

from bot.analysis.figures import Board
from bot.pages.library import Library, RunCard
from bot.pages.links import Links
from bot.pages.matrix import EVERYTHING, Wanted, of_report
from bot.pages.paper import NOBODY, Visitor, render
from scoring.model import PullId


class NotThere(LookupError):
    """There is no such page; the message is for people."""


def runs(library: Library, links: Links, visitor: Visitor = NOBODY) -> str:
    """The list of runs."""
    return render("runs.html", links, visitor, area="runs", cards=library.runs())


def run(library: Library, links: Links, name: str, wanted: Wanted = EVERYTHING, visitor: Visitor = NOBODY) -> str:
    """One run: its state, and the matrix once there is something to count.

    Raises:
        NotThere: there is no such run.
    """
    card = card_of(library, name)
    board = library.board(name)
    matrix = None if board is None else of_report(board.scored.report, titles(board), wanted)
    return render("run.html", links, visitor, area="runs", card=card, matrix=matrix, wanted=wanted)


def progress(library: Library, links: Links, name: str) -> str:
    """The part of a run's page that changes while it is under way.

    Raises:
        NotThere: there is no such run.
    """
    return render("run_progress.html", links, card=card_of(library, name))


def card_of(library: Library, name: str) -> RunCard:
    """A run's card.

    Raises:
        NotThere: there is no such run.
    """
    card = library.card(name)
    if card is None:
        raise NotThere("There is no such run, or it is not yours to see.")
    return card


def titles(board: Board) -> Mapping[PullId, tuple[str, str]]:
    """Pull request -> (title, language)."""
    return {pull.id: (pull.title, pull.language) for pull in board.scored.bundle.pulls}
