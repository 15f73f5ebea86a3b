"""Deadlines that a command has moved: who has not answered is waited for so much longer, and its words still count."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot import settle
from bot.model import Asks, Orders, Settled, Waiting
from bot.workflows.collect import limit_seconds
from tests.bot import talk
from tests.bot.render_world import registry
from tests.bot.test_store import row

ACME = registry()[0]


@pytest.mark.parametrize(("wait", "planned"), [(None, ACME.wait.deadline), (10.0, 600)])
def test_every_order_adds_to_the_limit_that_was_planned(wait: float | None, planned: float) -> None:
    plan = replace(row().plan, request=replace(row().plan.request, wait_minutes=wait))
    run = replace(row(), plan=plan)
    assert limit_seconds(run, ACME) == planned
    assert limit_seconds(replace(run, orders=Orders((("a", 5), ("b", 2.5)))), ACME) == planned + 450


def test_a_trial_that_would_have_timed_out_is_open_until_the_moved_deadline() -> None:
    asked, silent = Asks((talk.at("10:00:00"),)), talk.snapshot()
    now = talk.at("11:00:01")
    before = settle.decide(silent, ACME, asked, now, deadline_override_seconds=3600)
    after = settle.decide(silent, ACME, asked, now, deadline_override_seconds=3600 + 60)
    assert isinstance(before, Settled)
    assert isinstance(after, Waiting)
    assert after.until == talk.at("11:01:00")
