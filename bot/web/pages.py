"""The pages over HTTP: who may see what, and nothing else; what they say is made elsewhere."""

from __future__ import annotations

import mimetypes
from collections.abc import Callable

from flask import Blueprint, Response, abort

from bot.pages import views
from bot.pages.library import Library
from bot.pages.links import ServedLinks
from bot.pages.paper import CONTENT_SECURITY_POLICY, static_file

LINKS = ServedLinks()


def pages(library: Callable[[], Library]) -> Blueprint:
    """The pages.

    Args:
        library: What the visitor of the present request may see.
    """
    made = Blueprint("pages", __name__)
    made.after_request(_harden)
    made.register_error_handler(views.NotThere, _not_there)

    @made.get("/")
    def runs() -> str:
        return views.runs(library(), LINKS)

    @made.get("/runs/<name>")
    def run(name: str) -> str:
        return views.run(library(), LINKS, name)

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


def _harden(response: Response) -> Response:
    response.headers.setdefault("Content-Security-Policy", CONTENT_SECURITY_POLICY)
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["Cross-Origin-Opener-Policy"] = "same-origin"
    response.headers.setdefault("Cache-Control", "no-store")
    return response


def _not_there(error: Exception) -> tuple[str, int]:
    from bot.pages.paper import render

    return render("error.html", LINKS, area="", title="Not found", message=str(error)), 404
