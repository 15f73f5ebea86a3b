from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Sequence

import pytest

from scoring import metrics
from scoring.judges.lexical import LexicalJudge
from scoring.model import (
    Candidate,
    Counts,
    Golden,
    Judgement,
    OutcomeKind,
    Report,
    ReviewerId,
    Severity,
    SuiteRef,
    Trial,
    TrialStatus,
    Verdict,
)
from scoring.profiles.assay import score_run, score_trial
from tests.scoring.make import golden, inline, place, review, text, trial
from tests.shared import case

SUITE = SuiteRef("demo", "1", "sha256:0")


class ByWord:
    """Matches where the golden's finding is in the claim; undecided where the claim says `maybe`."""

    name = "by-word/1"

    def judge(self, candidates: Sequence[Candidate], goldens: Sequence[Golden]) -> Sequence[Judgement]:
        return [self._one(claim, known) for claim in candidates for known in goldens]

    def _one(self, claim: Candidate, known: Golden) -> Judgement:
        verdict = Verdict.MATCH if known.finding in claim.text else Verdict.NO_MATCH
        verdict = Verdict.UNDECIDED if f"maybe {known.finding}" in claim.text else verdict
        return Judgement(claim.id, known.id, verdict, self.name, "by word", 0.5)


def test_clean_pull_requests_count_alarms_and_silence_apart_from_recall() -> None:
    shared = case("86")["expected"]
    loud = trial((), (inline(1, "The lock is held."), inline(2, "The page is skipped.", "src/b.py")), reviewer="loud")
    quiet = trial((), (text(1, "LGTM"),), reviewer="quiet", status=TrialStatus.REVIEWED_CLEAN)
    absent = trial((), (), reviewer="absent", status=TrialStatus.NOT_INSTALLED)
    rows = {row.reviewer: row for row in score_run([loud, quiet, absent], ByWord(), SUITE).reviewers}
    first, second, third = (rows[ReviewerId(name)] for name in ("loud", "quiet", "absent"))
    assert (first.counts.tp, first.counts.fp, first.counts.fn) == tuple(
        shared["loud"][key] for key in ("tp", "fp", "fn")
    )
    assert (first.precision.value, first.recall.value, first.f1.value) == (0.0, None, None)
    assert (second.precision.value, second.recall.value) == (shared["quiet"]["precision"], shared["quiet"]["recall"])
    assert (first.clean_pulls, first.clean_quiet, second.clean_pulls, second.clean_quiet) == (1, 0, 1, 1)
    assert (third.clean_pulls, third.coverage.scored) == (0, 0)
    assert second.precision.reason


def test_what_did_not_run_is_no_zero_and_its_goldens_stand_in_the_bound() -> None:
    shared = case("87")
    for name, given in shared["input"].items():
        counts = Counts(given["tp"], given["fp"], given["goldens_in_answered"] - given["tp"])
        wanted = shared["expected"][name]
        missing = given["goldens_all"] - given["goldens_in_answered"]
        assert metrics.precision(counts).value == pytest.approx(wanted["precision"])
        assert metrics.recall(counts).value == pytest.approx(wanted["recall_answered"])
        assert metrics.recall_bound(counts, missing).value == pytest.approx(wanted["recall_all"])


def test_severity_weights_count_hits_by_the_golden_and_alarms_by_what_the_reviewer_called_them() -> None:
    shared = case("90")
    given, wanted = shared["input"], shared["expected"]
    weights = {Severity(name): weight for name, weight in given["weights"].items()}
    levels = [(Severity(one["severity"]), one["found"]) for one in given["goldens"]]
    alarms = [None if name is None else Severity(name) for name in given["false_positives_severity"]]
    found, missed = ([level for level, hit in levels if hit is wish] for wish in (True, False))
    made = metrics.severity_weighted(found, missed, alarms, weights, given["weight_without_severity"])
    assert made.recall == pytest.approx(wanted["weighted_recall"])
    assert made.precision == pytest.approx(wanted["weighted_precision"])
    assert made.f1 == pytest.approx(wanted["weighted_f1"])
    assert made.weights == weights
    nothing = metrics.severity_weighted(found, missed, alarms, dict.fromkeys(Severity, 0.0), 0.0)
    assert (nothing.precision, nothing.recall, nothing.f1) == (None, None, None)
    assert metrics.severity_weighted([], [Severity.LOW], [Severity.HIGH]).f1 is None


def test_only_complete_reviews_are_scored_and_the_rest_is_in_the_coverage() -> None:
    known = (golden("g1", "lock"),)
    said = (inline(1, "The lock is held."),)
    trials = [
        trial(known, said, "p1"),
        trial(known, said, "p2", complete=False),
        trial(known, said, "p3", status=TrialStatus.RATE_LIMITED),
        trial(known, (), "p4", status=TrialStatus.TIMEOUT),
        trial(known, (), "p5", status=TrialStatus.REVIEWED_CLEAN),
    ]
    (row,) = score_run(trials, ByWord(), SUITE).reviewers
    assert (row.counts.tp, row.counts.fn) == (1, 1)
    assert (row.coverage.trials, row.coverage.scored) == (5, 2)
    assert row.coverage.by_status == {"reviewed_findings": 2, "reviewed_clean": 1, "rate_limited": 1, "timeout": 1}
    assert (row.recall.n, row.recall_bound.n, row.recall_bound.value) == (2, 5, 0.2)
    assert not score_trial(trials[1], ByWord()).outcomes


def test_an_unjudged_pair_moves_no_score_but_the_bound() -> None:
    known = (golden("g1", "lock"), golden("g2", "page"))
    (row,) = score_run(
        [trial(known, (inline(1, "The lock is held."), inline(2, "maybe page", "b.py")))], ByWord(), SUITE
    ).reviewers
    assert (row.counts.tp, row.counts.fp, row.counts.fn) == (1, 0, 0)
    assert (row.counts.unscored, row.counts.goldens_unscored) == (1, 1)
    assert (row.recall.value, row.recall_bound.value) == (1.0, 0.5)


def test_a_summary_a_twin_and_a_stray_remark_are_one_hit_one_duplicate_and_one_alarm() -> None:
    known = (golden("g1", "`total` is added twice", place("src/cart.py", 41)),)
    comments = (
        inline(1, "`total` is added twice: once in `sum()` and again in `checkout()`.", "src/cart.py", 41),
        inline(2, "`total` is added twice, once in `sum()`, again in `checkout()`.", "src/cart.py", 42),
        inline(3, "The variable name shadows a builtin.", "src/cart.py", 90),
        review(4, "- `src/cart.py:41`: `total` is added twice\n\nLGTM otherwise"),
    )
    score = score_trial(trial(known, comments), LexicalJudge())
    assert (score.counts.tp, score.counts.fp, score.counts.duplicate, score.counts.fn) == (1, 1, 1, 0)
    hit = next(outcome for outcome in score.outcomes if outcome.kind is OutcomeKind.TP)
    assert hit.golden == "g1"


def test_chatter_patterns_belong_to_one_reviewer_only() -> None:
    said = (text(1, "Robots rest on Sundays and the lock is broken."),)
    trials = [trial((), said, reviewer="one"), trial((), said, reviewer="two")]
    report = score_run(trials, ByWord(), SUITE, not_findings={ReviewerId("one"): ["sundays"]})
    assert {score.trial.reviewer: len(score.candidates) for score in report.trials} == {"one": 0, "two": 1}
    assert [len(score.no_claims) for score in report.trials] == [1, 0]


def test_rows_are_ranked_by_f1_then_bound_then_id_and_undefined_comes_last() -> None:
    known = (golden("g1", "lock"),)
    hit, miss = (inline(1, "The lock is held."),), (inline(1, "The page is skipped."),)
    trials = [
        trial(known, miss, reviewer="bad"),
        trial(known, (), reviewer="gone", status=TrialStatus.ERROR),
        trial(known, hit, reviewer="b-half"),
        trial(known, (), "p2", "b-half", TrialStatus.TIMEOUT),
        trial(known, hit, reviewer="z-good"),
        trial(known, hit, reviewer="a-good"),
    ]
    wanted = ["a-good", "z-good", "b-half", "bad", "gone"]
    for seed in range(4):
        report = score_run(random.Random(seed).sample(trials, len(trials)), ByWord(), SUITE, notes=("n",))
        assert [row.reviewer for row in report.reviewers] == wanted
        assert [(one.trial.pull, one.trial.reviewer) for one in report.trials] == sorted(
            (one.pull, one.reviewer) for one in trials
        )
        assert report == _report(trials)


def _report(trials: list[Trial]) -> Report:
    return score_run(trials, ByWord(), SUITE, notes=("n",))


def test_a_trial_twice_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="p1 x acme"):
        score_run([trial(()), trial(())], ByWord(), SUITE)


def test_scoring_loads_fast_and_pulls_in_nothing_heavy() -> None:
    code = (
        "import sys, scoring, scoring.profiles.assay, scoring.judges.lexical\n"
        "heavy = {'pydantic', 'numpy', 'scipy', 'sklearn', 'sqlalchemy', 'litellm', 'requests', 'markdown_it'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
