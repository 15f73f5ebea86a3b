"""GitHub's descriptions, and the traffic that is held against them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bot.demo.world import SLUG
from tests.conformance import packages
from tests.conformance.hooks import Hooks
from tests.conformance.recording import Tape, recording
from tests.conformance.rest import Rest
from tests.conformance.tour import Guide, guide, tour
from tests.flows.world import bench


@dataclass(frozen=True, slots=True)
class Delivery:
    """One webhook as it went over the wire."""

    event: str
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Run:
    """One small whole run: App, reviewers and somebody who asks."""

    tape: Tape
    deliveries: list[Delivery]
    """To our App."""


@pytest.fixture(scope="session")
def cache(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where packages stay between test runs; without pytest's cache, for this one."""
    kept: pytest.Cache | None = getattr(pytestconfig, "cache", None)
    return tmp_path_factory.mktemp("descriptions") if kept is None else kept.mkdir("descriptions")


@pytest.fixture(scope="session")
def rest(cache: Path) -> Rest:
    return Rest(packages.load(packages.REST, cache))


@pytest.fixture(scope="session")
def hooks(cache: Path) -> Hooks:
    return Hooks(packages.load(packages.HOOKS, cache))


@pytest.fixture(scope="session")
def examples(cache: Path) -> dict[str, list[dict[str, Any]]]:
    """Event -> GitHub's example payloads."""
    return {one["name"]: one["examples"] for one in packages.load(packages.EXAMPLES, cache)}


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    with recording() as tape, bench(tmp_path_factory.mktemp("recorded")) as here:
        here.ask()
        assert here.finish().stage == "done"
        sandbox = here.world.sandbox
        assert sandbox.deliveries.wait_idle()
        attempts = sandbox.deliveries.attempts(sandbox.world.apps[SLUG])
        sent = [Delivery(one.event, dict(one.request_headers), one.body) for one in attempts]
    return Run(tape, sent)


@pytest.fixture(scope="session")
def toured(tmp_path_factory: pytest.TempPathFactory) -> Tape:
    with recording() as tape, guide(tmp_path_factory.mktemp("toured")) as here:
        tour(here)
    return tape


@pytest.fixture
def town(tmp_path: Path) -> Iterator[Guide]:
    with guide(tmp_path) as here:
        here.repo(here.alice).create_pull(title="T", body="B", head="topic", base="main")
        yield here
