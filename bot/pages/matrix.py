"""A run as a matrix: what became of every golden pull request under every reviewer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields

from bot.pages.links import slug
from bot.render.figures import STATUS_WORDS
from scoring.bundle import BundlePull
from scoring.model import Counts, PullId, Report, ReviewerId, TrialScore

OUTCOMES = {
    "found": "a defect found",
    "missed": "a defect missed",
    "alarm": "a false alarm",
    "quiet": "nothing claimed",
}
"""What can be looked for in a scored trial, and how it is said."""


@dataclass(frozen=True, slots=True)
class Spot:
    """One trial."""

    status: str
    """Empty while it is open."""
    complete: bool = True
    reason: str = ""
    counts: Counts | None = None
    """None where it is not scored."""

    @property
    def said(self) -> str:
        """Its outcome in a few characters; a status in words stands in for counts that do not exist."""
        if self.counts is None:
            return STATUS_WORDS.get(self.status, "open")
        parts = ((self.counts.tp, "TP"), (self.counts.fp, "FP"), (self.counts.fn, "FN"))
        return " ".join(f"{count} {name}" for count, name in parts if count) or "quiet"

    @property
    def kind(self) -> str:
        """How it is shown: the class of its cell."""
        if self.counts is None:
            return "unscored" if self.status else "open"
        if self.counts.tp:
            return "found"
        return "wrong" if self.counts.fp or self.counts.fn else "quiet"

    def has(self, outcome: str) -> bool:
        """Whether there is such an outcome in it."""
        if self.counts is None:
            return False
        one = self.counts
        held = {"found": one.tp > 0, "missed": one.fn > 0, "alarm": one.fp > 0}
        return held.get(outcome, not (one.tp or one.fp or one.valid or one.unscored))


@dataclass(frozen=True, slots=True)
class Row:
    """One golden pull request."""

    pull: PullId
    title: str
    language: str
    goldens: int
    spots: tuple[Spot, ...]
    """One for each column."""

    @property
    def slug(self) -> str:
        """Its part of an address."""
        return slug(self.pull)


@dataclass(frozen=True, slots=True)
class Column:
    """One reviewer."""

    reviewer: ReviewerId
    scored: int
    trials: int

    @property
    def slug(self) -> str:
        """Its part of an address."""
        return slug(self.reviewer)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which part of a matrix is shown; empty values filter nothing."""

    status: str = ""
    language: str = ""
    reviewer: str = ""
    outcome: str = ""

    @property
    def query(self) -> dict[str, str]:
        """The same for an address."""
        return {one.name: value for one in fields(self) if (value := getattr(self, one.name))}


EVERYTHING = Wanted()


@dataclass(frozen=True, slots=True)
class Matrix:
    """Pull requests x reviewers."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    choices: Mapping[str, Mapping[str, str]]
    """What can be filtered by: name of the filter -> value -> words."""
    pulls: int
    """How many rows there are without a filter."""

    @property
    def reviewers(self) -> tuple[ReviewerId, ...]:
        """Who has a column."""
        return tuple(column.reviewer for column in self.columns)


def of_report(report: Report, pulls: Iterable[BundlePull], wanted: Wanted = EVERYTHING) -> Matrix:
    """The matrix of a report.

    Args:
        report: What was counted.
        pulls: The golden pull requests, in the order of the rows.
        wanted: What to show: columns of a reviewer, rows of a language, and those with a trial of a status or outcome.
    """
    listed = tuple(pulls)
    by_pull: dict[PullId, dict[ReviewerId, TrialScore]] = {pull.id: {} for pull in listed}
    for score in report.trials:
        by_pull[score.trial.pull][score.trial.reviewer] = score
    there = {score.trial.reviewer for score in report.trials}
    everyone = [row for row in report.reviewers if row.reviewer in there]
    columns = tuple(
        Column(row.reviewer, row.coverage.scored, row.coverage.trials)
        for row in everyone
        if wanted.reviewer in ("", row.reviewer)
    )
    rows = (_row(pull, by_pull[pull.id], columns) for pull in listed)
    kept = tuple(row for row in rows if _is_wanted(row, wanted))
    choices = {
        "status": _statuses(report),
        "language": {one: one for one in sorted({pull.language for pull in listed if pull.language})},
        "reviewer": {str(row.reviewer): str(row.reviewer) for row in everyone},
        "outcome": OUTCOMES if there else {},
    }
    return Matrix(columns, kept, choices, len(listed))


def _statuses(report: Report) -> dict[str, str]:
    there = {score.trial.status.value for score in report.trials}
    return {status: words for status, words in STATUS_WORDS.items() if status in there}


def _is_wanted(row: Row, wanted: Wanted) -> bool:
    right_language = wanted.language in ("", row.language)
    right_status = not wanted.status or any(spot.status == wanted.status for spot in row.spots)
    right_outcome = not wanted.outcome or any(spot.has(wanted.outcome) for spot in row.spots)
    return right_language and right_status and right_outcome


def _row(pull: BundlePull, scores: Mapping[ReviewerId, TrialScore], columns: Iterable[Column]) -> Row:
    goldens = sum(golden.status.scored for golden in pull.goldens)
    spots = tuple(_spot(scores.get(column.reviewer)) for column in columns)
    return Row(pull.id, pull.title, pull.language, goldens, spots)


def _spot(score: TrialScore | None) -> Spot:
    if score is None:
        return Spot("")
    trial = score.trial
    return Spot(trial.status.value, trial.complete, trial.reason, score.counts if score.scored else None)


def variants(matrix: Matrix) -> Iterator[Wanted]:
    """The parts that a place without a server offers: one filter at a time, and none by reviewer."""
    for name in ("status", "language", "outcome"):
        values = matrix.choices[name]
        if len(values) > 1:
            yield from (Wanted(**{name: value}) for value in values)
