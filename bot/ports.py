"""The questions and deeds the workflows need from the outside world. Adapters implement them; rules never see them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from bot.model import (
    Asks,
    Bucket,
    ForkId,
    Orders,
    RepoName,
    RunId,
    RunPlan,
    RunProgress,
    Settled,
    Sha,
    Snapshot,
)
from bot.neutral_preflight import TreeFinding
from bot.neutral_reviewers import TreeNeeds
from bot.ports_github import AppIdentity as AppIdentity
from bot.ports_github import Author as Author
from bot.ports_github import AuthorAccount as AuthorAccount
from bot.ports_github import GitHub as GitHub
from bot.ports_github import GitHubApp as GitHubApp
from bot.ports_github import GitHubError as GitHubError
from bot.rulings import Ruling
from goldens.model import GoldenPull
from scoring.judges.asks import Ask, Reply
from scoring.model import PullId, ReviewerId, TrialStatus

Json = Any


class GitFailure(Exception):
    """Git did not do what was asked; the message is fit for people and holds no token."""

    def __init__(self, message: str, *, retryable: bool) -> None:
        super().__init__(message)
        self.retryable = retryable


class ModelError(Exception):
    """A language model did not answer. `status` 0: there was no answer at all. The message holds no key."""

    def __init__(
        self, status: int, message: str, *, retry_after: float | None = None, outcome_unknown: bool = False
    ) -> None:
        super().__init__(f"{status or 'no answer'}: {message}")
        self.status = status
        self.message = message
        self.retry_after = retry_after
        """Seconds the provider asks us to wait."""
        self.outcome_unknown = outcome_unknown
        """Whether the call may have been worked on, and charged, all the same."""

    @property
    def retryable(self) -> bool:
        """Whether the same call may be answered later."""
        return self.status in (0, 408, 409, 425, 429) or self.status >= 500


@dataclass(frozen=True, slots=True)
class ForkCommits:
    """The two commits of a fork and the proof that they are the golden pull request."""

    base_sha: Sha
    head_sha: Sha
    base_tree: Sha
    head_tree: Sha
    patch_id: str
    stripped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """What else a reader of the result should know: files kept although a rule names them, another merge base."""
    base_is: str = ""
    """What the base commit is known to be: the merge base or not. Empty where the files ship with the suite."""
    kept: tuple[str, ...] = ()
    """Files that a rule names and that stay on both sides, because the golden pull request changes them."""
    injected: tuple[str, ...] = ()
    """Workflows of reviewers, written to both sides."""
    findings: tuple[TreeFinding, ...] = ()
    """What else the trees hold that a host or a reviewer may mind."""
    residual: Mapping[str, int] = field(default_factory=dict)
    """What the files still give away of where they come from: kind -> count."""


@dataclass(frozen=True, slots=True)
class TwoTrees:
    """The files of a fork before and after its change: path -> content."""

    base: Mapping[str, bytes]
    head: Mapping[str, bytes]
    whole: bool
    """Whether it is all files; else those that the change touches."""


class ForkBuilder(Protocol):
    """Git, as the fork workflow needs it."""

    def build(
        self,
        run: RunId,
        fork: ForkId,
        pull: GoldenPull,
        *,
        secret: bytes,
        title: str,
        needs: TreeNeeds,
        upstream_token: str | None = None,
    ) -> ForkCommits:
        """Make both commits in a scratch repository; the same secret and needs give the same SHAs.

        A private upstream is read with `upstream_token`, which goes to GitHub and nowhere else.

        Raises:
            GitFailure: the commits cannot be had or made.
        """
        ...

    def push(self, run: RunId, fork: ForkId, clone_url: str, token: str, refs: Mapping[str, Sha]) -> None:
        """Push the branches in the order given, and nothing else. Branches that are there already are left.

        Raises:
            GitFailure: the push was refused or did not arrive.
        """
        ...

    def branches(self, clone_url: str, token: str) -> Mapping[str, Sha]:
        """The branches that stand there.

        Raises:
            GitFailure: nobody can tell.
        """
        ...

    def diff(self, run: RunId, fork: ForkId, commits: ForkCommits) -> str: ...
    def trees(self, run: RunId, fork: ForkId, commits: ForkCommits) -> TwoTrees:
        """The files of both commits.

        Raises:
            GitFailure: they are not in the scratch repository, or are more than can be read.
        """
        ...


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run as stored."""

    id: RunId
    issue_id: int
    installation: int
    control_repo: RepoName
    issue: int
    plan: RunPlan
    secret: bytes
    stage: str
    created_at: datetime
    public: bool = True
    """Whether the control repository was public when the run was asked for."""
    note: str = ""
    report_hash: str | None = None
    ended_at: datetime | None = None
    """When it was seen to be over."""
    orders: Orders = field(default_factory=Orders)


@dataclass(frozen=True, slots=True)
class ForkRow:
    """A fork as stored."""

    run: RunId
    id: ForkId
    pull_id: PullId
    state: str
    """planned, open, failed, settled or published."""
    repo: RepoName | None = None
    repo_id: int | None = None
    pull: int | None = None
    commits: ForkCommits | None = None
    problem: str = ""
    opened_at: datetime | None = None
    wake_at: datetime | None = None
    """When it is to be looked at again; long past means that the waking was lost."""
    retired: str = ""
    """archived, deleted, gone or kept: what became of its repository once the run was over."""


@dataclass(frozen=True, slots=True)
class TrialRow:
    """A trial as stored; `status` is None while it is open."""

    fork: ForkId
    reviewer: ReviewerId
    status: TrialStatus | None
    complete: bool
    reason: str
    asks: Asks | None
    snapshot: int | None = None
    """The snapshot version it settled on: what the reviewer said after that is kept, flagged and never scored."""


class Ledger(Protocol):
    """Every outbound write: meant, paced, confirmed."""

    def result(self, key: str) -> Json | None:
        """What a confirmed write gave; None while it is not confirmed."""
        ...

    def intend(self, key: str, kind: str, now: datetime) -> datetime:
        """Note that we are about to write. Gives the time of the first intent for this key."""
        ...

    def attempts(self, key: str) -> int:
        """How many sends may have been done: sent, and not refused."""
        ...

    def sent(self, key: str, now: datetime) -> datetime | None:
        """Note, before sending, that the write goes out now, and give None.

        Where writes of its identity that came late have gone out too lately: note nothing, and give when to ask again.
        """
        ...

    def refused(self, key: str) -> None:
        """Note that the last send was answered with a no: it was not done."""
        ...

    def reserve(self, key: str, identity: str, now: datetime) -> datetime:
        """The moment this write may go out under the content limits of the identity; kept for the key."""
        ...

    def pace(self, key: str, buckets: Sequence[Bucket], now: datetime) -> datetime:
        """The first moment that breaks no limit of any of the buckets; kept for the key, in all of them."""
        ...

    def confirm(self, key: str, result: Json, now: datetime) -> None: ...


class Store(Protocol):
    """Our own record of runs."""

    def create_run(self, run: RunRow, reviewers: Sequence[ReviewerId]) -> bool:
        """Write a run with its forks and trials in one transaction; False if it was there already."""
        ...

    def run(self, run: RunId) -> RunRow: ...
    def runs_of_issue(self, issue_id: int) -> tuple[RunRow, ...]: ...
    def active_runs(self) -> tuple[RunRow, ...]: ...
    def all_runs(self) -> tuple[RunRow, ...]: ...
    def find_run(self, run: RunId) -> RunRow | None:
        """The run of that id, if there is one."""
        ...

    def settled(self, wanted: Sequence[RunId]) -> Mapping[RunId, Mapping[str, int]]:
        """Of each run how many trials are over, by status: one question for all of them."""
        ...

    def set_stage(self, run: RunId, stage: str, note: str = "") -> None: ...
    def advance(self, run: RunId, from_stages: Sequence[str], to: str) -> bool:
        """Move a run on if it is in one of `from_stages`; False where it is not."""
        ...

    def mark_ended(self, now: datetime) -> None:
        """Note of every run that is over and has no end yet that it has ended."""
        ...

    def ended_runs(self, before: datetime) -> tuple[RunRow, ...]:
        """Runs that ended before then and have forks of which nobody has decided what becomes of them."""
        ...

    def extend(self, run: RunId, order: str, minutes: float) -> RunRow:
        """Move the run's deadlines, once for each order, and give the run as it now is."""
        ...

    def judged_by(self, run: RunId, judges: Sequence[str]) -> None:
        """Note who has judged the run, beside those noted before."""
        ...

    def retire(self, run: RunId, fork: ForkId, how: str) -> None:
        """Note what became of a fork's repository."""
        ...

    def forks(self, run: RunId) -> tuple[ForkRow, ...]: ...
    def fork(self, run: RunId, fork: ForkId) -> ForkRow: ...
    def fork_by_repo(self, repo: RepoName) -> ForkRow | None: ...
    def fork_by_repo_id(self, repo_id: int) -> ForkRow | None: ...
    def cursor(self, name: str) -> str | None:
        """Where reading goes on; None where nobody has read yet."""
        ...

    def set_cursor(self, name: str, value: str) -> None: ...
    def fork_opened(self, fork: ForkRow, asks: Mapping[ReviewerId, datetime]) -> None: ...
    def set_fork_state(self, run: RunId, fork: ForkId, state: str, problem: str = "") -> None: ...
    def set_wake(self, run: RunId, fork: ForkId, at: datetime) -> None: ...
    def trials(self, run: RunId, fork: ForkId | None = None) -> tuple[TrialRow, ...]: ...
    def settle(
        self, run: RunId, fork: ForkId, reviewer: ReviewerId, settled: Settled, at: datetime, snapshot: int | None
    ) -> bool:
        """End a trial on a snapshot version; False if it had ended before, which then stands."""
        ...

    def asked(self, run: RunId, fork: ForkId, reviewer: ReviewerId, at: datetime) -> None: ...
    def keep_snapshot(self, run: RunId, fork: ForkId, snapshot: Snapshot) -> int | None:
        """Keep a snapshot and give its version; None if one whose read began later is kept already."""
        ...

    def snapshots(self, run: RunId, fork: ForkId) -> tuple[Snapshot, ...]:
        """Every kept version, oldest first: version 1 is the first."""
        ...

    def progress(self, run: RunId) -> RunProgress: ...
    def save_report(self, run: RunId, report: str, report_hash: str) -> None: ...
    def report(self, run: RunId) -> str | None: ...
    def add_ruling(self, run: RunId, ruling: Ruling) -> Ruling:
        """Keep what a person ruled; it gets its number.

        Raises:
            AlreadyUndone: it takes back what was taken back before, or is none of this run.
        """
        ...

    def rulings(self, run: RunId) -> tuple[Ruling, ...]:
        """Everything that people ruled about a run, oldest first."""
        ...


class Model(Protocol):
    """Language models, by the names `provider/model`."""

    def complete(self, ask: Ask) -> Reply:
        """Make one call, once.

        Raises:
            ModelError: there is no answer to use.
        """
        ...

    def count_tokens(self, model: str, text: str) -> int:
        """About how many tokens a text is. Asks nobody."""
        ...

    def price(self, model: str, prompt_tokens: int, completion_tokens: int) -> float | None:
        """US dollars at list price; None where no price is known. Asks nobody."""
        ...

    def window(self, model: str) -> int | None:
        """How many tokens a prompt may have; None where that is not known. Asks nobody."""
        ...

    def missing_key(self, model: str) -> str | None:
        """What keeps the model from being asked: a variable that is not set, a provider nobody knows. Asks nobody."""
        ...


class Replies(Protocol):
    """What models answered and what was read from it, by hashes over all that decided it. Safe between threads."""

    def get(self, key: str) -> Reply | None:
        """The answer to an ask."""
        ...

    def put(self, key: str, reply: Reply, account: str = "") -> None:
        """Keep an answer, before anybody uses it, and who paid for it."""
        ...

    def spent(self, account: str) -> float:
        """US dollars that an account has paid, as far as prices are known."""
        ...

    def verdicts(self, key: str) -> Json | None:
        """What was read of one candidate."""
        ...

    def keep_verdicts(self, key: str, said: Json) -> None: ...
    def close(self) -> None: ...


Clock = Callable[[], datetime]
