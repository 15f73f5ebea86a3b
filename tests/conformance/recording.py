"""Every exchange with a sandbox and everything it tells Apps, kept while the sandbox works."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from bot.sandbox.api import Api
from bot.sandbox.githttp import PATH as GIT_PATH
from bot.sandbox.registration import PATH as REGISTRATION_PATH
from bot.sandbox.state import App, Installation
from bot.sandbox.world import World
from tests.conformance.rest import Exchange

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment


@dataclass(slots=True)
class Told:
    """One event for one App."""

    event: str
    payload: dict[str, Any]


@dataclass(slots=True)
class Tape:
    """What was recorded, in the order in which it ended."""

    exchanges: list[Exchange] = field(default_factory=list)
    told: list[Told] = field(default_factory=list)

    def listen(self, _app: App, _installation: Installation, event: str, payload: dict[str, Any]) -> None:
        """A listener of a world."""
        self.told.append(Told(event, json.loads(json.dumps(payload))))


@contextmanager
def recording() -> Iterator[Tape]:
    """Record every sandbox that is started inside."""
    tape, answer, begin = Tape(), Api.__call__, World.__init__

    def call(self: Api, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        path = environ["PATH_INFO"]
        if GIT_PATH.fullmatch(path) or REGISTRATION_PATH.fullmatch(path) or path.startswith("/_sandbox/"):
            return answer(self, environ, start_response)
        made = exchange(lambda *given: answer(self, *given), environ, start_response)
        tape.exchanges.append(made)
        return [made.answer]

    def init(self: World, *args: Any, **kwargs: Any) -> None:
        begin(self, *args, **kwargs)
        self.listeners.append(tape.listen)

    with patch.object(Api, "__call__", call), patch.object(World, "__init__", init):
        yield tape


def exchange(app: WSGIApplication, environ: WSGIEnvironment, start_response: StartResponse) -> Exchange:
    """Let an application answer one request, and write both down."""
    body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    environ["wsgi.input"] = BytesIO(body)
    status, kind = 0, ""

    def start(line: str, headers: list[tuple[str, str]], *rest: Any) -> Any:
        nonlocal status, kind
        status = int(line[:3])
        kind = next((value for name, value in headers if name.lower() == "content-type"), "")
        return start_response(line, headers, *rest)

    chunks = app(environ, start)
    try:
        answer = b"".join(chunks)
    finally:
        close = getattr(chunks, "close", None)
        if close is not None:
            close()
    return Exchange(
        agent=environ.get("HTTP_USER_AGENT", ""),
        method=environ["REQUEST_METHOD"],
        path=environ["PATH_INFO"].encode("latin-1").decode("utf-8", "replace"),
        query=environ.get("QUERY_STRING", ""),
        content_type=environ.get("CONTENT_TYPE", ""),
        body=body,
        accept=environ.get("HTTP_ACCEPT", ""),
        status=status,
        answer_type=kind,
        answer=answer,
    )
