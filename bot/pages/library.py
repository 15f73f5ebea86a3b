"""What there is to look at, wherever it is kept: a database with its bundles, or bundles alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from bot.analysis.figures import Board
from bot.pages.links import slug
from scoring.model import PullId, ReviewerId


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

    @property
    def slug(self) -> str:
        """Its part of an address."""
        return slug(self.id)

    @property
    def trials(self) -> int:
        """How many there are in all."""
        return len(self.reviewers) * len(self.pulls)

    @property
    def open_trials(self) -> int:
        """How many are not over."""
        return max(0, self.trials - sum(self.trials_by_status.values()))

    @property
    def over(self) -> bool:
        """Whether nothing of it will change by itself."""
        return self.stage in ("done", "failed", "cancelled", "stored")


@dataclass(frozen=True, slots=True)
class Choice:
    """Whose judgement is shown, under which rules."""

    judge: str = ""
    """Empty: the one the run asked for."""
    profile: str = "assay"


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

    def judges(self, run: str) -> tuple[str, ...]:
        """The judges whose answers the run's bundle holds, the run's own first."""
        ...

    def diff(self, run: str, pull: PullId) -> str | None:
        """The unified diff of a pull request; None where the evidence does not hold it."""
        ...
