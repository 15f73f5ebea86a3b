"""Check runs: what they say, within GitHub's limits, and what they keep to themselves."""

from __future__ import annotations

import dataclasses

import pytest

from bot.model import CheckRun, ForkId, Publish, Sha
from bot.render import batches, external_id, fork_check, trial_check
from bot.render.checks import BUTTONS
from scoring.model import (
    CandidateId,
    CandidateOutcome,
    Counts,
    GoldenOutcome,
    GoldenState,
    OutcomeKind,
    Place,
    Severity,
    Side,
    TrialScore,
    TrialStatus,
)
from tests.bot.render_world import (
    HEAD,
    LEAK,
    REF,
    SQL,
    alive,
    assert_snapshot,
    candidate,
    not_scored,
    read,
    scored,
    surface,
    trial,
)


def check(score: TrialScore) -> CheckRun:
    """The check run on a private surface."""
    made = trial_check(score, REF, head_sha=HEAD, surface=surface())
    assert made is not None
    return made


def test_a_scored_trial_says_all_it_knows() -> None:
    made = check(scored())
    assert (made.name, made.title, made.conclusion) == ("assay / Acme", "1 TP · 1 FP · 1 FN · 1 unscored", "neutral")
    assert made.external_id == "700-1:injection~acme:abcdef012345"
    assert_snapshot("render_trial_check.md", made.summary)


def test_a_trial_that_measured_nothing_is_neither_good_nor_bad() -> None:
    made = check(not_scored())
    assert (made.title, made.conclusion, made.annotations) == ("not scored: rate limited", "skipped", ())
    assert_snapshot("render_trial_check_not_scored.md", made.summary)
    assert "missed" not in made.summary
    assert "0 TP" not in made.summary


@pytest.mark.parametrize("status", [status for status in TrialStatus if not status.scored])
def test_every_status_without_a_review_is_skipped_and_named(status: TrialStatus) -> None:
    made = check(TrialScore(trial("acme", status)))
    assert made.conclusion == "skipped"
    assert made.title == f"not scored: {status.replace('_', ' ')}"


def test_a_review_that_was_cut_off_is_not_called_a_miss() -> None:
    cut_off = dataclasses.replace(trial("acme", TrialStatus.REVIEWED_FINDINGS), complete=False)
    made = check(TrialScore(cut_off))
    assert (made.title, made.conclusion) == ("not scored: review was cut off", "neutral")
    assert "status: reviewed, with findings, not complete" in made.summary


def test_a_clean_pull_request_says_so() -> None:
    made = check(TrialScore(trial("acme", TrialStatus.REVIEWED_CLEAN, ()), scored=True))
    assert made.title == "0 TP · 0 FP · 0 FN"
    assert "None: this is a clean pull request" in made.summary


def test_a_forks_reviewers_stand_side_by_side() -> None:
    made = fork_check([scored(), not_scored()], REF, fork=ForkId("injection"), head_sha=HEAD, surface=surface())
    assert (made.name, made.title) == ("assay / summary", "1 of 2 reviewers scored")
    assert made.external_id == "700-1:injection~summary:abcdef012345"
    assert_snapshot("render_fork_check.md", made.summary)


def test_a_new_judgement_is_a_new_check_run() -> None:
    again = dataclasses.replace(REF, hash="ffff")
    assert external_id(REF, "injection~acme") != external_id(again, "injection~acme")


@pytest.mark.parametrize("mode", [Publish.ANONYMOUS, Publish.PRIVATE])
def test_no_check_run_on_a_public_fork_points_at_an_unnamed_reviewer(mode: Publish) -> None:
    here = surface(public=True, modes={"acme": mode, "zeta": Publish.NAMED})
    assert trial_check(scored(), REF, head_sha=HEAD, surface=here) is None
    made = fork_check([scored(), not_scored()], REF, fork=ForkId("injection"), head_sha=HEAD, surface=here)
    assert made is not None
    assert "Acme" not in made.summary
    assert "Tool" not in made.summary
    assert "may not be named: 1" in made.summary


@pytest.mark.parametrize("mode", [Publish.ANONYMOUS, Publish.PRIVATE])
def test_where_nobody_may_be_named_a_public_fork_holds_a_count_and_no_more(mode: Publish) -> None:
    here = surface(public=True, modes={"acme": mode, "zeta": mode})
    made = fork_check([scored(), not_scored()], REF, fork=ForkId("injection"), head_sha=HEAD, surface=here)
    assert (made.name, made.title, made.annotations) == ("assay / summary", "1 of 2 reviewers scored", ())
    assert "Reviewers that were measured here: 2; scored: 1." in made.summary
    for telling in ("acme", "zeta", "tool", "tp", "fp", "rate", "sql", "query", "injection", "http"):
        assert telling not in f"{made.summary} {made.title}".lower()


def test_a_summary_that_is_served_nowhere_is_cut_at_a_row_and_names_the_bundle() -> None:
    ref = dataclasses.replace(REF, url=None)
    many = tuple(candidate(number, f"🐇 claim {number} " * 20) for number in range(1, 900))
    outcomes = tuple(CandidateOutcome(one.id, OutcomeKind.FP, "no match") for one in many)
    score = TrialScore(trial("acme", TrialStatus.REVIEWED_FINDINGS), many, (), outcomes, (), Counts(), scored=True)
    made = trial_check(score, ref, head_sha=HEAD, surface=surface())
    assert made is not None
    head, _, note = made.summary.rpartition("\n\n")
    assert note == "_Cut, full report: see bundle 700-1_"
    assert len(made.summary.encode()) <= 65_535
    assert head.splitlines()[-1].endswith("no match")


def test_buttons_fit_githubs_limits_and_stand_only_where_they_are_given() -> None:
    here = dataclasses.replace(REF, buttons=BUTTONS)
    scores = [scored(), not_scored()]
    made = [trial_check(score, here, head_sha=HEAD, surface=surface()) for score in scores]
    made.append(fork_check(scores, here, fork=ForkId("injection"), head_sha=HEAD, surface=surface()))
    assert all(one is not None and one.buttons == BUTTONS for one in made)
    assert check(scored()).buttons == ()
    assert [button.identifier for button in BUTTONS] == ["rejudge", "cleanup"]
    for button in BUTTONS:
        assert len(button.label) <= 20
        assert len(button.description) <= 40
        assert len(button.identifier) <= 20


# --- annotations -------------------------------------------------------------------------------------------------


def test_what_was_missed_comes_first_and_what_was_right_last() -> None:
    marks = check(scored()).annotations
    assert [(mark.title.split(":")[0], mark.level, mark.path, mark.start_line) for mark in marks] == [
        ("FN", "warning", "src/io.py", 4),
        ("FP", "warning", "src/db/query.py", 3),
        ("unscored", "notice", "src/cache.py", 1),
        ("TP", "notice", "src/db/query.py", 11),
    ]


def test_missed_defects_go_from_the_worst_to_the_mildest() -> None:
    outcomes = tuple(GoldenOutcome(golden.id, GoldenState.MISSED, "") for golden in (LEAK, SQL))
    score = TrialScore(trial("acme", TrialStatus.REVIEWED_CLEAN, (LEAK, SQL)), goldens=outcomes, scored=True)
    assert [mark.title for mark in check(score).annotations] == ["FN: missed, critical", "FN: missed, low"]


def claims(*places: Place | None, commit: Sha | None = HEAD) -> TrialScore:
    """False alarms at these places."""
    made = tuple(
        dataclasses.replace(candidate(number, f"claim {number}", place), commit=commit, severity=Severity.LOW)
        for number, place in enumerate(places, start=1)
    )
    outcomes = tuple(CandidateOutcome(c.id, OutcomeKind.FP, "no match") for c in made)
    counts = Counts(fp=len(made))
    return TrialScore(trial("acme", TrialStatus.REVIEWED_FINDINGS, ()), made, (), outcomes, (), counts, scored=True)


@pytest.mark.parametrize(
    "place",
    [
        None,
        Place("src/a.py", (3, 3), Side.LEFT),
        Place("src/a.py", (0, 0)),
        Place("src/a.py", (9, 3)),
        Place("docs/@acme review.md", (1, 1)),
        Place("src/a\u202e.py", (1, 1)),
    ],
)
def test_a_place_that_github_would_refuse_or_show_elsewhere_is_not_annotated(place: Place | None) -> None:
    made = check(claims(place, Place("src/ok.py", (1, 2))))
    assert [mark.path for mark in made.annotations] == ["src/ok.py"]
    assert "claim 1" in made.summary


def test_lines_of_another_commit_are_not_annotated() -> None:
    assert check(claims(Place("src/a.py", (1, 1)), commit=Sha("6" * 40))).annotations == ()


def test_a_chatty_reviewer_is_cut_to_four_requests_and_that_is_said() -> None:
    made = check(claims(*[Place("src/a.py", (line, line)) for line in range(1, 302)]))
    assert [len(batch) for batch in batches(made.annotations)] == [50, 50, 50, 50]
    assert "Only the first 200 of 301 annotations" in made.summary


def test_batches_lose_nothing_and_keep_the_order() -> None:
    marks = check(claims(*[Place("src/a.py", (line, line)) for line in range(1, 52)])).annotations
    parts = batches(marks)
    assert [len(part) for part in parts] == [50, 1]
    assert sum(parts, ()) == marks
    assert batches(()) == ()


def test_endless_claims_stay_within_every_limit() -> None:
    huge = dataclasses.replace(candidate(1, "🐇@acme review|" * 9000, Place("src/a.py", (1, 1))), severity=None)
    outcome = CandidateOutcome(CandidateId("c1"), OutcomeKind.FP, "🐇" * 90_000)
    many = [dataclasses.replace(huge, id=CandidateId(f"c{n}")) for n in range(1, 400)]
    outcomes = tuple(dataclasses.replace(outcome, candidate=c.id) for c in many)
    made = check(
        TrialScore(trial("acme", TrialStatus.REVIEWED_FINDINGS), tuple(many), (), outcomes, (), Counts(), scored=True)
    )
    assert len(made.title) <= 255
    assert len(made.summary.encode()) <= 65_535
    assert made.summary.endswith("_Cut, full report: https://assay.test/runs/700-1_")
    assert alive(read(made.summary.partition("\n\n_Cut")[0])) == []
    for mark in made.annotations:
        assert len(mark.title) <= 255
        assert len(mark.message.encode()) <= 64 * 1024
