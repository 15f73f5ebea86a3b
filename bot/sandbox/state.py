"""What the sandbox remembers. Plain records; the rules that change them are in the world modules."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

Role = Literal["none", "read", "triage", "write", "maintain", "admin"]
ROLES: tuple[Role, ...] = ("none", "read", "triage", "write", "maintain", "admin")
Level = Literal["none", "read", "write"]


@dataclass(slots=True)
class Account:
    """A user, an organisation or the bot of an App."""

    id: int
    login: str
    type: Literal["User", "Organization", "Bot"]
    created_at: datetime
    app: App | None = None
    deleted: bool = False
    members: dict[str, Literal["admin", "member"]] = field(default_factory=dict)
    """Of an organisation: lower-case login -> role."""


@dataclass(slots=True)
class App:
    """A registered GitHub App."""

    id: int
    client_id: str
    slug: str
    owner: Account
    permissions: dict[str, str]
    events: list[str]
    public_key_pem: bytes
    created_at: datetime
    hook_id: int
    webhook_url: str | None = None
    webhook_secret: str | None = None
    requestable: bool = False
    """Whether a review can be requested from its bot; GitHub ignores such requests for all bots but one."""
    client_secret: str = field(default_factory=lambda: secrets.token_hex(20))
    callback_urls: list[str] = field(default_factory=list)
    """Where users come back to who sign in through it."""
    bot: Account = field(init=False)


@dataclass(slots=True)
class Installation:
    """An App on an account."""

    id: int
    app: App
    account: Account
    selection: Literal["all", "selected"]
    repo_ids: set[int]
    created_at: datetime

    def covers(self, repo: Repo) -> bool:
        """Whether the App may see this repository."""
        if repo.owner is not self.account:
            return False
        return self.selection == "all" or repo.id in self.repo_ids


@dataclass(frozen=True, slots=True)
class Token:
    """Something that was handed out to act with."""

    value: str
    account: Account
    """The user, or the bot of the App."""
    installation: Installation | None = None
    permissions: Mapping[str, str] = field(default_factory=dict)
    repo_ids: frozenset[int] | None = None
    """None: whatever the installation covers at the moment of use."""
    expires_at: datetime | None = None


@dataclass(slots=True)
class Label:
    """A label of a repository."""

    id: int
    name: str
    color: str = "ededed"
    description: str | None = None


@dataclass(slots=True)
class Repo:
    """A repository and everything in it."""

    id: int
    owner: Account
    name: str
    private: bool
    path: Path
    """The bare git repository."""
    created_at: datetime
    updated_at: datetime
    pushed_at: datetime
    created_by: Account
    description: str | None = None
    homepage: str | None = None
    default_branch: str = "main"
    archived: bool = False
    deleted: bool = False
    actions_enabled: bool = True
    push_protection: bool = True
    features: dict[str, bool] = field(default_factory=dict)
    collaborators: dict[str, Role] = field(default_factory=dict)
    """Lower-case login -> role."""
    labels: dict[str, Label] = field(default_factory=dict)
    issues: dict[int, Issue] = field(default_factory=dict)
    check_suites: dict[int, CheckSuite] = field(default_factory=dict)
    statuses: list[Status] = field(default_factory=list)

    @property
    def full_name(self) -> str:
        """`owner/name`."""
        return f"{self.owner.login}/{self.name}"

    @property
    def key(self) -> str:
        """How repositories are looked up: case does not matter."""
        return self.full_name.lower()


@dataclass(slots=True)
class Reaction:
    """An emoji on something."""

    id: int
    user: Account
    content: str
    created_at: datetime


@dataclass(slots=True)
class Comment:
    """A comment in an issue's or pull request's conversation."""

    id: int
    issue: Issue
    user: Account
    body: str
    created_at: datetime
    updated_at: datetime
    reactions: list[Reaction] = field(default_factory=list)


@dataclass(slots=True)
class TimelineEvent:
    """One entry of an issue's timeline that is not a comment."""

    id: int
    event: str
    actor: Account
    created_at: datetime
    detail: dict[str, Any] = field(default_factory=dict)
    """Records, not JSON: `reviewer`, `source`, `label`, `state_reason`, `commit_id`."""


@dataclass(slots=True)
class Issue:
    """An issue, or the issue half of a pull request."""

    id: int
    repo: Repo
    number: int
    title: str
    body: str | None
    user: Account
    created_at: datetime
    updated_at: datetime
    state: Literal["open", "closed"] = "open"
    state_reason: str | None = None
    closed_at: datetime | None = None
    closed_by: Account | None = None
    labels: list[Label] = field(default_factory=list)
    assignees: list[Account] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)
    events: list[TimelineEvent] = field(default_factory=list)
    reactions: list[Reaction] = field(default_factory=list)
    pull: Pull | None = None


@dataclass(slots=True)
class Pull:
    """The pull request half."""

    id: int
    issue: Issue
    head_ref: str
    base_ref: str
    head_sha: str
    base_sha: str
    draft: bool = False
    merged_at: datetime | None = None
    merge_commit_sha: str | None = None
    maintainer_can_modify: bool = False
    requested: list[Account] = field(default_factory=list)
    reviews: list[Review] = field(default_factory=list)
    review_comments: list[ReviewComment] = field(default_factory=list)


@dataclass(slots=True)
class Review:
    """A review of a pull request."""

    id: int
    pull: Pull
    user: Account
    body: str
    state: Literal["APPROVED", "CHANGES_REQUESTED", "COMMENTED", "DISMISSED", "PENDING"]
    commit_id: str
    submitted_at: datetime | None
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Anchor:
    """Where in a diff a comment is. All None for a file."""

    side: Literal["LEFT", "RIGHT"] | None = None
    line: int | None = None
    start_side: Literal["LEFT", "RIGHT"] | None = None
    start_line: int | None = None
    position: int | None = None


@dataclass(slots=True)
class ReviewComment:
    """An inline comment."""

    id: int
    review: Review
    user: Account
    path: str
    body: str
    subject_type: Literal["line", "file"]
    original: Anchor
    now: Anchor
    """Where the original place is in the newest diff; without a line once a push removed it."""
    original_commit_id: str
    commit_id: str
    diff_hunk: str
    created_at: datetime
    updated_at: datetime
    in_reply_to: ReviewComment | None = None
    reactions: list[Reaction] = field(default_factory=list)


@dataclass(slots=True)
class CheckSuite:
    """The check runs of one App on one commit."""

    id: int
    app: App
    repo: Repo
    head_sha: str
    head_branch: str | None
    created_at: datetime
    updated_at: datetime
    before: str | None = None
    runs: list[CheckRun] = field(default_factory=list)

    @property
    def status(self) -> str:
        """Queued until a run exists, completed when all are."""
        if not self.runs:
            return "queued"
        return "completed" if all(run.status == "completed" for run in self.runs) else "in_progress"

    @property
    def conclusion(self) -> str | None:
        """The worst conclusion of its runs."""
        if self.status != "completed":
            return None
        order = ("action_required", "failure", "timed_out", "cancelled", "success", "neutral", "skipped")
        return min((run.conclusion or "neutral" for run in self.runs), key=order.index)


@dataclass(slots=True)
class CheckRun:
    """A check run."""

    id: int
    suite: CheckSuite
    name: str
    status: str
    external_id: str
    details_url: str
    started_at: datetime
    conclusion: str | None = None
    completed_at: datetime | None = None
    title: str | None = None
    summary: str | None = None
    text: str | None = None
    annotations: list[dict[str, Any]] = field(default_factory=list)
    actions: list[dict[str, Any]] = field(default_factory=list)


@dataclass(slots=True)
class Status:
    """A commit status."""

    id: int
    sha: str
    state: str
    context: str
    description: str | None
    target_url: str | None
    creator: Account
    created_at: datetime
