"""Several reviewers as one, and what all or none of them find."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from bot.analysis.sheet import Cell, Column, Sheet
from bot.studies.material import Material
from bot.studies.tables.common import NotMade, Table, count, hits, share, table_of
from scoring import metrics
from scoring.model import ReviewerId
from scoring.statistics.overlap import Ensemble, intersection, shared_pulls, union
from scoring.stats import wilson

_MOST = 10
"""Pairs of up to so many reviewers are all written out; of more, only the union and intersection of all."""


def ensembles(material: Material) -> Sheet:
    """The true union and the intersection of every two reviewers, and of all, beside the best member."""
    trials = material.scored.trials
    names = [name for name in trials.reviewers if trials.scored(name)]
    if len(names) < 2:
        raise NotMade("an ensemble needs two reviewers with scored trials")
    columns = (
        Column("members", "reviewers"),
        Column("mode", "finding counts if said by"),
        count("pulls", "shared pull requests"),
        count("tp", "TP"),
        count("fp", "FP"),
        count("fn", "FN"),
        count("duplicate", "said twice"),
        share("precision", "precision"),
        share("recall", "recall"),
        share("f1", "F1"),
        Column("best", "best member alone (F1)"),
    )
    rows = [_row(material, mode, one) for mode, one in _all(material, names)]
    notes = (
        "Any: a golden is found if any member finds it, so recall is at least the best member's and false alarms at "
        "most the sum; alarms of two members within 5 lines of each other are one.",
        "All: only what every member says; it raises precision and costs recall.",
        "Intervals: Wilson, claims and goldens taken as independent.",
    )
    return table_of("ensembles", "Ensembles", columns, rows, notes)


def _all(material: Material, names: list[ReviewerId]) -> Iterator[tuple[str, Ensemble]]:
    trials = material.scored.trials
    groups: list[tuple[ReviewerId, ...]] = list(combinations(names, 2)) if len(names) <= _MOST else []
    if len(names) > 2:
        groups.append(tuple(names))
    for group in groups:
        yield "any", union(trials, group)
        yield "all", intersection(trials, group)


def _row(material: Material, mode: str, one: Ensemble) -> tuple[Cell, ...]:
    counts = one.counts
    return (
        " + ".join(one.members),
        mode,
        one.pulls,
        counts.tp,
        counts.fp,
        counts.fn,
        counts.duplicate,
        metrics.precision(counts),
        metrics.recall(counts),
        metrics.f1(counts),
        _best(material, one),
    )


def _best(material: Material, one: Ensemble) -> str:
    """The member with the best F1 on the same pull requests."""
    shared = shared_pulls(material.scored.trials, one.members)
    found = {}
    for name in one.members:
        value = metrics.f1(metrics.total(own[name] for own in shared.values())).value
        if value is not None:
            found[name] = value
    if not found:
        return ""
    best = max(sorted(found), key=lambda name: found[name])
    return f"{best} ({found[best]:.2f})"


def agreement(material: Material) -> Sheet:
    """On how many samples all reviewers found something, and on how many none did; the same for single goldens."""
    trials = material.scored.trials
    names = [name for name in trials.reviewers if trials.scored(name)]
    if len(names) < 2:
        raise NotMade("agreement needs two reviewers with scored trials")
    samples = [{str(pull): hit for pull, hit in hits(trials, name).items()} for name in names]
    goldens = [{f"{pull}\0{golden}": hit for (pull, golden), hit in trials.goldens(name).items()} for name in names]
    columns = (
        Column("what", "of"),
        count("n", "scored for all"),
        share("all_found", "found by all"),
        share("none_found", "found by none"),
        share("some_found", "found by some"),
    )
    rows = [_agreed("pull requests with a golden", samples), _agreed("goldens", goldens)]
    note = f"All: {', '.join(names)}. A pull request is found where any golden of it is."
    return table_of("agreement", "Found by all, found by none", columns, rows, (note,))


def _agreed(what: str, own: list[dict[str, bool]]) -> tuple[Cell, ...]:
    shared = [key for key in own[0] if all(key in other for other in own)]
    told = [[one[key] for one in own] for key in shared]
    everybody, nobody = sum(map(all, told)), sum(not any(one) for one in told)
    n, reason = len(told), "nothing was scored for all of them"
    counts = (everybody, nobody, n - everybody - nobody)
    return what, n, *(wilson(many, n, reason=reason) for many in counts)


TABLES = (
    Table("ensembles", "Ensembles", ensembles),
    Table("agreement", "Found by all, found by none", agreement),
)
