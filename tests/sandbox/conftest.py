"""A sandbox with one organisation, one App and two users, and the clients that talk to it."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import requests
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.hashes import SHA256

from bot.sandbox.server import AppKeys, Sandbox

PERMISSIONS = dict.fromkeys(
    ("administration", "checks", "contents", "issues", "pull_requests", "statuses", "workflows"), "write"
)
EVENTS = (
    "issues",
    "issue_comment",
    "pull_request",
    "pull_request_review",
    "pull_request_review_comment",
    "status",
    "push",
    "repository",
)
SECRET = "hook secret"
BASE = {"a.py": "".join(f"line {number}\n" for number in range(1, 31)).encode()}
HEAD = {"a.py": BASE["a.py"].replace(b"line 10\n", b"line ten\n"), "new.py": b"one\ntwo\nthree\n"}


def new_key() -> str:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    form = serialization.PrivateFormat.TraditionalOpenSSL
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()).decode()


@pytest.fixture(scope="session")
def key() -> str:
    return new_key()


class Clock:
    """Stands still unless told."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def forward(self, **span: float) -> None:
        self.now += timedelta(**span)


def jwt(pem: str, claims: dict[str, Any], *, alg: str = "RS256") -> str:
    parts = [json.dumps({"alg": alg, "typ": "JWT"}).encode(), json.dumps(claims).encode()]
    text = ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts)
    private = serialization.load_pem_private_key(pem.encode(), password=None)
    assert isinstance(private, rsa.RSAPrivateKey)
    signature = private.sign(text.encode(), padding.PKCS1v15(), SHA256())
    return f"{text}.{base64.urlsafe_b64encode(signature).decode().rstrip('=')}"


@dataclass
class Town:
    """One sandbox and everybody in it."""

    gh: Sandbox
    clock: Clock
    keys: AppKeys
    alice: str
    """Administrator of acme."""
    bob: str
    """Nobody in particular."""
    installation: int
    session: requests.Session = field(default_factory=requests.Session)

    def jwt(self, **changes: Any) -> str:
        seconds = int(self.clock.now.timestamp())
        return jwt(
            self.keys.private_key_pem,
            {"iat": seconds - 60, "exp": seconds + 300, "iss": self.keys.client_id, **changes},
        )

    def call(
        self, method: str, path: str, token: str | None = None, /, *, headers: dict[str, str] | None = None, **body: Any
    ) -> requests.Response:
        sent = dict(headers or {})
        if token:
            sent["Authorization"] = f"Bearer {token}"
        return self.session.request(method, self.gh.url + path, headers=sent, json=body or None)

    def ok(self, method: str, path: str, token: str | None = None, /, **body: Any) -> Any:
        answer = self.call(method, path, token, **body)
        assert answer.status_code < 300, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json() if answer.content else None

    def token(self, **narrowing: Any) -> str:
        made = self.ok("POST", f"/app/installations/{self.installation}/access_tokens", self.jwt(), **narrowing)
        return str(made["token"])

    def pull(self, name: str = "code", *, private: bool = True) -> dict[str, Any]:
        """A repository with an open pull request by alice."""
        self.gh.create_repo("acme", name, private=private, files=BASE)
        self.gh.commit(f"acme/{name}", "topic", HEAD, "Change", by="alice")
        made = self.ok("POST", f"/repos/acme/{name}/pulls", self.alice, title="T", body="B", head="topic", base="main")
        assert isinstance(made, dict)
        return made


@pytest.fixture
def town(tmp_path: Path, key: str, caplog: pytest.LogCaptureFixture) -> Iterator[Town]:
    clock = Clock()
    caplog.set_level("ERROR")
    with Sandbox(tmp_path / "data", clock=clock) as gh:
        alice, bob = gh.create_user("alice"), gh.create_user("bob")
        gh.create_org("acme", owner="alice")
        keys = gh.create_app(
            "assay", permissions=PERMISSIONS, events=EVENTS, webhook_secret=SECRET, private_key_pem=key
        )
        made = Town(gh, clock, keys, alice, bob, gh.install("assay", "acme"))
        yield made
        made.session.close()
        assert gh.deliveries.wait_idle()
        assert gh.deliveries.failures == []
    crashed = [record.getMessage() for record in caplog.get_records("call") if record.name == "werkzeug"]
    assert crashed == []


class Git:
    """A git client in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def __call__(self, *args: str, code: int = 0) -> str:
        names = {f"GIT_{who}_{what}": "x@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
        done = subprocess.run(
            ["git", *args],
            cwd=self.folder,
            capture_output=True,
            env={"PATH": os.environ["PATH"], **names, **quiet},
            check=False,
        )
        text = (done.stdout + done.stderr).decode("utf-8", "replace")
        assert done.returncode == code, text
        return text

    def commit(self, files: dict[str, bytes], message: str = "change") -> str:
        for name, data in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        self("add", "-A")
        self("commit", "-q", "-m", message)
        return self("rev-parse", "HEAD").strip()


@pytest.fixture
def git(tmp_path: Path) -> Git:
    made = Git(tmp_path / "work")
    made("init", "-q", "-b", "main")
    return made


def remote(town: Town, repo: str, token: str | None) -> str:
    user = f"x-access-token:{token}@" if token else ""
    return town.gh.url.replace("http://", f"http://{user}") + f"/{repo}.git"


@dataclass
class Receiver:
    """An App's webhook endpoint."""

    url: str
    answers: list[int] = field(default_factory=list)
    """Status codes to give, first to last; then 200."""
    got: list[tuple[dict[str, str], bytes]] = field(default_factory=list)

    def events(self) -> list[str]:
        return [f"{headers['x-github-event']}.{json.loads(body).get('action')}" for headers, body in self.got]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            made.got.append(({key.lower(): value for key, value in self.headers.items()}, body))
            self.send_response(made.answers.pop(0) if made.answers else 200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            """Be silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = False
    made = Receiver(f"http://127.0.0.1:{server.server_port}/hook")
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield made
    server.shutdown()
    thread.join()
    server.server_close()
