"""A stand-in with an organisation, its owner, and the App as `app.yml` has it."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from bot.adapters.github_permissions import needed
from bot.sandbox.registration import new_key
from bot.sandbox.server import AppKeys, Sandbox
from bot.webhooks import EVENTS

ORG = "acme"
SLUG = "grey-heron"


@dataclass(frozen=True, slots=True)
class Hub:
    """What stands there."""

    gh: Sandbox
    keys: AppKeys
    owner: str
    """The token of the organisation's owner, alice."""

    def settings(self, folder: Path, **more: str) -> dict[str, str]:
        """What an operator sets to reach it."""
        return {
            "ASSAY_GITHUB_API_URL": self.gh.url,
            "ASSAY_APP_ID": str(self.keys.app_id),
            "ASSAY_CLIENT_ID": self.keys.client_id,
            "ASSAY_PRIVATE_KEY": self.keys.private_key_pem,
            "ASSAY_WEBHOOK_SECRET": "s",
            "ASSAY_AUTHOR_TOKEN": self.owner,
            "ASSAY_DATA_DIR": str(folder / "data"),
            **more,
        }


class _Taker(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        return


@cache
def key() -> str:
    """One key for all tests: each takes a while to find."""
    return new_key()


@contextmanager
def taker() -> Iterator[str]:
    """An address where deliveries arrive."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Taker)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/webhooks/github"
    server.shutdown()
    thread.join()
    server.server_close()


NOWHERE = "http://127.0.0.1:9/webhooks/github"
"""An address where nobody listens."""


@contextmanager
def hub(
    folder: Path,
    *,
    permissions: Mapping[str, str] | None = None,
    events: Sequence[str] = EVENTS,
    webhook_url: str | None = NOWHERE,
) -> Iterator[Hub]:
    with Sandbox(folder) as gh:
        owner = gh.create_user("alice")
        gh.create_org(ORG, owner="alice")
        held = needed() if permissions is None else permissions
        keys = gh.create_app(
            SLUG, permissions=held, events=events, webhook_url=webhook_url, webhook_secret="s", private_key_pem=key()
        )
        gh.install(SLUG, ORG)
        assert gh.deliveries.wait_idle()
        yield Hub(gh, keys, owner)
