"""Registering the App in a browser: a page on loopback sends the manifest to GitHub, and GitHub sends back a code."""

from __future__ import annotations

import hmac
import html
import re
import secrets
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any
from urllib.parse import parse_qs, urlsplit

from bot.setup_manifest import Wanted, as_json, form_address, manifest

HOST = "127.0.0.1"
LIFETIME = 3600.0
"""Seconds for which GitHub takes a code; then everything has to begin anew."""

_CODE = re.compile(r"[A-Za-z0-9_-]{1,200}", re.ASCII)
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Register the App</title></head>
<body><main><h1>Register the App</h1>{body}</main></body></html>
"""
_HEADERS = {
    "Content-Type": "text/html; charset=utf-8",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
}


@dataclass(slots=True)
class Door:
    """The page, up while in its context. Its address holds a secret, so that nobody else on this machine finds it."""

    wanted: Wanted
    port: int = 0
    _state: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    _place: str = field(default_factory=lambda: secrets.token_urlsafe(16))
    _code: str | None = None
    _came: threading.Event = field(default_factory=threading.Event)
    _server: ThreadingHTTPServer = field(init=False)
    _thread: threading.Thread = field(init=False)

    def __enter__(self) -> Door:
        self._server = ThreadingHTTPServer((HOST, self.port), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), name="setup-page", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def root(self) -> str:
        """The page's server."""
        return f"http://{HOST}:{self._server.server_port}"

    @property
    def address(self) -> str:
        """What to open in a browser."""
        return f"{self.root}/{self._place}/"

    @property
    def redirect_url(self) -> str:
        """Where GitHub leads back to."""
        return f"{self.root}/{self._place}/registered"

    def wait(self, seconds: float = LIFETIME) -> str | None:
        """The code; None if none came in time."""
        give_up = time.monotonic() + seconds
        # In short waits: a long one would keep an interrupt waiting as well.
        while not self._came.wait(0.2):
            if time.monotonic() > give_up:
                return None
        return self._code

    # --- the pages ----------------------------------------------------------------------------------------------

    def answer(self, target: str, host: str) -> tuple[int, str]:
        """(status, page) for a GET."""
        parts = urlsplit(target)
        if host != urlsplit(self.root).netloc:
            return 421, _page("<p>This page is only for this machine.</p>")
        if parts.path == f"/{self._place}/":
            return 200, self._form()
        if parts.path == f"/{self._place}/registered":
            return self._registered(parse_qs(parts.query))
        return 404, _page("<p>There is nothing here. Open the address that the command printed.</p>")

    def _form(self) -> str:
        content = html.escape(as_json(manifest(self.wanted, self.redirect_url)), quote=True)
        action = html.escape(form_address(self.wanted, self._state), quote=True)
        owner = f"the organisation {html.escape(self.wanted.org)}" if self.wanted.org else "your own account"
        return _page(
            f"<p>This registers an App named <b>{html.escape(self.wanted.name)}</b> for {owner}. GitHub shows what it "
            "may do, and lets you change the name. Nothing is installed yet.</p>"
            f'<form method="post" action="{action}"><input type="hidden" name="manifest" value="{content}">'
            '<button type="submit">Go on to GitHub</button></form>'
        )

    def _registered(self, query: dict[str, list[str]]) -> tuple[int, str]:
        state, code = query.get("state", [""])[0], query.get("code", [""])[0]
        if not hmac.compare_digest(state.encode(), self._state.encode()):
            return 403, _page("<p>This answer does not belong to the page that was opened here. Nothing was done.</p>")
        if not _CODE.fullmatch(code):
            return 400, _page("<p>GitHub gave no code. Begin anew.</p>")
        if self._code is None:
            self._code = code
            self._came.set()
        return 200, _page("<p>Registered. The rest happens in the terminal; this page can be closed.</p>")


def _page(body: str) -> str:
    return _PAGE.replace("{body}", body)


def _handler(door: Door) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        server_version, sys_version, timeout = "setup", "", 10

        def do_GET(self) -> None:
            status, page = door.answer(self.path, self.headers.get("Host", ""))
            data = page.encode()
            self.send_response(status)
            for name, value in {**_HEADERS, "Content-Length": str(len(data))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            # The default would print the code.
            return

    return Handler
