"""Forms: what must hold before one is acted on."""

from __future__ import annotations

import hmac

from flask import Request
from werkzeug.exceptions import Forbidden

from bot.pages.paper import Visitor

LARGEST = 256 * 1024
"""Bytes of a form."""
FIELD = "csrf"
"""The field that every form of ours carries."""
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing."""


def checked(request: Request, visitor: Visitor) -> None:
    """Make sure that a form is one that we gave to who sends it.

    Raises:
        Forbidden: it is not.
    """
    if not visitor.login:
        raise Forbidden("Sign in first.")
    given = request.form.get(FIELD, "")
    if not visitor.csrf or not hmac.compare_digest(given.encode(), visitor.csrf.encode()):
        raise Forbidden("This form is out of date. Load its page again, and send it from there.")


def from_our_pages(request: Request, origin: str) -> None:
    """Make sure that a form was sent by a page of ours. Browsers say so themselves of every form.

    Args:
        request: The request.
        origin: Where our pages are: scheme, host and port.

    Raises:
        Forbidden: it was not.
    """
    if request.headers.get("Origin", "").lower() != origin:
        raise Forbidden("This form was not sent from a page of Assay.")
