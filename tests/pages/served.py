"""The App's pages over real HTTP, before the stand-in for GitHub: people sign in there and have rights there."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import requests
from flask import Flask
from werkzeug.serving import WSGIRequestHandler, make_server

from bot.adapters.store import SqlStore
from bot.composition import open_databases, services_of
from bot.demo.world import app_manifest
from bot.model import RepoName, RunId
from bot.ports import RunRow
from bot.sandbox.ports import free_port
from bot.sandbox.server import Sandbox
from bot.settings import load_settings
from bot.web.app import create_app
from bot.web.hooks import Intake
from bot.web.wiring import site_of
from bot.workflows.services import Services
from scoring.bundle import Bundle
from tests.bot.render_world import plan
from tests.pages.world import write

SECRET = "a webhook secret for a test"
NOW = datetime(2026, 1, 2, 10, tzinfo=UTC)
MEMBER, WRITER, OUTSIDER, ELSEWHERE = "mel-member", "wyn-writer", "otis-outsider", "elsa-elsewhere"
"""May read `acme/control`; may write to it; may do nothing; may read `acme/other` alone."""


class _Silent(WSGIRequestHandler):
    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Be silent."""


@dataclass(slots=True)
class Clock:
    """The pages' clock."""

    now: datetime | None = None
    """None: as it is."""

    def __call__(self) -> datetime:
        return self.now or datetime.now(UTC)


@dataclass(slots=True)
class Desk:
    """A served App and everybody around it."""

    url: str
    app: Flask
    github: Sandbox
    services: Services
    clock: Clock

    @property
    def store(self) -> SqlStore:
        store = self.services.store
        assert isinstance(store, SqlStore)
        return store

    def add_run(self, name: str, bundle: Bundle | None = None, control: str = "control", stage: str = "done") -> RunRow:
        """A run of a control repository, with its evidence where there is some."""
        asked = plan()
        repo = RepoName("acme", control)
        row = RunRow(RunId(name), 700 + len(name), 5, repo, 12, asked, b"s" * 32, stage, NOW, public=False)
        assert self.store.create_run(row, asked.request.reviewers)
        if bundle is not None:
            write(bundle, self.services.bundles / name)
        return row

    def browser(self) -> requests.Session:
        """Somebody who has not signed in."""
        return requests.Session()

    def sign_in(self, login: str, after: str = "/", browser: requests.Session | None = None) -> requests.Response:
        """Go the whole way; what is shown at its end."""
        person = browser or self.browser()
        begun = person.get(f"{self.url}/sign-in", params={"next": after}, allow_redirects=False, timeout=20)
        assert begun.status_code == 303
        return person.get(f"{begun.headers['Location']}&login_as={login}", timeout=20)

    def signed_in(self, login: str) -> requests.Session:
        """Somebody who has signed in."""
        person = self.browser()
        answer = self.sign_in(login, browser=person)
        assert answer.status_code == 200, answer.text
        return person


def settings_for(github: Sandbox, folder: Path, keys: Any, port: int, extra: Mapping[str, str]) -> dict[str, str]:
    given = {
        "ASSAY_GITHUB_API_URL": github.url,
        "ASSAY_APP_ID": str(keys.app_id),
        "ASSAY_CLIENT_ID": keys.client_id,
        "ASSAY_CLIENT_SECRET": keys.client_secret,
        "ASSAY_PRIVATE_KEY": keys.private_key_pem,
        "ASSAY_WEBHOOK_SECRET": SECRET,
        "ASSAY_CONTROL_REPO": "acme/control",
        "ASSAY_DATA_DIR": str(folder / "app"),
        "ASSAY_BIND": f"127.0.0.1:{port}",
        "ASSAY_PUBLIC_URL": f"http://127.0.0.1:{port}",
    }
    return {**given, **extra}


@contextmanager
def desk(folder: Path, extra: Mapping[str, str] | None = None) -> Iterator[Desk]:
    """Everything up, and taken down on the way out."""
    port = free_port()
    with ExitStack() as stack:
        github = stack.enter_context(Sandbox(folder / "github"))
        keys = _people(github, port)
        settings = load_settings(settings_for(github, folder, keys, port, extra or {}))
        databases = open_databases(settings)
        stack.callback(databases.app.dispose)
        stack.callback(databases.engine.dispose)
        services = services_of(settings, databases)
        clock = Clock()
        app = create_app(
            Intake(settings.webhook_secrets, keys.app_id, lambda: keys.slug, lambda guid, event, told: told(True)),
            ready=lambda: None,
            metrics=lambda: b"assay_runs 2\n",
            site=site_of(settings, services, clock),
            trusted_proxies=settings.trusted_proxies,
        )
        stack.enter_context(serving(app, port))
        yield Desk(f"http://127.0.0.1:{port}", app, github, services, clock)


def _people(github: Sandbox, port: int) -> Any:
    for login in (MEMBER, WRITER, OUTSIDER, ELSEWHERE):
        github.create_user(login)
    github.create_org("acme")
    github.create_repo("acme", "control", private=True, collaborators={MEMBER: "read", WRITER: "write"})
    github.create_repo("acme", "other", private=True, collaborators={ELSEWHERE: "read"})
    manifest = app_manifest()
    keys = github.create_app(
        "acme-checks",
        permissions=manifest["default_permissions"],
        events=[],
        callback_urls=[f"http://127.0.0.1:{port}/sign-in/callback"],
    )
    github.install("acme-checks", "acme")
    return keys


@contextmanager
def serving(app: Callable[..., Any], port: int) -> Iterator[None]:
    """An application on loopback."""
    server = make_server("127.0.0.1", port, app, threaded=True, request_handler=_Silent)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
