"""Two reviewers on the pull requests both were scored on: who is ahead, by how much, by more than chance or not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from bot.analysis import about, strata
from bot.analysis.figures import resampler_of
from bot.analysis.leaderboard import COUNT_COLUMNS, COUNTS, counts_record
from bot.analysis.opening import Scored, reviewer
from bot.analysis.problems import Unusable
from bot.analysis.sheet import Cell, Column, Document, Kind, Sheet, as_json
from scoring import metrics
from scoring.model import Counts, PullId, ReviewerId, TrialScore
from scoring.statistics.bootstrap import Resampler
from scoring.statistics.clusters import partition
from scoring.statistics.paired import Comparison, Standing, compare

Json = Any
SCHEMA = "assay.comparison/1"
_FIGURES = ("f1", "precision", "recall")


@dataclass(frozen=True, slots=True)
class Versus:
    """A comparison with its evidence."""

    scored: Scored
    result: Comparison
    shared: Mapping[PullId, tuple[TrialScore, TrialScore]]
    resampler: Resampler
    seed: int

    @property
    def worse(self) -> bool:
        """Whether the first is behind the second by more than chance."""
        return self.result.standing is Standing.SECOND_AHEAD

    @property
    def comparable(self) -> bool:
        """Whether anything can be said at all."""
        return self.result.standing is not Standing.NOT_COMPARABLE


def versus(scored: Scored, first: str, second: str, seed: int) -> Versus:
    """Compare two reviewers.

    Raises:
        Unusable: one of them has no trial, or they are the same.
    """
    one, other = reviewer(scored, first), reviewer(scored, second)
    if one == other:
        raise Unusable(f"{one} cannot be compared with itself; name two reviewers, or a second bundle with --against")
    resampler = resampler_of(seed)
    ours, theirs = scored.trials.scored(one), scored.trials.scored(other)
    shared = {pull: (ours[pull], theirs[pull]) for pull in ours if pull in theirs}
    return Versus(scored, compare(scored.trials, one, other, resampler), shared, resampler, seed)


def document(made: Versus, by: str | None = None, per_pull: bool = False) -> Document:
    """The comparison."""
    sheets, record = [_differences(made), _found(made)], _record(made)
    if by is not None:
        found = strata.of(_on_shared(made), by, made.resampler, _pair(made))
        sheets.append(strata.sheet(found, by))
        record["strata"] = {"by": by, "rows": strata.record(found)}
    if per_pull:
        sheets.append(_pulls(made))
        record["pulls"] = [
            {"pull": pull, "first": counts_record(one.counts), "second": counts_record(other.counts)}
            for pull, (one, other) in made.shared.items()
        ]
    return Document(
        title=about.title(made.scored.report),
        sheets=tuple(sheets),
        record=record,
        main=sheets[-1].key if by is not None or per_pull else "differences",
        lead=(made.result.sentence,),
        notes=(about.intervals_note(made.seed, made.resampler), *about.caveats(made.scored)),
    )


def _pair(made: Versus) -> tuple[ReviewerId, ReviewerId]:
    return made.result.first, made.result.second


def _on_shared(made: Versus) -> Scored:
    """The evidence of the shared pull requests only."""
    kept = partition(one for pair in made.shared.values() for one in pair)
    return replace(made.scored, trials=kept)


def _totals(made: Versus) -> tuple[Counts, Counts]:
    pairs = made.shared.values()
    return sum((one.counts for one, _ in pairs), Counts()), sum((other.counts for _, other in pairs), Counts())


def _differences(made: Versus) -> Sheet:
    first, second = _pair(made)
    columns = (
        Column("figure", "figure"),
        Column("first", first, Kind.ESTIMATE),
        Column("second", second, Kind.ESTIMATE),
        Column("difference", "difference", Kind.DIFFERENCE),
    )
    figures = {"f1": metrics.f1, "precision": metrics.precision, "recall": metrics.recall}
    ours, theirs = _totals(made)
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (name, figures[name](ours), figures[name](theirs), getattr(made.result.differences, name)) for name in _FIGURES
    )
    note = (
        f"On the {made.result.shared} shared pull requests. Intervals of single figures take claims and goldens as "
        "independent (Wilson); that of the difference resamples pull requests."
    )
    return Sheet("differences", f"{first} less {second}", columns, rows, (note,))


def _found(made: Versus) -> Sheet:
    first, second = _pair(made)
    found = made.result.found
    columns = (
        Column("both", "found by both", Kind.COUNT),
        Column("only_first", f"only {first}", Kind.COUNT),
        Column("only_second", f"only {second}", Kind.COUNT),
        Column("neither", "neither", Kind.COUNT),
        Column("mcnemar_p", "McNemar p", Kind.SMALL),
    )
    row = (found.both, found.only_first, found.only_second, found.neither, found.p_value)
    note = "McNemar's exact test takes goldens as independent; the decision goes by the interval of the difference."
    return Sheet("goldens", "Goldens scored for both", columns, (row,), (note,))


def _pulls(made: Versus) -> Sheet:
    columns = [Column("pull", "pull request")]
    for name, who in zip(("first", "second"), _pair(made), strict=True):
        columns += [Column(f"{name}_{one.key}", f"{who} {one.title}", Kind.COUNT) for one in COUNT_COLUMNS]
    rows = tuple(
        (pull, *(getattr(side.counts, name) for side in pair for name in COUNTS)) for pull, pair in made.shared.items()
    )
    return Sheet("pulls", "By shared pull request", tuple(columns), rows)


def _record(made: Versus) -> dict[str, Json]:
    result, (ours, theirs) = made.result, _totals(made)
    return {
        "schema": SCHEMA,
        **about.provenance(made.scored),
        "intervals": about.drawn(made.seed, made.resampler),
        "first": result.first,
        "second": result.second,
        "shared": result.shared,
        "counts": {"first": counts_record(ours), "second": counts_record(theirs)},
        "found": as_json(result.found),
        "mcnemar_p": result.found.p_value,
        "differences": as_json(result.differences),
        "p_value": result.p_value,
        "standing": result.standing.value,
        "sentence": result.sentence,
        "notes": list(about.caveats(made.scored)),
    }
