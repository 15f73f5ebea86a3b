"""A run of which the machine is lost goes on from a backup of the minutes before, and repeats nothing."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.flows.world import bench, content, expected

DATABASES = ("app.db", "engine.db")


def back_up(data: Path, to: Path) -> None:
    """As the operations page says: each database by SQLite's own backup, then the folder of bundles."""
    to.mkdir()
    for name in DATABASES:
        with closing(sqlite3.connect(data / name)) as source, closing(sqlite3.connect(to / name)) as copy:
            source.backup(copy)
    if (data / "bundles").exists():
        shutil.copytree(data / "bundles", to / "bundles")


def restore(data: Path, backup: Path) -> None:
    """Put a backup where the lost data were."""
    for lost in (*data.glob("*.db*"), *data.glob("bundles")):
        shutil.rmtree(lost) if lost.is_dir() else lost.unlink()
    shutil.copytree(backup, data, dirs_exist_ok=True)


@pytest.mark.timeout(300)
def test_restored_from_a_backup_that_knows_less_than_github_it_posts_nothing_twice(
    tmp_path: Path, reference: str
) -> None:
    with bench(tmp_path) as here:
        here.ask()
        here.wait_for(lambda: here.made()["repository"] >= 1, seconds=60)
        back_up(here.data, tmp_path / "backup")
        behind = len(here.done())
        # What happens from here on, the backup does not know.
        here.wait_for(lambda: here.made()["pull request"] >= 2, seconds=60)
        here.app.kill()
        assert len(here.done()) > behind
        restore(here.data, tmp_path / "backup")
        here.app.start()
        outcome = here.finish(150)
        assert outcome.stage == "done"
        assert content(outcome.report) == reference
        assert here.made() == expected(forks=2, reviewers=4, asks=1)
        assert list(here.world.complaints(here.data, outcome.run)) == []
