"""The questions and deeds the workflows need from the outside world. Adapters implement them; rules never see them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from bot.model import (
    Annotation,
    Asks,
    CheckRun,
    ForkId,
    Raw,
    RepoName,
    RunId,
    RunPlan,
    RunProgress,
    Settled,
    Sha,
    Snapshot,
)
from goldens.model import GoldenPull
from scoring.judges.asks import Ask, Reply
from scoring.model import PullId, ReviewerId, TrialStatus

Json = Any


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
    def git_token(self, repo: RepoName) -> str:
        """A token that may push to the repository."""
        ...


class GitHubApp(Protocol):
    """GitHub, as the App itself sees it."""

    @property
    def slug(self) -> str:
        """Our slug, or nothing while nobody has asked for it. Asks nobody."""
        ...

    def identity(self) -> AppIdentity: ...
    def installations(self) -> tuple[tuple[int, str], ...]:
        """(installation id, account login) of each."""
        ...

    def installation(self, installation: int) -> GitHub:
        """GitHub as that installation sees it. Asks nobody."""
        ...


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


class ForkBuilder(Protocol):
    """Git, as the fork workflow needs it."""

    def build(self, run: RunId, fork: ForkId, pull: GoldenPull, *, secret: bytes, title: str) -> ForkCommits:
        """Make both commits in a scratch repository; the same secret gives the same SHAs.

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

    def diff(self, run: RunId, fork: ForkId, commits: ForkCommits) -> str: ...


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

    def sent(self, key: str) -> None:
        """Note, before sending, that the write goes out now."""
        ...

    def refused(self, key: str) -> None:
        """Note that the last send was answered with a no: it was not done."""
        ...

    def reserve(self, key: str, identity: str, now: datetime) -> datetime:
        """The moment this write may go out under the content limits of the identity; kept for the key."""
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
    def set_stage(self, run: RunId, stage: str, note: str = "") -> None: ...
    def advance(self, run: RunId, from_stages: Sequence[str], to: str) -> bool:
        """Move a run on if it is in one of `from_stages`; False where it is not."""
        ...

    def forks(self, run: RunId) -> tuple[ForkRow, ...]: ...
    def fork(self, run: RunId, fork: ForkId) -> ForkRow: ...
    def fork_by_repo(self, repo: RepoName) -> ForkRow | None: ...
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
