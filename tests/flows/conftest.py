"""One undisturbed small run, which the disturbed ones are compared with."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from tests.flows.world import bench, content


@pytest.fixture(scope="session")
def reference(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The report of the small run when nothing goes wrong; of several test processes, the first one makes it."""
    folder = tmp_path_factory.getbasetemp()
    shared = folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder
    kept = shared / "reference.json"
    with (shared / "reference.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            kept.write_text(_undisturbed(tmp_path_factory.mktemp("reference")), encoding="utf-8")
    return kept.read_text(encoding="utf-8")


def _undisturbed(folder: Path) -> str:
    with bench(folder) as here:
        here.ask()
        outcome = here.finish()
        assert outcome.stage == "done"
        assert list(here.world.complaints(here.data, outcome.run)) == []
        assert outcome.report is not None
        return content(outcome.report)
