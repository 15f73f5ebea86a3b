"""The hook endpoint: verify the raw bytes, parse, keep durably under the GUID, answer. Nothing else happens here."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, assert_never

from werkzeug.exceptions import ClientDisconnected, RequestEntityTooLarge
from werkzeug.wsgi import get_input_stream

from bot import logs, webhooks
from bot.model import Event, Ignored, Rejected
from bot.web.intake import NotKeptError

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

LOG = logging.getLogger("assay.web")
PATH = "/webhooks/github"
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
    count: Callable[[str], None] = lambda _outcome: None
    """Count a delivery that was `queued`, `ignored`, `rejected` or `failed`."""
    not_kept: tuple[type[Exception], ...] = (NotKeptError,)
    """What `accept` raises where it could not."""


class Door:
    """The endpoint GitHub delivers to, in front of the pages, which take longer over a request than all this."""

    def __init__(self, intake: Intake, beyond: WSGIApplication, hardening: Sequence[tuple[str, str]]) -> None:
        """A door.

        Args:
            intake: Where deliveries go.
            beyond: Whoever answers for all other paths.
            hardening: Headers of every answer.
        """
        self._intake = intake
        self._beyond = beyond
        self._hardening = list(hardening)

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer a delivery, or pass the request on."""
        if environ.get("PATH_INFO") != PATH:
            return self._beyond(environ, start_response)
        status, text = self._deliver(environ)
        body = f"{text}\n".encode()
        headers = [("Content-Type", "text/plain; charset=utf-8"), ("Content-Length", str(len(body))), *self._hardening]
        if status == HTTPStatus.METHOD_NOT_ALLOWED:
            headers.append(("Allow", "POST"))
        start_response(f"{status} {HTTPStatus(status).phrase}", headers)
        return [body]

    def _deliver(self, environ: WSGIEnvironment) -> tuple[int, str]:
        if environ["REQUEST_METHOD"] != "POST":
            return 405, "deliveries are posted"
        try:
            body = get_input_stream(environ, max_content_length=LARGEST).read()
        except RequestEntityTooLarge:
            self._intake.count("rejected")
            return 413, "larger than any delivery of GitHub's"
        except ClientDisconnected:
            return 400, "the body ends too soon"
        return self._received(_headers(environ), body)

    def _received(self, headers: Mapping[str, str], body: bytes) -> tuple[int, str]:
        intake = self._intake
        outcome = webhooks.parse(
            headers, body, secrets=intake.secrets, app_id=intake.app_id, app_slug=intake.app_slug()
        )
        guid = webhooks.delivery_id(headers)
        with logs.about(**({} if guid is None else {"delivery": guid})):
            try:
                return _outcome(intake, outcome, guid)
            except intake.not_kept:
                # What was not kept must not be acknowledged: GitHub shows it as failed, and we look for such.
                LOG.exception("delivery not kept")
                return 500, "it failed"


def _headers(environ: WSGIEnvironment) -> dict[str, str]:
    found = {key[5:].replace("_", "-"): value for key, value in environ.items() if key.startswith("HTTP_")}
    return found | {"CONTENT-TYPE": environ.get("CONTENT_TYPE", "")}


def _outcome(intake: Intake, outcome: Event | Ignored | Rejected, guid: str | None) -> tuple[int, str]:
    match outcome:
        case Rejected(status, reason):
            intake.count("rejected")
            LOG.warning("delivery rejected: %s", reason)
            return status, reason
        case Ignored(reason):
            intake.count("ignored")
            return 200, f"ignored: {reason}"
        case _:
            if guid is None:
                intake.count("rejected")
                return 400, "no X-GitHub-Delivery"
            return _queued(intake, guid, outcome)
    assert_never(outcome)


def _queued(intake: Intake, guid: str, event: Event) -> tuple[int, str]:
    kept = False
    try:
        intake.accept(guid, event)
        kept = True
    finally:
        # Whatever went wrong is not ours to name here; what was not kept must not be acknowledged.
        intake.count("queued" if kept else "failed")
    LOG.info("queued")
    return 202, "queued"
