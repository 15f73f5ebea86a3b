"""Reviewers that were run elsewhere, such as bots on GitHub, taken into a study from the bundles of their runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from bot.analysis.opening import open_bundle
from bot.analysis.problems import Unusable
from bot.studies.plan import Part, Study
from bot.studies.record import Condition
from bot.studies.schema import BundleEntry
from goldens.located import did_you_mean
from scoring.bundle import Bundle, BundleError, BundleReviewer, BundleTrial
from scoring.model import ReviewerId


@dataclass(frozen=True, slots=True)
class Guests:
    """What a bundle gives to a study."""

    conditions: tuple[Condition, ...] = ()
    trials: tuple[BundleTrial, ...] = ()
    reviewers: tuple[BundleReviewer, ...] = ()
    """With the patterns of their chatter, which their comments cannot be read without."""


def guests_of(study: Study, beside: Path) -> Guests:
    """All reviewers of the bundles that a study names.

    Args:
        study: The study.
        beside: The folder of the study file.

    Raises:
        StudyError: a bundle cannot be read, is of another suite, lacks a reviewer, or one is there already.
    """
    taken = {one.id for one in study.conditions}
    found = Guests()
    for at, entry in enumerate(study.file.bundles):
        try:
            more = _guests(study, entry, open_bundle(beside / entry.bundle))
        except (BundleError, Unusable, OSError) as error:
            raise study.wrong(("bundles", at), error) from None
        if twice := sorted(one.id for one in more.conditions if one.id in taken):
            raise study.wrong(("bundles", at), f"there is a reviewer {twice[0]} already")
        taken |= {one.id for one in more.conditions}
        found = Guests(
            (*found.conditions, *more.conditions), (*found.trials, *more.trials), (*found.reviewers, *more.reviewers)
        )
    return found


def _guests(study: Study, entry: BundleEntry, bundle: Bundle) -> Guests:
    part = next((one for one in study.parts if one.suite.ref.hash == bundle.suite.hash), None)
    if part is None:
        held = ", ".join(f"{one.suite.ref.id} {one.suite.ref.version}" for one in study.parts)
        raise Unusable(f"{entry.bundle} is of suite {bundle.suite.id} {bundle.suite.version}, the study has {held}")
    there = sorted({trial.reviewer for trial in bundle.trials})
    for name in entry.reviewers:
        if name not in there:
            meant = did_you_mean(name, there)
            hint = f"; did you mean {meant!r}?" if meant else ""
            raise Unusable(f"{entry.bundle} has no reviewer {name!r}{hint} There is: {', '.join(there)}")
    names = [name for name in there if not entry.reviewers or name in entry.reviewers]
    return Guests(
        tuple(Condition(ReviewerId(name), name, f"bundle:{entry.bundle}") for name in names),
        tuple(_moved(study, part, bundle, names)),
        tuple(one for one in bundle.reviewers if one.id in names),
    )


def _moved(study: Study, part: Part, bundle: Bundle, names: list[ReviewerId]) -> Iterator[BundleTrial]:
    """Trials on the study's pull requests, under the study's names for them."""
    wanted = {pull.id for pull in part.pulls}
    for trial in bundle.trials:
        if trial.reviewer in names and trial.pull in wanted:
            seconds = trial.seconds if study.file.latency else None
            yield replace(trial, pull=study.named(part.suite.ref.id, trial.pull), seconds=seconds)
