"""A retired golden is out of the score from the suite file to the leaderboard, and so is one in stored evidence."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from goldens.load import load_suite
from goldens.model import Suite
from scoring.judges.lexical import LexicalJudge
from scoring.model import Comment, Golden, GoldenStatus, Report, ReviewerId, Shape, Trial, TrialStatus
from scoring.profiles.assay import score_run
from tests.goldens.written import YAML, write_suite

OTHER = (
    "      - id: other\n        path: shop/prices.py\n        lines: [2, 2]\n        category: performance\n"
    "        severity: low\n        finding: The sum walks the whole list again on every call of total.\n"
)
GONE = "        status: retired\n        reason: A list is always short.\n"
SAID = "The divisor `len(prices) - 1` is one short, so every average is too large and a single price divides by zero."


def score(suite: Suite, goldens: tuple[Golden, ...], status: TrialStatus = TrialStatus.REVIEWED_FINDINGS) -> Report:
    pull = suite.pulls[0]
    comment = Comment("review_comment/1", Shape.INLINE, "acme[bot]", SAID, "", pull.goldens[0].place)
    trial = Trial(pull.id, ReviewerId("acme"), status, True, "", goldens, (comment,))
    return score_run([trial], LexicalJudge(), suite.ref)


def retired(suite: Suite) -> tuple[Golden, ...]:
    one, other = suite.pulls[0].goldens
    return one, replace(other, status=GoldenStatus.RETIRED, reason="A list is always short.")


def test_a_golden_that_a_suite_retires_is_no_miss(tmp_path: Path) -> None:
    both = load_suite(write_suite(tmp_path / "both", YAML + OTHER))
    less = load_suite(write_suite(tmp_path / "less", YAML + OTHER + GONE))
    (before,), (after,) = (score(suite, suite.pulls[0].goldens).reviewers for suite in (both, less))
    assert (before.counts.tp, before.counts.fn, before.recall.value) == (1, 1, 0.5)
    assert (after.counts.tp, after.counts.fn, after.recall.value) == (1, 0, 1.0)
    assert both.ref.hash != less.ref.hash


def test_a_retired_golden_in_stored_evidence_is_no_miss_and_no_judge_sees_it(tmp_path: Path) -> None:
    suite = load_suite(write_suite(tmp_path, YAML + OTHER))
    report = score(suite, retired(suite))
    assert (report.reviewers[0].counts.tp, report.reviewers[0].counts.fn) == (1, 0)
    assert {judgement.golden for judgement in report.trials[0].judgements} == {"divisor"}
    assert [golden.golden for golden in report.trials[0].goldens] == ["divisor"]


def test_a_retired_golden_does_not_weigh_on_a_trial_that_did_not_run(tmp_path: Path) -> None:
    suite = load_suite(write_suite(tmp_path, YAML + OTHER))
    whole = score(suite, suite.pulls[0].goldens, TrialStatus.TIMEOUT).reviewers[0].recall_bound
    less = score(suite, retired(suite), TrialStatus.TIMEOUT).reviewers[0].recall_bound
    assert (whole.n, less.n) == (2, 1)


def test_a_disputed_golden_counts_and_is_named(tmp_path: Path) -> None:
    text = YAML + OTHER + "        status: disputed\n        reason: A list is always short.\n"
    suite = load_suite(write_suite(tmp_path, text))
    report = score(suite, suite.pulls[0].goldens)
    assert report.reviewers[0].counts.fn == 1
    assert [golden.status for golden in report.trials[0].trial.goldens] == ["live", "disputed"]
