"""A run as a matrix: what became of every golden pull request under every reviewer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from bot.pages.links import slug
from scoring.model import Counts, PullId, Report, ReviewerId, TrialScore

FINDING = ("reviewed_findings", "reviewed_clean")


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
            return ""
        parts = ((self.counts.tp, "TP"), (self.counts.fp, "FP"), (self.counts.fn, "FN"))
        return " ".join(f"{count} {name}" for count, name in parts if count) or "quiet"


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
class Matrix:
    """Pull requests x reviewers."""

    reviewers: tuple[ReviewerId, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which part of a matrix is shown; empty values filter nothing."""

    status: str = ""
    language: str = ""
    reviewer: str = ""


EVERYTHING = Wanted()


def of_report(report: Report, titles: Mapping[PullId, tuple[str, str]], wanted: Wanted = EVERYTHING) -> Matrix:
    """The matrix of a report.

    Args:
        report: What was counted.
        titles: Pull request -> (title, language).
        wanted: What to show: rows of a language, columns of a reviewer, rows with a trial of a status.
    """
    reviewers = tuple(row.reviewer for row in report.reviewers if wanted.reviewer in ("", row.reviewer))
    by_pull: dict[PullId, dict[ReviewerId, TrialScore]] = {}
    for score in report.trials:
        by_pull.setdefault(score.trial.pull, {})[score.trial.reviewer] = score
    rows = (_row(pull, scores, reviewers, titles.get(pull, ("", ""))) for pull, scores in by_pull.items())
    return Matrix(reviewers, tuple(_filtered(rows, wanted)))


def _filtered(rows: Iterable[Row], wanted: Wanted) -> Iterable[Row]:
    for row in rows:
        right_language = wanted.language in ("", row.language)
        right_status = not wanted.status or any(spot.status == wanted.status for spot in row.spots)
        if right_language and right_status:
            yield row


def _row(
    pull: PullId, scores: Mapping[ReviewerId, TrialScore], reviewers: Iterable[ReviewerId], about: tuple[str, str]
) -> Row:
    goldens = max((len(score.trial.goldens) for score in scores.values()), default=0)
    spots = tuple(_spot(scores.get(reviewer)) for reviewer in reviewers)
    return Row(pull, about[0], about[1], goldens, spots)


def _spot(score: TrialScore | None) -> Spot:
    if score is None:
        return Spot("")
    trial = score.trial
    return Spot(trial.status.value, trial.complete, trial.reason, score.counts if score.scored else None)
