"""Refusals, rate limits and asking again: what is no review, and when that is final."""

from __future__ import annotations

import pytest

from bot.model import Asks, Waiting
from bot.settle import decide, due
from scoring.model import TrialStatus
from tests.bot.talk import ASKED, OPENED, at, check, inline, review, snapshot
from tests.bot.test_settle import ACME, BOT, END, final, said, settled
from tests.shared import case


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("Review skipped: draft", TrialStatus.SKIPPED),
        ("This change has too many files for me", TrialStatus.UNABLE),
        ("I crashed", TrialStatus.ERROR),
    ],
)
@pytest.mark.parametrize("surface", ["issue_comments", "reviews"])
def test_a_refusal_is_its_own_status_wherever_it_is_said(body: str, status: TrialStatus, surface: str) -> None:
    item = said(body) if surface == "issue_comments" else review(1, BOT, body, "10:02:00")
    shot = snapshot(**{surface: [item]})
    assert decide(shot, ACME, ASKED, at("10:02:29")) == Waiting(at("10:02:30"))
    got, complete, reason = settled(decide(shot, ACME, ASKED, at("10:02:30")))
    assert (got, complete) == (status, False)
    assert not got.scored
    assert reason


def test_case_69_a_reviewers_own_size_limit_is_coverage_and_never_a_miss() -> None:
    listed = case("69")["input"]["answers"]["files_total_reported"]
    shot = snapshot(issue_comments=[said(f"too many files!\nThis change has {listed} files, over the limit of 300.")])
    status, complete, reason = final(shot)
    assert (status, complete) == (TrialStatus.UNABLE, False)
    assert not status.scored
    assert reason == "too many files!"


def test_case_87_a_trial_that_did_not_run_is_never_a_review_that_found_nothing() -> None:
    given = case("87")["input"]["y"]
    shots = [snapshot(issue_comments=[said("Nothing found")])] * given["answered"]
    shots += [snapshot()] * (given["goldens_all"] - len(shots))
    scored = [final(shot)[0].scored for shot in shots]
    assert sum(scored) == given["answered"]


def test_findings_followed_by_a_refusal_are_findings_but_not_all() -> None:
    shot = snapshot(review_comments=[inline(2, BOT, "Bad", "10:02:00")], issue_comments=[said("I crashed", "10:03:00")])
    assert due(shot, ACME, ASKED) == at("10:06:00")
    assert final(shot) == (TrialStatus.REVIEWED_FINDINGS, False, "findings, then error: crashed")


def test_after_findings_and_a_refusal_the_quiet_counts_from_whatever_came_last() -> None:
    placeholder = said("Review in progress", "10:04:00", number=3)
    shot = snapshot(
        review_comments=[inline(2, BOT, "Bad", "10:02:00")], issue_comments=[said("I crashed", "10:03:00"), placeholder]
    )
    assert due(shot, ACME, ASKED) == at("10:07:00")


def test_a_stale_rate_limit_in_an_edited_comment_does_not_hide_the_review() -> None:
    edited = said("You are rate limited.\n\nReview finished", "10:02:00", "10:20:00")
    shot = snapshot(issue_comments=[edited], review_comments=[inline(2, BOT, "Bad", "10:20:00")])
    assert final(shot) == (TrialStatus.REVIEWED_FINDINGS, True, "done signal")


def test_a_rate_limit_notice_before_later_findings_is_over() -> None:
    shot = snapshot(
        issue_comments=[said("You are rate limited", "10:02:00")], review_comments=[inline(2, BOT, "Bad", "10:20:00")]
    )
    assert final(shot) == (TrialStatus.REVIEWED_FINDINGS, True, "quiet")


def test_a_rate_limited_reviewer_is_asked_again_after_its_window_and_the_gap() -> None:
    shot = snapshot(issue_comments=[said("You are rate limited, again in 20 minutes", "10:02:00")])
    assert decide(shot, ACME, ASKED, at("10:03:00")) == Waiting(at("10:22:00"))
    assert decide(shot, ACME, ASKED, at("10:22:00")) == Waiting(END, ask_again=True)
    assert final(shot)[0] is TrialStatus.RATE_LIMITED
    soon = snapshot(issue_comments=[said("You are rate limited, again in 1 minute", "10:02:00")])
    assert decide(soon, ACME, ASKED, at("10:03:00")) == Waiting(at("10:05:00"))
    silent = snapshot(issue_comments=[said("You are rate limited", "10:02:00")])
    assert decide(silent, ACME, ASKED, at("10:03:00")) == Waiting(at("10:05:00"))


def test_after_asking_again_the_old_notice_is_stale_and_a_new_one_settles() -> None:
    twice = Asks((OPENED, at("10:22:00")))
    old = said("You are rate limited, again in 20 minutes", "10:02:00")
    assert decide(snapshot(issue_comments=[old]), ACME, twice, at("10:23:00")) == Waiting(END)
    status, complete, reason = final(snapshot(issue_comments=[old]), asks=twice)
    assert (status, complete, reason) == (
        TrialStatus.RATE_LIMITED,
        False,
        "rate limited, again in 20 minutes (asked again, no answer)",
    )
    new = said("You are rate limited, again in 20 minutes", "10:22:10", number=2)
    assert (
        settled(decide(snapshot(issue_comments=[old, new]), ACME, twice, at("10:23:00")))[0] is TrialStatus.RATE_LIMITED
    )
    answered = snapshot(issue_comments=[old, said("Nothing found", "10:24:00", number=2)])
    assert settled(decide(answered, ACME, twice, at("10:25:00"))) == (TrialStatus.REVIEWED_CLEAN, True, "done signal")


def test_an_automatic_skip_before_our_own_ask_does_not_end_the_trial() -> None:
    asked = Asks((OPENED, at("10:03:00")))
    shot = snapshot(issue_comments=[said("Review skipped: automatic reviews are off", "10:02:00")])
    assert decide(shot, ACME, asked, at("10:10:00")) == Waiting(END)
    assert final(shot, asks=asked)[0] is TrialStatus.SKIPPED


@pytest.mark.parametrize("window", ["again in 58 minutes", "again in 3 hours", f"again in {'9' * 40} hours"])
def test_a_window_that_ends_at_the_deadline_or_beyond_settles_at_once(window: str) -> None:
    shot = snapshot(issue_comments=[said(f"You are rate limited, {window}")])
    assert settled(decide(shot, ACME, ASKED, at("10:02:30")))[0] is TrialStatus.RATE_LIMITED


def test_a_reviewer_that_cannot_be_asked_again_settles_at_once() -> None:
    automatic = ACME.model_copy(update={"rerun": None})
    shot = snapshot(issue_comments=[said("You are rate limited, again in 1 minute")])
    assert settled(decide(shot, automatic, ASKED, at("10:02:30")))[0] is TrialStatus.RATE_LIMITED


def test_a_green_check_beside_findings_and_a_later_crash_does_not_make_the_review_whole() -> None:
    shot = snapshot(
        review_comments=[inline(2, BOT, "Bad", "10:02:00")],
        issue_comments=[said("I crashed", "10:03:00")],
        check_runs=[check(3, "acme", "Acme Review", "success", "10:03:00")],
    )
    assert final(shot) == (TrialStatus.REVIEWED_FINDINGS, False, "findings, then error: crashed")
