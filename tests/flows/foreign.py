"""A GitHub stand-in that shares nothing with the project's own: written from GitHub's documentation alone.

It is poor on purpose. It knows only what an App cannot do without, answers with few fields, hands out no ETag and no
second page, keeps its API under a prefix and its git elsewhere, and says 404 to everything else. What it lacks beyond
that, and how it treats repositories that are asked for, is set by `Manners`.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import subprocess
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal
from urllib.error import URLError
from urllib.request import Request, urlopen

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

Json = dict[str, Any]
APP_ID, SLUG, INSTALLATION = 731, "tally-desk", 4_820_117
SECRET = "a secret of the other stand-in"
AUTHOR_TOKEN = "ghp_" + "f0reignAuthor" * 3
ORG, CONTROL = "Fjord-Works", "Fjord-Works/benchmarks"
PEOPLE = {"ines-k": "admin", "author-person": "write"}


@dataclass(frozen=True, slots=True)
class Manners:
    """In what this stand-in differs from GitHub, or from another of its kind."""

    prefix: str = "/api/v3"
    optional: bool = True
    """Whether reactions, statuses, requested reviewers and the timeline are there."""
    repositories: Literal["made", "taken", "auto"] = "made"
    """`taken`: the first name asked for is somebody's. `auto`: every name is there, empty, and none can be made."""
    git: Literal["http", "file"] = "http"


@dataclass(slots=True)
class Repo:
    """A repository, with whatever stands on it."""

    id: int
    name: str
    private: bool
    created_at: str
    issues: dict[int, Json] = field(default_factory=dict)
    comments: dict[int, list[Json]] = field(default_factory=dict)
    reviews: dict[int, list[Json]] = field(default_factory=dict)
    inline: dict[int, list[Json]] = field(default_factory=dict)
    checks: list[Json] = field(default_factory=list)


def stamp() -> str:
    """Now, as GitHub writes it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def user(login: str) -> Json:
    """An account."""
    return {"login": login, "id": int(hashlib.sha1(login.encode()).hexdigest()[:7], 16), "type": _kind(login)}


def _kind(login: str) -> str:
    return "Bot" if login.endswith("[bot]") else "User"


class Refusal(Exception):
    """An answer that is no success."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


Opened = Callable[["Foreign", Repo, Json], None]
Said = Callable[["Foreign", Repo, int, str], None]


class Foreign:
    """The stand-in's state and what can be done with it, over HTTP or directly."""

    def __init__(self, root: Path, manners: Manners) -> None:
        self.root, self.manners = root, manners
        self.lock = threading.RLock()
        self.repos: dict[str, Repo] = {}
        self.made: list[str] = []
        """Method and path of every write, in order."""
        self.hook: str | None = None
        self.on_pull: Opened = lambda *_: None
        self.on_comment: Said = lambda *_: None
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self._next = 9_007_199_254_740_000
        self._tokens: set[str] = set()
        self._refused = False
        self.url = ""
        self.add_repo(CONTROL.partition("/")[2], files=False)

    @property
    def pem(self) -> str:
        """The App's private key."""
        return self.key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
        ).decode()

    def number(self) -> int:
        """A new id, larger than what fits into 32 bits, and into the numbers of JavaScript."""
        with self.lock:
            self._next += 3
            return self._next

    # --- repositories -------------------------------------------------------------------------------------------

    def add_repo(self, name: str, *, files: bool, created_at: str = "") -> Repo:
        """A repository, empty or with a commit of somebody's."""
        path = self.path(name)
        _git("init", "--quiet", "--bare", "--initial-branch=main", str(path))
        _git("--git-dir", str(path), "config", "http.receivepack", "true")
        repo = Repo(self.number(), name, True, created_at or stamp())
        if files:
            tree = _git("--git-dir", str(path), "mktree", stdin=b"").strip()
            who = ("-c", "user.name=x", "-c", "user.email=x@example.org")
            commit = _git(*who, "--git-dir", str(path), "commit-tree", "-m", "theirs", tree).strip()
            _git("--git-dir", str(path), "update-ref", "refs/heads/main", commit)
        self.repos[name.lower()] = repo
        return repo

    def path(self, name: str) -> Path:
        """Where git keeps a repository."""
        return self.root / f"{name.lower()}.git"

    def repo(self, owner: str, name: str) -> Repo:
        """The repository, or 404; where every name is there, it now is."""
        found = self.repos.get(name.lower()) if owner.lower() == ORG.lower() else None
        if found is None and owner.lower() == ORG.lower() and self.manners.repositories == "auto":
            found = self.add_repo(name, files=False, created_at="2019-05-04T00:00:00Z")
        if found is None:
            raise Refusal(404, "Not Found")
        return found

    def create(self, name: str) -> Repo:
        """A new repository, if the manners let anybody have one."""
        if self.manners.repositories == "taken" and not self._refused:
            self._refused = True
            self.add_repo(name, files=True, created_at="2020-01-01T00:00:00Z")
        if name.lower() in self.repos or self.manners.repositories == "auto":
            raise Refusal(422, "Repository creation failed.: name already exists on this account")
        return self.add_repo(name, files=False)

    def shown(self, repo: Repo) -> Json:
        """A repository as answered."""
        at = f"{self.url}/git/{ORG}/{repo.name}.git" if self.manners.git == "http" else self.path(repo.name).as_uri()
        return {
            "id": repo.id,
            "name": repo.name,
            "full_name": f"{ORG}/{repo.name}",
            "owner": {"login": ORG, "type": "Organization"},
            "private": repo.private,
            "default_branch": "main",
            "clone_url": at,
            "html_url": f"{self.url}/{ORG}/{repo.name}",
            "created_at": repo.created_at,
        }

    def head(self, repo: Repo, branch: str) -> str:
        """The commit a branch is at."""
        return _git("--git-dir", str(self.path(repo.name)), "rev-parse", f"refs/heads/{branch}").strip()

    # --- what people and bots do --------------------------------------------------------------------------------

    def open_issue(self, title: str, body: str, login: str = "ines-k") -> int:
        """An issue of the control repository."""
        repo = self.repo(*CONTROL.split("/"))
        issue = self._issue(repo, title, body, login)
        self.deliver("issues", "opened", repo, {"issue": issue}, login)
        return int(issue["number"])

    def _issue(self, repo: Repo, title: str, body: str, login: str) -> Json:
        with self.lock:
            number = len(repo.issues) + 1
            at = stamp()
            repo.issues[number] = {
                "id": self.number(),
                "number": number,
                "title": title,
                "body": body,
                "state": "open",
                "user": user(login),
                "html_url": f"{self.url}/{ORG}/{repo.name}/issues/{number}",
                "created_at": at,
                "updated_at": at,
            }
            return repo.issues[number]

    def comment(self, repo: Repo, number: int, body: str, login: str) -> Json:
        """A comment on an issue or a pull request."""
        at = stamp()
        made = {"id": self.number(), "body": body, "user": user(login), "created_at": at, "updated_at": at}
        made["html_url"] = f"{self.url}/{ORG}/{repo.name}/issues/{number}#issuecomment-{made['id']}"
        made["issue_url"] = f"{self.url}{self.manners.prefix}/repos/{ORG}/{repo.name}/issues/{number}"
        repo.comments.setdefault(number, []).append(made)
        issue = dict(repo.issues[number])
        self.deliver("issue_comment", "created", repo, {"issue": issue, "comment": made}, login)
        self.on_comment(self, repo, number, body)
        return made

    def edit(self, repo: Repo, comment: Json, body: str) -> None:
        """A comment edited in place."""
        comment |= {"body": body, "updated_at": stamp()}

    def review(self, repo: Repo, number: int, login: str, body: str, notes: list[tuple[str, int, str]]) -> None:
        """A submitted review with comments in the diff."""
        at, sha = stamp(), repo.issues[number]["sha"]
        made = {"id": self.number(), "user": user(login), "body": body, "state": "COMMENTED"}
        repo.reviews.setdefault(number, []).append(made | {"submitted_at": at, "commit_id": sha})
        for path, line, text in notes:
            note = {"id": self.number(), "pull_request_review_id": made["id"], "user": user(login), "body": text}
            note |= {"path": path, "line": line, "side": "RIGHT", "commit_id": sha}
            note |= {"created_at": at, "updated_at": at}
            repo.inline.setdefault(number, []).append(note)
        pull = {"number": number, "head": {"sha": sha}}
        self.deliver("pull_request_review", "submitted", repo, {"pull_request": pull}, login)

    def check(self, repo: Repo, sha: str, slug: str, body: Json) -> Json:
        """A check run."""
        output = dict(body.get("output") or {})
        notes = list(output.pop("annotations", []))
        made = {"id": self.number(), "head_sha": sha, "app": {"id": len(slug), "slug": slug}, "notes": notes}
        made |= {key: body.get(key) for key in ("name", "external_id", "status", "conclusion")}
        made["completed_at"] = stamp()
        made["output"] = {"title": None, "summary": None} | output | {"annotations_count": len(notes)}
        made["html_url"] = f"{self.url}/{ORG}/{repo.name}/runs/{made['id']}"
        repo.checks.append(made)
        return made

    # --- webhooks -----------------------------------------------------------------------------------------------

    def deliver(self, event: str, action: str, repo: Repo, about: Json, sender: str) -> None:
        """Tell the App, if it wants to be told, from the background and only once."""
        if self.hook is None:
            return
        told = {"action": action, "repository": self.shown(repo), "sender": user(sender), **about}
        body = json.dumps(told | {"installation": {"id": INSTALLATION}}).encode()
        signature = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
        headers = {
            "Content-Type": "application/json",
            "X-GitHub-Event": event,
            "X-GitHub-Delivery": str(uuid.uuid4()),
            "X-Hub-Signature-256": f"sha256={signature}",
        }
        threading.Thread(target=_post, args=(Request(self.hook, body, headers),), daemon=True).start()

    # --- the API ------------------------------------------------------------------------------------------------

    def mint(self) -> Json:
        """An installation token."""
        token = "ghs_" + uuid.uuid4().hex * 2
        self._tokens.add(token)
        return {"token": token, "expires_at": datetime.fromtimestamp(time.time() + 3600, UTC).isoformat()}

    def caller(self, header: str) -> str:
        """Who asks: `app`, the App's bot, or the author; anybody else is refused."""
        token = header.rpartition(" ")[2]
        if token == AUTHOR_TOKEN:
            return "author-person"
        if token in self._tokens:
            return f"{SLUG}[bot]"
        try:
            claims = jwt.decode(token, self.key.public_key(), algorithms=["RS256"])
        except jwt.PyJWTError:
            raise Refusal(401, "Bad credentials") from None
        if claims.get("iss") != str(APP_ID):
            raise Refusal(401, "'Issuer' claim ('iss') must be an Integer")
        return "app"


def _git(*args: str, stdin: bytes | None = None) -> str:
    dates = {"GIT_AUTHOR_DATE": "2020-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2020-01-01T00:00:00Z"}
    return subprocess.run(
        ("git", *args), check=True, capture_output=True, input=stdin, env=os.environ | dates
    ).stdout.decode()


def _post(request: Request) -> None:
    try:
        urlopen(request, timeout=10).close()
    except (URLError, OSError):
        return
