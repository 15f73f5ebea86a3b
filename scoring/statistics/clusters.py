"""Which trials belong together: the one partition by pull request that every other statistic stands on.

Intervals, paired tests, agreement and power must not disagree about what a cluster is, so none of them groups trials on
its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from scoring.model import Counts, GoldenId, GoldenState, PullId, ReviewerId, TrialScore

GoldenKey = tuple[PullId, GoldenId]
"""A golden's id is unique inside its pull request only."""


@dataclass(frozen=True, slots=True)
class Partition:
    """Trials by pull request, then by reviewer; both in the order of their ids."""

    pulls: tuple[PullId, ...]
    reviewers: tuple[ReviewerId, ...]
    trials: Mapping[PullId, Mapping[ReviewerId, TrialScore]]

    def scored(self, reviewer: ReviewerId) -> dict[PullId, TrialScore]:
        """The reviewer's trials that are evidence; one that did not run is absent, not empty.

        Raises:
            ValueError: no trial is of this reviewer.
        """
        self.check(reviewer)
        found = ((pull, self.trials[pull].get(reviewer)) for pull in self.pulls)
        return {pull: trial for pull, trial in found if trial is not None and trial.scored}

    def counts(self, reviewer: ReviewerId) -> dict[PullId, Counts]:
        """The counts of each scored pull request."""
        return {pull: trial.counts for pull, trial in self.scored(reviewer).items()}

    def goldens(self, reviewer: ReviewerId) -> dict[GoldenKey, bool]:
        """Whether each scored golden was found; one that could not be judged is absent, not missed."""
        return {
            (pull, outcome.golden): outcome.state is GoldenState.FOUND
            for pull, trial in self.scored(reviewer).items()
            for outcome in trial.goldens
            if outcome.state is not GoldenState.UNSCORED
        }

    def check(self, reviewer: ReviewerId) -> None:
        """Refuse a reviewer that has no trial here."""
        if reviewer not in self.reviewers:
            near = get_close_matches(reviewer, self.reviewers, 1)
            meant = f" Did you mean {near[0]}?" if near else ""
            raise ValueError(f"no trial is of reviewer {reviewer}; there are {', '.join(self.reviewers)}.{meant}")


def partition(scores: Iterable[TrialScore]) -> Partition:
    """Group trials by pull request.

    Raises:
        ValueError: a trial names no pull request or no reviewer, or a reviewer has two trials on one pull request.
    """
    trials: dict[PullId, dict[ReviewerId, TrialScore]] = {}
    for number, score in enumerate(scores, start=1):
        pull, reviewer = score.trial.pull, score.trial.reviewer
        if not pull or not reviewer:
            missing = "reviewer" if pull else "pull request"
            raise ValueError(f"trial {number} names no {missing}, so it belongs to no cluster")
        row = trials.setdefault(pull, {})
        if reviewer in row:
            raise ValueError(f"{reviewer} has two trials on {pull}; a cluster holds one of each reviewer")
        row[reviewer] = score
    pulls = tuple(sorted(trials))
    ordered = {pull: dict(sorted(trials[pull].items())) for pull in pulls}
    return Partition(pulls, tuple(sorted({name for row in ordered.values() for name in row})), ordered)
