"""The leaderboard: ranks with ties, figures with intervals, coverage, and what reading and running each one costs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bot.analysis import about, strata
from bot.analysis.figures import Board, Standing
from bot.analysis.sheet import Cell, Column, Document, Kind, Sheet, as_json, without_empty
from bot.render.figures import NOT_JUDGED, Tally, counted_at_all, coverage, left_out, status_words
from scoring.model import Counts, TrialScore

Json = Any
SCHEMA = "assay.leaderboard/1"
COUNTS: tuple[Tally, ...] = ("tp", "fp", "fn", "valid", "duplicate", "unscored")
COUNT_COLUMNS = tuple(Column(name, name.upper() if len(name) == 2 else name, Kind.COUNT) for name in COUNTS)
_MAIN = (
    Column("rank", "best rank", Kind.COUNT),
    Column("worst_rank", "worst rank", Kind.COUNT),
    Column("reviewer", "reviewer"),
    Column("f1", "F1", Kind.ESTIMATE),
    Column("precision", "precision", Kind.ESTIMATE),
    Column("recall", "recall", Kind.ESTIMATE),
    Column("recall_bound", "recall if unrun = missed", Kind.NUMBER),
    *COUNT_COLUMNS,
    Column("coverage", "coverage"),
)
_PRICE = (
    Column("reviewer", "reviewer"),
    Column("alarms_per_clean", "FP per clean pull request", Kind.ESTIMATE),
    Column("quiet", "quiet on clean", Kind.ESTIMATE),
    Column("words_per_find", "words per find", Kind.ESTIMATE),
    Column("cost_per_review", "$ per review", Kind.NUMBER),
    Column("cost_per_find", "$ per find", Kind.NUMBER),
    Column("seconds", "median seconds", Kind.NUMBER),
    Column("duel_wins", "chance to beat the average", Kind.ESTIMATE),
    Column("macro_f1", "macro F1", Kind.ESTIMATE),
)
_PULLS = (
    Column("pull", "pull request"),
    Column("reviewer", "reviewer"),
    Column("status", "status"),
    Column("scored", "scored"),
    *COUNT_COLUMNS,
)
_RANKS = (
    "Best rank: one more than the reviewers that are ahead by more than chance on shared pull requests, all pairs "
    "taken together (Holm); worst rank: the last one the evidence leaves open. A reviewer's place is anywhere between "
    "the two, whatever the F1 beside them says."
)


def document(board: Board, by: str | None = None, per_pull: bool = False) -> Document:
    """The leaderboard.

    Args:
        board: The figures.
        by: Give every reviewer's figures by `language`, `category`, `severity` or `size` too.
        per_pull: Give the counts of each pull request too.
    """
    prices = _prices(board)
    empty = len(prices.columns) == 1
    sheets = [_main(board), *([] if empty else [prices])]
    record = _record(board)
    if by is not None:
        found = strata.of(board.scored, by, board.resampler)
        sheets.append(strata.sheet(found, by))
        record["strata"] = {"by": by, "rows": strata.record(found)}
    if per_pull:
        sheets.append(pulls(board.scored.report.trials))
        record["pulls"] = [pull_record(one) for one in board.scored.report.trials]
    return Document(
        title=about.title(board.scored.report),
        sheets=tuple(sheets),
        record=record,
        main=sheets[-1].key if by is not None or per_pull else "leaderboard",
        notes=(
            *(prices.notes if empty else ()),
            about.intervals_note(board.seed, board.resampler),
            *about.caveats(board.scored),
        ),
    )


def _main(board: Board) -> Sheet:
    rows = tuple(_row(board, one) for one in board.standings)
    return Sheet("leaderboard", "Leaderboard", _MAIN, rows, (_RANKS, *_unasked(board), *_ties(board)))


def _row(board: Board, one: Standing) -> tuple[Cell, ...]:
    micro, row = one.intervals.micro, one.row
    counts: tuple[Cell, ...] = tuple(
        getattr(row.counts, name) if counted_at_all(row, name) else None for name in COUNTS
    )
    return (
        one.place.rank,
        one.place.worst,
        one.reviewer,
        micro.f1,
        micro.precision,
        micro.recall,
        row.recall_bound.value,
        *counts,
        coverage(row.coverage, left_out(board.scored.report.trials, one.reviewer)),
    )


def _unasked(board: Board) -> Iterator[str]:
    unasked = [one.reviewer for one in board.standings if one.row.coverage.scored and not one.row.valid_judged]
    if unasked:
        who = "" if len(unasked) == len(board.standings) else f" of {', '.join(unasked)}"
        yield f"No count of `valid`{who}: {NOT_JUDGED}."


def _ties(board: Board) -> Iterator[str]:
    ranked = [one.reviewer for one in board.standings if one.place.rank is not None]
    pairs = len(ranked) * (len(ranked) - 1) // 2
    if pairs:
        yield f"Of {pairs} pair{'' if pairs == 1 else 's'} of reviewers this evidence separates {len(board.separated)}."


def _prices(board: Board) -> Sheet:
    rows = tuple(
        (
            one.reviewer,
            one.noise.alarms_per_clean,
            one.noise.quiet,
            one.noise.words_per_find,
            one.price.per_review,
            one.price.per_find,
            one.price.seconds,
            None if one.strength is None else one.strength.wins,
            one.intervals.macro.f1,
        )
        for one in board.standings
    )
    return without_empty(Sheet("price", "Noise, price and strength", _PRICE, rows))


def pulls(trials: tuple[TrialScore, ...]) -> Sheet:
    """A row for every trial."""
    rows = tuple(
        (
            one.trial.pull,
            one.trial.reviewer,
            status_words(one.trial.status),
            "yes" if one.scored else "no",
            *(getattr(one.counts, name) if _counted(one, name) else None for name in COUNTS),
        )
        for one in trials
    )
    return Sheet("pulls", "By pull request", _PULLS, rows)


def _counted(one: TrialScore, name: str) -> bool:
    return one.scored and (name != "valid" or one.valid_judged)


def pull_record(one: TrialScore) -> dict[str, Json]:
    """The same for machines."""
    trial = one.trial
    return {
        "pull": trial.pull,
        "reviewer": trial.reviewer,
        "status": trial.status.value,
        "complete": trial.complete,
        "scored": one.scored,
        **counts_record(one.counts),
    }


def counts_record(counts: Counts) -> dict[str, Json]:
    """Counts for machines."""
    found: dict[str, Json] = as_json(counts)
    return found


def _record(board: Board) -> dict[str, Json]:
    return {
        "schema": SCHEMA,
        **about.provenance(board.scored),
        "intervals": about.drawn(board.seed, board.resampler),
        "reviewers": [_standing(one) for one in board.standings],
        "separated": [{"ahead": ahead, "behind": behind} for ahead, behind in sorted(board.separated)],
        "notes": list(about.caveats(board.scored)),
    }


def _standing(one: Standing) -> dict[str, Json]:
    row = one.row
    return {
        "rank": one.place.rank,
        "worst_rank": one.place.worst,
        "reviewer": one.reviewer,
        **counts_record(row.counts),
        **as_json(one.intervals.micro),
        "recall_bound": as_json(row.recall_bound),
        "macro": as_json(one.intervals.macro),
        "wilson": as_json({"precision": row.precision, "recall": row.recall, "f1": row.f1}),
        "coverage": as_json(row.coverage),
        "noise": as_json(one.noise),
        "price": as_json(one.price),
        "strength": as_json(one.strength),
    }
