"""The last look at a run's forks: several at a time, and one that cannot be read takes no other with it."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any, cast

from bot.model import RunId
from bot.ports import GitHubError
from bot.workflows.collect import LOOKS_AT_A_TIME, last_look
from bot.workflows.services import Services


class Hub:
    """Answers only when as many ask as may ask at a time: one after another they would never be answered."""

    def __init__(self) -> None:
        self.together = threading.Barrier(LOOKS_AT_A_TIME)
        self.kept: list[str] = []
        self.forks = [SimpleNamespace(id=f"f{n}", repo=f"r{n}", pull=1) for n in range(LOOKS_AT_A_TIME)]

    def snapshot(self, repo: str, _pull: int) -> str:
        self.together.wait(20)
        if repo == "r2":
            raise GitHubError(404, "Not Found", {}, "GET")
        return repo

    def keep_snapshot(self, _run: str, fork: str, _snapshot: Any) -> int | None:
        self.kept.append(fork)
        return None if fork == "f4" else 2


def test_forks_are_read_together_and_what_is_unreadable_or_stale_is_left_out() -> None:
    hub = Hub()
    never_opened = SimpleNamespace(id="planned", repo=None, pull=None)
    store = SimpleNamespace(
        run=lambda _run: SimpleNamespace(id="r", installation=1),
        forks=lambda _run: [never_opened, *hub.forks],
        snapshots=lambda _run, _fork: [object()],
        keep_snapshot=hub.keep_snapshot,
    )
    services = cast(Services, SimpleNamespace(store=store, github=lambda _installation: hub))
    assert last_look(services, RunId("r")) == LOOKS_AT_A_TIME - 2
    assert sorted(hub.kept) == ["f0", "f1", "f3", "f4", "f5"]
