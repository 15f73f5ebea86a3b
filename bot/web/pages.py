"""The pages over HTTP: who may see what, and nothing else; what they say is made elsewhere."""

from __future__ import annotations

import mimetypes
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from flask import Blueprint, Response, abort, g, request
from werkzeug.exceptions import Forbidden

from bot.model import RepoName
from bot.pages import views
from bot.pages.library import Library
from bot.pages.links import ServedLinks
from bot.pages.paper import Visitor, render, static_file
from bot.web import forms
from bot.web.access import Access, Unknown
from bot.web.goldens import Workshop, showing_goldens
from bot.web.looking import looking
from bot.web.rulings import Desk, deciding
from scoring.bundle import Bundle

LINKS = ServedLinks()


class Shelf(Library, Protocol):
    """A library that knows whose runs it holds."""

    def control(self, run: str) -> RepoName | None:
        """The control repository of the run with that slug, if it may be seen."""
        ...

    def bundle(self, run: str) -> tuple[Path, Bundle] | None:
        """Where the evidence of a run lies, and what is in it."""
        ...


def pages(
    open_library: Callable[[Callable[[RepoName], bool]], Shelf], access: Access, desk: Desk, workshop: Workshop
) -> Blueprint:
    """The pages. Nobody sees any of them who has not signed in; what they may not see is not there for them.

    Args:
        open_library: Gives the runs of the control repositories of which a function says that they may be seen.
        access: Who asks, and what they may do.
        desk: Where people overrule judges.
        workshop: The suites, and what people note about them.
    """
    made = Blueprint("pages", __name__)

    def library() -> Shelf:
        """One for each request: it remembers what it has read."""
        if "library" not in g:
            g.library = open_library(access.sees())
        found: Shelf = g.library
        return found

    def visitor() -> Visitor:
        """Who asks, with their right in the control repository of the run that the page is about."""
        changing = request.method not in forms.SAFE
        name = (request.view_args or {}).get("name")
        if name is None or not request.path.startswith("/runs/"):
            return access.visitor(changing=changing)
        control = library().control(name)
        # Of a run that they may not see nobody has a right, whatever they may do elsewhere.
        return access.signed_in() if control is None else access.visitor(control, changing=changing)

    @made.before_request
    def admit() -> tuple[str, int] | None:
        request.max_content_length = forms.LARGEST
        if not access.signed_in().login:
            return _strangers(access)
        if request.method not in forms.SAFE:
            _may_change(visitor(), access)
        return None

    made.register_error_handler(views.NotThere, _not_there)
    made.register_error_handler(Unknown, not_now)
    looking(made, library, LINKS, visitor)
    deciding(made, library, LINKS, visitor, desk)
    showing_goldens(made, LINKS, visitor, workshop)
    return made


def _may_change(visitor: Visitor, access: Access) -> None:
    forms.from_our_pages(request, access.origin())
    forms.checked(request, visitor)
    if not visitor.may_write:
        raise Forbidden("Only who may write to the control repository can change something here.")


def _strangers(access: Access) -> tuple[str, int]:
    """The same for every address, so that nobody learns which runs there are."""
    if not access.may_sign_in:
        raise Forbidden("These pages are for who uses this machine. Open them there, at 127.0.0.1.")
    after = request.full_path.rstrip("?") if request.method == "GET" else "/"
    return render("sign_in.html", LINKS, area="", title="Sign in", after=after), 401


def statics() -> Blueprint:
    """The files of ours that every page needs, for everybody."""
    made = Blueprint("statics", __name__)

    @made.get("/static/<name>")
    def static(name: str) -> Response:
        try:
            content = static_file(name)
        except FileNotFoundError:
            abort(404)
        found = Response(content, mimetype=mimetypes.guess_type(name)[0] or "application/octet-stream")
        found.headers["Cache-Control"] = "public, max-age=3600"
        return found

    return made


def _not_there(error: Exception) -> tuple[str, int]:
    return render("error.html", LINKS, area="", title="Not found", message=str(error)), 404


def not_now(_error: Exception) -> tuple[str, int]:
    """The page that is shown while GitHub does not say who may see what."""
    message = "GitHub does not say at the moment who may see what. Try again in a minute."
    return render("error.html", LINKS, area="", title="Not now", message=message), 503
