"""The small studies that ship, run as a person runs them: no key, no network, every table, the same bytes again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.studies.tables import TABLES
from tests.judging.test_commands import assay, environment

SMALL = ("vibeops-small", "codevetter-small", "swe-cold-small", "cpp16-small", "crbench-small")
MADE = {
    "vibeops-small": ("quality", "decided", "frontier", "nested", "ensembles", "by_language", "by_size"),
    "codevetter-small": ("catch", "run_to_run", "repeats", "rounds", "judge_to_judge"),
    "swe-cold-small": ("prompt_sensitivity", "tolerance_sweep", "hit_overlap", "sites"),
    "cpp16-small": ("by_judge", "judge_to_judge", "usefulness", "head_to_head"),
    "crbench-small": ("usefulness", "rounds", "by_impact", "by_severity", "rank_agreement"),
}
"""What each is there to show."""


def parts(folder: Path) -> dict[str, bytes]:
    """What must be the same for the same study: everything but what was measured, and the workshop."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "work" not in path.relative_to(folder).parts and not path.name.startswith("timing")
    }


@pytest.mark.parametrize("name", SMALL)
def test_a_small_study_runs_offline_and_makes_the_tables_it_is_there_for(name: str, tmp_path: Path) -> None:
    done = assay(tmp_path / "one", "study", name, "-o", str(tmp_path / "one"), "--json", env=environment())
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert list(report["tables"]) == list(TABLES)
    for key in MADE[name]:
        (first, *_) = report["tables"][key]["rows"]
        assert "missing" not in first, f"{key}: {first}"
    assert {"report.txt", "report.md", "report.html", "report.json", "bundle/index.json"} <= set(
        parts(tmp_path / "one")
    )


def test_a_fresh_run_elsewhere_gives_the_same_bytes_and_so_does_a_second_one_there(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    said = [
        assay(place, "study", "crbench-small", "-o", str(place), env=environment()).stdout for place in (first, second)
    ]
    assert said[0] == said[1]
    assert parts(first) == parts(second)
    before = parts(first)
    again = assay(first, "study", "crbench-small", "-o", str(first), env=environment())
    assert again.stdout == said[0]
    assert parts(first) == before


def test_a_studys_bundle_is_a_bundle_like_any_other(tmp_path: Path) -> None:
    place = tmp_path / "one"
    assay(place, "study", "cpp16-small", "-o", str(place), env=environment())
    assert assay(place, "bundle", "verify", str(place / "bundle"), env=environment()).returncode == 0
    done = assay(place, "leaderboard", str(place / "bundle"), "--judge", "lexical/2", "--json", env=environment())
    assert {row["reviewer"] for row in json.loads(done.stdout)["reviewers"]} == {"careful", "context", "chunked"}


def test_a_dry_run_says_what_it_would_take_and_asks_nobody(tmp_path: Path) -> None:
    place = tmp_path / "dry"
    done = assay(place, "study", "vibeops-small", "-o", str(place), "--dry-run", "--json", env=environment())
    plan = json.loads(done.stdout)
    assert plan["reviews"] == 60
    assert plan["to_do"]["calls"] > 60
    assert 0 < plan["to_do"]["likely_cost"] < plan["to_do"]["most_cost"]
    assert plan["to_do"]["judging"]["calls_at_most"] == 60
    assert not (place / "bundle").exists()
