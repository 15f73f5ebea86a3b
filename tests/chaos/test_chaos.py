"""The short form of `make chaos`: a few points of each kind in few runs, and that the long form plans what it says."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path

import pytest

from tests.chaos import kills, soak
from tests.chaos.checks import Reference, problems
from tests.chaos.kills import Point
from tests.chaos.loris import Loris, slowest_answer
from tests.chaos.places import place
from tests.chaos.record import Record, Result
from tests.flows.world import SMALL

STEPS = [f"{phase} step {number}" for number in range(40) for phase in ("before", "inside", "after")]
MET = Reference("{}", 10.0, 200, tuple(step for step in STEPS for _ in range(3)))


@pytest.mark.timeout(300)
def test_killed_in_the_middle_of_its_work_while_clients_hold_the_server_up(tmp_path: Path, reference: str) -> None:
    """After the push and before it is remembered; between two parts of the bundle; before a check run is sent."""
    moments = ("inside write push", "inside writing the bundle", "before write check run")
    points = [Point(kills.STEP, moment) for moment in moments]
    sprung = [tmp_path / f"sprung-{number}" for number, _ in enumerate(points)]
    with place(tmp_path, extra=kills.traps(points, sprung)) as here:
        here.ask(SMALL)
        port = int(here.settings["ASSAY_BIND"].rpartition(":")[2])
        here.tend_until(lambda: here.made()["repository"] >= 1, 120)
        with Loris(port, ("silent", "head", "body", "drip", "chunked"), 60):
            here.tend_until(lambda: sprung[0].exists() and here.made()["pull request"] >= 1, 120)
            assert slowest_answer(port, 1) < 5
            outcome = here.finish()
        assert [one.exists() for one in sprung] == [True, True, True]
        assert list(problems(here, SMALL, outcome, reference)) == []


def test_the_plan_has_every_boundary_once_before_it_repeats_any_and_is_the_same_again() -> None:
    points = kills.plan(MET, 7, 400)
    assert points == kills.plan(MET, 7, 400)
    assert points != kills.plan(MET, 8, 400)
    assert len({point.name for point in points}) == len(points) == 400
    steps = [point for point in points if point.kind == kills.STEP]
    assert {point.what for point in steps[: len(STEPS)]} == set(STEPS)
    assert set(Counter(point.kind for point in points[:40])) == set(kills.KINDS)


def test_what_came_out_well_is_not_done_again_and_half_a_line_is_no_result(tmp_path: Path) -> None:
    path = tmp_path / "chaos.jsonl"
    record = Record(path)
    record.begin(3, MET)
    record.add(Result("step a #1", True, True, 1.0))
    record.add(Result("step b #1", False, True, 1.0, ("lost",)))
    with path.open("a") as file:
        file.write('{"kind": "result", "name": "step c')
    again = Record(path)
    again.add(Result("step d #1", True, True, 1.0))
    assert again.reference(3) == MET
    assert again.done() == {"step a #1", "step d #1"}
    with pytest.raises(ValueError, match="--seed 3"):
        again.reference(4)


def test_growth_is_told_from_warming_up() -> None:
    flat = [soak.Row(1, run, 9.0, 200 + (60 if run > 1 else 0), 40, 50, 1, 1, 1) for run in range(1, 6)]
    assert soak.complaints(flat) == []
    leaking = [
        soak.Row(**{**asdict(row), "files": row.files + 3 * row.run, "memory_mb": 200 + 9.0 * row.run}) for row in flat
    ]
    assert [line.partition(" ")[0] for line in soak.complaints(leaking)] == ["memory", "files:"]
