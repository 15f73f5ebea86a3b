"""What there is to look at, wherever it is kept: a database with its bundles, or bundles alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from bot.analysis.figures import Board
from bot.pages.analysis import AS_RUN, Analysis, Choice
from bot.pages.links import slug
from scoring.model import Counts, PullId, ReviewerId


@dataclass(frozen=True, slots=True)
class RunCard:
    """One run, as a list shows it."""

    id: str
    """A run id, or the name of a bundle's file."""
    suite: str
    stage: str
    """Its stage as stored: `forking`, `waiting`, `done` and so on; `stored` for a bundle."""
    reviewers: tuple[ReviewerId, ...]
    pulls: tuple[PullId, ...]
    trials_by_status: Mapping[str, int] = field(default_factory=dict)
    """Trials that are over, by status; what is missing to the product of both is open."""
    started: datetime | None = None
    ended: datetime | None = None
    minutes: float | None = None
    """How long the plan thought it would take."""
    cost: float | None = None
    """US dollars spent on judging, as far as known."""
    note: str = ""
    warnings: tuple[str, ...] = ()
    control: str = ""
    """The control repository, `owner/name`; who may not read it may not see the run."""
    issue_url: str = ""
    anonymous: bool = False
    """Whether reviewers must not be named to the public."""
    private: bool = False
    """Whether nothing but counts may go to the public."""
    planned: int | None = None
    """Trials it was planned to have, where that is not simply every reviewer on every pull request."""
    version: str = ""
    """The version of the suite, where the evidence says it."""
    counted: bool = False
    """Whether there is evidence to count."""
    sums: Counts | None = None
    """All outcomes together, where nothing more may be shown."""
    pulls_count: int | None = None
    """How many golden pull requests there are, where they are not named."""
    hidden: int = 0
    """Reviewers that were left out, because they may not be shown."""

    @property
    def slug(self) -> str:
        """Its part of an address."""
        return slug(self.id)

    @property
    def trials(self) -> int:
        """How many there are in all."""
        return len(self.reviewers) * len(self.pulls) if self.planned is None else self.planned

    @property
    def closed_trials(self) -> int:
        """How many are over."""
        return self.trials - self.open_trials

    @property
    def due(self) -> datetime | None:
        """When the plan thought it would be over."""
        return None if self.started is None or self.minutes is None else self.started + timedelta(minutes=self.minutes)

    @property
    def took(self) -> float | None:
        """Minutes from its start to its end."""
        both = self.started is not None and self.ended is not None
        return (self.ended - self.started).total_seconds() / 60 if both else None  # type: ignore[operator]

    @property
    def open_trials(self) -> int:
        """How many are not over."""
        return max(0, self.trials - sum(self.trials_by_status.values()))

    @property
    def over(self) -> bool:
        """Whether nothing of it will change by itself."""
        return self.stage in ("done", "failed", "cancelled", "stored")


class Library(Protocol):
    """Runs and their evidence. Reads only; what is slow is remembered."""

    def runs(self) -> tuple[RunCard, ...]:
        """Every run, the newest first."""
        ...

    def card(self, run: str) -> RunCard | None:
        """The run with that slug."""
        ...

    def board(self, run: str, judge: str = "") -> Board | None:
        """The figures of a run; None while there is nothing to count. `Board.scored` has bundle and report.

        Raises:
            Unusable: there is no such judge, or the evidence cannot be read.
        """
        ...

    def analysis(self, run: str, choice: Choice = AS_RUN) -> Analysis | None:
        """Everything that is counted of a run, worked out once and kept; None while there is nothing to count.

        Raises:
            Unusable: there is no such judge or no such version of the goldens, or the evidence cannot be read.
        """
        ...

    def goldens(self, run: str) -> tuple[str, ...]:
        """Which other states of the goldens the run can be counted by; the one it was run with is not among them."""
        ...

    def judges(self, run: str) -> tuple[str, ...]:
        """The judges whose answers the run's bundle holds, the run's own first."""
        ...

    def diff(self, run: str, pull: PullId) -> str | None:
        """The unified diff of a pull request; None where the evidence does not hold it."""
        ...
