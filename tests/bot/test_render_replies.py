"""What an answer to a command says where numbers are none, one or many, and where nobody may be named."""

from __future__ import annotations

import pytest

from bot.model import Publish, RunId
from bot.render import Surface, replies
from bot.render.remarks import LONGEST, review_comment
from bot.render.replies import Cleaned, Rejudged, Retried
from bot.reviewers.protocol import Remark
from scoring.model import ReviewerId, Severity

ACME, RUN, OLD = ReviewerId("acme"), RunId("7-2"), RunId("7-1")
OPEN = Surface({ACME: "Acme"}, {ACME: Publish.NAMED}, public=False)
HIDDEN = Surface({ACME: "Acme"}, {}, public=True)


def body(said: str) -> str:
    """An answer without its hidden mark."""
    return said.partition("-->")[2].strip()


def test_a_command_about_a_run_where_there_is_none_is_told_so() -> None:
    assert body(replies.status_reply(None, key=1, surface=OPEN)).endswith("This issue has no run.")
    assert "so there is nothing to cancel." in replies.no_run_reply("cancel", key=1)


@pytest.mark.parametrize(
    ("done", "told"),
    [
        (Retried(0, 0, 0, 2), "Acme is about to be asked for the first time on pull requests that are being made: 2."),
        (Retried(3, 0, 0, 2), "Asking Acme again on pull requests where it has not answered: 3."),
        (Retried(0, 1, 0, 0), "Acme was not asked again."),
        (Retried(0, 0, 0, 0), "Nothing to ask Acme: all its trials in this run have ended."),
    ],
)
def test_a_retry_says_what_it_came_to(done: Retried, told: str) -> None:
    assert told in replies.retried_reply(ACME, done, key=1, surface=OPEN)


def test_a_retry_tells_no_number_of_a_reviewer_that_may_not_be_named() -> None:
    said = body(replies.retried_reply(ACME, Retried(3, 4, 5, 6), key=1, surface=HIDDEN))
    assert said.endswith("How often is not shown here.")
    assert not any(digit in said.splitlines()[-1] for digit in "3456")


def test_a_run_of_one_pull_request_is_not_of_pull_requests() -> None:
    one = replies.follow_up_reply(RUN, OLD, ACME, 1, None, key=1, surface=OPEN)
    assert "on the 1 pull request where" in one and "US dollars" not in one
    assert "on the 2 pull requests where" in replies.follow_up_reply(RUN, OLD, ACME, 2, 5, key=1, surface=OPEN)


def test_an_answer_does_not_speak_of_what_was_none() -> None:
    once = replies.extended_reply(5, 5, 2, key=1)
    assert "In all" not in once and "moved by 10 minutes" in replies.extended_reply(5, 10, 2, key=1)
    clean = replies.rejudged_reply(RUN, Rejudged("lexical", 3, 0, 0), key=1, surface=OPEN)
    assert body(clean).endswith("- new check runs: 3")
    whole = replies.rejudged_reply(RUN, Rejudged("lexical", 3, 1, 2), key=1, surface=OPEN)
    assert body(whole).endswith("refused them: 1\n- claims that could not be judged: 2")
    none = replies.cleaned_reply([], 0, key=1, surface=OPEN)
    assert body(none).endswith("No repository was made for the runs of this issue, or none is left.")
    kept = replies.cleaned_reply([Cleaned("o/r", "kept", "it is in use")], 0, key=1, surface=HIDDEN)
    assert "kept: 1." in kept and "- it is in use" in kept and "o/r" not in kept


def test_remarks_name_their_place_as_far_as_it_is_known_and_those_without_room_are_counted() -> None:
    assert review_comment("static", [], OPEN) == "No remarks."
    given = [
        Remark("It leaks.\nAlways.", "src/a.py", 7, severity=Severity.HIGH),
        Remark("Whole file", "src/b.py"),
        Remark("In general", severity=Severity.LOW),
    ]
    assert review_comment("static", given, OPEN).splitlines() == [
        "Review by `static`: 3 remarks.",
        "",
        "- `src/a.py:7` (high): It leaks. Always.",
        "- `src/b.py`: Whole file",
        "- (low) In general",
    ]
    long = review_comment("static", [Remark("x" * 1_900, "a.py")] * 40, OPEN)
    # A line takes 1910 and its end; 31 of them fit, for before the last there are 60000 - 31 - 30 x 1911 = 2639 left.
    assert len(long) <= LONGEST
    assert long.splitlines()[-1] == "- 9 more have no room here."
