"""A name that no longer means a file would quietly make the suite slow, or tear apart what shares a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import scheduling

TOP = Path(__file__).parents[1]


@pytest.mark.parametrize(
    "name", sorted({*scheduling.FIRST, *scheduling.APART, *scheduling.TOGETHER, *scheduling.FOLDERS})
)
def test_every_name_in_the_order_is_one_of_a_file_or_folder_with_tests(name: str) -> None:
    path = TOP / name
    assert path.is_file() if name.endswith(".py") else any(path.rglob("test_*.py"))


def test_whole_runs_are_handed_out_alone_unless_they_share_a_run() -> None:
    assert scheduling.unit_of("tests/flows/test_run.py::test_a[x]") == "tests/flows/test_run.py::test_a[x]"
    assert scheduling.unit_of("tests/flows/test_finished.py::test_a") == "tests/flows/test_finished.py"
    assert scheduling.unit_of("tests/conformance/test_traffic.py::test_a") == "tests/conformance/"
    assert scheduling.unit_of("tests/scoring/test_stats.py::test_a") == "tests/scoring/test_stats.py"


def test_files_with_a_fixture_of_their_own_stay_together() -> None:
    shared = [path for path in TOP.glob("tests/**/test_*.py") if 'scope="module"' in path.read_text(encoding="utf-8")]
    nodes = [path.relative_to(TOP).as_posix() for path in shared if path != Path(__file__)]
    assert "tests/flows/test_commands_run.py" in nodes
    apart = [node for node in nodes if scheduling.unit_of(f"{node}::test_a") == f"{node}::test_a"]
    assert apart == []
