"""When a trial is over, and as what."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from bot.model import Asks, Decision, Settled, Snapshot, Waiting
from bot.registry import Reviewer, Signals, Wait
from bot.scrape import read
from bot.settle import decide, due, latency, poll_interval, wake
from scoring.model import ReviewerId, TrialStatus
from tests.bot.talk import (
    ASKED,
    OPENED,
    at,
    check,
    command,
    comment,
    inline,
    registry,
    review,
    reviewer,
    snapshot,
    user,
)
from tests.shared import case

BOT = "acme-reviewer[bot]"
SIGNALS = Signals(
    placeholder=("Review in progress",),
    done=("Review finished",),
    clean=("Nothing found",),
    skipped=("Review skipped",),
    rate_limited=("rate limited",),
    unable=("too many files",),
    error=("crashed",),
    announced=r"Findings posted: (\d+|no)",
    window=r"again in (?:(?P<hours>\d+) hours?)?(?:(?P<minutes>\d+) minutes?)?",
    not_findings=("Walkthrough",),
    reviewed_commit=r"Reviewed commit: ([0-9a-f]{7,40})",
    clean_reaction="+1",
)
ACME = reviewer("acme", BOT, slugs=("acme",), checks=("Acme Review",), signals=SIGNALS, rerun=command("/acme review"))
END = at("11:00:00")


def settled(decision: Decision) -> tuple[TrialStatus, bool, str]:
    assert isinstance(decision, Settled), decision
    return decision.status, decision.complete, decision.reason


def final(shot: Snapshot, who: Reviewer = ACME, asks: Asks = ASKED) -> tuple[TrialStatus, bool, str]:
    return settled(decide(shot, who, asks, END))


def said(body: str, clock: str = "10:02:00", edited: str | None = None, number: int = 1) -> dict[str, Any]:
    return comment(number, BOT, body, clock, edited)


# --- the shared timeline


def _timeline(now: datetime) -> Snapshot:
    """What GitHub shows at `now` of the shared case's events."""
    events: list[tuple[str, datetime, str]] = [
        (login, at(clock), what) for login, clock, what in case("30")["input"]["events"] if clock
    ]
    summary: list[dict[str, Any]] = []
    inlines: list[dict[str, Any]] = []
    for login, moment, what in events:
        if moment > now:
            continue
        stamp = moment.strftime("%H:%M:%S")
        if what == "placeholder":
            summary.append(comment(1, login, "Review in progress", stamp))
        elif what.startswith("summary"):
            summary = [comment(1, login, "I have some remarks on this change.", "10:01:00", stamp)]
        elif what.endswith("inline"):
            first = 100 + len(inlines)
            inlines += [inline(first + n, login, f"Finding {n}", stamp) for n in range(int(what.split()[0]))]
        else:
            inlines.append(inline(900, login, "One more", stamp))
    return snapshot(issue_comments=summary, review_comments=inlines)


def test_case_30_done_is_a_quiet_period_after_the_last_change() -> None:
    given = case("30")
    clock, expected = given["input"]["clock"], given["expected"]
    wait = Wait(floor=60, quiet=clock["quiet_min"] * 60, deadline=clock["timeout_min"] * 60)
    signals = Signals(placeholder=("Review in progress",))
    acme = reviewer("acme", BOT, wait=wait, signals=signals)
    zeta = reviewer("zeta", "zeta-review[bot]", wait=wait)
    omega = reviewer("omega", "omega[bot]", wait=wait)

    assert decide(_timeline(at("10:02:00")), acme, ASKED, at("10:02:00")) == Waiting(END)
    assert decide(_timeline(at("10:04:20")), acme, ASKED, at("10:04:20")) == Waiting(at("10:07:00"))
    done = at(expected["acme_done_at"])
    assert decide(_timeline(at("10:07:00")), acme, ASKED, at("10:07:00")) == Waiting(done)
    assert settled(decide(_timeline(done), acme, ASKED, done)) == (TrialStatus.REVIEWED_FINDINGS, True, "quiet")

    assert decide(_timeline(at("10:50:00")), zeta, ASKED, at("10:50:00")) == Waiting(END)
    zeta_done = at(expected["zeta_done_at"])
    assert due(_timeline(zeta_done), zeta, ASKED) == zeta_done
    assert settled(decide(_timeline(zeta_done), zeta, ASKED, zeta_done)) == (
        TrialStatus.REVIEWED_FINDINGS,
        True,
        "quiet",
    )

    before = END - timedelta(seconds=1)
    assert decide(_timeline(before), omega, ASKED, before) == Waiting(END)
    assert settled(decide(_timeline(END), omega, ASKED, END)) == (TrialStatus.TIMEOUT, False, "no answer")

    everything = _timeline(at("12:00:00"))
    for who in (acme, zeta):
        took = latency(everything, who, ASKED)
        assert took is not None
        assert round(took.total_seconds() / 60, 2) == expected["latency_minutes"][who.logins[0].login]
    assert latency(everything, omega, ASKED) is None
    scraped = read(everything, registry(acme, zeta, omega), our_logins=frozenset(), frozen_at=END)
    assert len(scraped.by_reviewer[ReviewerId("acme")]) == 10
    assert [late.flags for late in scraped.late[ReviewerId("acme")]] == [("after_freeze",)]


def test_case_30_a_late_comment_neither_delays_nor_changes_the_result() -> None:
    late, in_time = _timeline(at("12:00:00")), _timeline(at("11:10:00"))
    acme = reviewer("acme", BOT, signals=Signals(placeholder=("Review in progress",)))
    assert due(late, acme, ASKED) == due(in_time, acme, ASKED) == at("10:07:40")
    assert decide(late, acme, ASKED, at("12:00:00")) == decide(in_time, acme, ASKED, at("11:10:00"))


# --- done, and how sure


def test_a_done_signal_ends_after_a_grace_from_the_last_change() -> None:
    shot = snapshot(issue_comments=[said("Review finished")], review_comments=[inline(2, BOT, "Bad", "10:02:20")])
    assert decide(shot, ACME, ASKED, at("10:02:30")) == Waiting(at("10:02:50"))
    assert final(shot) == (TrialStatus.REVIEWED_FINDINGS, True, "done signal")


@pytest.mark.parametrize(
    "lists",
    [
        {"issue_comments": [said("Nothing found")]},
        {"issue_comments": [said("Review finished")]},
        {"issue_comments": [said("Findings posted: 0")]},
        {"issue_comments": [said("Findings posted: no")]},
        {"issue_comments": [said("Review in progress: Nothing found", edited="10:03:00")]},
        {"reviews": [review(1, BOT, "LGTM", "10:02:00", "APPROVED")]},
        {"reviews": [review(1, BOT, "", "10:02:00", "APPROVED")]},
        {"check_runs": [check(1, "acme", "Acme Review", "success", "10:02:00", "Nothing found")]},
        {"check_runs": [check(1, "acme", "Acme Review", "skipped", "10:02:00", "Nothing found")]},
        {"statuses": [{"id": 1, "context": "Acme Review", "state": "success", "description": "Nothing found"}]},
        {"reactions": [{"id": 1, "user": user(BOT), "content": "+1", "created_at": "2026-01-02T10:02:00Z"}]},
    ],
)
def test_a_clean_review_needs_and_has_positive_evidence(lists: dict[str, Any]) -> None:
    status, complete, _ = final(snapshot(**lists))
    assert (status, complete) == (TrialStatus.REVIEWED_CLEAN, True)


@pytest.mark.parametrize(
    "lists",
    [
        {"check_runs": [check(1, "acme", "Acme Review", "success", "10:02:00", "All good")]},
        {"check_runs": [check(1, "acme", "Acme Review", "neutral", "10:02:00")]},
        {"statuses": [{"id": 1, "context": "Acme Review", "state": "success", "description": "Done"}]},
        {"issue_comments": [said("Review in progress")]},
        {"issue_comments": [said("Walkthrough of the change")]},
        {"issue_comments": [said("On it.")]},
        {"reviews": [review(1, BOT, "", "10:02:00")]},
        {"reviews": [review(1, BOT, "Review finished", "10:02:00", "PENDING", submitted_at=None)]},
        {"reactions": [{"id": 1, "user": user(BOT), "content": "eyes", "created_at": "2026-01-02T10:02:00Z"}]},
        {"check_runs": [check(1, "acme", "Acme Review", None, "10:02:00", "Nothing found")]},
        {"issue_comments": [comment(1, "acme-reviewer", "Nothing found", "10:02:00")]},
        {"issue_comments": [comment(1, "zeta-review[bot]", "Nothing found", "10:02:00")]},
        {"issue_comments": [comment(1, None, "Nothing found", "10:02:00")]},
        {"issue_comments": [said("Nothing found. Reviewed commit: deadbee")]},
        {"reviews": [review(1, BOT, "Nothing found", "10:02:00", commit_id="d" * 40)]},
        {
            "check_runs": [
                check(1, "acme", "Acme Review", "success", "10:02:00", "Nothing found") | {"head_sha": "d" * 40}
            ]
        },
        {"check_runs": [check(1, "other", "Acme Review", "success", "10:02:00", "Nothing found")]},
        {"check_runs": [check(1, "acme", "Acme Style", "success", "10:02:00", "Nothing found")]},
        {"issue_comments": [said("Nothing found", "11:00:01")]},
        {"issue_comments": [said("Nothing found", "10:02:00", "11:00:01")]},
    ],
)
def test_a_green_check_a_sign_of_life_or_somebody_elses_word_is_no_review(lists: dict[str, Any]) -> None:
    shot = snapshot(**lists)
    assert decide(shot, ACME, ASKED, END - timedelta(seconds=1)) == Waiting(END)
    assert final(shot)[:2] == (TrialStatus.TIMEOUT, False)


def test_a_check_that_skipped_the_review_while_green_is_skipped() -> None:
    shot = snapshot(check_runs=[check(1, "acme", "Acme Review", "success", "10:02:00", "Review skipped: draft")])
    assert final(shot)[:2] == (TrialStatus.SKIPPED, False)
    status, _, _ = final(
        snapshot(
            check_runs=[check(1, "acme", "Acme Review", "success", "10:03:00", "Finished")],
            issue_comments=[said("You are rate limited")],
        ),
        asks=Asks((OPENED, OPENED)),
    )
    assert status is TrialStatus.RATE_LIMITED


@pytest.mark.parametrize(
    ("conclusion", "status"),
    [
        ("skipped", TrialStatus.SKIPPED),
        ("action_required", TrialStatus.UNABLE),
        ("failure", TrialStatus.ERROR),
        ("timed_out", TrialStatus.ERROR),
        ("cancelled", TrialStatus.ERROR),
        ("stale", TrialStatus.ERROR),
    ],
)
def test_a_check_that_did_not_run_is_no_clean_review(conclusion: str, status: TrialStatus) -> None:
    shot = snapshot(check_runs=[check(1, "acme", "Acme Review", conclusion, "10:02:00", "Sorry")])
    assert final(shot) == (status, False, f"its check concluded {conclusion}")


def test_a_check_that_fails_because_it_found_something_is_a_review() -> None:
    shot = snapshot(
        check_runs=[check(1, "acme", "Acme Review", "failure", "10:02:00", "2 problems")],
        review_comments=[inline(2, BOT, "Bad", "10:02:00"), inline(3, BOT, "Worse", "10:02:00")],
    )
    assert final(shot) == (TrialStatus.REVIEWED_FINDINGS, True, "done signal")


def test_annotations_count_as_findings_only_where_the_registry_says_so() -> None:
    lint = {"path": "a.py", "start_line": 1, "end_line": 1, "message": "x"}
    shot = snapshot(check_runs=[check(1, "acme", "Acme Review", "neutral", "10:02:00", annotations=(lint,))])
    assert final(shot)[0] is TrialStatus.TIMEOUT
    counted = ACME.model_copy(update={"findings_in_checks": True})
    assert final(shot, counted) == (TrialStatus.REVIEWED_FINDINGS, True, "done signal")


def test_announced_but_missing_findings_wait_for_quiet_and_are_incomplete() -> None:
    summary = review(1, BOT, "Findings posted: 4", "10:02:00")
    three = [inline(n, BOT, "Bad", "10:02:10") for n in range(2, 5)]
    shot = snapshot(reviews=[summary], review_comments=three)
    assert decide(shot, ACME, ASKED, at("10:03:00")) == Waiting(at("10:05:10"))
    assert final(shot) == (TrialStatus.REVIEWED_FINDINGS, False, "announced 4, found 3")
    whole = snapshot(reviews=[summary], review_comments=[*three, inline(9, BOT, "Bad", "10:02:10")])
    assert due(whole, ACME, ASKED) == at("10:02:40")
    assert final(whole) == (TrialStatus.REVIEWED_FINDINGS, True, "done signal")


def test_replies_do_not_stand_in_for_announced_findings() -> None:
    shot = snapshot(
        reviews=[review(1, BOT, "Findings posted: 2", "10:02:00")],
        review_comments=[inline(2, BOT, "Bad", "10:02:00"), inline(3, BOT, "Yes", "10:02:30", in_reply_to_id=2)],
    )
    assert final(shot) == (TrialStatus.REVIEWED_FINDINGS, False, "announced 2, found 1")


def test_a_monstrous_announcement_is_only_a_number() -> None:
    shot = snapshot(reviews=[review(1, BOT, f"Findings posted: {'9' * 5000}", "10:02:00")])
    assert final(shot)[:2] == (TrialStatus.REVIEWED_FINDINGS, False)


def test_findings_without_a_done_signal_at_the_deadline_are_cut() -> None:
    shot = snapshot(review_comments=[inline(2, BOT, "Bad", "10:58:30")])
    assert decide(shot, ACME, ASKED, at("10:59:59")) == Waiting(END)
    assert final(shot) == (TrialStatus.REVIEWED_FINDINGS, False, "cut_at_deadline")


def test_nothing_settles_by_quiet_while_the_reviewers_check_still_runs() -> None:
    shot = snapshot(
        review_comments=[inline(2, BOT, "Bad", "10:02:00")],
        check_runs=[check(1, "acme", "Acme Review", None, "10:02:00")],
    )
    assert due(shot, ACME, ASKED) == END
    assert final(shot) == (TrialStatus.REVIEWED_FINDINGS, False, "cut_at_deadline")


def test_one_of_two_checks_being_green_is_not_done_while_the_other_runs() -> None:
    two = ACME.model_copy(update={"check_names": ("Acme Review", "Acme Security")})
    shot = snapshot(
        review_comments=[inline(2, BOT, "Bad", "10:02:00")],
        check_runs=[
            check(1, "acme", "Acme Review", "success", "10:02:00"),
            check(3, "acme", "Acme Security", None, "10:02:00"),
        ],
    )
    assert final(shot, two) == (TrialStatus.REVIEWED_FINDINGS, False, "cut_at_deadline")


def test_an_edit_after_the_deadline_does_not_move_what_was_done_in_time() -> None:
    touched = inline(2, BOT, "Bad", "10:02:00", updated_at="2026-01-02T11:30:00Z")
    shot = snapshot(review_comments=[touched])
    assert due(shot, ACME, ASKED) == at("10:05:00")
    assert final(shot) == (TrialStatus.REVIEWED_FINDINGS, True, "quiet")


def test_activity_alone_never_settles_before_the_floor() -> None:
    hasty = ACME.model_copy(update={"wait": Wait(floor=600, quiet=10, deadline=3600)})
    assert due(snapshot(review_comments=[inline(2, BOT, "Bad", "10:00:30")]), hasty, ASKED) == at("10:10:00")


def test_a_clean_summary_that_carries_items_of_its_own_has_findings() -> None:
    body = "Nothing found inline.\n\n<summary>src/mail.py (1)</summary>\n\n`7`: **Address is not checked.**"
    assert final(snapshot(issue_comments=[said(body)]))[0] is TrialStatus.REVIEWED_FINDINGS


def test_an_edit_after_the_done_signal_starts_the_grace_again() -> None:
    assert due(snapshot(issue_comments=[said("Review finished", "10:02:00", "10:09:00")]), ACME, ASKED) == at(
        "10:09:30"
    )


# --- silence and the deadline


def test_silence_is_a_timeout_or_an_app_that_is_not_there() -> None:
    for installed, status in [
        (None, TrialStatus.TIMEOUT),
        (True, TrialStatus.TIMEOUT),
        (False, TrialStatus.NOT_INSTALLED),
    ]:
        assert settled(decide(snapshot(), ACME, ASKED, END, installed=installed))[0] is status
    spoke = snapshot(issue_comments=[said("Review in progress")])
    assert settled(decide(spoke, ACME, ASKED, END, installed=False))[0] is TrialStatus.TIMEOUT


def test_a_review_took_from_the_first_ask_to_its_last_word_before_the_deadline() -> None:
    twice, first, last = Asks((OPENED, at("10:20:00"))), said("Bad", "10:08:00"), said("Worse", "10:30:00", number=2)
    assert latency(snapshot(issue_comments=[first, last]), ACME, twice) == timedelta(minutes=30)
    cut = latency(snapshot(issue_comments=[first, last]), ACME, twice, deadline_override_seconds=600)
    assert cut == timedelta(minutes=8)
    assert latency(snapshot(), ACME, twice) is None


def test_the_deadline_can_be_set_for_a_run() -> None:
    assert decide(snapshot(), ACME, ASKED, at("10:00:01"), deadline_override_seconds=15) == Waiting(at("10:00:15"))
    late = snapshot(issue_comments=[said("Nothing found", "10:00:16")])
    got = decide(late, ACME, ASKED, at("10:00:20"), deadline_override_seconds=15)
    assert settled(got)[0] is TrialStatus.TIMEOUT


# --- waking


def test_a_fork_wakes_at_its_earliest_due_trial_or_the_next_poll() -> None:
    now = at("10:10:00")
    over = Settled(TrialStatus.SKIPPED, False, "x")
    waits: list[Decision] = [Waiting(at("10:30:00")), over, Waiting(at("10:12:00"))]
    assert wake(waits, now, 3600) == at("10:12:00")
    assert wake(waits, now, 30) == at("10:10:30")
    assert wake([Waiting(at("10:09:00"))], now, 30) == now
    assert wake([over], now, 30) is None


def test_polling_takes_half_the_hourly_limit() -> None:
    assert poll_interval(100, 5000) == pytest.approx(100 * 7 * 3600 / 2500)
    assert poll_interval(1, 5000) == 30
    assert poll_interval(10_000, 5000) == 3600
    assert poll_interval(5, 0) == 3600
    assert poll_interval(1, 1, most=99_999) == pytest.approx(7 * 3600 / 0.5)
    assert poll_interval(1, 5000, least=2) == pytest.approx(10.08)


# --- what nothing said is called, to the letter: it is printed in reports


def test_a_trial_without_a_word_says_whether_the_reviewer_was_there_at_all() -> None:
    nothing = snapshot()
    assert settled(decide(nothing, ACME, ASKED, END)) == (TrialStatus.TIMEOUT, False, "no answer")
    absent = settled(decide(nothing, ACME, ASKED, END, installed=False))
    assert absent == (TrialStatus.NOT_INSTALLED, False, "the App is not installed on the repository")


def test_a_reviewer_that_began_and_never_came_back_is_told_from_a_silent_one() -> None:
    begun = snapshot(issue_comments=[said("Review in progress")])
    assert final(begun) == (TrialStatus.TIMEOUT, False, "began, but did not finish")
    passed = snapshot(check_runs=[check(1, "acme", "Acme Review", "success", "10:02:00", "Fine")])
    assert final(passed) == (TrialStatus.TIMEOUT, False, "its check completed, but it said nothing")


def test_a_deadline_of_ones_own_holds_for_the_moment_that_is_foretold_as_well() -> None:
    assert due(snapshot(), ACME, ASKED, deadline_override_seconds=90) == ASKED.at[0] + timedelta(seconds=90)


def test_a_quiet_that_ends_exactly_at_the_deadline_is_quiet_and_not_cut() -> None:
    spoke = snapshot(review_comments=[inline(2, BOT, "Bad", "10:02:00")])
    quiet_over = due(spoke, ACME, ASKED)
    exactly = (quiet_over - ASKED.at[0]).total_seconds()
    cut_there = decide(spoke, ACME, ASKED, END, deadline_override_seconds=exactly)
    assert settled(cut_there) == (TrialStatus.REVIEWED_FINDINGS, True, "quiet")
