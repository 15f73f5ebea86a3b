"""`assay preflight` against the stand-in: who answers is shown, with what to mend, and nothing is left standing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from bot.demo import world as demo_world


def preflight(settings: Mapping[str, str], *args: str) -> subprocess.CompletedProcess[str]:
    environment = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ} | dict(settings)
    command = [sys.executable, "-m", "bot", "preflight", *args]
    folder = settings["ASSAY_DATA_DIR"]
    return subprocess.run(
        command, env=environment, cwd=folder, capture_output=True, text=True, timeout=110, check=False
    )


def test_every_reviewer_is_asked_once_and_the_forks_are_archived(tmp_path: Path) -> None:
    with demo_world.running(tmp_path / "github", webhooks=False, gap=0.2) as world:
        settings = world.app_settings(tmp_path / "app")
        done = preflight(
            settings, "--org", demo_world.ORG, "--reviewer", "lintwarden", "--reviewer", "quillreview", "--json"
        )
        assert done.returncode == 0, done.stderr
        rows = {row["reviewer"]: row for row in json.loads(done.stdout)["reviewers"]}
        assert set(rows) == {"lintwarden", "quillreview"}
        assert all(row["answered"] and row["seconds"] >= 0 and row["comments"] for row in rows.values())
        # The stand-in's reviewers are on every repository, which is what one fork each is meant to find out.
        assert "quillreview" in rows["lintwarden"]["others"] and "install each" in rows["lintwarden"]["advice"]
        pulls = {row["pull_request"] for row in rows.values()}
        assert len(pulls) == 2
        for url in pulls:
            owner, name = url.removeprefix(f"{world.url}/").split("/")[:2]
            assert world.sandbox.world.repo(owner, name).archived
        nowhere = preflight(settings, "--org", "elsewhere")
        assert nowhere.returncode == 2 and demo_world.ORG in nowhere.stderr
