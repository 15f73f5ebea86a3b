"""GitHub as the App and its installations see it: tokens, questions, deeds."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

from github import Auth, Consts

from bot.adapters.github_client import PAGE, Client
from bot.model import Annotation, CheckRun, Raw, RepoName, Sha, Snapshot
from bot.ports import AppIdentity, Author, GitHub

TOKEN_MARGIN = timedelta(minutes=5)


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
