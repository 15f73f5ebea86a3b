"""A clock that is wrong, GitHub's or ours: what is signed holds all the same."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.adapters.github import AppGitHub
from bot.adapters.github_clock import TheirClock
from bot.ports_github import GitHubError
from bot.sandbox.server import Sandbox


def skewed(hours: float) -> Callable[[], datetime]:
    return lambda: datetime.now(UTC) + timedelta(hours=hours)


@pytest.mark.parametrize("hours", [-1.0, 1.0, 30.0])
def test_the_app_is_let_in_at_its_second_try_however_wrong_the_clocks_are(tmp_path: Path, hours: float) -> None:
    with Sandbox(tmp_path, clock=skewed(hours)) as sandbox:
        sandbox.create_org("northwind", owner="devon-ray")
        keys = sandbox.create_app("checks", permissions={"metadata": "read"}, events=[])
        sandbox.install("checks", "northwind")
        app = AppGitHub(
            sandbox.url,
            app_id=str(keys.app_id),
            private_key=keys.private_key_pem,
            author_token=None,
            clock=lambda: datetime.now(UTC),
        )
        with suppress(GitHubError):
            app.installations()
        assert [account for _, account in app.installations()] == ["northwind"]
        # And when the clock is put right again.
        sandbox.world.clock = skewed(0)
        with suppress(GitHubError):
            app.installations()
        assert [account for _, account in app.installations()] == ["northwind"]


@pytest.mark.parametrize(
    ("date", "ahead"),
    [
        ("Thu, 01 Jan 1970 00:16:40 GMT", 0),
        ("Thu, 01 Jan 1970 00:17:05 GMT", 0),
        ("Thu, 01 Jan 1970 01:16:40 GMT", 3600),
        ("Thu, 01 Jan 1970 00:06:40 GMT", -600),
        ("half past nine", 0),
        ("", 0),
    ],
)
def test_small_differences_and_no_date_at_all_change_nothing(date: str, ahead: int) -> None:
    clock = TheirClock(ours=lambda: 1000.0)
    clock.note({"date": date} if date else {})
    assert clock.ahead() == ahead
