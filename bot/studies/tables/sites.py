"""By position alone, as SWE-Review-Bench counts: hits within a tolerance, audits of the places, and whether hits gather
where an audit found a defect.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from bot.analysis.sheet import Cell, Column, Sheet
from bot.studies.material import Material
from bot.studies.record import AUDIT_TAG, SUITE_TAG, VERDICT_TAG
from bot.studies.tables.common import REVIEWER, NotMade, Table, count, holm_adjusted, plain, share, small, table_of
from goldens.sampling import Item, by_repository
from scoring.bundle import Bundle
from scoring.exact import sample_odds_ratio
from scoring.model import Estimate, PullId
from scoring.profiles import swe
from scoring.profiles.base import Json, ProfileResult
from scoring.stats import wilson

AUDITED = 30
"""Pull requests of an audit sample, where there are so many."""
SEED = 7
"""Of the audit sample."""
_POSITION = "By position alone: a hit says where a comment stands, not that it is right."


def _placed(material: Material) -> Bundle:
    """The evidence on the pull requests that have a golden with lines."""
    bundle = material.evidence
    kept = {pull.id for pull in bundle.pulls if any(one.place and one.place.lines for one in pull.goldens)}
    if not kept:
        raise NotMade("no golden of the study has lines, so nothing can be hit by position")
    return replace(
        bundle,
        pulls=tuple(pull for pull in bundle.pulls if pull.id in kept),
        trials=tuple(trial for trial in bundle.trials if trial.pull in kept),
    )


def _by_position(material: Material) -> ProfileResult:
    first = material.record.tolerances[0]
    return swe.score(_placed(material), options={"tolerance": first, "sweep": sorted(material.record.tolerances)})


def sites(material: Material) -> Sheet:
    """Instances and sites hit, and what is said beside them."""
    result = _by_position(material)
    columns = (
        REVIEWER,
        count("comments", "comments"),
        count("n", "pull requests"),
        share("hit_rate", "hit"),
        count("sites", "sites"),
        share("site_recall", "sites hit"),
        share("file_rate", "right file"),
        plain("fp_mean", "FP per pull request"),
        plain("fp_median", "median"),
        plain("p1", "p@1"),
        plain("p3", "p@3"),
        plain("p5", "p@5"),
    )
    rows = [_site_row(row) for row in result.tables["summary"]]
    tolerance = material.record.tolerances[0]
    notes = (
        f"Tolerance: {tolerance} lines; a site is the place of a golden. {_POSITION}",
        "Pull requests without a golden that has lines are left out; a review that failed counts as a miss.",
    )
    return table_of("sites", "Hits by position (SWE-Review-Bench's count)", columns, rows, notes)


def _site_row(row: Mapping[str, Json]) -> tuple[Cell, ...]:
    n = row["n_instances"]
    return (
        row["reviewer"],
        row["n_comments"],
        n,
        wilson(row["instance_hits"], n),
        row["sites"],
        wilson(row["sites_hit"], row["sites"]),
        wilson(row["file_level_hits"], n),
        row["false_positives_per_instance_mean"],
        row["false_positives_per_instance_median"],
        row["precision_at_1"],
        row["precision_at_3"],
        row["precision_at_5"],
    )


def sweep(material: Material) -> Sheet:
    """The same comments at other tolerances."""
    columns = (
        Column("tolerance", "lines off"),
        REVIEWER,
        count("n", "pull requests"),
        share("hit_rate", "hit"),
        count("sites_hit", "sites hit"),
    )
    rows = [
        (str(row["tolerance"]), row["reviewer"], row["n_instances"], _hit_rate(row), row["sites_hit"])
        for row in _by_position(material).tables["tolerance_sweep"]
    ]
    return table_of("tolerance_sweep", "Tolerance sweep", columns, rows, (f"Nobody is asked again. {_POSITION}",))


def _hit_rate(row: Mapping[str, Json]) -> Estimate:
    return wilson(row["instance_hits"], row["n_instances"])


def site_pairs(material: Material) -> Sheet:
    """Every two reviewers by what they hit: overlap, and the exact test on what only one of them hit."""
    found = _by_position(material).tables["pairs"]
    if not found:
        raise NotMade("there is one reviewer only, and nobody to compare it with")
    adjusted = holm_adjusted([row["mcnemar_p"] for row in found])
    counts = ("n", "x_hits", "y_hits", "both_hit", "x_only", "y_only")
    titles = ("pull requests", "hit by it", "hit by the other", "both", "only it", "only the other")
    columns = (
        Column("first", "reviewer"),
        Column("second", "against"),
        *(count(key, title) for key, title in zip(counts, titles, strict=True)),
        plain("jaccard", "Jaccard"),
        small("mcnemar_p", "McNemar p"),
        small("mcnemar_p_holm", "McNemar p (Holm)"),
    )
    rows = [
        (row["x"], row["y"], *(row[key] for key in counts), row["jaccard"], row["mcnemar_p"], p)
        for row, p in zip(found, adjusted, strict=True)
    ]
    note = f"A pull request that a reviewer was not scored on counts as missed by it. {_POSITION}"
    return table_of("site_pairs", "Overlap of hits by position", columns, rows, (note,))


# --- audits


def _no_audit(material: Material) -> NotMade:
    suites = ", ".join(material.record.suites)
    return NotMade(
        f"no place in the suites of the study ({suites}) was audited; `audit` in a suite file holds what an audit found"
    )


def audit(material: Material) -> Sheet:
    """What an audit found at the goldens' places, with the interval that so small a sample leaves."""
    verdicts = [
        (pull.id, said)
        for pull in material.bundle.pulls
        for name, said in pull.tags.items()
        if name.startswith(VERDICT_TAG)
    ]
    if not verdicts:
        raise _no_audit(material)
    counted = Counter(said for _, said in verdicts)
    pulls = {pull for pull, _ in verdicts}
    sound = {pull for pull, said in verdicts if said == "bug"}
    rows: list[tuple[Cell, ...]] = [
        (f"places: {name}", counted[name], wilson(counted[name], len(verdicts)))
        for name in ("bug", "related", "unrelated")
    ]
    rows += [
        ("pull requests with a defect at one place or more", len(sound), wilson(len(sound), len(pulls))),
        ("pull requests without", len(pulls - sound), wilson(len(pulls - sound), len(pulls))),
    ]
    columns = (Column("what", "audited"), count("count", "count"), share("share", "share"))
    note = f"{len(verdicts)} places in {len(pulls)} pull requests were audited. They need not speak for the others."
    return table_of("audit", "Audit of the goldens' places", columns, rows, (note,))


def audit_sample(material: Material) -> Sheet:
    """Which pull requests to audit: drawn in turn from every suite, so that anybody draws the same."""
    pulls = [pull for pull in material.bundle.pulls if pull.goldens]
    if not pulls:
        raise NotMade("no pull request of the study has a golden to audit")
    items = [Item(str(pull.id), pull.tags.get("repository") or pull.tags[SUITE_TAG]) for pull in pulls]
    drawn = by_repository(items, min(AUDITED, len(items)), SEED)
    held = {pull.id: pull for pull in pulls}
    columns = (
        count("place", "#"),
        Column("pull", "pull request"),
        Column("from", "from"),
        count("goldens", "goldens"),
        Column("audited", "audited"),
    )
    rows = []
    for number, item in enumerate(drawn, start=1):
        pull = held[PullId(item.id)]
        rows.append((number, item.id, item.repository, len(pull.goldens), pull.tags.get(AUDIT_TAG, "no")))
    note = (
        f"Seed {SEED}; one from each suite or repository in turn. A person looks at each place: defect, related or not."
    )
    return table_of("audit_sample", "Sample for an audit", columns, rows, (note,))


def enrichment(material: Material) -> Sheet:
    """Whether hits gather on the pull requests where an audit found a defect."""
    result = _by_position(material)
    if not result.tables["enrichment"]:
        raise _no_audit(material)
    columns = (
        Column("group", "reviewer"),
        count("n_bug", "with a defect"),
        share("rate_bug", "hit of those"),
        count("n_none", "without"),
        share("rate_none", "hit of those"),
        share("odds", "odds ratio"),
        plain("odds_raw", "as counted"),
        small("fisher_p", "Fisher p"),
    )
    rows = [_enriched(row) for row in result.tables["enrichment"]]
    notes = (
        "Odds ratios with Woolf's interval; where a cell is 0, 0.5 is added to all four, and `as counted` is without. "
        "Fisher's exact test, two-sided, always takes the counts.",
        "The rows are about the same pull requests, so they are not pooled; `any-cell` is hit if any reviewer hit it.",
        "A wide interval around 1 is no evidence that hits do not gather.",
    )
    return table_of("enrichment", "Do hits gather where a defect is", columns, rows, notes)


def _enriched(row: Mapping[str, Json]) -> tuple[Cell, ...]:
    table = (row["hit_bug"], row["miss_bug"], row["hit_nobug"], row["miss_nobug"])
    low, high = row["odds_ratio_ci"]
    raw = sample_odds_ratio(table)
    rate = partial(wilson, reason="none was audited so")
    return (
        row["group"],
        table[0] + table[1],
        rate(table[0], table[0] + table[1]),
        table[2] + table[3],
        rate(table[2], table[2] + table[3]),
        Estimate(row["odds_ratio"], low, high, sum(table)),
        None if raw is None or raw == float("inf") else raw,
        row["fisher_exact_p"],
    )


TABLES = (
    Table("sites", "Hits by position (SWE-Review-Bench's count)", sites),
    Table("tolerance_sweep", "Tolerance sweep", sweep),
    Table("site_pairs", "Overlap of hits by position", site_pairs),
    Table("audit", "Audit of the goldens' places", audit),
    Table("audit_sample", "Sample for an audit", audit_sample),
    Table("enrichment", "Do hits gather where a defect is", enrichment),
)
