"""The pages one looks at, over HTTP: runs, leaderboards, comparisons, pictures, histories."""

from __future__ import annotations

from collections.abc import Callable

from flask import Blueprint, Response, abort, request

from bot.pages import views, views_board, views_pull, views_reviewers
from bot.pages.analysis import Choice
from bot.pages.library import Library
from bot.pages.links import ServedLinks
from bot.pages.matrix import Wanted
from bot.pages.paper import NOBODY, PICTURE_POLICY, Visitor
from bot.pages.standings import Asked
from bot.pages.views_pull import Look
from bot.web.counting import Counting
from bot.web.streams import State, stream

COUNTING = Counting()
LONGEST = 200
"""Characters of one value in an address; more is no name of anything."""


def looking(
    made: Blueprint,
    library: Callable[[], Library],
    links: ServedLinks,
    visitor: Callable[[], Visitor] = lambda: NOBODY,
) -> None:
    """Add the pages to a blueprint.

    Args:
        made: The blueprint.
        library: What the visitor of the present request may see.
        links: Where pages are.
        visitor: Who asks.
    """
    _runs(made, library, links, visitor)
    _boards(made, library, links, visitor)
    _pictures(made, library)

    @made.get("/reviewers")
    def reviewers() -> str:
        return views_reviewers.reviewers(library(), links, visitor())

    @made.get("/reviewers/<name>")
    def reviewer(name: str) -> str:
        seen, page = library(), _page()
        if not COUNTING.ready(views_reviewers.analyses(seen, name, page)):
            return views_reviewers.counting(links, visitor())
        return views_reviewers.reviewer(seen, links, name, visitor(), page)


def _runs(made: Blueprint, library: Callable[[], Library], links: ServedLinks, visitor: Callable[[], Visitor]) -> None:
    @made.get("/")
    def runs() -> str:
        return views.runs(library(), links, visitor(), _page())

    @made.get("/runs/<name>")
    def run(name: str) -> str:
        wanted = Wanted(_arg("status"), _arg("language"), _arg("reviewer"), _arg("outcome"))
        return views.run(library(), links, name, wanted, visitor())

    @made.get("/runs/<name>/pulls/<pull>")
    def pull(name: str, pull: str) -> str:
        look = Look(*(_arg(one) for one in ("view", "reviewer", "judge", "goldens", "lines")))
        return views_pull.pull(library(), links, name, pull, look, visitor())

    @made.get("/runs/<name>/progress")
    def progress(name: str) -> Response:
        seen = library()
        answer = Response(views.progress(seen, links, name), mimetype="text/html")
        if views.card_of(seen, name).over:
            # The page shows what there is only once there is nothing more to wait for.
            answer.headers["HX-Refresh"] = "true"
        return answer

    @made.get("/runs/<name>/events")
    def events(name: str) -> Response:
        seen = library()
        views.card_of(seen, name)
        return stream(lambda: _look(seen, links, name))


def _look(seen: Library, links: ServedLinks, name: str) -> State:
    """The state of a run. Who may no longer see it is sent to the page once more, and told so there."""
    try:
        return State(views.progress(seen, links, name), views.card_of(seen, name).over)
    except views.NotThere:
        return State("", over=True)


def _boards(
    made: Blueprint, library: Callable[[], Library], links: ServedLinks, visitor: Callable[[], Visitor]
) -> None:
    def counted(name: str, choice: Choice, page: Callable[[Library], str]) -> str:
        """The page, or one that asks for patience and comes back by itself."""
        seen = library()
        analysis = views.analysis_of(seen, name, choice)
        return page(seen) if COUNTING.ready([analysis]) else views.counting(seen, links, name, visitor())

    @made.get("/runs/<name>/leaderboard")
    def leaderboard(name: str) -> str:
        asked = _asked()
        return counted(name, asked.choice, lambda seen: views_board.leaderboard(seen, links, name, asked, visitor()))

    @made.get("/runs/<name>/compare")
    def compare(name: str) -> str:
        first, second, choice = _arg("first"), _arg("second"), _choice()
        return counted(
            name, choice, lambda seen: views_board.compare(seen, links, name, first, second, choice, visitor())
        )

    @made.get("/runs/<name>/overlap")
    def overlap(name: str) -> str:
        first, choice = _arg("first"), _choice()
        return counted(name, choice, lambda seen: views_board.overlap(seen, links, name, choice, first, visitor()))


def _pictures(made: Blueprint, library: Callable[[], Library]) -> None:
    @made.get("/runs/<name>/<kind>.svg")
    def picture(name: str, kind: str) -> Response:
        if not COUNTING.ready([views.analysis_of(library(), name, _choice())]):
            abort(503)
        return _svg(views_board.picture(library(), name, kind, _asked(), _arg("first"), _arg("second")))

    @made.get("/reviewers/<name>/history.svg")
    def history(name: str) -> Response:
        return _svg(views_reviewers.history_picture(library(), name, _page()))


def _svg(text: str) -> Response:
    made = Response(text, mimetype="image/svg+xml")
    made.headers["Content-Security-Policy"] = PICTURE_POLICY
    return made


def _asked() -> Asked:
    return Asked(*(_arg(name) for name in ("judge", "goldens", "profile", "by", "sort", "named")))


def _choice() -> Choice:
    return Choice(_arg("judge"), _arg("goldens"))


def _arg(name: str) -> str:
    value = request.args.get(name, "")
    if len(value) > LONGEST:
        raise views.NotThere(f"{name}: nothing here has a name of more than {LONGEST} characters.")
    return value


def _page() -> int:
    value = request.args.get("page", "1")
    if not value.isascii() or not value.isdigit() or len(value) > 6:
        raise views.NotThere(f"page: a number is wanted, not {value[:20]!r}.")
    return int(value)
