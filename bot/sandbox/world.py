"""The state of the sandbox and the rules of accounts, Apps and repositories. Other rules are in their own modules."""

from __future__ import annotations

import re
import secrets
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from bot.sandbox import gitstore, shapes_account
from bot.sandbox.errors import ApiError, bad_credentials, invalid, not_found
from bot.sandbox.ids import SHORT, IdMint, node_id
from bot.sandbox.links import Links
from bot.sandbox.state import Account, App, Installation, Repo, Role, Token

Json = dict[str, Any]
Listener = Callable[[App, Installation, str, Json], None]
_NAME = re.compile(r"[A-Za-z0-9._-]{1,100}")
ALWAYS = frozenset({"installation", "installation_repositories"})
WITH_CHECKS = frozenset({"check_run", "check_suite"})


class World:
    """Everything that exists. Callers hold `lock` while they read or change it."""

    def __init__(self, data_dir: Path, links: Links, clock: Callable[[], datetime]) -> None:
        self.data_dir = data_dir
        self.links = links
        self.clock = clock
        self.lock = threading.RLock()
        self.ids = IdMint()
        self.accounts: dict[str, Account] = {}
        self.apps: dict[str, App] = {}
        self.installations: dict[int, Installation] = {}
        self.tokens: dict[str, Token] = {}
        self.repos: dict[str, Repo] = {}
        self.listeners: list[Listener] = []
        self.secret_pattern: re.Pattern[bytes] | None = None
        """What push protection refuses in public repositories; None: it looks for nothing."""

    def now(self) -> datetime:
        """The sandbox's clock."""
        return self.clock()

    # --- accounts ---------------------------------------------------------------------------------------------

    def add_account(self, login: str, kind: Literal["User", "Organization", "Bot"]) -> Account:
        """Create an account; logins are unique without case."""
        if login.lower() in self.accounts:
            raise ValueError(f"the account {login!r} exists")
        made = Account(self.ids.of(SHORT, "account", login), login, kind, self.now())
        self.accounts[login.lower()] = made
        return made

    def account(self, login: str) -> Account:
        """Find an account.

        Raises:
            ApiError: 404.
        """
        found = self.accounts.get(login.lower())
        if found is None:
            raise not_found()
        return found

    def delete_account(self, account: Account) -> None:
        """Close an account. What it wrote stays, without an author."""
        account.deleted = True
        del self.accounts[account.login.lower()]
        self.tokens = {value: token for value, token in self.tokens.items() if token.account is not account}

    def issue_user_token(self, account: Account, value: str | None = None) -> Token:
        """A personal access token."""
        token = Token(value or "ghp_" + secrets.token_hex(18), account)
        self.tokens[token.value] = token
        return token

    # --- Apps -------------------------------------------------------------------------------------------------

    def add_app(
        self, slug: str, owner: Account, permissions: Mapping[str, str], events: Iterable[str], public_key_pem: bytes
    ) -> App:
        """Register an App and the account of its bot."""
        number = self.ids.of(22, "app", slug)
        client = f"Iv23li{self.ids.of(60, 'client', slug):014x}"
        granted = {"metadata": "read", **permissions}
        hook = self.ids.of(SHORT, "hook", slug)
        made = App(number, client, slug, owner, granted, list(events), public_key_pem, self.now(), hook)
        made.bot = self.add_account(f"{slug}[bot]", "Bot")
        made.bot.app = made
        self.apps[slug] = made
        return made

    def app_by_issuer(self, issuer: str) -> App | None:
        """The App whose id or client id this is."""
        return next((app for app in self.apps.values() if issuer in {str(app.id), app.client_id}), None)

    def install(self, app: App, account: Account, repos: Sequence[Repo] | None, sender: Account) -> Installation:
        """Install an App on an account; None: on all its repositories, also later ones."""
        number = self.ids.of(SHORT, "installation", app.slug, account.login)
        selection: Literal["all", "selected"] = "all" if repos is None else "selected"
        made = Installation(number, app, account, selection, {repo.id for repo in repos or ()}, self.now())
        self.installations[number] = made
        seen = [short_repo(repo) for repo in self.repos_of(made)]
        self._tell_app(made, "installation", {"action": "created", "repositories": seen, "requester": None}, sender)
        return made

    def uninstall(self, installation: Installation, sender: Account) -> None:
        """Take an App off an account: its tokens there end with it."""
        seen = [short_repo(repo) for repo in self.repos_of(installation)]
        del self.installations[installation.id]
        self.expire_tokens(installation)
        self._tell_app(installation, "installation", {"action": "deleted", "repositories": seen}, sender)

    def expire_tokens(self, installation: Installation) -> int:
        """Let the hour of every token of an installation be over; gives how many there were."""
        spent = [value for value, token in self.tokens.items() if token.installation is installation]
        for value in spent:
            del self.tokens[value]
        return len(spent)

    def installation_on(self, app: App, account: Account) -> Installation | None:
        """The installation of an App on an account."""
        found = (one for one in self.installations.values() if one.app is app and one.account is account)
        return next(found, None)

    def repos_of(self, installation: Installation) -> list[Repo]:
        """The repositories an installation covers, by age."""
        return [repo for repo in self.repos.values() if installation.covers(repo)]

    def issue_installation_token(
        self, installation: Installation, permissions: Mapping[str, str], repo_ids: frozenset[int] | None
    ) -> Token:
        """An hour's token. Its look is that of GitHub's stateless tokens, some 500 characters long."""
        looks = f"eyJ{secrets.token_hex(16)}.eyJ{secrets.token_hex(40)}.{secrets.token_urlsafe(256)}"
        value = f"ghs_{installation.app.id}_{looks}"
        expires = (self.now() + timedelta(hours=1)).replace(microsecond=0)
        token = Token(value, installation.app.bot, installation, dict(permissions), repo_ids, expires)
        self.tokens[value] = token
        return token

    def token(self, value: str) -> Token:
        """A token that is valid now.

        Raises:
            ApiError: 401.
        """
        found = self.tokens.get(value)
        if found is None or (found.expires_at is not None and self.now() >= found.expires_at):
            raise bad_credentials()
        return found

    # --- repositories -----------------------------------------------------------------------------------------

    def repo(self, owner: str, name: str) -> Repo:
        """Find a repository.

        Raises:
            ApiError: 404.
        """
        found = self.repos.get(f"{owner}/{name}".lower())
        if found is None:
            raise not_found()
        return found

    def add_repo(self, owner: Account, name: str, creator: Account, *, private: bool, branch: str = "main") -> Repo:
        """Create an empty repository, let the Apps that may see it know, and grant it to the App that made it."""
        if not _NAME.fullmatch(name) or name in {".", ".."}:
            raise invalid("Repository", "name", "custom", "name is invalid")
        if f"{owner.login}/{name}".lower() in self.repos:
            problem = {"resource": "Repository", "code": "custom", "field": "name"}
            problem["message"] = "name already exists on this account"
            raise ApiError(422, "Repository creation failed.", errors=[problem])
        number = self.ids.of(SHORT, "repo", owner.login, name)
        now = self.now()
        path = self.data_dir / "repos" / f"{number}.git"
        gitstore.create(path, branch)
        made = Repo(number, owner, name, private, path, now, now, now, creator, default_branch=branch)
        self.repos[made.key] = made
        self._grant_to_maker(made)
        self.emit("repository", "created", made, creator)
        return made

    def _grant_to_maker(self, repo: Repo) -> None:
        maker = repo.created_by.app
        installation = self.installation_on(maker, repo.owner) if maker else None
        if installation is None or installation.selection == "all":
            return
        installation.repo_ids.add(repo.id)
        body = {
            "action": "added",
            "repository_selection": "selected",
            "repositories_added": [short_repo(repo)],
            "repositories_removed": [],
            "requester": None,
        }
        self._tell_app(installation, "installation_repositories", body, repo.created_by)

    def delete_repo(self, repo: Repo, sender: Account) -> None:
        """Remove a repository for good."""
        self.emit("repository", "deleted", repo, sender)
        del self.repos[repo.key]
        repo.deleted = True
        gitstore.remove(repo.path)

    def add_collaborator(self, repo: Repo, login: str, role: Role) -> None:
        """Give somebody a role."""
        repo.collaborators[login.lower()] = role

    # --- telling the Apps -------------------------------------------------------------------------------------

    def emit(
        self,
        event: str,
        action: str | None,
        repo: Repo,
        sender: Account,
        body: Json | None = None,
        *,
        only: App | None = None,
    ) -> None:
        """Tell every App that covers the repository and listens to the event."""
        head: Json = {} if action is None else {"action": action}
        payload = {**head, **(body or {}), "repository": self._webhook_repo(event, repo)}
        if repo.owner.type == "Organization":
            payload["organization"] = shapes_account.organization_simple(self.links, repo.owner)
        payload["sender"] = shapes_account.user(self.links, sender)
        for installation in list(self.installations.values()):
            wanted = only is None or installation.app is only
            if wanted and installation.covers(repo) and _listens(installation.app, event):
                node = {"id": installation.id, "node_id": node_id("MDIz", installation.id)}
                self._hand_over(installation, event, {**payload, "installation": node})

    def _webhook_repo(self, event: str, repo: Repo) -> Json:
        told = shapes_account.repo(self.links, repo)
        if event == "push":
            owner = {**told["owner"], "name": repo.owner.login, "email": None}
            dates = {"created_at": int(repo.created_at.timestamp()), "pushed_at": int(repo.pushed_at.timestamp())}
            return {**told, **dates, "owner": owner, "stargazers": 0, "master_branch": repo.default_branch}
        return {**told, "custom_properties": {}}

    def _tell_app(self, installation: Installation, event: str, body: Json, sender: Account) -> None:
        told = {"installation": shapes_account.installation(self.links, installation)}
        told["sender"] = shapes_account.user(self.links, sender)
        self._hand_over(installation, event, {**body, **told})

    def _hand_over(self, installation: Installation, event: str, payload: Json) -> None:
        for listener in self.listeners:
            listener(installation.app, installation, event, payload)


def _listens(app: App, event: str) -> bool:
    if event in ALWAYS:
        return True
    return event in app.events or (event in WITH_CHECKS and app.permissions.get("checks") == "write")


def short_repo(repo: Repo) -> Json:
    """How installation events name a repository."""
    return {
        "id": repo.id,
        "node_id": node_id("R", repo.id),
        "name": repo.name,
        "full_name": repo.full_name,
        "private": repo.private,
    }
