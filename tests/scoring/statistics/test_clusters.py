from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.model import Counts, PullId, ReviewerId
from scoring.statistics.clusters import partition
from tests.scoring.statistics.make import A, B, score, unrun


def test_a_trial_without_a_pull_request_or_reviewer_is_refused() -> None:
    with pytest.raises(ValueError, match="trial 2 names no pull request"):
        partition([score("p1", A), score("", A)])
    with pytest.raises(ValueError, match="trial 1 names no reviewer"):
        partition([score("p1", "")])


def test_two_trials_of_one_reviewer_on_one_pull_request_are_refused() -> None:
    with pytest.raises(ValueError, match="acme has two trials on p1"):
        partition([score("p1", A, "1"), score("p1", A, "0")])


def test_a_misspelled_reviewer_is_told_who_there_is() -> None:
    trials = partition([score("p1", A, "1"), score("p1", B, "1")])
    with pytest.raises(ValueError, match=r"no trial is of reviewer acne; there are acme, bolt\. Did you mean acme\?"):
        trials.counts(ReviewerId("acne"))
    with pytest.raises(ValueError, match=r"^no trial is of reviewer zzz; there are acme, bolt\.$"):
        trials.counts(ReviewerId("zzz"))


def test_what_did_not_run_or_could_not_be_judged_is_absent_and_no_miss() -> None:
    trials = partition([score("p2", A, "10?"), unrun("p1", A), score("p1", B, "1")])
    assert trials.counts(A) == {PullId("p2"): Counts(tp=1, fn=1, goldens_unscored=1)}
    assert trials.goldens(A) == {("p2", "g0"): True, ("p2", "g1"): False}
    assert trials.pulls == ("p1", "p2")
    assert trials.reviewers == (A, B)


@given(st.permutations(range(6)))
def test_the_order_of_trials_changes_nothing(order: list[int]) -> None:
    scores = [score(f"p{number % 3}", (A, B)[number // 3], "10", fp=number) for number in range(6)]
    made = partition(scores[number] for number in order)
    assert made == partition(scores)
    assert list(made.trials) == list(partition(scores).trials)


def test_a_trial_marked_unscored_by_the_profile_counts_as_not_run() -> None:
    trials = partition([replace(score("p1", A, "1"), scored=False)])
    assert trials.scored(A) == {}
