"""Who is ahead: on everything, on each suite, on each nested condition, under each judge, by each system's count."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations

from bot.analysis import leaderboard
from bot.analysis.figures import Standing, board
from bot.analysis.sheet import Cell, Column, Sheet
from bot.render.figures import coverage, left_out
from bot.studies.material import Material, only
from bot.studies.record import SUITE_TAG, Nested
from bot.studies.tables.common import (
    BOUNDS,
    REVIEWER,
    NotMade,
    Table,
    bounded_all,
    count,
    figures_of,
    plain,
    share,
    table_of,
)
from scoring import metrics
from scoring.ensembles import mean_rank
from scoring.model import Estimate, GoldenState, OutcomeKind, PullId, ReviewerId, Severity, TrialScore
from scoring.profiles import codevetter
from scoring.statistics.agreement import rank_moves
from scoring.stats import wilson

SAME_MEANING = "A golden counts as found where the judge says that a claim means it, wherever it stands."


def overall(material: Material) -> Sheet:
    """Ranks with ties, and the figures behind them."""
    return _board(material)[0]


def price(material: Material) -> Sheet:
    """What reading and running each one costs."""
    return _board(material)[1]


def _board(material: Material) -> tuple[Sheet, ...]:
    if not material.scored.report.trials:
        raise NotMade("no trial was run")
    made = board(material.scored, material.record.seed)
    sheets = leaderboard.document(replace(made, standings=tuple(map(_bounded, made.standings)))).sheets
    return (replace(sheets[0], notes=(*sheets[0].notes, BOUNDS)), *sheets[1:])


def _bounded(one: Standing) -> Standing:
    counts = one.row.counts
    micro = bounded_all(one.intervals.micro, counts, counts)
    return replace(one, intervals=replace(one.intervals, micro=micro))


def severity_weighted(material: Material) -> Sheet:
    """Figures in which a critical defect counts for more than a nitpick."""
    rows = []
    for reviewer in material.scored.trials.reviewers:
        own = list(material.scored.trials.scored(reviewer).values())
        weighted = metrics.severity_weighted(
            _severities(own, GoldenState.FOUND), _severities(own, GoldenState.MISSED), _alarms(own)
        )
        rows.append((reviewer, len(own), weighted.precision, weighted.recall, weighted.f1))
    columns = (
        REVIEWER,
        count("pulls", "pull requests"),
        plain("precision", "precision"),
        plain("recall", "recall"),
        plain("f1", "F1"),
    )
    weights = ", ".join(f"{level.value} {weight:g}" for level, weight in metrics.WEIGHTS.items())
    note = f"Weights: {weights}; a false alarm weighs what its reviewer called it. No interval: this is no proportion."
    return table_of("severity_weighted", "Weighted by severity", columns, rows, (note,))


def _severities(own: list[TrialScore], state: GoldenState) -> list[Severity]:
    found = []
    for score in own:
        levels = {golden.id: golden.severity for golden in score.trial.goldens}
        found += [levels[one.golden] for one in score.goldens if one.state is state]
    return found


def _alarms(own: list[TrialScore]) -> list[Severity | None]:
    found = []
    for score in own:
        said = {one.id: one.severity for one in score.candidates}
        found += [said[one.candidate] for one in score.outcomes if one.kind is OutcomeKind.FP]
    return found


def suites_of(material: Material) -> tuple[Nested, ...]:
    """The pull requests of each suite."""
    found: dict[str, list[PullId]] = {}
    for pull in material.bundle.pulls:
        found.setdefault(pull.tags[SUITE_TAG], []).append(pull.id)
    return tuple(Nested(name, tuple(pulls)) for name, pulls in found.items())


def by_suite(material: Material) -> Sheet:
    """The figures on each suite alone."""
    columns = (
        Column("suite", "suite"),
        REVIEWER,
        count("tp", "TP"),
        count("fp", "FP"),
        count("fn", "FN"),
        share("f1", "F1"),
        share("precision", "precision"),
        share("recall", "recall"),
        Column("coverage", "coverage"),
    )
    rows = [(suite.name, *row) for suite in suites_of(material) for row in _on(material, suite)]
    return table_of("by_suite", "On each suite", columns, rows, (BOUNDS,))


def _on(material: Material, part: Nested) -> Iterator[tuple[Cell, ...]]:
    names = {one.id for one in material.main}
    there = only(material.scored, names, set(part.pulls))
    for reviewer in there.trials.reviewers:
        scored = there.trials.counts(reviewer)
        total = metrics.total(there.trials.scored(reviewer).values())
        figures = figures_of(scored, material.resampler)
        own = [one for one in there.report.trials if one.trial.reviewer == reviewer]
        covered = coverage(metrics.coverage(own), left_out(own, reviewer))
        yield (
            reviewer,
            total.tp,
            total.fp,
            total.fn,
            figures.f1,
            figures.precision,
            figures.recall,
            covered,
        )


def _nested(material: Material) -> tuple[Nested, ...]:
    parts = material.record.nested or suites_of(material)
    if len(parts) < 2:
        raise NotMade("the study has one suite and names no `conditions`, so there is nothing to rank across")
    return parts


def _f1_on(material: Material, part: Nested) -> dict[ReviewerId, Estimate]:
    trials = material.scored.trials
    pulls = set(part.pulls)
    return {
        name: figures_of(
            {pull: one for pull, one in trials.counts(name).items() if pull in pulls}, material.resampler
        ).f1
        for name in trials.reviewers
    }


def nested(material: Material) -> Sheet:
    """F1 on each nested condition, and the mean of the ranks there."""
    parts = _nested(material)
    figures = {part.name: _f1_on(material, part) for part in parts}
    ranks = mean_rank(
        [{name: one.value for name, one in own.items() if one.value is not None} for own in figures.values()]
    )
    columns = [
        REVIEWER,
        *(share(f"f1_{part.name}", f"F1 on {part.name} (n={len(part.pulls)})") for part in parts),
        plain("mean_rank", "mean rank"),
    ]
    names = sorted(material.scored.trials.reviewers, key=lambda name: (ranks.get(name, float("inf")), name))
    rows = [(name, *(figures[part.name][name] for part in parts), ranks.get(name)) for name in names]
    note = (
        "Mean rank: 1 is best; equal figures share the mean of their ranks. It has no interval: read the ranks' ties."
    )
    return table_of("nested", "Nested conditions and mean rank", columns, rows, (note, BOUNDS))


def rank_agreement(material: Material) -> Sheet:
    """Whether the order of reviewers is the same on each condition."""
    parts = _nested(material)
    figures = {part.name: {name: one.value for name, one in _f1_on(material, part).items()} for part in parts}
    rows = []
    for one, other in combinations(figures, 2):
        moves = rank_moves(figures[one], figures[other])
        moved = ", ".join(moves.moved_most)
        reason = "" if moves.reason is None else "all are equal on one, or fewer than two have an F1 on both"
        rows.append((one, other, moves.reviewers, moves.tau_b, moves.largest_move, moved, reason))
    return table_of("rank_agreement", "Agreement of ranks between conditions", _MOVES, rows, (_TAU,))


_MOVES = (
    Column("first", "condition"),
    Column("second", "other"),
    count("reviewers", "reviewers"),
    plain("tau_b", "Kendall's tau-b"),
    count("largest_move", "largest move of a rank"),
    Column("moved_most", "moved most"),
    Column("reason", "why no tau"),
)
_TAU = "Tau-b: 1 the same order by F1, -1 the reverse. With few reviewers it jumps: two can only agree or not."


def by_judge(material: Material) -> Sheet:
    """The counts under each judge: rows of different judges are never compared."""
    columns = (
        Column("judge", "judge"),
        REVIEWER,
        count("tp", "TP"),
        count("fp", "FP"),
        count("fn", "FN"),
        count("unscored", "unscored"),
        share("precision", "precision"),
        share("recall", "recall"),
        share("f1", "F1"),
    )
    rows: list[tuple[Cell, ...]] = []
    for judge in material.record.judges:
        scored = material.under(judge)
        for row in sorted(scored.report.reviewers, key=lambda row: (-(row.f1.value or 0.0), row.reviewer)):
            counts = row.counts
            figures = (row.precision, row.recall, row.f1)
            rows.append((judge, row.reviewer, counts.tp, counts.fp, counts.fn, counts.unscored, *figures))
    note = "Intervals: Wilson, claims and goldens taken as independent. Best F1 first, ties by name."
    return table_of("by_judge", "Counts under each judge", columns, rows, (note,))


def catch(material: Material) -> Sheet:
    """Catch rate as CodeVetter counts it: what is said again counts against precision."""
    result = codevetter.score(material.evidence, judge=material.judge)
    columns = (
        REVIEWER,
        count("expected", "expected"),
        count("caught", "caught"),
        count("false_positives", "false positives"),
        count("redundant", "redundant"),
        share("catch_rate", "catch rate"),
        share("precision", "precision"),
        plain("f1", "F1"),
        Column("by_severity", "catch rate by severity"),
    )
    rows = [(row.reviewer, *_caught(row.figures)) for row in result.reviewers]
    note = "A case without a review has its labels expected and nothing caught."
    return table_of("catch", "Catch rate (CodeVetter's count)", columns, rows, (note,))


def _caught(figures: Mapping[str, object]) -> tuple[Cell, ...]:
    expected, caught, alarms, again = (
        int(str(figures[name])) for name in ("expected", "caught", "false_positives", "redundant")
    )
    said = figures["by_severity"]
    assert isinstance(said, Mapping)
    by_severity = ", ".join(f"{level} {rate:.2f}" for level, rate in said.items())
    events = caught + alarms + again
    return (
        expected,
        caught,
        alarms,
        again,
        wilson(caught, expected, reason="there is nothing to catch"),
        wilson(caught, events, reason="nothing was said"),
        float(str(figures["f1"])),
        by_severity,
    )


TABLES = (
    Table("leaderboard", "Leaderboard", overall),
    Table("price", "Noise, price and strength", price),
    Table("by_suite", "On each suite", by_suite),
    Table("severity_weighted", "Weighted by severity", severity_weighted),
    Table("nested", "Nested conditions and mean rank", nested),
    Table("rank_agreement", "Agreement of ranks between conditions", rank_agreement),
    Table("by_judge", "Counts under each judge", by_judge),
    Table("catch", "Catch rate (CodeVetter's count)", catch),
)
