"""GitHub, as the workflows need it: one installation's view, and the App's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from bot.model import Annotation, CheckRun, Raw, RepoName, Sha, Snapshot


class GitHubError(Exception):
    """GitHub did not do what was asked. `status` 0: no answer came, so the deed may have been done."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str], method: str) -> None:
        super().__init__(f"{method} answered {status or 'nothing'}: {message}")
        self.status = status
        self.message = message
        self.headers = dict(headers)
        self.method = method

    @property
    def outcome_unknown(self) -> bool:
        """Whether the deed may have been done all the same."""
        return self.status == 0 or self.status >= 500


@dataclass(frozen=True, slots=True)
class AppIdentity:
    """Who we are on GitHub."""

    app_id: int
    slug: str

    @property
    def login(self) -> str:
        """The account our own comments carry."""
        return f"{self.slug}[bot]"


@dataclass(frozen=True, slots=True)
class Author:
    """The identity that opens pull requests and posts triggers."""

    login: str
    is_user: bool


@dataclass(frozen=True, slots=True)
class AuthorAccount:
    """Whose the author token is, and what it may do as far as GitHub says."""

    login: str
    type: str
    """`User` or `Bot`."""
    kind: str
    """`classic`, `fine-grained`, `user-to-server` or `other`."""
    scopes: tuple[str, ...] | None
    """Of a classic token; None: GitHub does not say."""
    organisation_role: str | None = None
    """`admin` or `member` of the organisation that was asked about; None: it is neither, or may not tell."""


@dataclass(frozen=True, slots=True)
class RateLeft:
    """What one account has left of one of GitHub's limits, as an answer said."""

    account: str
    """As in `GitHub.account`; the App's own is `app`."""
    resource: str
    left: int
    limit: int
    resets_at: int
    """In seconds since 1970: from then on all of the limit is left again."""

    def at(self, now: float) -> int:
        """What is left at a moment, if nothing has been asked since."""
        return self.limit if now >= self.resets_at else self.left


class GitHub(Protocol):
    """GitHub, as one installation sees it. Lists come whole: every page, or an error; never a part."""

    def account(self, *, author: bool = False) -> str:
        """Whose content limits a write counts against. Asks nobody, so that workflows may call it between steps."""
        ...

    def identity(self) -> AppIdentity: ...
    def author(self) -> Author: ...
    def permission(self, repo: RepoName, login: str) -> str:
        """`admin`, `write`, `read` or `none`."""
        ...

    def issue(self, repo: RepoName, number: int) -> Raw: ...
    def issues_since(self, repo: RepoName, since: datetime) -> tuple[Raw, ...]: ...
    def comments_since(self, repo: RepoName, since: datetime) -> tuple[Raw, ...]: ...
    def issue_comments(self, repo: RepoName, number: int) -> tuple[Raw, ...]: ...
    def repository(self, repo: RepoName) -> Raw | None: ...
    def pulls_by_head(self, repo: RepoName, branch: str) -> tuple[Raw, ...]: ...
    def review_asks(self, repo: RepoName, pull: int, login: str) -> int:
        """How often a review of `login` was requested, or 1 if it has reviewed all the same."""
        ...

    def snapshot(self, repo: RepoName, pull: int) -> Snapshot: ...
    def check_runs(self, repo: RepoName, sha: Sha, name: str) -> tuple[Raw, ...]: ...

    def issue_by_us(self, repo: RepoName, text: str) -> Raw | None:
        """An issue that we opened and whose body holds `text`."""
        ...

    def open_issue(self, repo: RepoName, title: str, body: str) -> Raw: ...
    def create_repository(self, repo: RepoName, *, private: bool) -> Raw: ...
    def open_pull(self, repo: RepoName, *, title: str, body: str, head: str, base: str) -> Raw: ...
    def comment(self, repo: RepoName, number: int, body: str, *, as_author: bool = False) -> Raw: ...
    def edit_comment(self, repo: RepoName, comment_id: int, body: str) -> Raw: ...
    def request_review(self, repo: RepoName, pull: int, login: str) -> tuple[str, ...]:
        """Ask; the answer is the list of requested reviewers, empty where GitHub silently ignored it."""
        ...

    def create_check(self, repo: RepoName, check: CheckRun, first: Sequence[Annotation]) -> Raw: ...
    def add_annotations(self, repo: RepoName, check_id: int, check: CheckRun, more: Sequence[Annotation]) -> Raw: ...
    def update_check(self, repo: RepoName, check_id: int, check: CheckRun) -> Raw:
        """Replace title, summary, text and conclusion; annotations stay as they are."""
        ...

    def git_token(self, repo: RepoName) -> str:
        """A token that may push to the repository."""
        ...

    def read_token(self, repo: RepoName) -> str | None:
        """A token that may read the repository and nothing else; None where the App does not have it."""
        ...

    def owner_is_user(self) -> bool:
        """Whether the installation is on a personal account, where only the author may make repositories."""
        ...

    def set_private(self, repo: RepoName, private: bool) -> Raw: ...
    def archive_repository(self, repo: RepoName) -> None:
        """Make it read-only. One that is archived already stays so."""
        ...

    def delete_repository(self, repo: RepoName) -> None:
        """Remove it. One that is gone already stays so."""
        ...

    def content(self, repo: RepoName, path: str, ref: str | None = None) -> bytes | None:
        """A file's bytes; None where there is none, or no file. A file over a megabyte is an error."""
        ...

    def content_names(self, repo: RepoName, path: str, ref: str | None = None) -> tuple[str, ...]:
        """The names in a folder, one level deep, folders with a slash at the end; empty where there is none."""
        ...

    def put_content(self, repo: RepoName, path: str, content: bytes, message: str) -> None:
        """Write a file on the default branch, new or over what is there. The same bytes again change nothing."""
        ...

    def branches(self, repo: RepoName) -> tuple[Raw, ...]: ...
    def commit(self, repo: RepoName, sha: str) -> Raw | None: ...
    def ensure_label(self, repo: RepoName, name: str, color: str, description: str) -> None:
        """Make the label unless there is one of that name, which then stays as it is."""
        ...

    def org_installations(self, org: str) -> tuple[Raw, ...] | None:
        """Every App that is installed on an organisation; None where we are not told."""
        ...

    def rate(self) -> Mapping[str, Any]:
        """GitHub's `resources` of what is left of the hourly limits; empty where it does not say."""
        ...


class GitHubApp(Protocol):
    """GitHub, as the App itself sees it."""

    @property
    def slug(self) -> str:
        """Our slug, or nothing while nobody has asked for it. Asks nobody."""
        ...

    def rates(self) -> tuple[RateLeft, ...]:
        """What is left of the limits of each account that this process has used. Asks nobody."""
        ...

    def identity(self) -> AppIdentity: ...
    def installations(self) -> tuple[tuple[int, str], ...]:
        """(installation id, account login) of each."""
        ...

    def installation(self, installation: int) -> GitHub:
        """GitHub as that installation sees it. Asks nobody."""
        ...

    def installation_details(self) -> tuple[Raw, ...]:
        """Each installation as GitHub tells it: account, granted permissions, `repository_selection`."""
        ...

    def details(self) -> Raw:
        """The App as GitHub tells it: slug, permissions, events."""
        ...

    def hook_config(self) -> Raw | None:
        """Where deliveries go; None where GitHub does not say."""
        ...

    def server_time(self) -> datetime | None:
        """GitHub's clock; None where it does not tell. It also answers where the key is not accepted."""
        ...

    def author_account(self, org: str | None = None) -> AuthorAccount | None:
        """Whose the author token is, and what that account is in an organisation; None where there is no token."""
        ...

    def deliveries(self, since: datetime) -> tuple[Raw, ...]:
        """Attempts to deliver since then, newest first, without payloads; empty where there is no such list."""
        ...

    def delivery(self, delivery: int) -> Raw:
        """One attempt, with what was sent and what was answered."""
        ...

    def redeliver(self, delivery: int) -> None:
        """Have it sent once more, under the same GUID."""
        ...
