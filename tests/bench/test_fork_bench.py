"""The forking benchmark itself, on a history small enough for every day."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.bench import bench_fork
from tests.bench.history import Shape, build
from tests.bench.wire import bare


def test_both_ways_of_forking_end_with_the_trees_of_the_pull_request_and_ours_moves_less(tmp_path: Path) -> None:
    rows = bench_fork.compare(tmp_path, Shape(commits=400, files=100), Shape(commits=40, files=100))
    bytes_ = rows[1]
    assert bytes_.against is not None and 0 < bytes_.ours < bytes_.against / 2
    assert all(row.ours > 0 for row in rows)
    fork = tmp_path / "o" / "ours.git"
    count = subprocess.run(["git", "-C", fork, "rev-list", "--all", "--count"], check=True, capture_output=True)
    assert int(count.stdout) == 2


def test_a_tree_that_did_not_arrive_is_no_measurement(tmp_path: Path) -> None:
    made = build(tmp_path / "a.git", Shape(commits=3, files=20))
    other = build(tmp_path / "b.git", Shape(commits=4, files=20))
    subprocess.run(["git", "-C", other.path, "update-ref", "refs/heads/work/change", other.head], check=True)
    with pytest.raises(RuntimeError, match="is not that of the pull request"):
        bench_fork.check(made, other.path)
    with pytest.raises(subprocess.CalledProcessError):
        bench_fork.check(made, bare(tmp_path / "empty.git"))


def test_a_history_is_the_same_for_a_seed(tmp_path: Path) -> None:
    shape = Shape(commits=5, files=30)
    one, two, other = (build(tmp_path / f"{at}.git", shape, seed) for at, seed in enumerate((1, 1, 2)))
    assert (one.base, one.head) == (two.base, two.head)
    assert one.head != other.head
