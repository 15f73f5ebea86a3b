"""The words of a run as values. Nothing here knows GitHub's JSON, SQL or the clock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal, NewType

from bot.frozen import Frozen
from bot.model_events import Actor as Actor
from bot.model_events import ButtonPressed as ButtonPressed
from bot.model_events import Event as Event
from bot.model_events import Ignored as Ignored
from bot.model_events import Installed as Installed
from bot.model_events import IssueCommented as IssueCommented
from bot.model_events import IssueEdited as IssueEdited
from bot.model_events import IssueOpened as IssueOpened
from bot.model_events import PullActivity as PullActivity
from bot.model_events import Pushed as Pushed
from bot.model_events import Rejected as Rejected
from bot.model_events import RepoName as RepoName
from bot.model_pace import Bucket as Bucket
from bot.model_pace import ReviewerBudget as ReviewerBudget
from scoring.model import PullId, ReviewerId, TrialStatus

Sha = NewType("Sha", str)
RunId = NewType("RunId", str)
"""`<issue id>-<ordinal>`: the n-th run asked for in that issue."""
ForkId = NewType("ForkId", str)
"""The pull id, or `<pull id>~<reviewer>` under per-reviewer isolation. Unique inside a run."""

Raw = Mapping[str, Any]
"""One object as GitHub's REST API gave it."""


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
    """How reviewers may be published that `publish_each` does not name."""
    max_cost: float | None = None
    """US dollars of judge calls; None: no limit was set."""
    publish_each: tuple[tuple[ReviewerId, Publish], ...] = ()
    """Reviewers that may be published in another way than the rest."""
    built_in: tuple[ReviewerId, ...] = ()
    """Those of the reviewers that are no bots: they review here and write nothing on GitHub."""

    @property
    def modes(self) -> dict[ReviewerId, Publish]:
        """How each reviewer may be published."""
        return dict.fromkeys(self.reviewers, self.publish) | dict(self.publish_each)


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
    RETRY = "retry"
    REJUDGE = "rejudge"
    EXTEND = "extend"
    CLEANUP = "cleanup"
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
    repositories_per_hour: int = 100
    """GitHub names no limit for these, only that some are lower than the others."""


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
    asked_by: str = ""
    """A hash of the issue's text that the request was read from; empty where a command asked."""
    frozen: Frozen = field(default_factory=Frozen)
    budgets: tuple[ReviewerBudget, ...] = ()
    follows: str = ""
    """The run of which this one repeats trials that were not scored."""

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
class Orders:
    """What was commanded of a run after it had begun."""

    extended: tuple[tuple[str, float], ...] = ()
    """(what commanded it, minutes) by which its deadlines were moved."""
    judges: tuple[str, ...] = ()
    """Who judged it, as the judges call themselves, the first one first; empty until somebody judged it again."""

    @property
    def extra_seconds(self) -> float:
        """By how much every deadline of the run is later than it was planned."""
        return sum(minutes for _, minutes in self.extended) * 60


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
class Button:
    """A button on a check run, within GitHub's limits: 20, 40 and 20 characters."""

    label: str
    description: str
    identifier: str


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
    buttons: tuple[Button, ...] = ()


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
