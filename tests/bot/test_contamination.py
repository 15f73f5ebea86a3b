"""Who could have read whom, who stayed apart, and what was deleted."""

from __future__ import annotations

from bot.contamination import broken, exposures, isolated, of_fork
from bot.scrape import gone, read
from scoring.model import ReviewerId
from tests.bot.talk import comment, inline, snapshot
from tests.bot.test_scrape import ACME, BOT, BOTH, ZETA

ZETA_BOT = "zeta-review[bot]"


def seen(fork: str, meant: tuple[ReviewerId, ...], **surfaces: list[dict[str, object]]):  # type: ignore[no-untyped-def]
    return of_fork(fork, meant, read(snapshot(**surfaces), BOTH, our_logins=frozenset()))


def test_only_findings_before_the_first_of_its_own_count_as_read() -> None:
    shared = seen(
        "one",
        (ACME, ZETA),
        issue_comments=[comment(1, ZETA_BOT, "On it.", "10:01:00")],
        review_comments=[inline(2, ZETA_BOT, "One", "10:02:00"), inline(3, BOT, "Two", "10:03:00")],
    )
    quiet = seen("two", (ACME, ZETA), review_comments=[inline(2, ZETA_BOT, "One", "10:02:00")])
    first = seen("three", (ACME, ZETA), review_comments=[inline(2, BOT, "One", "10:02:00")])
    by = {one.reviewer: one for one in exposures([shared, quiet, first])}
    assert (by[ACME].forks, by[ACME].exposed, by[ACME].findings, by[ACME].most) == (2, 1, 1, 1)
    assert (by[ZETA].forks, by[ZETA].exposed, by[ZETA].findings) == (2, 0, 0)
    assert not isolated([shared, quiet])
    assert not broken([shared, quiet])


def test_isolation_is_told_by_who_spoke_and_an_acknowledgement_is_enough() -> None:
    alone = seen("one~acme", (ACME,), review_comments=[inline(2, BOT, "One", "10:02:00")])
    assert isolated([alone])
    assert not isolated([])
    visited = seen("two~acme", (ACME,), issue_comments=[comment(1, ZETA_BOT, "On it.", "10:01:00")])
    stranger = seen("three~acme", (ACME,), issue_comments=[comment(1, "new-bot[bot]", "Hello", "10:01:00")])
    assert not isolated([alone, visited])
    assert not isolated([stranger])
    assert broken([alone, visited, stranger]) == (
        "Fork two~acme was meant for acme alone, and zeta commented there.",
        "Fork three~acme was meant for acme alone, and new-bot[bot] commented there.",
    )


def test_people_and_ghosts_break_no_isolation() -> None:
    texts = [comment(1, "dev-one", "Looks odd", "10:01:00"), comment(2, None, "gone", "10:02:00")]
    assert isolated([seen("one~acme", (ACME,), issue_comments=texts)])


def test_what_was_deleted_between_two_readings_is_known_and_what_came_later_is_not() -> None:
    before = snapshot(review_comments=[inline(1, BOT, "One", "10:01:00"), inline(2, BOT, "Two", "10:01:00")])
    after = snapshot(review_comments=[inline(2, BOT, "Two", "10:01:00"), inline(3, BOT, "Three", "10:05:00")])
    assert gone([before, after]) == ("review_comment/1",)
    assert gone([before]) == ()
    assert gone([]) == ()
    assert gone([after, before, after]) == ("review_comment/1",)
