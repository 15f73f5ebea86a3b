"""Bundles as they lie on a disk, checked, judged and counted under our own rules."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bot.analysis import pooling
from bot.analysis.pooling import LIVE
from bot.analysis.problems import Unusable, one_of
from bot.versions import versions
from goldens.importers.folder import read_bundle
from scoring.bundle import Bundle, BundleError
from scoring.judges.base import Judge
from scoring.judges.lexical import LexicalJudge
from scoring.model import Report, ReviewerId
from scoring.profiles import named
from scoring.profiles.base import Json, ProfileError, ProfileResult
from scoring.statistics.clusters import Partition, partition


@dataclass(frozen=True, slots=True)
class Scored:
    """Evidence, counted under our own rules."""

    bundle: Bundle
    """All bundles as one."""
    report: Report
    trials: Partition


def open_bundle(path: Path) -> Bundle:
    """Read a bundle's folder or archive.

    Raises:
        BundleError: it is no bundle, or was changed.
        Unusable: its parts do not fit together.
    """
    try:
        bundle = read_bundle(path)
    except BundleError as error:
        raise BundleError(_one_line(f"{path}: {error}")) from error
    if problem := pooling.misfit(bundle):
        raise Unusable(f"{path}: {problem}")
    return bundle


def _one_line(text: str) -> str:
    """A message of pydantic's goes over several lines; the part and what is wrong with it are in the first three."""
    words = " ".join(text.split())
    return words if len(words) <= 300 else words[:299] + "…"


def judging(bundle: Bundle, name: str | None) -> str | Judge | None:
    """Whom to ask: a judge whose answers are stored, the one that can be asked now, or nobody in particular.

    A live run's bundle holds no answers but says in its plan which judge the run asked for.

    Raises:
        Unusable: there is no judge of that name.
    """
    stored = [one.judge for one in bundle.judgements]
    if name is None and not stored:
        name = _planned(bundle)
    if name is None or name in stored:
        return name
    if name == LIVE:
        return LexicalJudge()
    raise one_of("judge", name, {*stored, LIVE})


def _planned(bundle: Bundle) -> str | None:
    raw = bundle.extra.get("evidence/plan.json")
    try:
        planned = json.loads(raw)["request"]["judge"] if raw else None
    except (ValueError, KeyError, TypeError):
        return None
    return LIVE if planned == LIVE else None


def under(bundle: Bundle, profile: str, judge: str | None, options: dict[str, Json] | None = None) -> ProfileResult:
    """A bundle under a profile.

    Raises:
        Unusable: the judge, an option, or the bundle is not what the profile needs.
    """
    try:
        result = named(profile)(bundle, judge=judging(bundle, judge), options=options or {})
    except ProfileError as error:
        raise Unusable(f"{error}{_way_out(bundle, judge)}") from None
    report = result.report
    return replace(result, versions=versions(), report=report and replace(report, versions=versions()))


def _way_out(bundle: Bundle, judge: str | None) -> str:
    if judge is not None or len(bundle.judgements) == 1:
        return ""
    if bundle.judgements:
        return " (--judge NAME)"
    return f", or ask the judge that needs no model: --judge {LIVE}"


def open_scored(paths: Sequence[Path], judge: str | None) -> Scored:
    """Bundles as one, under our own rules.

    Raises:
        BundleError: see `open_bundle`.
        Unusable: they do not belong together, or the judge is missing.
    """
    bundle = pooling.pool([(str(path), open_bundle(path)) for path in paths], judge)
    report = under(bundle, "assay", judge).report
    assert report is not None
    return Scored(bundle, report, partition(report.trials))


def open_against(bundle: Path, first: str, other: Path, second: str, judge: str | None) -> tuple[Scored, str]:
    """One reviewer of each of two bundles, side by side; and what the second is called there.

    Raises:
        BundleError: see `open_bundle`.
        Unusable: the bundles are of different suites, or do not hold the reviewer.
    """
    ours, theirs = open_bundle(bundle), open_bundle(other)
    if ours.suite.hash != theirs.suite.hash:
        raise Unusable(f"{bundle} is of suite {_called(ours)}, {other} of {_called(theirs)}: they share no goldens")
    label = second if second != first else f"{second}@{other.stem}"
    alone = pooling.only(ours, first, first), pooling.only(theirs, second, label)
    pooled = pooling.pool([(str(bundle), alone[0]), (str(other), alone[1])], judge)
    report = under(pooled, "assay", judge).report
    assert report is not None
    return Scored(pooled, report, partition(report.trials)), label


def _called(bundle: Bundle) -> str:
    return f"{bundle.suite.id} {bundle.suite.version} ({bundle.suite.hash[:12]})"


def reviewer(scored: Scored, name: str) -> ReviewerId:
    """A reviewer's id, checked.

    Raises:
        Unusable: no trial is of that reviewer.
    """
    if name not in scored.trials.reviewers:
        raise one_of("reviewer", name, scored.trials.reviewers)
    return ReviewerId(name)
