"""The same figures for a part: by kind of defect, by language, by size, by where the code comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bot.analysis import strata
from bot.analysis.sheet import Cell, Column, Kind, Sheet
from bot.studies.material import Material
from bot.studies.tables.common import BOUNDS, REVIEWER, NotMade, Table, bounded_all, count, figures_of, share, table_of
from scoring.ensembles import gap_to_real, size_bucket
from scoring.model import Counts, Estimate, PullId, ReviewerId, TrialScore
from scoring.sites import multi_file
from scoring.statistics.strata import (
    BY_CATEGORY,
    BY_LANGUAGE,
    BY_SEVERITY,
    UNKNOWN,
    DefectKey,
    Key,
    PullKey,
    Stratum,
    by,
    by_size,
)

BY_IMPACT = DefectKey("impact", lambda golden: golden.impact.value if golden.impact else UNKNOWN)
BY_LABEL = DefectKey("label", lambda golden: golden.label or UNKNOWN)
SYNTHETIC, REAL = "synthetic", "real"


def _sheet(material: Material, key: str, title: str, wanted: Key, name: str) -> Sheet:
    trials = material.scored.trials
    found = {one: by(trials.scored(one).values(), wanted, material.resampler) for one in trials.reviewers}
    names = {stratum for own in found.values() for stratum in own}
    if not names:
        raise NotMade("no trial was scored")
    if names == {UNKNOWN}:
        raise NotMade(f"the suites of the study do not say the {name}")
    bounds = {one: {part: _bounded(held) for part, held in own.items()} for one, own in found.items()}
    made = strata.sheet(bounds, name)
    return replace(made, key=key, title=title, notes=(*made.notes, BOUNDS))


def _bounded(one: Stratum) -> Stratum:
    """With Wilson's intervals where resampling gives none. What has no F1 of its own does not get one."""
    told = bounded_all(one.figures, one.goldens, one.claims or Counts())
    return replace(one, figures=told)


def category(material: Material) -> Sheet:
    """Recall by what kind of defect it is."""
    return _sheet(material, "by_category", "Recall by category", BY_CATEGORY, "category")


def severity(material: Material) -> Sheet:
    """Recall by how bad a defect is."""
    return _sheet(material, "by_severity", "By severity", BY_SEVERITY, "severity")


def impact(material: Material) -> Sheet:
    """Recall by which quality of the product a defect harms."""
    return _sheet(material, "by_impact", "Recall by impact", BY_IMPACT, "impact")


def label(material: Material) -> Sheet:
    """Recall by what the source calls a kind of defect."""
    return _sheet(material, "by_label", "Recall by the source's own kind of defect", BY_LABEL, "label")


def language(material: Material) -> Sheet:
    """The figures by language."""
    return _sheet(material, "by_language", "By language", BY_LANGUAGE, "language")


def size(material: Material) -> Sheet:
    """The figures by how much a pull request changes."""
    lines = {pull.id: pull.changed_lines for pull in material.bundle.pulls}
    return _sheet(material, "by_size", "By size of the change", by_size(lines), "size")


def files(material: Material) -> Sheet:
    """Defects that lie in one file against those in several."""
    held = {
        pull.id: [golden.place.path for golden in pull.goldens if golden.place is not None]
        for pull in material.bundle.pulls
    }

    def of(score: TrialScore) -> str:
        paths = held[score.trial.pull]
        return ("several files" if multi_file(paths) else "one file") if paths else "no place"

    wanted = PullKey("files", of, ("one file", "several files", "no place"))
    return _sheet(material, "by_files", "Defects in one file and in several", wanted, "files")


# --- origin


def _f1(material: Material, name: ReviewerId, own: str) -> Estimate:
    kept = {pull.id for pull in material.bundle.pulls if pull.origin == own}
    counts = material.scored.trials.counts(name)
    return figures_of({pull: one for pull, one in counts.items() if pull in kept}, material.resampler).f1


def origin(material: Material) -> Sheet:
    """Synthetic against real pull requests."""
    there = {pull.origin for pull in material.bundle.pulls if pull.goldens}
    if not {SYNTHETIC, REAL} <= there:
        held = ", ".join(sorted(name or "not said" for name in there))
        missing = " and ".join(name for name in (SYNTHETIC, REAL) if name not in there)
        raise NotMade(f"the study has no {missing} pull request with a golden (there is: {held})")
    columns = (
        REVIEWER,
        count("n_synthetic", "synthetic pull requests"),
        share("f1_synthetic", "F1 on synthetic"),
        count("n_real", "real pull requests"),
        share("f1_real", "F1 on real"),
        Column("drop", "lost from synthetic to real", Kind.NUMBER),
    )
    rows = [_gap(material, name) for name in material.scored.trials.reviewers]
    note = "Size goes with origin: read this beside the table of size and origin."
    return table_of("origin", "Synthetic against real", columns, rows, (note, BOUNDS))


def _gap(material: Material, name: ReviewerId) -> tuple[Cell, ...]:
    scored = material.scored.trials.scored(name)
    pulls = {pull.id: pull.origin for pull in material.bundle.pulls}
    made, real = (_f1(material, name, own) for own in (SYNTHETIC, REAL))
    many = [sum(pulls[pull] == own for pull in scored) for own in (SYNTHETIC, REAL)]
    return name, many[0], made, many[1], real, gap_to_real(made.value, real.value)


def size_and_origin(material: Material) -> Sheet:
    """Size x origin: which of the two it is that makes a pull request hard."""
    cells: dict[tuple[str, str], set[PullId]] = {}
    for pull in material.bundle.pulls:
        key = (size_bucket(pull.changed_lines) or UNKNOWN, pull.origin or UNKNOWN)
        cells.setdefault(key, set()).add(pull.id)
    if set(cells) == {(UNKNOWN, UNKNOWN)}:
        raise NotMade("the suites of the study say neither the size nor the origin of their pull requests")
    columns = (
        Column("size", "changed lines"),
        Column("origin", "origin"),
        REVIEWER,
        count("pulls", "pull requests"),
        share("f1", "F1"),
        share("recall", "recall"),
    )
    rows = [
        (*key, name, *_cell(material, name, pulls))
        for key, pulls in sorted(cells.items(), key=lambda item: _order(item[0]))
        for name in material.scored.trials.reviewers
    ]
    note = "Half open: exactly 50 changed lines are in 50-150."
    return table_of("size_and_origin", "Size and origin together", columns, rows, (note, BOUNDS))


def _order(key: tuple[str, str]) -> tuple[int, str]:
    sizes = ("<10", "10-50", "50-150", ">150")
    return (sizes.index(key[0]) if key[0] in sizes else len(sizes)), key[1]


def _cell(material: Material, name: ReviewerId, pulls: set[PullId]) -> tuple[Cell, ...]:
    counts: Mapping[PullId, Counts] = material.scored.trials.counts(name)
    own = {pull: one for pull, one in counts.items() if pull in pulls}
    figures = figures_of(own, material.resampler)
    return len(own), figures.f1, figures.recall


TABLES = (
    Table("by_category", "Recall by category", category),
    Table("by_severity", "By severity", severity),
    Table("by_impact", "Recall by impact", impact),
    Table("by_label", "Recall by the source's own kind of defect", label),
    Table("by_language", "By language", language),
    Table("by_size", "By size of the change", size),
    Table("origin", "Synthetic against real", origin),
    Table("size_and_origin", "Size and origin together", size_and_origin),
    Table("by_files", "Defects in one file and in several", files),
)
