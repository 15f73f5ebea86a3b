"""What is said in the control issue, to the letter, and what is never said there."""

from __future__ import annotations

import pytest

from bot.model import Actor, Installed, Problem, Problems, Publish, RunId
from bot.render import (
    edited_comment,
    has_marker,
    marker,
    mended_comment,
    next_step,
    not_a_form_comment,
    problems_comment,
    progress_comment,
    refusal_comment,
    replies,
    welcome_issue,
)
from scoring.model import ReviewerId
from tests.bot.render_world import EVIL, RUN, alive, assert_snapshot, plan, progress, read, surface

FORM = "https://github.com/acme-bench/control/issues/new?template=benchmark.yml"


def test_progress_is_counts() -> None:
    warned = plan("Zeta ignores pull requests that a bot opened")
    assert_snapshot("render_progress.md", progress_comment(progress(), warned, surface()))


@pytest.mark.parametrize(
    "stage", ["planned", "forking", "waiting", "scoring", "publishing", "done", "cancelled", "failed"]
)
def test_every_stage_is_named_and_an_end_offers_no_command(stage: str) -> None:
    said = progress_comment(progress(stage, note="so it is"), plan(), surface())
    assert f"**{stage}**" in said
    assert "so it is" in said
    assert ("/assay cancel" in said) is (stage not in ("done", "cancelled", "failed"))


@pytest.mark.parametrize(
    "telling",
    [
        "injection is over the size limit",
        "repository tidy-harbour was taken",
        "branch TIDY-HARBOUR-UPDATE exists",
        "see https://github.com/acme-bench/x/pull/1",
        "pull request “Speed up lookups” is slow",
    ],
)
def test_progress_names_no_fork_whatever_a_warning_says(telling: str) -> None:
    said = progress_comment(progress(warnings=(telling,), note=telling), plan(telling, "harmless"), surface())
    assert telling not in said
    assert "- harmless" in said
    assert "held back: 1" in said
    for fork in plan().forks:
        for name in (*fork.names, fork.id, fork.head_branch, fork.title):
            assert name not in said


def test_too_many_warnings_are_counted() -> None:
    said = progress_comment(progress(warnings=tuple(f"warning {n}" for n in range(25))), plan(), surface())
    assert "- warning 19\n" in said
    assert "- warning 20\n" not in said
    assert "more warnings than fit here: 5" in said


def test_every_problem_comes_with_its_remedy() -> None:
    problems = Problems(
        (
            Problem("Suite", "there is no suite `harbor`", ("harbour", "lagoon"), "harbour"),
            Problem("Wait", "`soon` is not a number of minutes from 1 to 1440"),
        )
    )
    assert_snapshot("render_problems.md", problems_comment(problems, FORM, issue=12, surface=surface()))


def test_one_problem_is_in_the_singular() -> None:
    said = problems_comment(Problems((Problem("Suite", "is missing"),)), FORM, issue=12, surface=surface())
    assert "One answer needs mending:" in said


def test_hostile_answers_are_quoted_and_do_nothing() -> None:
    said = problems_comment(Problems((Problem(EVIL, EVIL, (EVIL, "a|b"), EVIL),)), FORM, issue=1, surface=surface())
    page = read(said)
    assert alive(page) == []
    assert page.links == [FORM]
    assert page.comments == [" assay:problems issue=1 "]


def test_refusal_not_a_form_and_welcome() -> None:
    refusal = refusal_comment("somebody else's run of suite harbour is going on", issue=12, surface=surface())
    assert refusal == (
        "<!-- assay:refusal issue=12 -->\n"
        "### This benchmark was not started\n\n"
        "somebody else's run of suite harbour is going on\n\n"
        "Nothing was made on GitHub."
    )
    lost = not_a_form_comment("no heading of the form is in it", FORM, issue=12, surface=surface())
    assert_snapshot("render_not_a_form.md", lost)
    title, body = welcome_issue(Installed(5, "acme-bench", Actor("octocat", "User")), form_url=FORM)
    assert title == "Assay: next steps"
    assert_snapshot("render_welcome.md", body)


def test_the_next_step_is_one_plain_line() -> None:
    line = next_step(Installed(5, "evil\x1b[2J\n@octocat", Actor("octocat", "User")), surface())
    assert "\n" not in line
    assert "\x1b" not in line


STATUS = """<!-- assay:reply comment=9 -->
**waiting**. The reviewers are at work. Assay reads what they say until each is done or out of time.

Pull requests: 2, still open: 1.

| trials | status |
| --: | --- |
| 2 | waiting |
| 3 | reviewed, with findings |
| 1 | rate limited |"""


def test_status_is_counts() -> None:
    assert replies.status_reply(progress("waiting"), key=9, surface=surface()) == STATUS
    assert replies.status_reply(None, key=9, surface=surface()).endswith("This issue has no run.")


def test_help_names_every_command_and_the_rule_of_retry() -> None:
    said = replies.help_reply(9)
    for word in ("status", "cancel", "retry <reviewer>", "rejudge <judge>", "extend <minutes>", "cleanup", "help"):
        assert f"`/assay {word}`" in said
    assert "a trial that has ended stays as it ended" in said


def test_a_cancel_that_comes_too_late_says_what_will_still_be_posted() -> None:
    said = replies.too_late_reply(1, 3, key=9)
    assert "too late" in said
    assert "posted: 1 of 3" in said
    assert "the leaderboard is posted" in said
    assert "nothing to cancel" in replies.over_reply("done", key=9, surface=surface())
    assert "cancelled" in replies.cancelled_reply(key=9)


ACME = ReviewerId("acme")


def test_a_retry_says_where_it_asks_and_what_it_leaves_alone() -> None:
    done = replies.Retried(asked=2, unaskable=1, ended=3)
    said = replies.retried_reply(ACME, done, key=9, surface=surface())
    assert "Asking Acme again on pull requests where it has not answered: 2." in said
    assert "asked as often as may be): 1" in said
    assert "ended and not scored: 3" in said
    nothing = replies.retried_reply(ACME, replies.Retried(0, 0, 0), key=9, surface=surface())
    assert "all its trials in this run have ended" in nothing


def test_a_public_issue_learns_no_count_and_no_name_of_a_private_reviewer() -> None:
    here = surface(public=True, modes={"acme": Publish.ANONYMOUS})
    asked = replies.retried_reply(ACME, replies.Retried(asked=7, unaskable=7, ended=7), key=9, surface=here)
    follow = replies.follow_up_reply(RunId("700-2"), RUN, ACME, 7, None, key=9, surface=here)
    cleaned = [replies.Cleaned("acme-bench/tidy-harbour", "archived"), replies.Cleaned("x/y", "kept", "not ours")]
    swept = replies.cleaned_reply(cleaned, 0, key=9, surface=here)
    for said in (asked, follow, swept):
        assert "acme" not in said.lower()
        assert "7 " not in said
        assert "harbour" not in said
    assert "archived: 1, kept: 1" in swept
    assert "not ours" in swept


def test_what_became_of_each_repository_is_told_in_private() -> None:
    cleaned = [replies.Cleaned("acme-bench/tidy", "archived"), replies.Cleaned("acme-bench/calm", "kept", "not ours")]
    said = replies.cleaned_reply(cleaned, 1, key=9, surface=surface())
    assert "| `acme-bench/tidy` | archived |  |" in said
    assert "| `acme-bench/calm` | kept | not ours |" in said
    assert "Runs that are not over keep theirs: 1." in said


def test_an_edit_is_answered_as_it_can_be() -> None:
    late = edited_comment("waiting", issue=12, surface=surface())
    assert late.startswith("<!-- assay:edited issue=12 -->")
    assert "it is now: waiting" in late
    assert mended_comment("not-a-form", issue=12).startswith("<!-- assay:not-a-form issue=12 -->")


def test_a_public_progress_comment_names_no_private_reviewer_whatever_a_warning_says() -> None:
    here = surface(public=True, modes={"zeta": Publish.NAMED})
    warned = plan("Acme ignores bots", "omega-ai is slow", "Zeta needs a person", "OMEGA run")
    said = progress_comment(progress(note="acme failed"), warned, here)
    assert "Zeta needs a person" in said
    assert "acme" not in said.lower()
    assert "omega" not in said.lower()
    assert "held back: 3" in said


# --- markers -----------------------------------------------------------------------------------------------------


def test_a_comment_is_found_again_by_its_marker() -> None:
    said = progress_comment(progress(), plan(), surface())
    assert has_marker(said, "progress", RUN)
    assert has_marker(said.replace("\n", "\r\n"), "progress", RUN)
    assert not has_marker(said, "leaderboard", RUN)
    assert not has_marker(said, "progress", "700-11")


def test_a_longer_key_is_another_comment() -> None:
    assert not has_marker(marker("progress", "700-11"), "progress", "700-1")


def test_a_quotation_of_a_marker_is_not_the_comment() -> None:
    assert not has_marker("> " + marker("progress", RUN), "progress", RUN)
    assert not has_marker("look:\n" + marker("progress", RUN), "progress", RUN)


@pytest.mark.parametrize("key", ["", "a b", "x-->y", "a--b", "<", "é", "a\n", "x" * 201])
def test_a_key_cannot_end_its_marker(key: str) -> None:
    with pytest.raises(ValueError, match="cannot be the key"):
        marker("progress", key)


def test_an_unknown_kind_of_comment_is_refused() -> None:
    with pytest.raises(ValueError, match="allowed: edited, leaderboard, not-a-form, problems, progress"):
        marker("progres", RUN)


def test_an_unknown_status_is_refused() -> None:
    with pytest.raises(ValueError, match="'asleep' is no trial status"):
        progress_comment(progress(trials_by_status={"asleep": 1}), plan(), surface())
