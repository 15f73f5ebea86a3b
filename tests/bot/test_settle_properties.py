"""What holds of every decision, whatever the conversation."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.model import Asks, Decision, Settled, Snapshot, Waiting
from bot.registry import Wait
from bot.settle import decide, due, poll_interval, wake
from tests.bot.talk import OPENED, check, comment, inline, review, snapshot, stamp, user
from tests.bot.test_settle import ACME, BOT

WAIT = Wait(floor=60, quiet=180, grace=30, deadline=3600, ask_gap=300, max_asks=3)
WHO = ACME.model_copy(update={"wait": WAIT})
DEADLINE = OPENED + timedelta(hours=1)

WORDS = st.sampled_from(
    [
        "",
        "Review in progress",
        "Review finished",
        "Nothing found",
        "Review skipped",
        "You are rate limited",
        "You are rate limited, again in 20 minutes",
        "You are rate limited, again in 2 hours\nReview finished",
        "too many files",
        "crashed",
        "Findings posted: 2",
        "Findings posted: no",
        "Walkthrough",
        "On it.",
        "The lock is never released.",
    ]
)
SECONDS = st.integers(0, 5400)
LOGIN = st.sampled_from([BOT, BOT, BOT, "zeta-review[bot]", "dev-one", None])


def _moment(seconds: int) -> datetime:
    return OPENED + timedelta(seconds=seconds)


@st.composite
def things(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    number, words, login = draw(st.integers(1, 10**12)), draw(WORDS), draw(LOGIN)
    made, edited = sorted((draw(SECONDS), draw(SECONDS)))
    when = {"created_at": stamp(_moment(made)), "updated_at": stamp(_moment(edited))}
    kind = draw(st.sampled_from(["issue_comments", "review_comments", "reviews", "check_runs", "reactions"]))
    if kind == "issue_comments":
        return kind, comment(number, login, words, "10:00:00") | when
    if kind == "review_comments":
        return kind, inline(
            number, login, words or "Bad", "10:00:00", in_reply_to_id=draw(st.sampled_from([None, 7]))
        ) | when
    if kind == "reviews":
        state = draw(st.sampled_from(["COMMENTED", "APPROVED", "PENDING", "DISMISSED", "CHANGES_REQUESTED"]))
        raw = review(number, BOT, words, "10:00:00", state)
        return kind, raw | {"user": user(login), "submitted_at": stamp(_moment(made))}
    if kind == "reactions":
        return kind, {"id": number, "user": user(login), "content": draw(st.sampled_from(["+1", "eyes"])), **when}
    conclusion = draw(st.sampled_from([None, "success", "neutral", "failure", "skipped", "cancelled"]))
    raw = check(number, "acme", draw(st.sampled_from(["Acme Review", "Lint"])), conclusion, "10:00:00", words)
    return kind, raw | {
        "completed_at": stamp(_moment(edited)) if conclusion else None,
        "started_at": stamp(_moment(made)),
    }


@st.composite
def conversations(draw: st.DrawFn) -> Snapshot:
    lists: dict[str, list[dict[str, Any]]] = {}
    for kind, raw in draw(st.lists(things(), max_size=6, unique_by=lambda thing: thing[1]["id"])):
        lists.setdefault(kind, []).append(raw)
    return snapshot(**lists)


ASKS = st.lists(st.integers(1, 3000), max_size=3, unique=True).map(
    lambda later: Asks((OPENED, *(_moment(seconds) for seconds in sorted(later))))
)


@settings(max_examples=300, deadline=None)
@given(conversations(), ASKS, st.integers(0, 7200), st.integers(0, 7200))
def test_once_settled_a_trial_stays_as_it_is(shot: Snapshot, asks: Asks, one: int, other: int) -> None:
    early, late = sorted((one, other))
    before, after = decide(shot, WHO, asks, _moment(early)), decide(shot, WHO, asks, _moment(late))
    if isinstance(before, Settled):
        assert after == before


@settings(max_examples=300, deadline=None)
@given(conversations(), ASKS, st.integers(0, 7200))
def test_nobody_waits_past_the_deadline_or_for_the_past(shot: Snapshot, asks: Asks, seconds: int) -> None:
    now = _moment(seconds)
    decision = decide(shot, WHO, asks, now)
    if now >= DEADLINE:
        assert isinstance(decision, Settled)
    if isinstance(decision, Waiting):
        assert now < decision.until <= DEADLINE
    moment = due(shot, WHO, asks)
    assert moment <= DEADLINE
    assert isinstance(decide(shot, WHO, asks, max(moment, OPENED)), Settled)


@settings(max_examples=200, deadline=None)
@given(conversations(), ASKS)
def test_waiting_as_long_as_told_always_gets_somewhere(shot: Snapshot, asks: Asks) -> None:
    now, steps = OPENED, 0
    decision = decide(shot, WHO, asks, now)
    while isinstance(decision, Waiting):
        now, steps = decision.until, steps + 1
        decision = decide(shot, WHO, asks, now)
    assert steps <= 2
    assert now <= DEADLINE


@settings(max_examples=200, deadline=None)
@given(conversations(), ASKS)
def test_what_happens_after_the_deadline_changes_nothing(shot: Snapshot, asks: Asks) -> None:
    def in_time(raws: tuple[Any, ...]) -> tuple[Any, ...]:
        names = ("created_at", "submitted_at", "started_at")
        return tuple(
            raw for raw in raws if all(raw.get(name) is None or raw[name] <= stamp(DEADLINE) for name in names)
        )

    kept = snapshot(
        reviews=in_time(shot.reviews),
        review_comments=in_time(shot.review_comments),
        issue_comments=in_time(shot.issue_comments),
        check_runs=in_time(shot.check_runs),
        reactions=in_time(shot.reactions),
    )
    assert decide(kept, WHO, asks, DEADLINE) == decide(shot, WHO, asks, DEADLINE)


@settings(max_examples=200, deadline=None)
@given(conversations(), ASKS, st.randoms(use_true_random=False))
def test_the_order_of_the_lists_changes_nothing(shot: Snapshot, asks: Asks, chance: Any) -> None:
    comments = list(shot.issue_comments)
    chance.shuffle(comments)
    other = snapshot(
        reviews=shot.reviews[::-1],
        review_comments=shot.review_comments[::-1],
        issue_comments=comments,
        check_runs=shot.check_runs[::-1],
        reactions=shot.reactions,
    )
    assert decide(other, WHO, asks, DEADLINE) == decide(shot, WHO, asks, DEADLINE)


@given(st.lists(st.integers(0, 7200), max_size=6), st.integers(0, 7200), st.floats(1, 3600))
def test_a_wake_is_never_in_the_past_and_never_after_the_earliest_due(
    dues: list[int], seconds: int, poll: float
) -> None:
    now = _moment(seconds)
    waits: list[Decision] = [Waiting(_moment(later)) for later in dues]
    moment = wake(waits, now, poll)
    if not waits:
        assert moment is None
        return
    assert moment is not None
    assert now <= moment <= now + timedelta(seconds=poll)
    assert moment <= max(now, _moment(min(dues)))


@given(st.integers(0, 10**6), st.integers(-5, 20_000))
def test_a_poll_interval_is_between_its_bounds_and_grows_with_the_forks(forks: int, limit: int) -> None:
    assert 30 <= poll_interval(forks, limit) <= poll_interval(forks + 1, limit) <= 3600
