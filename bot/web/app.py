"""The web process: the hook endpoint, what an operator's monitor asks for, and the pages where they are set up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from flask import Blueprint, Flask, Response, request
from werkzeug.exceptions import HTTPException, InternalServerError
from werkzeug.middleware.proxy_fix import ProxyFix

from bot.pages.links import ServedLinks
from bot.pages.paper import CONTENT_SECURITY_POLICY, render
from bot.web.access import LIFETIME, from_this_machine
from bot.web.hooks import LARGEST, Door, Intake
from bot.web.metrics import CONTENT_TYPE
from bot.web.pages import statics

MACHINES = ("/webhooks/", "/healthz", "/readyz", "/metrics")
"""Where only machines ask: they are answered in plain text."""
_NO_PAGES = (
    "There are no pages here: signing in is not set up. It takes ASSAY_CLIENT_ID, ASSAY_CLIENT_SECRET and "
    "ASSAY_PUBLIC_URL."
)


@dataclass(frozen=True, slots=True)
class Site:
    """The pages."""

    parts: tuple[Blueprint, ...]
    key: bytes
    """Signs the sessions' cookies."""
    secure: bool
    """Whether people reach us by https alone."""


def create_app(
    intake: Intake,
    *,
    ready: Callable[[], None],
    metrics: Callable[[], bytes],
    site: Site | None = None,
    trusted_proxies: int = 0,
) -> Flask:
    """The Flask application.

    Args:
        intake: where deliveries go.
        ready: raises if the process could not take work now.
        metrics: everything in Prometheus's text format.
        site: the pages; None: there are none.
        trusted_proxies: how many proxies before us are believed about who asks.
    """
    app = Flask("bot.web", static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = LARGEST
    app.register_blueprint(statics())
    _monitored(app, ready, metrics)
    if site is not None:
        _sessions(app, site)
        for part in site.parts:
            app.register_blueprint(part)
    app.after_request(_harden)
    app.register_error_handler(HTTPException, lambda error: _refusal(error, site is not None))
    if trusted_proxies:
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=trusted_proxies, x_proto=0)  # type: ignore[method-assign]
    app.wsgi_app = Door(intake, app.wsgi_app, HARDENING)  # type: ignore[method-assign]
    return app


def _monitored(app: Flask, ready: Callable[[], None], metrics: Callable[[], bytes]) -> None:
    @app.get("/healthz")
    def health() -> Response:
        return Response("ok\n", mimetype="text/plain")

    @app.get("/readyz")
    def readiness() -> Response:
        try:
            ready()
        except (OSError, RuntimeError) as error:
            return Response(f"not ready: {type(error).__name__}\n", 503, mimetype="text/plain")
        return Response("ready\n", mimetype="text/plain")

    @app.get("/metrics")
    def exposition() -> Response:
        if not from_this_machine():
            return Response("only from this machine\n", 403, mimetype="text/plain")
        return Response(metrics(), content_type=CONTENT_TYPE)


def _sessions(app: Flask, site: Site) -> None:
    app.config.update(
        SECRET_KEY=site.key,
        # A browser takes a cookie of this name only from this very host, by https, for all paths.
        SESSION_COOKIE_NAME="__Host-assay" if site.secure else "assay",
        SESSION_COOKIE_SECURE=site.secure,
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_COOKIE_PATH="/",
        SESSION_REFRESH_EACH_REQUEST=False,
        PERMANENT_SESSION_LIFETIME=LIFETIME,
    )


HARDENING = (
    ("X-Content-Type-Options", "nosniff"),
    # With `no-referrer` a browser would hide from us too that a form came from our own page.
    ("Referrer-Policy", "same-origin"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Content-Security-Policy", CONTENT_SECURITY_POLICY),
    ("Cache-Control", "no-store"),
)
"""Of every answer."""
_UNLESS_GIVEN = frozenset({"Content-Security-Policy", "Cache-Control"})


def _harden(response: Response) -> Response:
    for name, value in HARDENING:
        if not (name in _UNLESS_GIVEN and name in response.headers):
            response.headers[name] = value
    return response


_SAID = {
    400: ("Not understood", "The request is not one that a page of Assay makes."),
    403: ("Refused", ""),
    404: ("Not found", "There is no such page."),
    405: ("Not so", "This address does not do that."),
    413: ("Too large", "The form is larger than any that is taken here."),
    500: ("It failed", "Something failed here. It stands in the log; trying again may help."),
}


def _refusal(error: HTTPException, has_pages: bool) -> Response:
    """An answer to what could not be answered: for people as a page, for machines as a line."""
    code = error.code or InternalServerError.code
    if isinstance(error, InternalServerError) or code not in _SAID:
        code = 500 if code >= 500 else 400
    title, message = _SAID[code]
    headers = [(name, value) for name, value in error.get_headers() if name.lower() == "allow"]
    if request.path.startswith(MACHINES):
        return Response(f"{title.lower()}\n", error.code, headers, mimetype="text/plain")
    if not has_pages and code == 404:
        message = _NO_PAGES
    text = message or str(error.description)
    page = render("error.html", ServedLinks(), area="", title=title, message=text)
    return Response(page, error.code, headers, mimetype="text/html")
