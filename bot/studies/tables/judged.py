"""What judges say beyond found and missed: use, quality, how often they are needed, how far they agree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any

from bot.analysis.sheet import Cell, Column, Sheet
from bot.studies.material import Material
from bot.studies.tables.common import REVIEWER, NotMade, Table, count, plain, share, table_of
from scoring.bundle import JudgementSet
from scoring.judges.panel import DISAGREEMENT, panel
from scoring.judges.rubrics import QUALITIES
from scoring.model import Estimate, PullId, ReviewerId, Verdict
from scoring.profiles import crbench, vibeops
from scoring.profiles.base import ProfileRow
from scoring.statistics.agreement import agreement, alpha, candidate_labels, golden_labels, rank_moves
from scoring.statistics.bootstrap import mean_of
from scoring.stats import wilson
from scoring.usefulness import snr_from_usefulness


def usefulness(material: Material) -> Sheet:
    """Recall, precision, usefulness and signal to noise as CR-Bench counts them."""
    judge = _that_labels_valid(material)
    result = crbench.score(material.with_judge(judge), judge=judge)
    columns = (
        REVIEWER,
        count("reviews", "comments"),
        count("hits", "hits"),
        count("valid", "sound"),
        count("noise", "noise"),
        count("defects", "defects"),
        share("recall", "recall"),
        share("precision", "precision"),
        plain("f1", "F1"),
        share("usefulness", "usefulness"),
        share("snr", "signal to noise"),
    )
    rows = [_useful(row) for row in result.reviewers]
    notes = (
        f"Judge: {judge}. Recall counts distinct defects, precision counts comments; so F1 joins different things.",
        "Signal to noise is U / (1 - U) of usefulness U, and so are the ends of its interval.",
    )
    return table_of("usefulness", "Usefulness and noise", columns, rows, notes)


def _that_labels_valid(material: Material) -> str:
    """The first judge that was asked which claims are sound."""
    for judge in material.record.judges:
        held = next(one for one in material.bundle.judgements if one.judge == judge)
        if any(trial.valid is not None for trial in held.trials):
            return judge
    raise NotMade(
        "no judge was asked which claims are sound though no golden covers them; add a judge litellm:<provider/model> "
        "(rubric match or crbench)"
    )


def _useful(row: ProfileRow) -> tuple[Cell, ...]:
    figures = row.figures
    useful: Estimate = figures["usefulness"]
    return (
        row.reviewer,
        figures["reviews"],
        figures["bug_hit"],
        figures["valid_suggestion"],
        figures["noise"],
        figures["defects"],
        row.recall,
        row.precision,
        row.f1.value,
        useful,
        signal_to_noise(useful),
    )


def signal_to_noise(useful: Estimate) -> Estimate:
    """Signal to noise from usefulness, its bounds carried through the same rising function."""
    if useful.value is None:
        return useful
    if useful.value == 1:
        return Estimate(None, None, None, useful.n, "infinite: there is no noise")
    value = snr_from_usefulness(useful.value)
    if useful.low is None or useful.high is None or useful.high == 1:
        return Estimate(value, None, None, useful.n, "the upper end is infinite")
    return Estimate(value, snr_from_usefulness(useful.low), snr_from_usefulness(useful.high), useful.n)


def quality(material: Material) -> Sheet:
    """The judge's grades from 1 to 5, where it was asked for them."""
    judge = _that_grades(material)
    held = next(one for one in material.bundle.judgements if one.judge == judge)
    columns = (
        REVIEWER,
        count("findings", "findings graded"),
        *(share(name, name.replace("_", " ")) for name in QUALITIES),
    )
    rows: list[tuple[Cell, ...]] = []
    for one in material.main:
        grades = _grades(held, one.id)
        cells = tuple(_mean_grade(material, grades, name) for name in QUALITIES)
        rows.append((one.id, sum(len(own) for own in grades.values()), *cells))
    note = (
        f"Judge: {judge}. Means of grades from 1 to 5 over graded findings; a judge may favour its own vendor's style."
    )
    return table_of("quality", "Qualitative scores", columns, rows, (note,))


def _that_grades(material: Material) -> str:
    for one in map(material.said, material.record.judges):
        if any(QUALITIES[0] in said.evidence for trial in one.trials for said in trial.judgements):
            return one.judge
    raise NotMade("no judge was asked for grades; add a judge litellm:<provider/model> with rubric vibeops")


_Graded = dict[PullId, dict[str, dict[str, float]]]


def _grades(held: JudgementSet, reviewer: ReviewerId) -> _Graded:
    """Pull request -> finding -> grades."""
    found: _Graded = {}
    for trial in held.trials:
        if trial.reviewer == reviewer:
            for said in trial.judgements:
                own = {name: said.evidence[name] for name in QUALITIES if name in said.evidence}
                if own:
                    found.setdefault(trial.pull, {})[said.candidate] = own
    return found


def _mean_grade(material: Material, grades: _Graded, name: str) -> Estimate:
    import numpy as np

    sums = [
        (sum(one[name] for one in own.values() if name in one), sum(name in one for one in own.values()))
        for own in grades.values()
    ]
    rows = np.array(sums, dtype=np.float64).reshape(len(sums), 2)
    n = int(rows[:, 1].sum()) if len(sums) else 0
    return material.resampler.estimate(rows, mean_of, rows[:, 1] > 0, n, "no finding of it was graded")


def credits(material: Material) -> Sheet:
    """Precision, recall and F1 with half credits, and weighted by severity, as VibeOps counts them."""
    result = vibeops.score(material.evidence, judge=material.judge)
    columns = (
        REVIEWER,
        count("findings", "findings"),
        count("annotations", "goldens"),
        plain("credit", "credit"),
        count("partial", "half credits"),
        plain("precision", "precision"),
        plain("recall", "recall"),
        plain("f1", "F1"),
        plain("weighted_f1", "F1 by severity"),
        count("clean", "clean and silent"),
    )
    rows = [_credited(row) for row in result.reviewers]
    notes = (
        f"Judge of the second pass: {material.judge}. A finding at the place of a golden and of its type earns 1 "
        "without a judge; a deferred one earns what the judge gives it, 0.5 where it sees a part.",
        "No intervals: credits are no independent observations. Those of `Leaderboard` are of whole finds.",
    )
    return table_of("credits", "Half credits (VibeOps' count)", columns, rows, notes)


def _credited(row: ProfileRow) -> tuple[Cell, ...]:
    figures = row.figures
    return (
        row.reviewer,
        figures["findings"],
        figures["annotations"],
        float(figures["credit"]),
        figures["partial"],
        row.precision.value,
        row.recall.value,
        row.f1.value,
        figures["severity_weighted"]["f1"],
        figures["clean_samples"],
    )


def credits_by_type(material: Material) -> Sheet:
    """Recall by VibeOps' types of finding, with half credits."""
    result = vibeops.score(material.evidence, judge=material.judge)
    columns = (
        Column("type", "type"),
        REVIEWER,
        count("annotations", "goldens"),
        plain("credit", "credit"),
        share("recall", "recall"),
    )
    found = sorted(result.tables["recall_by_type"], key=lambda row: (row["type"], row["reviewer"]))
    rows = [(row["type"], row["reviewer"], row["annotations"], float(row["credit"]), _recall(row)) for row in found]
    if not rows:
        raise NotMade("no golden was reviewed, so there is nothing to find of any type")
    note = "Interval: Wilson where all credits are whole; half credits are no proportion and have none."
    return table_of("credits_by_type", "Recall by type (VibeOps' count)", columns, rows, (note,))


def _recall(row: Mapping[str, Any]) -> Estimate:
    earned, many = float(row["credit"]), int(row["annotations"])
    if earned.is_integer():
        return wilson(int(earned), many)
    return Estimate(earned / many, None, None, many, "half credits are no proportion")


def decided(material: Material) -> Sheet:
    """How much position and type settle before any judge is asked."""
    alone = replace(material.evidence, judgements=())
    result = vibeops.score(alone)
    columns = (
        REVIEWER,
        count("findings", "findings"),
        count("settled", "settled by place and type"),
        share("share", "decided without an LLM"),
    )
    rows = []
    for row in sorted(result.reviewers, key=lambda row: row.reviewer):
        settled = int(row.figures["findings"])
        findings = settled + row.counts.unscored
        rows.append((row.reviewer, findings, settled, wilson(settled, findings, reason="nothing was said")))
    note = (
        "VibeOps' first pass: same file, lines within 5 and a type that goes with the golden's settles a finding, and "
        "so does a file without any golden; the rest is left to a judge."
    )
    return table_of("decided", "Decided without an LLM", columns, rows, (note,))


# --- judges against each other


def judge_to_judge(material: Material) -> Sheet:
    """How far the judges agree, and what changing the judge does to the order of reviewers."""
    judges = material.record.judges
    if len(judges) < 2:
        raise NotMade(f"the study has one judge ({judges[0]}); name two or more in `judges`")
    columns = (
        Column("first", "judge"),
        Column("second", "other"),
        Column("what", "on"),
        count("units", "units"),
        share("observed", "same label"),
        share("kappa", "Cohen's kappa"),
        share("alpha", "Krippendorff's alpha"),
        plain("tau_b", "tau-b of the order"),
        count("largest_move", "largest move of a rank"),
    )
    rows = [row for pair in combinations(judges, 2) for row in _pair(material, *pair)]
    if len(judges) > 2:
        rows += _all(material)
    return table_of("judge_to_judge", "Judge to judge", columns, rows, _split(material))


def _pair(material: Material, first: str, second: str) -> Iterable[tuple[Cell, ...]]:
    one, other = material.under(first).report, material.under(second).report
    f1 = [{row.reviewer: row.f1.value for row in report.reviewers} for report in (one, other)]
    moves = rank_moves(*f1)
    for what, labels in (("goldens", golden_labels), ("claims", candidate_labels)):
        made = agreement(labels(one.trials), labels(other.trials), material.resampler)
        figures = (made.units, made.observed, made.kappa, made.alpha)
        yield first, second, what, *figures, moves.tau_b, moves.largest_move


def _all(material: Material) -> Iterable[tuple[Cell, ...]]:
    reports = [material.under(judge).report for judge in material.record.judges]
    for what, labels in (("goldens", golden_labels), ("claims", candidate_labels)):
        made = alpha([labels(report.trials) for report in reports], material.resampler)
        none = Estimate(None, None, None, 0, "of two judges only")
        yield "all", "", what, made.n, none, none, made, None, None


def _split(material: Material) -> tuple[str, ...]:
    """What a panel of the judges would have been split on, and which of them could not decide."""
    held = [material.said(judge) for judge in material.record.judges]
    together = panel(held)
    said = [one for trial in together.trials for one in trial.judgements]
    split = sum(DISAGREEMENT in one.evidence for one in said)
    notes = [f"On {split} of {len(said)} pairs of a claim and a golden the judges' verdicts differ."]
    for one in held:
        unsure = sum(said.verdict is Verdict.UNDECIDED for trial in one.trials for said in trial.judgements)
        if unsure:
            notes.append(f"{one.judge} left {unsure} pairs undecided; they are unscored, no misses.")
    return tuple(notes)


TABLES = (
    Table("usefulness", "Usefulness and noise", usefulness),
    Table("quality", "Qualitative scores", quality),
    Table("credits", "Half credits (VibeOps' count)", credits),
    Table("credits_by_type", "Recall by type (VibeOps' count)", credits_by_type),
    Table("decided", "Decided without an LLM", decided),
    Table("judge_to_judge", "Judge to judge", judge_to_judge),
)
