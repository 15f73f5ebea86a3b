"""Whose a repository is that has one of our names."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bot.workflows.fork import is_ours

PLANNED = datetime(2026, 1, 2, 12, 0, 0, 500_000, tzinfo=UTC)


@pytest.mark.parametrize(
    ("made", "sent", "ours"),
    [
        pytest.param(timedelta(seconds=-1), False, False, id="somebody_elses_that_was_there_before"),
        pytest.param(timedelta(microseconds=-500_000), False, True, id="of_the_same_second_which_is_all_github_tells"),
        pytest.param(timedelta(minutes=5), False, True, id="ours_though_a_restored_database_has_forgotten_it"),
        pytest.param(timedelta(hours=-1), True, True, id="post_returned_502_but_it_exists_and_our_clock_is_ahead"),
        pytest.param(timedelta(days=-2), True, False, id="older_than_clocks_are_wrong"),
        pytest.param(None, True, True, id="no_age_but_we_sent_for_it"),
        pytest.param(None, False, False, id="no_age_and_we_did_not"),
    ],
)
def test_a_repository_of_our_name_is_adopted_only_if_we_can_have_made_it(
    made: timedelta | None, sent: bool, ours: bool
) -> None:
    assert is_ours(None if made is None else PLANNED + made, PLANNED, sent=sent) is ours
