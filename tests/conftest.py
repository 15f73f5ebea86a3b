"""What tests of several areas share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, Phase, settings

from bot.adapters.database import open_engine
from tests import scheduling
from tests.postgres import Postgres, running

# How long an example takes is the machine's affair: on a loaded one, none of them would be quick enough.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")
# One run of the tests for each mutant: few examples, the same each time, and no search for the smallest that fails.
settings.register_profile(
    "mutation",
    parent=settings.get_profile("untimed"),
    max_examples=20,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> scheduling.Scheduling | None:
    """Ours, unless another one is asked for by name."""
    if config.option.dist != "load":
        return None
    config.option.loadscopereorder = False
    return scheduling.Scheduling(config, log)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if hasattr(config, "workerinput"):
        items[:] = scheduling.order(items)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL server of this test process; every test makes databases of its own in it."""
    with running() as server:
        yield server


@pytest.fixture
def opened() -> Iterator[Callable[[str], sa.Engine]]:
    """Opens databases, and closes them when the test is over."""
    engines: list[sa.Engine] = []

    def open_one(url: str) -> sa.Engine:
        engines.append(open_engine(url))
        return engines[-1]

    yield open_one
    for engine in engines:
        engine.dispose()
