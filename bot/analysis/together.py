"""What reviewers find together and alone, which second one adds most, and how much nobody found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from bot.analysis import about
from bot.analysis.figures import resampler_of
from bot.analysis.opening import Scored, reviewer
from bot.analysis.problems import Unusable
from bot.analysis.sheet import Cell, Column, Document, Kind, Sheet, as_json
from scoring.model import Counts, Estimate, ReviewerId
from scoring.statistics.bootstrap import Resampler
from scoring.statistics.capture import Unseen, chao2, chapman_of, incidence
from scoring.statistics.clusters import Partition
from scoring.statistics.overlap import (
    Addition,
    Ensemble,
    Overlap,
    Unique,
    best_second,
    finds,
    intersection,
    overlaps,
    union,
    uniques,
)
from scoring.statistics.overlap import shared_pulls as pulls_shared
from scoring.statistics.paired import Pair
from scoring.stats import f1

Json = Any
SCHEMA = "assay.overlap/1"
_SHOWN = 3
"""So many second reviewers, and so many ensembles beyond that of all, are written out."""


@dataclass(frozen=True, slots=True)
class Together:
    """Who finds what with whom."""

    scored: Scored
    reviewers: tuple[ReviewerId, ...]
    """Those with a scored trial."""
    overlaps: dict[Pair, Overlap]
    uniques: dict[ReviewerId, Unique]
    additions: dict[ReviewerId, tuple[Addition, ...]]
    """For each first reviewer, every second one, most added first."""
    ensembles: tuple[tuple[str, Ensemble], ...]
    unseen: tuple[tuple[str, Unseen], ...]
    """Estimates of all real defects, each with who was taken for it."""
    resampler: Resampler
    seed: int


def together(scored: Scored, seed: int, first: str | None = None) -> Together:
    """Overlap of all reviewers.

    Args:
        scored: The evidence.
        seed: For the intervals.
        first: Whose best second is asked for; everybody's, if None.

    Raises:
        Unusable: the reviewer has no trial, or there are not two to compare.
    """
    names = tuple(name for name in scored.trials.reviewers if scored.trials.scored(name))
    if len(names) < 2:
        raise Unusable(f"an overlap needs two reviewers with scored trials; there is: {', '.join(names) or 'none'}")
    firsts = names if first is None else (reviewer(scored, first),)
    resampler = resampler_of(seed)
    found = {name: own for name, own in finds(scored.trials).items() if name in names}
    return Together(
        scored,
        names,
        overlaps(found),
        uniques(found),
        {name: _seconds(scored.trials, name, names, resampler) for name in firsts},
        tuple(_ensembles(scored.trials, names)),
        tuple(_unseen(scored.trials, names)),
        resampler,
        seed,
    )


def _seconds(
    trials: Partition, first: ReviewerId, names: tuple[ReviewerId, ...], resampler: Resampler
) -> tuple[Addition, ...]:
    return tuple(one for one in best_second(trials, first, resampler) if one.reviewer in names)


def _ensembles(trials: Partition, names: tuple[ReviewerId, ...]) -> Iterator[tuple[str, Ensemble]]:
    for pair in combinations(names, 2):
        yield "any", union(trials, pair)
        yield "all", intersection(trials, pair)
    if len(names) > 2:
        yield "any", union(trials, names)


def _unseen(trials: Partition, names: tuple[ReviewerId, ...]) -> Iterator[tuple[str, Unseen]]:
    """Chao's estimate over all, Lincoln and Petersen's for each pair."""
    yield ", ".join(names), chao2(incidence(trials, names), len(names))
    for pair in combinations(names, 2):
        yield " + ".join(pair), chapman_of(incidence(trials, pair), *pair)


def document(made: Together) -> Document:
    """The overlap."""
    return Document(
        title=about.title(made.scored.report),
        sheets=(_pairs(made), _alone(made), _additions(made), _sums(made), _hidden(made)),
        record=_record(made),
        main="overlap",
        lead=tuple(_best(made)),
        notes=(about.intervals_note(made.seed, made.resampler), *about.caveats(made.scored)),
    )


def _best(made: Together) -> Iterator[str]:
    for first, seconds in made.additions.items():
        gains = [one for one in seconds if one.gain.value]
        if gains:
            best = gains[0]
            yield (
                f"Best second to {first}: {best.reviewer} adds {best.gain.value:.1%} of the goldens, and "
                f"{best.alarms_added} false alarms, on {best.union.pulls} shared pull requests."
            )
        elif seconds:
            yield f"No second reviewer finds a golden that {first} does not."


def _pairs(made: Together) -> Sheet:
    columns = (
        Column("first", "first"),
        Column("second", "second"),
        Column("both", "both", Kind.COUNT),
        Column("only_first", "only first", Kind.COUNT),
        Column("only_second", "only second", Kind.COUNT),
        Column("neither", "neither", Kind.COUNT),
        Column("jaccard", "Jaccard", Kind.NUMBER),
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (first, second, one.found.both, one.found.only_first, one.found.only_second, one.found.neither, one.jaccard)
        for (first, second), one in made.overlaps.items()
    )
    note = "Goldens scored for both. Jaccard: found by both / found by either."
    return Sheet("overlap", "Goldens found by two reviewers", columns, rows, (note,))


def _alone(made: Together) -> Sheet:
    columns = (
        Column("reviewer", "reviewer"),
        Column("found", "found", Kind.COUNT),
        Column("unique", "found by no other", Kind.COUNT),
        Column("share", "share", Kind.ESTIMATE),
    )
    rows = tuple((name, one.found, one.unique, one.share) for name, one in made.uniques.items())
    return Sheet("unique", "Unique finds", columns, rows, ("Among goldens that another reviewer was scored on too.",))


def _additions(made: Together) -> Sheet:
    columns = (
        Column("first", "first"),
        Column("second", "second"),
        Column("pulls", "pull requests", Kind.COUNT),
        Column("gain", "recall gained", Kind.ESTIMATE),
        Column("alarms_added", "FP added", Kind.COUNT),
        Column("union_f1", "F1 of both", Kind.ESTIMATE),
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (first, one.reviewer, one.union.pulls, one.gain, one.alarms_added, _f1(one.union.counts))
        for first, seconds in made.additions.items()
        for one in seconds[:_SHOWN]
    )
    note = f"The {_SHOWN} that add most to each; `--format json` holds all."
    return Sheet(
        "second", "What a second reviewer adds", columns, rows, (note,) if len(made.reviewers) > _SHOWN else ()
    )


def _f1(counts: Counts) -> Estimate:
    return f1(counts.tp, counts.fp, counts.fn)


def _sums(made: Together) -> Sheet:
    columns = (
        Column("members", "reviewers"),
        Column("rule", "counts if said by"),
        Column("pulls", "pull requests", Kind.COUNT),
        Column("tp", "TP", Kind.COUNT),
        Column("fp", "FP", Kind.COUNT),
        Column("fn", "FN", Kind.COUNT),
        Column("f1", "F1", Kind.ESTIMATE),
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (" + ".join(one.members), rule, one.pulls, one.counts.tp, one.counts.fp, one.counts.fn, _f1(one.counts))
        for rule, one in _foremost(made)
    )
    note = "All, and the pairs of best F1; `--format json` holds every pair."
    return Sheet("ensembles", "Several reviewers as one", columns, rows, (note,))


def _foremost(made: Together) -> list[tuple[str, Ensemble]]:
    pairs = [one for one in made.ensembles if len(one[1].members) == 2]
    pairs.sort(key=lambda one: (-(_f1(one[1].counts).value or 0.0), one[1].members, one[0]))
    return [one for one in made.ensembles if len(one[1].members) > 2] + pairs[:_SHOWN]


def _hidden(made: Together) -> Sheet:
    columns = (
        Column("reviewers", "found by"),
        Column("method", "method"),
        Column("observed", "defects found", Kind.COUNT),
        Column("total", "all defects, estimated", Kind.ESTIMATE),
        Column("missed", "found by nobody, estimated", Kind.ESTIMATE),
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (who, one.method, one.observed, one.total, one.missed) for who, one in _telling(made)
    )
    assumed = dict.fromkeys(line for _, one in made.unseen for line in one.assumptions)
    shared = len(pulls_shared(made.scored.trials, made.reviewers))
    notes = (
        f"All reviewers: on the {shared} pull requests all were scored on.",
        *(f"Assumed: {one}." for one in assumed),
    )
    return Sheet("unseen", "How many real defects there are", columns, rows, notes)


def _telling(made: Together) -> list[tuple[str, Unseen]]:
    """The estimate over all reviewers, and those of the pairs that saw most."""
    over_all, *pairs = made.unseen
    return [over_all, *sorted(pairs, key=lambda one: (-one[1].observed, one[0]))[:_SHOWN]]


def _record(made: Together) -> dict[str, Json]:
    return {
        "schema": SCHEMA,
        **about.provenance(made.scored),
        "intervals": about.drawn(made.seed, made.resampler),
        "reviewers": list(made.reviewers),
        "overlaps": [as_json(one) for one in made.overlaps.values()],
        "uniques": [as_json(one) for one in made.uniques.values()],
        "seconds": [{"first": first, **as_json(one)} for first, seconds in made.additions.items() for one in seconds],
        "ensembles": [{"rule": rule, **as_json(one)} for rule, one in made.ensembles],
        "unseen": [{"reviewers": who, **as_json(one)} for who, one in made.unseen],
        "notes": list(about.caveats(made.scored)),
    }
