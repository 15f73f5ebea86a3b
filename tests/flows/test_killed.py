"""The App is killed at many points of one run and started again: the same report, and nothing twice."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.flows.world import bench, content, expected

TEN = (1, 2, 4, 6, 8, 9, 11, 13, 16, 18)
"""After how many of its writes the App is killed; an undisturbed run makes nineteen or more."""
FOUR = (2, 5, 9, 14)
"""A repository is made; a pull request is opened; every reviewer is waited for; check runs are half written."""


@pytest.mark.timeout(400)
@pytest.mark.parametrize("points", [FOUR, pytest.param(TEN, marks=pytest.mark.long)], ids=["four", "ten"])
def test_killed_at_many_points_ends_in_the_same_report_with_nothing_twice(
    tmp_path: Path, reference: str, points: Sequence[int]
) -> None:
    with bench(tmp_path) as here:
        here.ask()
        killed = []
        for point in points:
            here.wait_for(lambda wanted=point: len(here.done()) >= wanted)  # type: ignore[misc]
            here.app.kill()
            killed.append(len(here.done()))
            here.app.start()
        outcome = here.finish()
        assert len(killed) == len(points)
        assert here.made() == expected(forks=2, reviewers=4, asks=1)
        assert outcome.stage == "done"
        assert content(outcome.report) == reference
        assert list(here.world.complaints(here.data, outcome.run)) == []
        bodies = [(comment["user"]["login"], comment["body"].partition("\n")[0]) for comment in here.comments()]
        assert len(bodies) == len(set(bodies))
