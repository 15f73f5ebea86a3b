"""What webhooks turn into, and the names they carry. Part of `bot.model`, which is where everybody takes it from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class RepoName:
    """`owner/name`, as GitHub spells it. Compared without case by `same_as`."""

    owner: str
    name: str

    def __str__(self) -> str:
        return f"{self.owner}/{self.name}"

    @classmethod
    def parse(cls, text: str) -> RepoName:
        """Read `owner/name`.

        Raises:
            ValueError: not exactly one slash, or an empty half.
        """
        owner, slash, name = text.partition("/")
        if not (owner and slash and name) or "/" in name:
            raise ValueError(f"{text!r} is not a repository; write owner/name")
        return cls(owner, name)

    def same_as(self, other: RepoName) -> bool:
        """GitHub's equality: case does not matter."""
        return str(self).lower() == str(other).lower()


@dataclass(frozen=True, slots=True)
class Actor:
    """Who did something. `type` is GitHub's: User, Bot, Organization or Mannequin."""

    login: str
    type: str


@dataclass(frozen=True, slots=True)
class IssueOpened:
    """Somebody opened an issue: maybe a run."""

    installation: int
    repo: RepoName
    issue: int
    issue_id: int
    title: str
    body: str
    author: Actor
    sender: Actor


@dataclass(frozen=True, slots=True)
class IssueCommented:
    """Somebody commented on an issue that is not a pull request: maybe a command."""

    installation: int
    repo: RepoName
    issue: int
    issue_id: int
    comment_id: int
    body: str
    sender: Actor


@dataclass(frozen=True, slots=True)
class IssueEdited:
    """Somebody changed an issue's text: before its run has begun it is read again, afterwards it is too late."""

    installation: int
    repo: RepoName
    issue: int
    issue_id: int
    body: str
    sender: Actor


@dataclass(frozen=True, slots=True)
class ButtonPressed:
    """Somebody pressed a button on one of our check runs."""

    installation: int
    repo: RepoName
    """The fork."""
    check: int
    head_sha: str
    identifier: str
    """What the button stands for, as we named it."""
    sender: Actor


@dataclass(frozen=True, slots=True)
class PullActivity:
    """Somebody did something on a pull request or commit that may be one of our forks. Only a nudge."""

    installation: int
    repo: RepoName
    pull: int | None
    head_sha: str | None
    sender: Actor | None
    what: str
    """`<event>.<action>`."""


@dataclass(frozen=True, slots=True)
class Pushed:
    """Somebody pushed to a repository's default branch: maybe the organisation's own suites."""

    installation: int
    repo: RepoName
    sha: str
    sender: Actor


@dataclass(frozen=True, slots=True)
class Installed:
    """The App was installed on an account."""

    installation: int
    account: str
    sender: Actor


Event = IssueOpened | IssueEdited | IssueCommented | ButtonPressed | PullActivity | Pushed | Installed


@dataclass(frozen=True, slots=True)
class Ignored:
    """A genuine delivery that is none of our business."""

    reason: str


@dataclass(frozen=True, slots=True)
class Rejected:
    """A delivery that is not genuine or not readable; `status` is the HTTP answer."""

    status: Literal[400, 401, 403, 413]
    reason: str
