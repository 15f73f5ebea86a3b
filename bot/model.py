"""The words of a run as values. Nothing here knows GitHub's JSON, SQL or the clock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal, NewType

from scoring.model import PullId, ReviewerId, TrialStatus

Sha = NewType("Sha", str)
RunId = NewType("RunId", str)
"""`<issue id>-<ordinal>`: the n-th run asked for in that issue."""
ForkId = NewType("ForkId", str)
"""The pull id, or `<pull id>~<reviewer>` under per-reviewer isolation. Unique inside a run."""

Raw = Mapping[str, Any]
"""One object as GitHub's REST API gave it."""


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


# --- what webhooks turn into ------------------------------------------------------------------------------------


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
class Installed:
    """The App was installed on an account."""

    installation: int
    account: str
    sender: Actor


Event = IssueOpened | IssueCommented | PullActivity | Installed


@dataclass(frozen=True, slots=True)
class Ignored:
    """A genuine delivery that is none of our business."""

    reason: str


@dataclass(frozen=True, slots=True)
class Rejected:
    """A delivery that is not genuine or not readable; `status` is the HTTP answer."""

    status: Literal[400, 401, 403, 413]
    reason: str


# --- what issues turn into --------------------------------------------------------------------------------------


class Visibility(StrEnum):
    """Who can see the forks of a run."""

    PRIVATE = "private"
    PUBLIC = "public"


class Isolation(StrEnum):
    """Whether reviewers share a fork."""

    SHARED = "shared"
    PER_REVIEWER = "per-reviewer"


class Publish(StrEnum):
    """How much of a result may be shown on GitHub."""

    PRIVATE = "private"
    ANONYMOUS = "anonymous"
    NAMED = "named"


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What somebody asked for, validated."""

    suite: str
    reviewers: tuple[ReviewerId, ...]
    judge: str
    wait_minutes: float | None = None
    """None: the registry's wait for each reviewer."""
    pulls: tuple[PullId, ...] | None = None
    """None: every golden pull request of the suite."""
    visibility: Visibility = Visibility.PRIVATE
    isolation: Isolation = Isolation.SHARED
    publish: Publish = Publish.PRIVATE
    max_cost: float | None = None
    """US dollars of judge calls; None: no limit was set."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with a request, said so that the writer can mend it."""

    field: str
    """The form's label."""
    message: str
    allowed: tuple[str, ...] = ()
    did_you_mean: str | None = None


@dataclass(frozen=True, slots=True)
class Problems:
    """Everything wrong with a request at once. Never empty."""

    items: tuple[Problem, ...]


class CommandKind(StrEnum):
    """What a comment can ask of a run."""

    STATUS = "status"
    CANCEL = "cancel"
    HELP = "help"


@dataclass(frozen=True, slots=True)
class Command:
    """`/assay <kind> [argument]`."""

    kind: CommandKind
    argument: str = ""


# --- the plan ---------------------------------------------------------------------------------------------------


class TriggerKind(StrEnum):
    """How a reviewer is asked."""

    AUTO = "auto"
    COMMENT = "comment"
    REVIEW_REQUEST = "review_request"


@dataclass(frozen=True, slots=True)
class Trigger:
    """How a reviewer is asked. `text` is the comment, or the login of the reviewer to request."""

    kind: TriggerKind
    text: str = ""


@dataclass(frozen=True, slots=True)
class ForkPlan:
    """One fork to make. Everything we author is here, derived from the run's secret, the same on every retry."""

    id: ForkId
    pull: PullId
    names: tuple[str, ...]
    """Repository names to try, in order: the next one is used only if GitHub says that one is taken."""
    base_branch: str
    head_branch: str
    title: str
    body: str
    reviewers: tuple[ReviewerId, ...]


@dataclass(frozen=True, slots=True)
class WriteLimits:
    """How fast one identity may create content; GitHub's published limits by default."""

    per_minute: int = 80
    per_hour: int = 500
    spacing_seconds: float = 1.0
    """Least time between two writes."""


@dataclass(frozen=True, slots=True)
class RunPlan:
    """What a run will do, before anything is done."""

    run: RunId
    org: str
    request: RunRequest
    suite_hash: str
    forks: tuple[ForkPlan, ...]
    warnings: tuple[str, ...]
    minutes: float
    """Estimated wall clock, from the content-write limits and the reviewers' waits."""
    writes: int
    """Estimated content writes."""

    @property
    def trials(self) -> int:
        """Forks x reviewers."""
        return sum(len(fork.reviewers) for fork in self.forks)


# --- waiting ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything read from one fork's conversation at one moment, raw, all pages. Lists are as GitHub ordered them."""

    repo: RepoName
    pull: int
    head_sha: str
    read_started: datetime
    """GitHub's clock (the answer's Date) when the read began. Timezone-aware UTC."""
    pull_request: Raw
    reviews: tuple[Raw, ...] = ()
    review_comments: tuple[Raw, ...] = ()
    issue_comments: tuple[Raw, ...] = ()
    check_runs: tuple[Raw, ...] = ()
    """Each with its full list under `annotations`."""
    statuses: tuple[Raw, ...] = ()
    reactions: tuple[Raw, ...] = ()
    requested_reviewers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Asks:
    """When a reviewer was asked (opening counts as the first ask). Timezone-aware UTC, ascending, never empty."""

    at: tuple[datetime, ...]


@dataclass(frozen=True, slots=True)
class Settled:
    """A trial is over."""

    status: TrialStatus
    complete: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """A trial is open; look again at `until` at the latest."""

    until: datetime
    ask_again: bool = False
    """The reviewer's rate-limit window is over and it may be asked once more now."""


Decision = Settled | Waiting


# --- what render produces ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Annotation:
    """One line of a check run's annotations."""

    path: str
    start_line: int
    end_line: int
    level: Literal["notice", "warning", "failure"]
    title: str
    message: str


@dataclass(frozen=True, slots=True)
class CheckRun:
    """A completed check run, within GitHub's limits except that annotations are not yet cut into fifties."""

    name: str
    head_sha: str
    external_id: str
    title: str
    summary: str
    conclusion: Literal["neutral", "success", "skipped", "action_required"]
    annotations: tuple[Annotation, ...] = field(default=())
    text: str = ""


@dataclass(frozen=True, slots=True)
class RunProgress:
    """Counts for the progress comment: it may name no fork, golden or verdict."""

    stage: str
    """planned, forking, waiting, scoring, publishing, done, cancelled or failed."""
    forks: int
    forks_open: int
    """Not over yet, made or not."""
    trials_by_status: Mapping[str, int]
    """`waiting` and `queued` beside the final statuses."""
    warnings: tuple[str, ...] = ()
    started: datetime | None = None
    note: str = ""
