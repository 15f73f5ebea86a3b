"""What a reviewer costs the one who reads it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from scoring.model import Estimate, PullId, TrialScore
from scoring.statistics.bootstrap import Resampler, mean_of
from scoring.stats import wilson

NO_CLEAN = "no clean pull request was scored"
NO_FIND = "nothing true was found, so no reading paid off"
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,500}>")
_WORD = re.compile(r"[^\W_]\S*")
"""From a word's first letter or digit to its end, so that each word is met once and none is read twice."""


@dataclass(frozen=True, slots=True)
class Noise:
    """How much a reader goes through for nothing."""

    clean_pulls: int
    alarms_per_clean: Estimate
    """False alarms on a clean pull request, the mean; 0 or more."""
    quiet: Estimate
    """The share of clean pull requests without any claim, with its Wilson interval."""
    words: int
    words_per_find: Estimate
    """Words read for each golden found, more than 0. None where nothing was found: no price was paid for anything."""


def visible_words(body: str) -> int:
    """The words of a comment that a reader meets: no hidden comments, no tags; code and badges' texts count.

    A word is what stands between spaces and has a letter or digit. A hidden comment that is not closed hides the rest.
    """
    shown, rest = [], body
    while rest:
        before, _, hidden = rest.partition("<!--")
        shown.append(before)
        rest = hidden.partition("-->")[2]
    text = _TAG.sub(" ", " ".join(shown))
    return len(_WORD.findall(text))


def noise(
    scored: Mapping[PullId, TrialScore], resampler: Resampler, words: Callable[[str], int] = visible_words
) -> Noise:
    """The noise of one reviewer, from its scored trials (`Partition.scored`).

    Words are those of every comment, whether it made a claim or not, for all are read; each at its last scraped
    revision. Words per find is the ratio of two sums, not a mean of ratios: a pull request without a find still was
    read. Both intervals resample pull requests.

    Args:
        scored: The scored trials by pull request.
        resampler: Draws for the intervals.
        words: How to count the words of a comment.
    """
    import numpy as np

    own = [scored[pull] for pull in sorted(scored)]
    clean = [score for score in own if not score.trial.goldens]
    quiet = sum(not score.candidates for score in clean)
    alarms = np.array([(score.counts.fp, 1) for score in clean], dtype=np.float64).reshape(len(clean), 2)
    read = [sum(words(comment.body) for comment in score.trial.comments) for score in own]
    found = [score.counts.tp for score in own]
    cost = np.column_stack([read, found]).astype(np.float64)
    return Noise(
        clean_pulls=len(clean),
        alarms_per_clean=resampler.estimate(alarms, mean_of, alarms[:, 1] > 0, len(clean), NO_CLEAN),
        quiet=wilson(quiet, len(clean), resampler.confidence, reason=NO_CLEAN),
        words=sum(read),
        words_per_find=resampler.estimate(cost, mean_of, cost[:, 1] > 0, sum(found), NO_FIND),
    )
