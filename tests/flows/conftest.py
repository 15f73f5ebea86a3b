"""One undisturbed small run, which the disturbed ones are compared with."""

from __future__ import annotations

import pytest

from tests.flows.world import bench, content


@pytest.fixture(scope="session")
def reference(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The report of the small run when nothing goes wrong."""
    with bench(tmp_path_factory.mktemp("reference")) as here:
        here.ask()
        outcome = here.finish()
        assert outcome.stage == "done"
        assert list(here.world.complaints(here.data, outcome.run)) == []
        assert outcome.report is not None
        return content(outcome.report)
