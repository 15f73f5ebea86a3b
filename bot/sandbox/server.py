"""The sandbox as one thing to start, fill and stop."""

from __future__ import annotations

import inspect
import secrets
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, cast

from werkzeug.serving import ThreadedWSGIServer, WSGIRequestHandler

from bot.sandbox import conversation
from bot.sandbox.api import Api
from bot.sandbox.deliveries import Callback, Deliveries
from bot.sandbox.faults import Faults
from bot.sandbox.links import Links
from bot.sandbox.registration import new_key, public_half
from bot.sandbox.seeding import commit_to_branch
from bot.sandbox.state import Account, App, Installation, Repo, Role
from bot.sandbox.world import World

HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class AppKeys:
    """What an App needs to act."""

    app_id: int
    client_id: str
    private_key_pem: str
    slug: str
    client_secret: str = ""


class _Handler(WSGIRequestHandler):
    """Says nothing on the terminal."""

    protocol_version = "HTTP/1.1"

    def send_response(self, code: int, message: str | None = None) -> None:
        """Send the status line only: `Date` is the sandbox's own."""
        self.send_response_only(code, message)

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Be silent."""


class _Server(ThreadedWSGIServer):
    """Knows its open connections, so that stopping closes them and waits for their threads."""

    daemon_threads = False
    block_on_close = True

    def __init__(self, port: int, app: Any) -> None:
        self._open: set[socket.socket] = set()
        self._open_lock = threading.Lock()
        super().__init__(HOST, port, app, _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Remember the connection."""
        with self._open_lock:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Forget it."""
        with self._open_lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        """End every idle keep-alive connection."""
        with self._open_lock:
            sockets = list(self._open)
        for one in sockets:
            try:
                one.shutdown(socket.SHUT_RD)
            except OSError:
                continue


def _utc_now() -> datetime:
    return datetime.now(UTC)


class Sandbox:
    """A GitHub on loopback. Use it as a context manager, or `start` and `stop` it."""

    def __init__(self, data_dir: Path, *, port: int = 0, clock: Callable[[], datetime] = _utc_now) -> None:
        self.control_token = secrets.token_urlsafe(24)
        data_dir.mkdir(parents=True, exist_ok=True)
        self.faults = Faults()
        self.world = World(data_dir.resolve(), Links(""), clock)
        self.deliveries = Deliveries(self.world, self.faults)
        self.api = Api(self.world, self.deliveries, self.faults, self._control, self.control_token)
        self._server = _Server(port, self.api)
        self.url = f"http://{HOST}:{self._server.server_port}"
        self.world.links = Links(self.url)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), name="sandbox-http")

    # --- life -------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()

    def stop(self) -> None:
        """Stop answering and delivering, and wait for every thread."""
        self.api.stopping.set()
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
        self._server.hang_up()
        self._server.server_close()
        self.deliveries.stop()

    def __enter__(self) -> Sandbox:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    # --- filling it -------------------------------------------------------------------------------------------

    def create_org(self, login: str, *, owner: str | None = None, members: Sequence[str] = ()) -> str:
        """An organisation; `owner` becomes its administrator."""
        with self.world.lock:
            made = self.world.add_account(login, "Organization")
            made.members = {name.lower(): "member" for name in members}
            if owner is not None:
                made.members[owner.lower()] = "admin"
        return made.login

    def create_user(self, login: str, *, token: str | None = None) -> str:
        """A user; gives back a personal access token."""
        with self.world.lock:
            return self.world.issue_user_token(self.world.add_account(login, "User"), token).value

    def delete_account(self, login: str) -> None:
        """Close an account: its words stay, its authorship becomes null."""
        with self.world.lock:
            self.world.delete_account(self.world.account(login))

    def create_app(
        self,
        slug: str,
        *,
        permissions: Mapping[str, str],
        events: Sequence[str],
        webhook_url: str | None = None,
        webhook_secret: str | None = None,
        owner: str | None = None,
        private_key_pem: str | None = None,
        requestable: bool = False,
        callback_urls: Sequence[str] = (),
    ) -> AppKeys:
        """An App. `requestable`: a review can be requested from its bot; `callback_urls`: users can sign in."""
        pem = private_key_pem or new_key()
        with self.world.lock:
            account = self._account_or_user(owner or f"{slug}-owner")
            app = self.world.add_app(slug, account, permissions, events, public_half(pem))
            app.requestable = requestable
            app.webhook_url, app.webhook_secret = webhook_url, webhook_secret
            app.callback_urls = list(callback_urls)
        return AppKeys(app.id, app.client_id, pem, slug, app.client_secret)

    def set_webhook(self, app_slug: str, url: str | None, secret: str | None) -> None:
        """Where an App is told, once its address is known."""
        with self.world.lock:
            app = self._app(app_slug)
            app.webhook_url, app.webhook_secret = url, secret

    def install(self, app_slug: str, account: str, repositories: Literal["all"] | Sequence[str] = "all") -> int:
        """Install an App on an account, on all its repositories or on some by name; gives back the id."""
        with self.world.lock:
            owner = self.world.account(account)
            chosen = None if repositories == "all" else [self.world.repo(account, name) for name in repositories]
            return self.world.install(self._app(app_slug), owner, chosen, self._somebody(owner)).id

    def uninstall(self, app_slug: str, account: str) -> None:
        """Take an App off an account."""
        with self.world.lock:
            owner = self.world.account(account)
            self.world.uninstall(self._installation(app_slug, account), self._somebody(owner))

    def expire_tokens(self, app_slug: str, account: str) -> int:
        """Let every token of an App on an account be an hour old; gives how many there were."""
        with self.world.lock:
            return self.world.expire_tokens(self._installation(app_slug, account))

    def _installation(self, app_slug: str, account: str) -> Installation:
        found = self.world.installation_on(self._app(app_slug), self.world.account(account))
        if found is None:
            raise ValueError(f"{app_slug} is not installed on {account}")
        return found

    def installation_token(self, app_slug: str, account: str) -> str:
        """A token with everything the App was granted, for bots that live in this process."""
        with self.world.lock:
            installation = self._installation(app_slug, account)
            return self.world.issue_installation_token(installation, installation.app.permissions, None).value

    def create_repo(
        self,
        owner: str,
        name: str,
        *,
        private: bool = False,
        files: Mapping[str, bytes] | None = None,
        collaborators: Mapping[str, Role] | None = None,
    ) -> str:
        """A repository with one commit on `main`, or an empty one; gives back `owner/name`."""
        with self.world.lock:
            account = self.world.account(owner)
            creator = self._somebody(account)
            repo = self.world.add_repo(account, name, creator, private=private)
            for login, role in (collaborators or {}).items():
                self.world.add_collaborator(repo, login, role)
            if files:
                commit_to_branch(self.world, repo, creator, files, "Initial commit")
        return repo.full_name

    def commit(self, repo: str, branch: str, files: Mapping[str, bytes], message: str, *, by: str) -> str:
        """Commit exactly these files on a branch, as if pushed; gives back the sha."""
        with self.world.lock:
            found = self._repo(repo)
            return commit_to_branch(self.world, found, self.world.account(by), files, message, branch)

    def open_issue(self, repo: str, title: str, body: str | None, *, by: str, labels: Sequence[str] = ()) -> int:
        """An issue; gives back its number."""
        with self.world.lock:
            author = self.world.account(by)
            return conversation.open_issue(self.world, self._repo(repo), author, title, body, labels=labels).number

    def comment(self, repo: str, number: int, body: str, *, by: str) -> int:
        """A comment; gives back its id."""
        with self.world.lock:
            issue = conversation.find_issue(self._repo(repo), number)
            return conversation.comment(self.world, issue, self.world.account(by), body).id

    def subscribe(self, app_slug: str, callback: Callback) -> None:
        """Call back with `(event, payload)` for everything the App hears, in order, on a thread of its own."""
        self.deliveries.subscribe(app_slug, callback)

    # --- helpers ----------------------------------------------------------------------------------------------

    def _app(self, slug: str) -> App:
        if slug not in self.world.apps:
            raise ValueError(f"there is no App {slug!r}; there are: {', '.join(sorted(self.world.apps)) or 'none'}")
        return self.world.apps[slug]

    def _repo(self, full_name: str) -> Repo:
        owner, _, name = full_name.partition("/")
        return self.world.repo(owner, name)

    def _account_or_user(self, login: str) -> Account:
        return self.world.accounts.get(login.lower()) or self.world.add_account(login, "User")

    def _somebody(self, owner: Account) -> Account:
        """Who acts for an account: itself, or the administrator of an organisation."""
        if owner.type == "User":
            return owner
        admins = [login for login, role in owner.members.items() if role == "admin"]
        return self._account_or_user(admins[0]) if admins else owner

    _REMOTE = (
        "create_org",
        "create_user",
        "create_app",
        "delete_account",
        "set_webhook",
        "install",
        "installation_token",
        "create_repo",
        "commit",
        "open_issue",
        "comment",
    )

    def _control(self, name: str, arguments: dict[str, Any]) -> Any:
        """Call one of the methods above from another process. File contents come as text."""
        if name == "idle":
            return {"idle": self.deliveries.wait_idle(float(arguments.get("timeout", 30)))}
        if name not in self._REMOTE:
            raise ValueError(f"unknown control {name!r}; allowed: faults, log, idle, {', '.join(self._REMOTE)}")
        given = dict(arguments)
        if isinstance(given.get("files"), dict):
            given["files"] = {path: str(text).encode() for path, text in given["files"].items()}
        method = getattr(self, name)
        bound = inspect.signature(method).bind(**given)
        found = method(*bound.args, **bound.kwargs)
        return asdict(cast(Any, found)) if is_dataclass(found) else found
