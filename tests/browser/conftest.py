"""One browser for all tests of this process, and the pages it looks at."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.browser import axe
from tests.browser.watching import launched


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    expect.set_options(timeout=20_000)
    with launched() as made:
        yield made


@pytest.fixture(scope="session")
def checker(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> str:
    kept: pytest.Cache | None = getattr(pytestconfig, "cache", None)
    return axe.source(tmp_path_factory.mktemp("axe") if kept is None else kept.mkdir("descriptions"))
