"""How numbers, ranks and statuses are written, the same on every surface."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from scoring.model import Counts, Coverage, Estimate, Report, ReviewerId, ReviewerScore, TrialScore, TrialStatus

UNDEFINED = "\N{EN DASH}"

STATUS_WORDS: Mapping[str, str] = {
    "queued": "queued",
    "waiting": "waiting",
    TrialStatus.REVIEWED_FINDINGS: "reviewed, with findings",
    TrialStatus.REVIEWED_CLEAN: "reviewed, nothing found",
    TrialStatus.SKIPPED: "skipped",
    TrialStatus.RATE_LIMITED: "rate limited",
    TrialStatus.UNABLE: "unable",
    TrialStatus.ERROR: "error",
    TrialStatus.TIMEOUT: "timeout",
    TrialStatus.NOT_INSTALLED: "not installed",
    TrialStatus.NOT_FORKED: "not forked",
    TrialStatus.CANCELLED: "cancelled",
}
"""Every status in the order a reader meets it, and how it is said."""


def status_words(status: str) -> str:
    """A status as people say it.

    Raises:
        ValueError: there is no such status.
    """
    if status not in STATUS_WORDS:
        raise ValueError(f"{status!r} is no trial status; allowed: {', '.join(STATUS_WORDS)}")
    return STATUS_WORDS[status]


def counted(by_status: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    """The statuses that occur, in reading order."""
    order = {status: index for index, status in enumerate(STATUS_WORDS)}
    present = [(status, count) for status, count in by_status.items() if count and status_words(status)]
    return tuple(sorted(present, key=lambda item: order[item[0]]))


class Footnotes:
    """Reasons, numbered as they come up, each once."""

    def __init__(self) -> None:
        self._reasons: list[str] = []

    def number(self, reason: str) -> int:
        """The number of this reason."""
        if reason not in self._reasons:
            self._reasons.append(reason)
        return self._reasons.index(reason) + 1

    def items(self) -> tuple[tuple[int, str], ...]:
        """Number and reason, in order."""
        return tuple(enumerate(self._reasons, start=1))


def number(value: float) -> str:
    """Two decimals."""
    return f"{value:.2f}"


def interval(estimate: Estimate) -> str:
    """`[0.20-0.73]` with a long dash, or nothing where there is none."""
    if estimate.low is None or estimate.high is None:
        return ""
    return f"[{number(estimate.low)}{UNDEFINED}{number(estimate.high)}]"


def figure(estimate: Estimate, notes: Footnotes) -> tuple[str, int | None]:
    """The value with its interval, or a dash; and the number of the footnote that says why something is missing."""
    if estimate.value is None:
        return UNDEFINED, notes.number(estimate.reason or "undefined")
    bounds = interval(estimate)
    if not bounds:
        return number(estimate.value), notes.number(estimate.reason or "no interval could be computed")
    return f"{number(estimate.value)} {bounds}", None


def coverage(cover: Coverage, incomplete: int) -> str:
    """`5 of 8 · 2 skipped · 1 timeout`: what is behind the figures, and what became of the rest."""
    return " · ".join((f"{cover.scored} of {cover.trials}", *not_scored(cover, incomplete)))


def not_scored(cover: Coverage, incomplete: int) -> tuple[str, ...]:
    """What became of the trials that are not behind the figures: `2 skipped`, `1 timeout`."""
    rest = [
        f"{count} {status_words(status)}"
        for status, count in counted(cover.by_status)
        if status not in (TrialStatus.REVIEWED_FINDINGS, TrialStatus.REVIEWED_CLEAN)
    ]
    return (*rest, f"{incomplete} reviewed but not scored") if incomplete else tuple(rest)


def left_out(trials: Iterable[TrialScore], reviewer: ReviewerId) -> int:
    """Trials that the reviewer reviewed and that are not in its figures (cut off, or its goldens are unusable)."""
    return sum(1 for s in trials if s.trial.reviewer == reviewer and s.trial.status.scored and not s.scored)


Tally = Literal["tp", "fp", "fn", "valid", "duplicate", "unscored"]


NOT_JUDGED = "not judged: nobody was asked which claims are sound though no known defect covers them"


def tallies(row: ReviewerScore, *which: Tally) -> tuple[str, ...]:
    """Counts as cells; dashes where no trial was scored, because then nothing was counted, and where nobody judged."""
    return tuple(str(getattr(row.counts, name)) if counted_at_all(row, name) else UNDEFINED for name in which)


def counted_at_all(row: ReviewerScore, name: Tally) -> bool:
    """Whether a count is one. A judge that was not asked what is sound found no sound claims, which is not zero."""
    return bool(row.coverage.scored) and (name != "valid" or row.valid_judged)


def headline(counts: Counts) -> str:
    """`1 TP · 2 FP · 1 FN`, and what else there was."""
    extra = ((counts.valid, "valid"), (counts.duplicate, "duplicate"), (counts.unscored, "unscored"))
    undecided = ((counts.goldens_unscored, "undecided defect" + ("s" if counts.goldens_unscored > 1 else "")),)
    parts = [f"{counts.tp} TP", f"{counts.fp} FP", f"{counts.fn} FN"]
    return " · ".join(parts + [f"{count} {word}" for count, word in extra + undecided if count])


@dataclass(frozen=True, slots=True)
class Ranked:
    """A row and its place. Equal values share a place; without a value there is none."""

    place: int | None
    row: ReviewerScore


def ranked(rows: Sequence[ReviewerScore]) -> tuple[Ranked, ...]:
    """The rows by F1, best first, those without one last. Only the rows given compete."""
    ordered = sorted(rows, key=lambda row: (row.f1.value is None, -(row.f1.value or 0.0), row.reviewer))
    places: list[Ranked] = []
    for position, row in enumerate(ordered, start=1):
        if row.f1.value is None:
            places.append(Ranked(None, row))
        elif places and places[-1].row.f1.value == row.f1.value:
            places.append(Ranked(places[-1].place, row))
        else:
            places.append(Ranked(position, row))
    return tuple(places)


def not_separated(rows: Sequence[Ranked]) -> tuple[tuple[ReviewerScore, tuple[ReviewerScore, ...]], ...]:
    """For each row the lower ones whose F1 interval overlaps its own; rows that overlap with none are left out."""
    pairs = [
        (upper.row, tuple(lower.row for lower in rows[index + 1 :] if _overlap(upper.row.f1, lower.row.f1)))
        for index, upper in enumerate(rows)
    ]
    return tuple((upper, lowers) for upper, lowers in pairs if lowers)


def _overlap(a: Estimate, b: Estimate) -> bool:
    if a.low is None or a.high is None or b.low is None or b.high is None:
        return False
    return a.low <= b.high and b.low <= a.high


def judge_label(report_judge: str) -> str:
    """The judge, with a word of caution where it only compares words."""
    return f"{report_judge} (preview)" if report_judge.startswith("lexical") else report_judge


def quiet(row: ReviewerScore) -> str:
    """`3/4`: clean pull requests on which nothing was claimed."""
    return f"{row.clean_quiet}/{row.clean_pulls}" if row.clean_pulls else UNDEFINED


def suite_line(report: Report) -> str:
    """Which goldens, under which rules: `demo 1 (0a1b2c3d4e5f)`."""
    return f"{report.suite.id} {report.suite.version} ({report.suite.hash[:12]})"
