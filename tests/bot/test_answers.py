"""Which answers of GitHub are worth another try, and when."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bot.answers import Answer, GiveUp, Retry, decide
from tests.shared import case

NOW = datetime.fromtimestamp(1767348000, UTC)


def shared_answers() -> dict[str, Retry | GiveUp]:
    return {
        raw["k"]: decide(Answer(raw["status"], raw["message"], raw["headers"], raw["method"]), NOW, 1)
        for raw in case("60")["input"]["answers"]
    }


def seconds(verdict: Retry | GiveUp) -> float:
    assert isinstance(verdict, Retry)
    return verdict.seconds


def test_the_shared_answers_are_decided_as_written() -> None:
    found = shared_answers()
    assert seconds(found["a"]) == 30
    assert seconds(found["b"]) >= 60
    assert seconds(found["c"]) == pytest.approx(901)
    assert seconds(found["d"]) >= 1
    assert seconds(found["e"]) == 60
    assert seconds(found["f"]) >= 60
    assert isinstance(found["g"], GiveUp)
    assert isinstance(found["h"], GiveUp)
    assert seconds(found["i"]) == 60


def test_a_secondary_limit_that_names_no_time_doubles() -> None:
    answer = Answer(403, "You have exceeded a secondary rate limit", {})
    waits = [seconds(decide(answer, NOW, attempt)) for attempt in (1, 2, 3)]
    assert waits == [60, 120, 240]


@pytest.mark.parametrize("status", [0, 500, 502, 503, 504])
def test_an_unknown_outcome_is_tried_again_with_growing_pauses(status: int) -> None:
    waits = [seconds(decide(Answer(status, "", {}), NOW, attempt)) for attempt in range(1, 9)]
    assert waits == sorted(waits)
    assert waits[0] == 1
    assert waits[-1] == 30


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_no_about_something_just_made_may_be_replication_lag(status: int) -> None:
    assert isinstance(decide(Answer(status, "no", {}), NOW, 1), GiveUp)
    assert isinstance(decide(Answer(status, "no", {}), NOW, 1, fresh=True), Retry)


def test_a_missing_permission_says_which() -> None:
    headers = {"x-accepted-github-permissions": "checks=write"}
    verdict = decide(Answer(403, "Resource not accessible by integration", headers), NOW, 1)
    assert isinstance(verdict, GiveUp)
    assert "checks=write" in verdict.reason


def test_a_retry_after_in_the_past_is_not_zero() -> None:
    past = (NOW - timedelta(hours=1)).strftime("%a, %d %b %Y %H:%M:%S GMT")
    assert seconds(decide(Answer(429, "slow down", {"retry-after": past}), NOW, 1)) >= 1


def test_a_retry_after_nobody_can_read_falls_back_to_a_minute() -> None:
    assert seconds(decide(Answer(429, "slow down", {"retry-after": "soon"}), NOW, 1)) >= 60


def test_a_validation_error_is_final() -> None:
    assert isinstance(decide(Answer(422, "Validation Failed", {}, "POST"), NOW, 1), GiveUp)
