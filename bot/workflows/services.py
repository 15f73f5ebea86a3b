"""What the workflows work with: one value, set once when a worker launches.

The engine finds workflows by name among module-level functions, so they cannot carry their adapters themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from bot import builtin_runs, org_suites, pacing
from bot.judging.asking import Means
from bot.judging.choosing import Chosen
from bot.model import Bucket, Publish, RepoName, WriteLimits
from bot.neutral_reviewers import TreeNeeds, tree_needs
from bot.ports import Clock, ForkBuilder, GitHub, GitHubApp, Ledger, RunRow, Store
from bot.registry import Registry, Reviewer
from bot.render.surface import Surface
from goldens.model import Suite


@dataclass(frozen=True, slots=True)
class Timing:
    """How long to wait for what. All in seconds but where it says days."""

    issue_poll: float = 60
    """Between two looks for new issues and commands."""
    poll: float | None = None
    """Between two looks at a fork; None: from the hourly limit and the forks that wait."""
    nudge: float = 5
    """From a bot's webhook to the look it causes, so that a burst is one look."""
    progress: float = 15
    """Least time between two edits of the progress comment."""
    rechecks: tuple[float, ...] = (10, 60)
    """Pauses before looking again for a write whose outcome is unknown."""
    longest_sleep: float = 20
    """A longer wait ends the workflow and queues it again."""
    cleanup_days: float | None = 30
    """From a run's end to the archiving of its forks; None: they are kept until somebody says otherwise."""


@dataclass(frozen=True, slots=True)
class Services:
    """Adapters, data and settings of one worker."""

    store: Store
    ledger: Ledger
    app: GitHubApp
    builder: ForkBuilder
    registry: Registry
    suite_names: Callable[[], tuple[str, ...]]
    load_suite: Callable[[str], Suite]
    judge: Callable[[str], Chosen]
    """The judge of that name.

    Raises:
        ValueError: there is none, or its key is missing; the message says what to do.
    """
    judging: Callable[[float | None, str], Means]
    """What asking a language model takes, within so many US dollars (None: no limit but the operator's) for a run."""
    clock: Clock
    sleep: Callable[[float], None]
    bundles: Path
    run_key: bytes
    """Run secrets derive from it."""
    default_judge: str = "lexical"
    publish: Publish = Publish.PRIVATE
    control_repo: RepoName | None = None
    """The repository whose issues start runs; None: `<account>/assay` of each installation."""
    web_url: str = ""
    """GitHub's web address, for the link to the issue form."""
    timing: Timing = field(default_factory=Timing)
    limits: WriteLimits = field(default_factory=WriteLimits)
    keeps_quotas: bool = True
    """Whether reviewers are asked no more often than the registry says they answer."""
    workflows_granted: bool = False
    """Whether the operator granted the App to push workflow files."""
    private_until_pushed: bool = False
    """Whether a public fork is private until both branches stand."""
    review_models: tuple[str, ...] = ()
    """The language models that a request may have reviewing done by."""

    @property
    def reviews(self) -> Path:
        """Where built-in reviewers leave what they said."""
        return self.bundles.parent / "reviews"

    def github(self, installation: int) -> GitHub:
        """GitHub as that installation sees it."""
        return self.app.installation(installation)

    def registry_of(self, run: RunRow | None) -> Registry:
        """The registry as a run sees it: with its own reviewers as they were when it was planned, and the built-in."""
        if run is None:
            return self.registry
        known = org_suites.frozen_registry(run.plan.frozen, self.registry)
        return builtin_runs.with_built_in(known, run.plan.request.built_in)

    def suite(self, run: RunRow) -> Suite:
        """A run's suite: one that ships, or the organisation's own as it was when the run was planned."""
        return org_suites.frozen_suite(run.plan.frozen) or self.load_suite(run.plan.request.suite)

    def reviewer(self, reviewer: str, run: RunRow | None = None) -> Reviewer:
        """The registry's entry, as a run sees it.

        Raises:
            KeyError: the registry has none of that id any more.
        """
        entry = self.registry_of(run).get(reviewer)
        if entry is None:
            raise KeyError(f"the registry has no reviewer {reviewer!r}")
        return entry

    def needs(self, run: RunRow, reviewers: Iterable[str]) -> TreeNeeds:
        """What the trees of a fork for these reviewers must lack and hold."""
        chosen = [self.reviewer(reviewer, run) for reviewer in reviewers]
        return tree_needs(self.registry_of(run).reviewers, chosen, granted=self.workflows_granted)

    def quotas(self, run: RunRow, reviewers: Iterable[str]) -> tuple[Bucket, ...]:
        """What asking these reviewers counts against."""
        if not self.keeps_quotas:
            return ()
        found = (pacing.bucket(run.plan.org, self.reviewer(reviewer, run)) for reviewer in reviewers)
        return tuple(bucket for bucket in found if bucket is not None)

    def surface(self, run: RunRow | None = None) -> Surface:
        """What may be said on the control issue of a run, or on any issue where there is none yet."""
        if run is None:
            return Surface.of(self.registry.reviewers, {}, public=True)
        return Surface.of(self.registry_of(run).reviewers, run.plan.request.modes, public=run.public)

    def control(self, account: str) -> RepoName:
        """The control repository of an installation's account."""
        return self.control_repo or RepoName(account, "assay")


_current: Services | None = None


def use(services: Services) -> None:
    """Make these the services of this process."""
    global _current
    _current = services


def current() -> Services:
    """The services of this process.

    Raises:
        RuntimeError: `use` was not called: a workflow runs in a process that is no worker.
    """
    if _current is None:
        raise RuntimeError("no services: call workflows.services.use before launching the engine")
    return _current
