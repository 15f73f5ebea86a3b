"""The claims of a bundle: the source's own, or taken from the comments as scoring takes them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping

from scoring.bundle import Bundle, BundleTrial
from scoring.candidates import extract
from scoring.model import Candidate, PullId


def of(bundle: Bundle) -> Callable[[BundleTrial], tuple[Candidate, ...]]:
    """What gives the claims of a trial, with the ids that judgements of this bundle name."""
    chatter = {one.id: one.not_findings for one in bundle.reviewers}

    def claims(trial: BundleTrial) -> tuple[Candidate, ...]:
        if trial.candidates is not None:
            return trial.candidates
        return extract(trial.comments, not_findings=chatter.get(trial.reviewer, ()))

    return claims


def by_pull(bundle: Bundle) -> Mapping[PullId, list[BundleTrial]]:
    """The trials of each golden pull request, in the order of the bundle."""
    found: dict[PullId, list[BundleTrial]] = defaultdict(list)
    for trial in bundle.trials:
        found[trial.pull].append(trial)
    return found
