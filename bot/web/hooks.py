"""The hook endpoint: verify the raw bytes, parse, queue durably under the GUID, answer. Nothing else happens here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import assert_never

from flask import Blueprint, Response, current_app, request
from werkzeug.exceptions import RequestEntityTooLarge

from bot import webhooks
from bot.model import Event, Ignored, Rejected

LARGEST = 25 * 1024 * 1024
"""GitHub sends no delivery that is larger."""


@dataclass(frozen=True, slots=True)
class Intake:
    """What the hook endpoint needs of the rest: who we are, and where events go."""

    secrets: Sequence[bytes]
    app_id: int
    app_slug: Callable[[], str]
    """Our slug as far as it is known; asks nobody, as strangers come this far."""
    accept: Callable[[str, Event], None]
    """Queue an event durably under the delivery's GUID; a GUID that is known joins."""


def hooks(intake: Intake) -> Blueprint:
    """The endpoint GitHub delivers to."""
    pages = Blueprint("hooks", __name__)

    @pages.post("/webhooks/github")
    def deliver() -> Response:
        try:
            body = request.get_data(cache=False)
        except RequestEntityTooLarge:
            return _answer(413, "larger than any delivery of GitHub's")
        headers = dict(request.headers.items())
        outcome = webhooks.parse(
            headers, body, secrets=intake.secrets, app_id=intake.app_id, app_slug=intake.app_slug()
        )
        return _outcome(intake, outcome, webhooks.delivery_id(headers))

    return pages


def _outcome(intake: Intake, outcome: Event | Ignored | Rejected, guid: str | None) -> Response:
    match outcome:
        case Rejected(status, reason):
            current_app.logger.warning("delivery rejected: %s", reason)
            return _answer(status, reason)
        case Ignored(reason):
            return _answer(200, f"ignored: {reason}")
        case _:
            if guid is None:
                return _answer(400, "no X-GitHub-Delivery")
            intake.accept(guid, outcome)
            return _answer(202, "queued")
    assert_never(outcome)


def _answer(status: int, text: str) -> Response:
    return Response(text + "\n", status, mimetype="text/plain")
