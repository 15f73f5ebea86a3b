"""The rules of SWE-Review-Bench: remarks against oracle sites, by position alone.

The goldens of a pull request are its sites, in patch order. Conventions: every instance of the run is in the
denominators of the hit rates and of site recall, whether its review came or not; false positives and p@k are means over
the instances reviewed; all rates are 0 where their denominator is 0. There is no F1: precision counts comments and
recall counts sites.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from scoring import exact, stats
from scoring.bundle import Bundle, BundlePull
from scoring.model import (
    Candidate,
    CandidateOutcome,
    Counts,
    Estimate,
    GoldenOutcome,
    GoldenState,
    OutcomeKind,
    PullId,
    ReviewerId,
    Severity,
)
from scoring.prf import proportion
from scoring.profiles.base import (
    Case,
    Json,
    Judging,
    Options,
    ProfileError,
    ProfileResult,
    ProfileRow,
    ProfileTrial,
    Rows,
    claims,
    coverage,
    not_scored,
    plain,
    read_options,
)
from scoring.sites import Assignment, Instance, Remark, Sums, add_up, score_instance, span_of

NAME = "swe"
SYSTEM = "SWE-Review-Bench"
AUDIT = "audit"
"""The tag of a pull request whose sites were checked by hand: `bug` if one of them is a defect, else `no_bug`."""
_RANKS = {Severity.CRITICAL: 0, Severity.HIGH: 0, Severity.MEDIUM: 1, Severity.LOW: 2}
_KS = (1, 3, 5)


@dataclass(frozen=True, slots=True)
class SweOptions:
    """What may be chosen."""

    tolerance: int = 3
    sweep: tuple[int, ...] = (0, 3, 10)
    assignment: Assignment = Assignment.FIRST
    z: float = stats.z_of(stats.CONFIDENCE)
    """Quantile of the Wilson intervals in the tables; some published ones were made with 1.96."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One reviewer on the instances of a bundle."""

    reviewer: ReviewerId
    cases: tuple[Case, ...]
    instances: Mapping[PullId, Instance]
    sums: Sums

    @property
    def hit(self) -> frozenset[PullId]:
        """The instances hit."""
        return frozenset(pull for pull, one in self.instances.items() if one.hit)


def score(bundle: Bundle, *, judge: Judging = None, options: Options | None = None) -> ProfileResult:
    """Score a bundle as SWE-Review-Bench scores it. No judge is asked: position decides.

    Raises:
        ProfileError: an option is wrong, or a trial is about a pull request that the bundle does not hold.
    """
    chosen = read_options(SweOptions, options)
    if min((chosen.tolerance, *chosen.sweep)) < 0:
        raise ProfileError("a tolerance is 0 lines or more")
    cases = [Case(pull, trial, said, None) for pull, trial, said in claims(bundle)]
    cells = cells_of(cases, chosen.tolerance, chosen.assignment)
    rows = sorted((_row(cell, chosen) for cell in cells), key=_best_first)
    return ProfileResult(
        profile=NAME,
        suite=bundle.suite,
        card=bundle.card,
        judge="position only",
        unit="a comment within the tolerance of no site",
        dedup="none: every comment at a site is a hit",
        reviewers=tuple(rows),
        trials=tuple(_trial(case, cell) for cell in cells for case in cell.cases),
        options=plain(chosen),
        tables={
            "summary": tuple(summary(cell.reviewer, cell.sums, chosen.z) for cell in cells),
            "tolerance_sweep": _sweep(cases, cells, chosen),
            "pairs": pairs({cell.reviewer: cell.hit for cell in cells}, len(loaded(cases))),
            "enrichment": _enrichment(cases, cells, chosen.z),
        },
        notes=(*bundle.card.notes, "a hit says where a comment is, not that it is right"),
    )


def _best_first(row: ProfileRow) -> tuple[float, str]:
    return (-row.figures["instance_hit_rate"], row.reviewer)


def loaded(cases: Sequence[Case]) -> dict[PullId, BundlePull]:
    """The instances of a run: those that any reviewer has a trial on. A suite may hold more than was run."""
    return {case.pull.id: case.pull for case in cases}


def cells_of(cases: Sequence[Case], tolerance: int, assignment: Assignment = Assignment.FIRST) -> list[Cell]:
    """Every reviewer scored at one tolerance, by id."""
    own: dict[ReviewerId, list[Case]] = {}
    for case in cases:
        own.setdefault(case.trial.reviewer, []).append(case)
    instances = loaded(cases)
    sites = sum(len(pull.goldens) for pull in instances.values())
    cells = []
    for reviewer, mine in sorted(own.items()):
        scored = {case.pull.id: _instance(case, tolerance, assignment) for case in mine if case.asked}
        sums = add_up(list(scored.values()), len(instances), sites, _KS)
        cells.append(Cell(reviewer, tuple(mine), scored, sums))
    return cells


def _instance(case: Case, tolerance: int, assignment: Assignment) -> Instance:
    remarks = [Remark(span_of(one.place), _rank(one)) for one in case.candidates]
    return score_instance(remarks, [span_of(site.place) for site in case.pull.goldens], tolerance, assignment, _KS)


def _rank(one: Candidate) -> int:
    return 3 if one.severity is None else _RANKS[one.severity]


# --- rows and trials


def _row(cell: Cell, chosen: SweOptions) -> ProfileRow:
    sums = cell.sums
    precision = proportion(sums.hit_comments, sums.comments, system=SYSTEM, undefined="nothing was said")
    recall = proportion(sums.sites_hit, sums.sites, system=SYSTEM, undefined="there are no sites")
    f1 = Estimate(None, None, None, 0, "this system has no F1: its precision counts comments and its recall sites")
    trials = tuple(_trial(case, cell) for case in cell.cases)
    costs = [case.trial.cost for case in cell.cases if case.trial.cost is not None]
    figures = summary(cell.reviewer, sums, chosen.z)
    figures |= {"buckets": _buckets(cell), "cost": sum(costs) if costs else None}
    return ProfileRow(cell.reviewer, _counts(sums), precision, recall, f1, coverage(trials), figures)


def _counts(sums: Sums) -> Counts:
    return Counts(tp=sums.hit_comments, fp=sums.comments - sums.hit_comments, fn=sums.sites - sums.sites_hit)


def _buckets(cell: Cell) -> dict[str, int]:
    found: dict[str, int] = {}
    for one in cell.instances.values():
        for name, many in one.buckets.items():
            found[name] = found.get(name, 0) + many
    return dict(sorted(found.items()))


def summary(reviewer: str, sums: Sums, z: float) -> dict[str, Json]:
    """One row of the published summary tables."""
    return {
        "reviewer": reviewer,
        "n_instances": sums.instances,
        "n_scored": sums.scored,
        "n_comments": sums.comments,
        "instance_hits": sums.instance_hits,
        "instance_hit_rate": sums.hit_rate,
        "instance_hit_rate_ci": wilson_or_zero(sums.instance_hits, sums.instances, z),
        "sites_hit": sums.sites_hit,
        "sites": sums.sites,
        "site_recall": sums.site_recall,
        "site_recall_ci": wilson_or_zero(sums.sites_hit, sums.sites, z),
        "file_level_hits": sums.file_hits,
        "file_level_hit_rate": sums.file_hits / sums.instances if sums.instances else 0.0,
        "file_level_hit_rate_ci": wilson_or_zero(sums.file_hits, sums.instances, z),
        "false_positives_per_instance_mean": sums.false_positives_mean,
        "false_positives_per_instance_median": sums.false_positives_median,
        **{f"precision_at_{k}": value for k, value in sums.precision_at.items()},
    }


def wilson_or_zero(k: int, n: int, z: float) -> tuple[float, float]:
    """The Wilson bounds; (0, 0) for n = 0, which is this system's word for nothing observed."""
    return stats.wilson_bounds(k, n, z) if n else (0.0, 0.0)


def _trial(case: Case, cell: Cell) -> ProfileTrial:
    found = cell.instances.get(case.pull.id)
    if found is None:
        return not_scored(case, f"{case.trial.status.value}: counted as a miss of every site")
    return replace(
        not_scored(case, case.trial.reason),
        scored=True,
        counts=Counts(tp=sum(found.hits), fp=found.false_positives, fn=found.sites - len(found.sites_hit)),
        figures={
            "hit": found.hit,
            "sites_hit": len(found.sites_hit),
            "file_hit": found.file_hit,
            **{f"precision_at_{k}": value for k, value in found.precision_at.items()},
        },
        outcomes=_outcomes(case, found),
        goldens=_goldens(case, found),
    )


def _outcomes(case: Case, found: Instance) -> tuple[CandidateOutcome, ...]:
    goldens = case.pull.goldens
    return tuple(
        CandidateOutcome(candidate.id, OutcomeKind.FP, "within the tolerance of no site")
        if at is None
        else CandidateOutcome(candidate.id, OutcomeKind.TP, "within the tolerance of the site", goldens[at].id)
        for candidate, at in zip(case.candidates, found.held, strict=True)
    )


def _goldens(case: Case, found: Instance) -> tuple[GoldenOutcome, ...]:
    return tuple(
        GoldenOutcome(golden.id, GoldenState.FOUND, "a comment was counted to it")
        if at in found.sites_hit
        else GoldenOutcome(golden.id, GoldenState.MISSED, "no comment was counted to it")
        for at, golden in enumerate(case.pull.goldens)
    )


# --- tables


def _sweep(cases: Sequence[Case], cells: Sequence[Cell], chosen: SweOptions) -> Rows:
    return tuple(
        {
            "tolerance": tolerance,
            "reviewer": cell.reviewer,
            "instance_hits": cell.sums.instance_hits,
            "n_instances": cell.sums.instances,
            "instance_hit_rate": cell.sums.hit_rate,
            "sites_hit": cell.sums.sites_hit,
        }
        for tolerance in chosen.sweep
        for cell in (cells if tolerance == chosen.tolerance else cells_of(cases, tolerance, chosen.assignment))
    )


def pairs(hit: Mapping[ReviewerId, frozenset[PullId]], instances: int) -> Rows:
    """Every two reviewers on the same instances: overlap of what they hit, and the exact McNemar test.

    An instance that a reviewer was not scored on counts as missed by it.
    """
    return tuple(pair(one, other, hit[one], hit[other], instances) for one, other in combinations(hit, 2))


def pair(one: str, other: str, first: frozenset[PullId], second: frozenset[PullId], n: int) -> dict[str, Json]:
    """Two reviewers on the same n instances."""
    both, only_one, only_other = len(first & second), len(first - second), len(second - first)
    return {
        "x": one,
        "y": other,
        "n": n,
        "x_hits": len(first),
        "y_hits": len(second),
        "both_hit": both,
        "x_only": only_one,
        "y_only": only_other,
        "neither": n - both - only_one - only_other,
        "union": both + only_one + only_other,
        "jaccard": exact.jaccard(both, only_one, only_other),
        "mcnemar_p": exact.mcnemar_exact(only_one, only_other),
    }


def _enrichment(cases: Sequence[Case], cells: Sequence[Cell], z: float) -> Rows:
    """Whether hits gather on the instances that an audit found to hold a defect; empty without an audit."""
    audited = {pull.id: pull.tags[AUDIT] for pull in loaded(cases).values() if AUDIT in pull.tags}
    if wrong := sorted({said for said in audited.values() if said not in ("bug", "no_bug")}):
        raise ProfileError(f"the tag {AUDIT} is bug or no_bug, not {wrong[0]!r}")
    if not audited:
        return ()
    groups = {str(cell.reviewer): cell.hit for cell in cells}
    groups["any-cell"] = frozenset[PullId]().union(*groups.values())
    bug = frozenset(pull for pull, said in audited.items() if said == "bug")
    sound = frozenset(audited) - bug
    return tuple(
        enrichment(name, (len(hit & bug), len(bug - hit), len(hit & sound), len(sound - hit)), z)
        for name, hit in groups.items()
    )


def enrichment(name: str, table: exact.Table, z: float) -> dict[str, Json]:
    """One group: hit and missed among instances with a defect, then among those without."""
    hit_bug, miss_bug, hit_sound, miss_sound = table
    odds = exact.odds_ratio(table, z)
    return {
        "group": name,
        "hit_bug": hit_bug,
        "miss_bug": miss_bug,
        "hit_nobug": hit_sound,
        "miss_nobug": miss_sound,
        "hit_rate_bug_ci": wilson_or_zero(hit_bug, hit_bug + miss_bug, z),
        "hit_rate_nobug_ci": wilson_or_zero(hit_sound, hit_sound + miss_sound, z),
        "odds_ratio": odds.value,
        "odds_ratio_ci": (odds.low, odds.high),
        "haldane_applied": odds.corrected,
        "fisher_exact_p": exact.fisher_two_sided(table),
    }
