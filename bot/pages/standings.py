"""A leaderboard as a page shows it: ranks in words, rows that can be sorted and narrowed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace

from bot.analysis.figures import Board, Standing
from bot.pages.analysis import Choice
from bot.pages.links import slug
from bot.render.figures import UNDEFINED, Footnotes, counted_at_all, figure, left_out, not_scored
from scoring.model import Estimate, ReviewerId

OURS = "assay"
"""The profile of our own rules."""
PROFILES = (OURS, "martian", "cpp16", "vibeops", "codevetter", "crbench", "swe")
"""Whose rules there are; as in `scoring.profiles`, which is loaded when one is asked for."""
STRATA = ("language", "category", "severity", "size")


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of a leaderboard; empty values ask for nothing in particular."""

    judge: str = ""
    goldens: str = ""
    profile: str = ""
    by: str = ""
    sort: str = ""
    named: str = ""
    """Only reviewers whose name holds this."""

    @property
    def choice(self) -> Choice:
        """Whose judgement, and against which goldens."""
        return Choice(self.judge, self.goldens)

    @property
    def query(self) -> dict[str, str]:
        """The same for an address."""
        return {one.name: value for one in fields(self) if (value := getattr(self, one.name))}

    def but(self, **changes: str) -> dict[str, str]:
        """The query with something else in it."""
        return replace(self, **changes).query


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure as people read it: value and interval apart, so that they can be set apart."""

    value: str
    interval: str = ""
    footnote: int | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """One reviewer."""

    rank: str
    reviewer: ReviewerId
    figures: tuple[Figure, ...]
    """F1, precision, recall, and recall if unrun trials were misses."""
    counts: tuple[str, ...]
    """TP, FP, FN."""
    scored: int
    trials: int
    lost: tuple[str, ...]
    """What became of the trials that are not scored."""
    cost: str
    seconds: str

    @property
    def slug(self) -> str:
        """Its part of an address."""
        return slug(self.reviewer)


@dataclass(frozen=True, slots=True)
class Head:
    """One column."""

    key: str
    """What to sort by; empty where nobody would."""
    title: str
    numeric: bool = True
    falls: bool = True
    """Whether the largest comes first."""


@dataclass(frozen=True, slots=True)
class Standings:
    """All rows."""

    heads: tuple[Head, ...]
    lines: tuple[Line, ...]
    total: int
    footnotes: Mapping[int, str]
    sentence: str


HEADS = (
    Head("rank", "rank", falls=False),
    Head("reviewer", "reviewer", numeric=False, falls=False),
    Head("f1", "F1"),
    Head("precision", "precision"),
    Head("recall", "recall"),
    Head("bound", "recall if unrun = missed"),
    Head("found", "found (TP)"),
    Head("alarms", "false alarms (FP)", falls=False),
    Head("missed", "missed (FN)", falls=False),
    Head("coverage", "trials scored"),
    Head("cost", "$ per review", falls=False),
    Head("seconds", "median seconds", falls=False),
)
RANKS = (
    "Rank 1\N{EN DASH}3: the evidence leaves open which of these places it is. One reviewer is ahead of another "
    "only where the difference on the pull requests both were scored on is more than chance, all pairs taken together "
    "(Holm)."
)
_KEYS: Mapping[str, Callable[[Standing], float | str | None]] = {
    "rank": lambda one: one.place.rank,
    "reviewer": lambda one: one.reviewer.casefold(),
    "f1": lambda one: one.intervals.micro.f1.value,
    "precision": lambda one: one.intervals.micro.precision.value,
    "recall": lambda one: one.intervals.micro.recall.value,
    "bound": lambda one: one.row.recall_bound.value,
    "found": lambda one: one.row.counts.tp,
    "alarms": lambda one: one.row.counts.fp,
    "missed": lambda one: one.row.counts.fn,
    "coverage": lambda one: one.row.coverage.scored,
    "cost": lambda one: one.price.per_review,
    "seconds": lambda one: one.price.seconds,
}
SORTS = tuple(_KEYS)


def standings(board: Board, asked: Asked) -> Standings:
    """The rows of a board, sorted and narrowed as asked; by rank if nothing is asked."""
    notes = Footnotes()
    chosen = [one for one in board.standings if asked.named.casefold() in one.reviewer.casefold()]
    lines = tuple(_line(board, one, notes) for one in _sorted(chosen, asked.sort or "rank"))
    return Standings(HEADS, lines, len(board.standings), dict(notes.items()), separation(board))


def _sorted(chosen: list[Standing], sort: str) -> list[Standing]:
    """By a column, who has nothing there last; within equals the order of the ranks stays."""
    head, key = next(one for one in HEADS if one.key == sort), _KEYS[sort]
    known = [one for one in chosen if key(one) is not None]
    known.sort(key=lambda one: key(one), reverse=head.falls)  # type: ignore[arg-type, return-value]
    return known + [one for one in chosen if key(one) is None]


def _line(board: Board, one: Standing, notes: Footnotes) -> Line:
    micro, row = one.intervals.micro, one.row
    counts = tuple(
        str(getattr(row.counts, name)) if counted_at_all(row, name) else UNDEFINED for name in ("tp", "fp", "fn")
    )
    return Line(
        rank=rank(one),
        reviewer=one.reviewer,
        figures=(
            *(_figure(estimate, notes) for estimate in (micro.f1, micro.precision, micro.recall)),
            Figure(_number(row.recall_bound.value)),
        ),
        counts=counts,
        scored=row.coverage.scored,
        trials=row.coverage.trials,
        lost=not_scored(row.coverage, left_out(board.scored.report.trials, one.reviewer)),
        cost=_number(one.price.per_review, 3),
        seconds=_number(one.price.seconds, 0),
    )


def rank(one: Standing) -> str:
    """`2`, or `1-3` with a long dash where the evidence leaves open which of these it is."""
    best, worst = one.place.rank, one.place.worst
    if best is None:
        return UNDEFINED
    return str(best) if worst in (None, best) else f"{best}{UNDEFINED}{worst}"


def _figure(estimate: Estimate, notes: Footnotes) -> Figure:
    text, footnote = figure(estimate, notes)
    value, _, interval = text.partition(" ")
    return Figure(value, interval, footnote)


def _number(value: float | None, digits: int = 2) -> str:
    return UNDEFINED if value is None else f"{value:.{digits}f}"


def separation(board: Board) -> str:
    """How far the evidence tells the reviewers apart, in one sentence."""
    ranked = [one.reviewer for one in board.standings if one.place.rank is not None]
    pairs = len(ranked) * (len(ranked) - 1) // 2
    if not pairs:
        return "There are not two reviewers to tell apart."
    if not board.separated:
        return f"The evidence separates none of the {pairs} pairs: all these reviewers are tied."
    return f"Of {pairs} pairs of reviewers the evidence separates {len(board.separated)}; the others are ties."
