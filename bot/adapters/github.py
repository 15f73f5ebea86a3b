"""GitHub through PyGithub's transport: raw JSON in and out, every page or an error, no hidden retries."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

import requests
from github import Auth, Consts, Github
from github.GithubException import GithubException

from bot.model import Annotation, CheckRun, Raw, RepoName, Sha, Snapshot
from bot.ports import AppIdentity, Author, GitHub, GitHubError

PAGE = 100
API_VERSION = "2022-11-28"
TOKEN_MARGIN = timedelta(minutes=5)

Token = Callable[[], str]

_MOVED = {"Moved Permanently": 301, "Found": 302, "Temporary Redirect": 307, "Permanent Redirect": 308}


class Client:
    """One identity's requests. PyGithub objects swap answers between threads, so each thread has its own."""

    def __init__(self, base_url: str, token: Token, forget: Callable[[str], None] | None = None) -> None:
        self._base_url = base_url.rstrip("/")
        self._token = token
        self._forget = forget
        self._local = threading.local()

    def _requester(self) -> Any:
        token = self._token()
        if getattr(self._local, "token", None) != token:
            self._local.token = token
            # retry=None: the default sends a POST again after a 502, and with it a second pull request.
            self._local.requester = Github(
                auth=Auth.Token(token),
                base_url=self._base_url,
                retry=None,
                timeout=30,
                user_agent="assay",
                seconds_between_requests=None,
                seconds_between_writes=None,
                api_version=API_VERSION,
            ).requester
        return self._local.requester

    def token(self) -> str:
        """The token now in force."""
        return self._token()

    def call(
        self, method: str, path: str, *, query: Mapping[str, Any] | None = None, body: Mapping[str, Any] | None = None
    ) -> tuple[Mapping[str, str], Any]:
        """One request: (headers, JSON).

        Raises:
            GitHubError: any answer that is no success, or none (status 0).
        """
        requester = self._requester()
        try:
            headers, data = requester.requestJsonAndCheck(
                method, path, parameters=dict(query) if query else None, input=dict(body) if body is not None else None
            )
        except GithubException as error:
            if error.status == 401 and self._forget is not None:
                # Revoked, or minted a moment ago and not known everywhere: the next call asks for another one.
                self._forget(self._local.token)
            message = error.data.get("message", "") if isinstance(error.data, dict) else str(error.data or "")
            detail = _errors(error.data)
            raise GitHubError(error.status, message + detail, error.headers or {}, method) from error
        except requests.RequestException as error:
            raise GitHubError(0, type(error).__name__, {}, method) from error
        if isinstance(data, dict) and data.get("message") in _MOVED:
            # The transport follows a read that has moved, and takes the answer to a write for a success.
            raise GitHubError(_MOVED[data["message"]], data["message"], headers, method)
        return headers, data

    def get(self, path: str, **query: Any) -> Any:
        """The JSON of one GET."""
        return self.call("GET", path, query=query)[1]

    def find(self, path: str) -> Any | None:
        """The JSON of one GET, or None where GitHub says 404."""
        try:
            return self.get(path)
        except GitHubError as error:
            if error.status == 404:
                return None
            raise

    def send(self, method: str, path: str, body: Mapping[str, Any]) -> Any:
        """The JSON that a write answers."""
        return self.call(method, path, body=body)[1]

    def pages(self, path: str, key: str | None = None, **query: Any) -> tuple[Raw, ...]:
        """Every item of a list, once. A failed page is an error, never an empty list."""
        items: dict[Any, Raw] = {}
        page: int | None = 1
        while page is not None:
            headers, data = self.call("GET", path, query={**query, "per_page": PAGE, "page": page})
            for item in data[key] if key else data:
                # A comment made while we read shifts the pages: the same item then comes twice.
                items.setdefault(item.get("id", len(items)), item)
            page = page + 1 if 'rel="next"' in headers.get("link", "") else None
        return tuple(items.values())


def _errors(data: object) -> str:
    errors = data.get("errors") if isinstance(data, dict) else None
    if not isinstance(errors, list):
        return ""
    said = [
        str(error.get("message") or error.get("code") or "") if isinstance(error, dict) else str(error)
        for error in errors
    ]
    return f" ({'; '.join(text for text in said if text)})" if any(said) else ""


@dataclass(slots=True)
class _Minted:
    token: str
    expires: datetime


class AppGitHub:
    """`bot.ports.GitHubApp`: signs as the App, mints installation tokens, hands out one `GitHub` per installation."""

    def __init__(
        self,
        base_url: str,
        *,
        app_id: str,
        private_key: str,
        author_token: str | None,
        clock: Callable[[], datetime],
    ) -> None:
        self._base_url = base_url
        self._auth = Auth.AppAuth(app_id, private_key, jwt_issued_at=-60, jwt_expiry=Consts.DEFAULT_JWT_EXPIRY)
        self._app = Client(base_url, lambda: self._auth.token)
        self._author = Client(base_url, lambda: author_token) if author_token else None
        self._clock = clock
        self._minted: dict[int, _Minted] = {}
        self._identity: AppIdentity | None = None
        self._author_login: str | None = None
        self._lock = threading.Lock()

    def identity(self) -> AppIdentity:
        if self._identity is None:
            raw = self._app.get("/app")
            self._identity = AppIdentity(app_id=int(raw["id"]), slug=str(raw["slug"]))
        return self._identity

    @property
    def slug(self) -> str:
        return "" if self._identity is None else self._identity.slug

    def installations(self) -> tuple[tuple[int, str], ...]:
        return tuple((int(raw["id"]), str(raw["account"]["login"])) for raw in self._app.pages("/app/installations"))

    def installation(self, installation: int) -> GitHub:
        return InstallationGitHub(
            Client(self._base_url, lambda: self._token(installation), lambda token: self._forget(installation, token)),
            self._author,
            self.identity,
            self._author_name,
            lambda repo: self._push_token(installation, repo),
            account=f"installation {installation}",
        )

    def _push_token(self, installation: int, repo: RepoName) -> str:
        """The author's token, so that the push is the author's too; else one that may write this repository only."""
        if self._author is not None:
            return self._author.token()
        narrowed = {"repositories": [repo.name], "permissions": {"contents": "write"}}
        return str(self._app.send("POST", f"/app/installations/{installation}/access_tokens", narrowed)["token"])

    def _author_name(self) -> str | None:
        if self._author is not None and self._author_login is None:
            self._author_login = str(self._author.get("/user")["login"])
        return self._author_login

    def _token(self, installation: int) -> str:
        with self._lock:
            minted = self._minted.get(installation)
            if minted is None or minted.expires - TOKEN_MARGIN < self._clock():
                raw = self._app.send("POST", f"/app/installations/{installation}/access_tokens", {})
                minted = _Minted(raw["token"], datetime.fromisoformat(raw["expires_at"]))
                self._minted[installation] = minted
            return minted.token

    def _forget(self, installation: int, token: str) -> None:
        with self._lock:
            minted = self._minted.get(installation)
            if minted is not None and minted.token == token:
                del self._minted[installation]


class InstallationGitHub:
    """`bot.ports.GitHub` of one installation. The author identity opens pull requests and posts triggers."""

    def __init__(
        self,
        app: Client,
        author: Client | None,
        identity: Callable[[], AppIdentity],
        author_name: Callable[[], str | None],
        push_token: Callable[[RepoName], str],
        *,
        account: str,
    ) -> None:
        self._client = app
        self._as_author = author or app
        self._account = account
        self._author_account = account if author is None else "author"
        self._identity = identity
        self._author_name = author_name
        self._push_token = push_token

    # --- questions ----------------------------------------------------------------------------------------------

    def account(self, *, author: bool = False) -> str:
        return self._author_account if author else self._account

    def identity(self) -> AppIdentity:
        return self._identity()

    def author(self) -> Author:
        login = self._author_name()
        return Author(login or self.identity().login, is_user=login is not None)

    def permission(self, repo: RepoName, login: str) -> str:
        raw = self._client.find(f"/repos/{repo}/collaborators/{login}/permission")
        return "none" if raw is None else str(raw["permission"])

    def issue(self, repo: RepoName, number: int) -> Raw:
        raw: Raw = self._client.get(f"/repos/{repo}/issues/{number}")
        return raw

    def issues_since(self, repo: RepoName, since: datetime) -> tuple[Raw, ...]:
        found = self._client.pages(f"/repos/{repo}/issues", since=_stamp(since), state="open", sort="created")
        return tuple(raw for raw in found if "pull_request" not in raw)

    def comments_since(self, repo: RepoName, since: datetime) -> tuple[Raw, ...]:
        return self._client.pages(f"/repos/{repo}/issues/comments", since=_stamp(since), sort="created")

    def issue_comments(self, repo: RepoName, number: int) -> tuple[Raw, ...]:
        return self._client.pages(f"/repos/{repo}/issues/{number}/comments")

    def repository(self, repo: RepoName) -> Raw | None:
        raw: Raw | None = self._client.find(f"/repos/{repo}")
        return raw

    def pulls_by_head(self, repo: RepoName, branch: str) -> tuple[Raw, ...]:
        return self._client.pages(f"/repos/{repo}/pulls", head=f"{repo.owner}:{branch}", state="all")

    def review_asks(self, repo: RepoName, pull: int, login: str) -> int:
        wanted = login.lower()
        asked: int = sum(
            raw.get("event") == "review_requested" and _login(raw.get("requested_reviewer")) == wanted
            for raw in self._client.pages(f"/repos/{repo}/issues/{pull}/timeline")
        )
        if asked:
            return asked
        return int(
            any(_login(raw.get("user")) == wanted for raw in self._client.pages(f"/repos/{repo}/pulls/{pull}/reviews"))
        )

    def check_runs(self, repo: RepoName, sha: Sha, name: str) -> tuple[Raw, ...]:
        path = f"/repos/{repo}/commits/{sha}/check-runs"
        return self._client.pages(path, "check_runs", check_name=name, app_id=self.identity().app_id, filter="all")

    def snapshot(self, repo: RepoName, pull: int) -> Snapshot:
        root = f"/repos/{repo}"
        headers, pull_request = self._client.call("GET", f"{root}/pulls/{pull}")
        sha = pull_request["head"]["sha"]
        status = self._client.get(f"{root}/commits/{sha}/status", per_page=PAGE)
        requested = self._client.get(f"{root}/pulls/{pull}/requested_reviewers")
        return Snapshot(
            repo=repo,
            pull=pull,
            head_sha=sha,
            read_started=_server_time(headers),
            pull_request=pull_request,
            reviews=self._client.pages(f"{root}/pulls/{pull}/reviews"),
            review_comments=self._client.pages(f"{root}/pulls/{pull}/comments"),
            issue_comments=self._client.pages(f"{root}/issues/{pull}/comments"),
            check_runs=self._annotated_checks(root, sha),
            statuses=tuple(status["statuses"]),
            reactions=self._client.pages(f"{root}/issues/{pull}/reactions"),
            requested_reviewers=tuple(user["login"] for user in requested["users"]),
        )

    def _annotated_checks(self, root: str, sha: str) -> tuple[Raw, ...]:
        checks = self._client.pages(f"{root}/commits/{sha}/check-runs", "check_runs", filter="latest")
        return tuple({**check, "annotations": self._annotations(root, check)} for check in checks)

    def _annotations(self, root: str, check: Raw) -> list[Raw]:
        if not check["output"].get("annotations_count"):
            return []
        return list(self._client.pages(f"{root}/check-runs/{check['id']}/annotations"))

    def issue_by_us(self, repo: RepoName, text: str) -> Raw | None:
        found = self._client.pages(f"/repos/{repo}/issues", creator=self.identity().login, state="all")
        return next((raw for raw in found if text in (raw.get("body") or "")), None)

    # --- deeds --------------------------------------------------------------------------------------------------

    def create_repository(self, repo: RepoName, *, private: bool) -> Raw:
        body = {"name": repo.name, "private": private, "has_issues": True, "has_projects": False, "has_wiki": False}
        raw: Raw = self._client.send("POST", f"/orgs/{repo.owner}/repos", body)
        return raw

    def open_issue(self, repo: RepoName, title: str, body: str) -> Raw:
        raw: Raw = self._client.send("POST", f"/repos/{repo}/issues", {"title": title, "body": body})
        return raw

    def open_pull(self, repo: RepoName, *, title: str, body: str, head: str, base: str) -> Raw:
        wanted = {"title": title, "body": body, "head": head, "base": base}
        raw: Raw = self._as_author.send("POST", f"/repos/{repo}/pulls", wanted)
        return raw

    def comment(self, repo: RepoName, number: int, body: str, *, as_author: bool = False) -> Raw:
        client = self._as_author if as_author else self._client
        raw: Raw = client.send("POST", f"/repos/{repo}/issues/{number}/comments", {"body": body})
        return raw

    def edit_comment(self, repo: RepoName, comment_id: int, body: str) -> Raw:
        raw: Raw = self._client.send("PATCH", f"/repos/{repo}/issues/comments/{comment_id}", {"body": body})
        return raw

    def request_review(self, repo: RepoName, pull: int, login: str) -> tuple[str, ...]:
        raw = self._as_author.send("POST", f"/repos/{repo}/pulls/{pull}/requested_reviewers", {"reviewers": [login]})
        return tuple(user["login"] for user in raw["requested_reviewers"])

    def create_check(self, repo: RepoName, check: CheckRun, first: Sequence[Annotation]) -> Raw:
        body = {
            "name": check.name,
            "head_sha": check.head_sha,
            "external_id": check.external_id,
            "status": "completed",
            "conclusion": check.conclusion,
            "output": _output(check, first),
        }
        raw: Raw = self._client.send("POST", f"/repos/{repo}/check-runs", body)
        return raw

    def add_annotations(self, repo: RepoName, check_id: int, check: CheckRun, more: Sequence[Annotation]) -> Raw:
        raw: Raw = self._client.send("PATCH", f"/repos/{repo}/check-runs/{check_id}", {"output": _output(check, more)})
        return raw

    def git_token(self, repo: RepoName) -> str:
        return self._push_token(repo)


def _output(check: CheckRun, annotations: Sequence[Annotation]) -> dict[str, Any]:
    output: dict[str, Any] = {
        "title": check.title,
        "summary": check.summary,
        "annotations": [
            {
                "path": note.path,
                "start_line": note.start_line,
                "end_line": note.end_line,
                "annotation_level": note.level,
                "title": note.title,
                "message": note.message,
            }
            for note in annotations
        ],
    }
    return output | ({"text": check.text} if check.text else {})


def _login(user: Any) -> str:
    return str(user["login"]).lower() if user else ""


def _stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _server_time(headers: Mapping[str, str]) -> datetime:
    return parsedate_to_datetime(headers["date"]).astimezone(UTC)
