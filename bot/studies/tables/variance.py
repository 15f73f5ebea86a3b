"""How much a reviewer differs from itself when it is asked the same again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from statistics import mean, stdev

from bot.analysis.sheet import Cell, Column, Kind, Sheet
from bot.render.figures import UNDEFINED
from bot.studies.material import Material
from bot.studies.record import Condition
from bot.studies.tables.common import REVIEWER, NotMade, Table, count, plain, share, table_of
from scoring.model import Estimate, ReviewerId
from scoring.statistics.agreement import Labels, alpha
from scoring.statistics.clusters import Partition
from scoring.statistics.paired import compare_pairs
from scoring.stats import wilson


def _groups(material: Material) -> list[list[Condition]]:
    """The repeats of each reviewer and prompt, where there are two or more."""
    found: dict[tuple[str, str], list[Condition]] = {}
    for one in material.record.conditions:
        if not one.round:
            found.setdefault((one.reviewer, one.prompt), []).append(one)
    groups = [own for own in found.values() if len(own) > 1]
    if not groups:
        raise NotMade(
            "no reviewer of the study was asked twice; set `repeats` (reviewers that ask no model, and so "
            "always say the same, are asked once)"
        )
    return groups


def run_to_run(material: Material) -> Sheet:
    """F1 of each time of asking, its spread, and how far the times agree on single goldens."""
    groups = _groups(material)
    trials = material.everything.trials
    rows_of = {row.reviewer: row for row in material.everything.report.reviewers}
    columns = (
        REVIEWER,
        count("repeats", "times"),
        Column("f1_each", "F1 each time"),
        plain("f1_mean", "mean"),
        Column("f1_sd", "standard deviation", Kind.NUMBER),
        plain("f1_range", "largest less smallest"),
        count("goldens", "goldens scored each time"),
        share("always", "goldens found always"),
        share("sometimes", "sometimes"),
        share("alpha", "Krippendorff's alpha"),
    )
    rows: list[tuple[Cell, ...]] = []
    for own in groups:
        f1 = [rows_of[one.id].f1.value for one in own if one.id in rows_of]
        rows.append((_name(own), len(own), *_spread(f1), *_settled(material, trials, [one.id for one in own])))
    notes = (
        "Other tables take the first time of asking. A golden found sometimes is found in some of the repeats only.",
        "Alpha: agreement of the repeats on found or missed beyond chance; 1 is full.",
    )
    return table_of("run_to_run", "Run to run", columns, rows, notes)


def _name(own: Sequence[Condition]) -> str:
    first = own[0]
    return f"{first.reviewer}@{first.prompt}" if first.prompt else first.reviewer


def _spread(f1: Sequence[float | None]) -> tuple[Cell, ...]:
    known = [one for one in f1 if one is not None]
    each = ", ".join(UNDEFINED if one is None else f"{one:.2f}" for one in f1)
    if not known:
        return each, None, None, None
    return each, mean(known), stdev(known) if len(known) > 1 else None, max(known) - min(known)


def _settled(material: Material, trials: Partition, names: Sequence[ReviewerId]) -> Iterator[Estimate | int]:
    own = [trials.goldens(name) for name in names]
    shared = [key for key in own[0] if all(key in other for other in own)]
    told = [[one[key] for one in own] for key in shared]
    reason = "no golden was scored every time"
    yield len(told)
    yield wilson(sum(map(all, told)), len(told), reason=reason)
    yield wilson(sum(any(one) and not all(one) for one in told), len(told), reason=reason)
    labels: list[Labels] = [
        {(pull, ReviewerId("-"), golden): ("found" if hit else "missed") for (pull, golden), hit in one.items()}
        for one in own
    ]
    yield alpha(labels, material.resampler)


def told_apart(material: Material) -> Sheet:
    """Whether two repeats of one reviewer pass for two reviewers: they should not."""
    rows: list[tuple[Cell, ...]] = []
    for own in _groups(material):
        pairs = combinations([one.id for one in own], 2)
        made = compare_pairs(material.everything.trials, pairs, material.resampler)
        rows += [(first, second, one.differences.f1, one.standing.value) for (first, second), one in made.items()]
    columns = (
        Column("first", "one time"),
        Column("second", "another"),
        Column("f1", "F1 difference", Kind.DIFFERENCE),
        Column("standing", "standing"),
    )
    note = "Differences between reviewers that are no larger than these are noise of asking."
    return table_of("repeats", "Repeats against each other", columns, rows, (note,))


TABLES = (
    Table("run_to_run", "Run to run", run_to_run),
    Table("repeats", "Repeats against each other", told_apart),
)
