"""What the tables of a study look at: one bundle, counted once under each judge."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from bot.analysis.figures import resampler_of
from bot.analysis.opening import Scored, under
from bot.studies import record as records
from bot.studies.record import Condition, Record
from scoring.bundle import Bundle, JudgementSet
from scoring.model import PullId, Report, ReviewerId
from scoring.statistics.bootstrap import Resampler
from scoring.statistics.clusters import partition


@dataclass(frozen=True)
class Material:
    """A study's evidence, and what follows from it. Nothing in it is ever changed."""

    bundle: Bundle
    record: Record
    counted: Mapping[str, Scored]
    """All conditions under each judge, by the judge's name."""
    resampler: Resampler

    @property
    def judge(self) -> str:
        """The judge that the tables go by."""
        return self.record.judges[0]

    @cached_property
    def main(self) -> tuple[Condition, ...]:
        """One condition for each reviewer and prompt."""
        return tuple(one for one in self.record.conditions if one.main)

    @cached_property
    def scored(self) -> Scored:
        """The main conditions under the study's judge."""
        return self.under(self.judge)

    def under(self, judge: str) -> Scored:
        """The main conditions under a judge."""
        return only(self.counted[judge], {one.id for one in self.main})

    @property
    def everything(self) -> Scored:
        """All conditions, repeats and rounds too, under the study's judge."""
        return self.counted[self.judge]

    def said(self, judge: str) -> JudgementSet:
        """Everything that a judge said."""
        return next(one for one in self.bundle.judgements if one.judge == judge)

    @cached_property
    def evidence(self) -> Bundle:
        """The bundle with the main conditions alone and one judge's answers, as profiles take it."""
        return _narrowed(self.bundle, {one.id for one in self.main}, self.judge)

    def with_judge(self, judge: str) -> Bundle:
        """The same with another judge's answers."""
        return _narrowed(self.bundle, {one.id for one in self.main}, judge)


def material(bundle: Bundle) -> Material:
    """Count a study's bundle under each of its judges.

    Raises:
        BundleError: it is no bundle of a study.
        Unusable: its parts do not fit together.
    """
    record = records.read(bundle)
    counted = {judge: _counted(bundle, judge) for judge in record.judges}
    return Material(bundle, record, counted, resampler_of(record.seed))


def _counted(bundle: Bundle, judge: str) -> Scored:
    report = under(bundle, "assay", judge).report
    assert report is not None
    return Scored(bundle, report, partition(report.trials))


def only(scored: Scored, reviewers: Collection[ReviewerId], pulls: Collection[PullId] | None = None) -> Scored:
    """A part of what was counted: some conditions, on some pull requests. Sums of rows are those of all pulls."""
    kept = tuple(
        one
        for one in scored.report.trials
        if one.trial.reviewer in reviewers and (pulls is None or one.trial.pull in pulls)
    )
    rows = tuple(row for row in scored.report.reviewers if row.reviewer in reviewers)
    report: Report = replace(scored.report, trials=kept, reviewers=rows)
    bundle = replace(scored.bundle, trials=tuple(one for one in scored.bundle.trials if one.reviewer in reviewers))
    return Scored(bundle, report, partition(kept))


def _narrowed(bundle: Bundle, reviewers: Collection[ReviewerId], judge: str) -> Bundle:
    sets = tuple(
        replace(one, trials=tuple(trial for trial in one.trials if trial.reviewer in reviewers))
        for one in bundle.judgements
        if one.judge == judge
    )
    trials = tuple(one for one in bundle.trials if one.reviewer in reviewers)
    return replace(bundle, trials=trials, judgements=sets)
