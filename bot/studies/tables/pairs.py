"""Two at a time: who is ahead, by more than chance or not, and how much of what they hit is the same."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from bot.analysis.sheet import Cell, Column, Kind, Sheet
from bot.studies.material import Material
from bot.studies.tables.common import LEVEL, NotMade, Table, count, hits, holm_adjusted, plain, share, small, table_of
from scoring.exact import jaccard, mcnemar_exact
from scoring.model import PullId, ReviewerId
from scoring.statistics.clusters import Partition
from scoring.statistics.paired import Comparison, Standing, compare_all
from scoring.stats import wilson

_FIRST, _SECOND = Column("first", "reviewer"), Column("second", "against")
_HOLM = f"Holm: p-values adjusted for all pairs of this table; a pair is told apart at {LEVEL:.0%}."


def head_to_head(material: Material) -> Sheet:
    """Every two reviewers on the pull requests both were scored on."""
    trials = material.scored.trials
    if len(trials.reviewers) < 2:
        raise NotMade("there is one reviewer only, and nobody to compare it with")
    pairs = len(trials.reviewers) * (len(trials.reviewers) - 1) // 2
    made = list(compare_all(trials, material.resampler.at_least(round(4 * pairs / LEVEL))).values())
    drawn = _adjusted([one.p_value for one in made])
    exact = _adjusted([one.found.p_value for one in made])
    rows = [_versus(one, p, q) for one, p, q in zip(made, drawn, exact, strict=True)]
    columns = (
        _FIRST,
        _SECOND,
        count("shared", "shared pull requests"),
        Column("f1", "F1 difference", Kind.DIFFERENCE),
        Column("precision", "precision difference", Kind.DIFFERENCE),
        Column("recall", "recall difference", Kind.DIFFERENCE),
        small("p_holm", "p (F1, Holm)"),
        count("only_first", "goldens only it finds"),
        count("only_second", "only the other"),
        small("mcnemar_p", "McNemar p"),
        small("mcnemar_p_holm", "McNemar p (Holm)"),
        Column("verdict", "ahead"),
    )
    notes = (
        "Differences: first less second, intervals by paired resampling of the shared pull requests.",
        "McNemar's exact test takes goldens as independent. " + _HOLM,
    )
    return table_of("head_to_head", "Head to head", columns, rows, notes)


def _adjusted(found: Sequence[float | None]) -> list[float | None]:
    """Holm over those that have a p-value; the others stay without."""
    known = holm_adjusted([one for one in found if one is not None])
    left = iter(known)
    return [None if one is None else next(left) for one in found]


def _versus(one: Comparison, p: float | None, q: float | None) -> tuple[Cell, ...]:
    figures, found = one.differences, one.found
    return (
        one.first,
        one.second,
        one.shared,
        figures.f1,
        figures.precision,
        figures.recall,
        p,
        found.only_first,
        found.only_second,
        found.p_value,
        q,
        _verdict(one, p),
    )


def _verdict(one: Comparison, p: float | None) -> str:
    if one.standing is Standing.NOT_COMPARABLE:
        return "not comparable"
    if p is None or p > LEVEL or one.standing is Standing.NOT_SEPARATED:
        return "neither"
    return one.first if one.standing is Standing.FIRST_AHEAD else one.second


# --- instances


_INSTANCES = (
    _FIRST,
    _SECOND,
    count("n", "pull requests"),
    share("first_rate", "hit by it"),
    share("second_rate", "hit by the other"),
    count("both", "both"),
    count("only_first", "only it"),
    count("only_second", "only the other"),
    count("neither", "neither"),
    plain("jaccard", "Jaccard"),
    small("mcnemar_p", "McNemar p"),
    small("mcnemar_p_holm", "McNemar p (Holm)"),
)
_HIT = "Hit: any golden of the pull request was found; pull requests without a golden, or not scored for both, are out."


def _instances(trials: Partition, pairs: Sequence[tuple[ReviewerId, ReviewerId]]) -> list[tuple[Cell, ...]]:
    own = {name: hits(trials, name) for pair in pairs for name in pair}
    rows = [_instance(one, other, own[one], own[other]) for one, other in pairs]
    adjusted = holm_adjusted([p for _, p in rows])
    return [(*row, p, q) for (row, p), q in zip(rows, adjusted, strict=True)]


def _instance(
    one: ReviewerId, other: ReviewerId, first: dict[PullId, bool], second: dict[PullId, bool]
) -> tuple[tuple[Cell, ...], float]:
    shared = [(hit, second[pull]) for pull, hit in first.items() if pull in second]
    both, only_one = shared.count((True, True)), shared.count((True, False))
    only_other, neither = shared.count((False, True)), shared.count((False, False))
    n, reason = len(shared), "no shared pull request"
    rates = (wilson(both + only_one, n, reason=reason), wilson(both + only_other, n, reason=reason))
    row = (one, other, n, *rates, both, only_one, only_other, neither, jaccard(both, only_one, only_other))
    return row, mcnemar_exact(only_one, only_other)


def hit_overlap(material: Material) -> Sheet:
    """How much of what two reviewers hit is the same."""
    trials = material.scored.trials
    pairs = list(combinations(trials.reviewers, 2))
    if not pairs:
        raise NotMade("there is one reviewer only, and nothing to overlap with")
    notes = (_HIT, _HOLM, "Jaccard: hit by both / hit by either; a dash where neither hit any.")
    return table_of("hit_overlap", "Overlap of what is hit", _INSTANCES, _instances(trials, pairs), notes)


def prompt_sensitivity(material: Material) -> Sheet:
    """The same reviewer under two prompts, on the same pull requests."""
    trials = material.scored.trials
    pairs = [
        (one.id, other.id)
        for one, other in combinations(material.main, 2)
        if one.reviewer == other.reviewer and one.id in trials.reviewers and other.id in trials.reviewers
    ]
    if not pairs:
        raise NotMade("no reviewer of the study was asked under two prompts; give one several `prompts`")
    notes = (_HIT, _HOLM, "A difference here is the prompt's: model, code and judge are the same.")
    rows = _instances(trials, pairs)
    return table_of("prompt_sensitivity", "The same reviewer under other prompts", _INSTANCES, rows, notes)


TABLES = (
    Table("head_to_head", "Head to head", head_to_head),
    Table("hit_overlap", "Overlap of what is hit", hit_overlap),
    Table("prompt_sensitivity", "The same reviewer under other prompts", prompt_sensitivity),
)
