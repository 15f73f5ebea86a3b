"""The hook endpoint: verify the raw bytes, parse, keep durably under the GUID, answer. Nothing else happens here."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from queue import SimpleQueue
from typing import TYPE_CHECKING

from werkzeug.exceptions import ClientDisconnected, RequestEntityTooLarge
from werkzeug.wsgi import get_input_stream

from bot import logs, webhooks
from bot.model import Event, Ignored, Rejected

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

LOG = logging.getLogger("assay.web")
PATH = "/webhooks/github"
LARGEST = 25 * 1024 * 1024
"""GitHub sends no delivery that is larger."""

Answer = tuple[int, str]
"""A status, and what is said in plain text."""


@dataclass(frozen=True, slots=True)
class Intake:
    """What the hook endpoint needs of the rest: who we are, and where events go."""

    secrets: Sequence[bytes]
    app_id: int
    app_slug: Callable[[], str]
    """Our slug as far as it is known; asks nobody, as strangers come this far."""
    accept: Callable[[str, Event, Callable[[bool], None]], None]
    """Queue an event durably under the delivery's GUID, and say in time whether it was; a GUID that is known joins."""
    count: Callable[[str], None] = lambda _outcome: None
    """Count a delivery that was `queued`, `ignored`, `rejected` or `failed`."""


def deliver(intake: Intake, headers: Mapping[str, str], body: bytes, say: Callable[[Answer], None]) -> None:
    """Take one delivery; `say` is called once, here or by whoever has kept it, with the answer."""
    outcome = webhooks.parse(headers, body, secrets=intake.secrets, app_id=intake.app_id, app_slug=intake.app_slug())
    guid = webhooks.delivery_id(headers)
    match outcome:
        case Rejected(status, reason):
            intake.count("rejected")
            with logs.about(**({} if guid is None else {"delivery": guid})):
                LOG.warning("delivery rejected: %s", reason)
            say((status, reason))
        case Ignored(reason):
            intake.count("ignored")
            say((200, f"ignored: {reason}"))
        case _:
            if guid is None:
                intake.count("rejected")
                say((400, "no X-GitHub-Delivery"))
            else:
                intake.accept(guid, outcome, partial(_told, intake, guid, say))


def _told(intake: Intake, guid: str, say: Callable[[Answer], None], kept: bool) -> None:
    intake.count("queued" if kept else "failed")
    if not kept or LOG.isEnabledFor(logging.INFO):
        with logs.about(delivery=guid):
            LOG.log(logging.INFO if kept else logging.ERROR, "queued" if kept else "delivery not kept")
    # What was not kept must not be acknowledged: GitHub shows it as failed, and we look for such.
    say((202, "queued") if kept else (500, "it failed"))


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
        headers = [*headers_of(body), *self._hardening]
        if status == HTTPStatus.METHOD_NOT_ALLOWED:
            headers.append(("Allow", "POST"))
        start_response(f"{status} {HTTPStatus(status).phrase}", headers)
        return [body]

    def _deliver(self, environ: WSGIEnvironment) -> Answer:
        if environ["REQUEST_METHOD"] != "POST":
            return 405, "deliveries are posted"
        try:
            body = get_input_stream(environ, max_content_length=LARGEST).read()
        except RequestEntityTooLarge:
            self._intake.count("rejected")
            return 413, "larger than any delivery of GitHub's"
        except ClientDisconnected:
            return 400, "the body ends too soon"
        said: SimpleQueue[Answer] = SimpleQueue()
        deliver(self._intake, _headers(environ), body, said.put)
        return said.get()


def headers_of(body: bytes) -> list[tuple[str, str]]:
    """What an answer in plain text says of itself."""
    return [("Content-Type", "text/plain; charset=utf-8"), ("Content-Length", str(len(body)))]


def _headers(environ: WSGIEnvironment) -> dict[str, str]:
    found = {key[5:].replace("_", "-"): value for key, value in environ.items() if key.startswith("HTTP_")}
    return found | {"CONTENT-TYPE": environ.get("CONTENT_TYPE", "")}
