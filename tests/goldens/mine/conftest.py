from __future__ import annotations

import pytest

from tests.goldens.mine.world import World, planted_world


@pytest.fixture(scope="package")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return planted_world(tmp_path_factory.mktemp("upstream"))
