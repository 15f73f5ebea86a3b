"""The command line as people use it: exit codes, one-line errors with the fix, JSON, examples in every help."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path


def assay(*arguments: str, cwd: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return subprocess.run(
        [sys.executable, "-m", "bot", *arguments],
        cwd=cwd,
        env=kept | settings,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_assay_alone_says_what_to_do_next(tmp_path: Path) -> None:
    done = assay(cwd=tmp_path)
    assert done.returncode == 0
    assert "assay demo" in done.stdout


def test_serve_without_settings_names_each_missing_one(tmp_path: Path) -> None:
    done = assay("serve", cwd=tmp_path)
    assert done.returncode == 2
    assert "ASSAY_APP_ID" in done.stderr
    assert "ASSAY_WEBHOOK_SECRET" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_misspelt_setting_is_an_error_with_a_suggestion(tmp_path: Path) -> None:
    done = assay("status", cwd=tmp_path, ASSAY_DATA_DIRR="x")
    assert done.returncode == 2
    assert "ASSAY_DATA_DIR" in done.stderr


def test_status_where_no_run_has_begun_is_no_error_and_names_the_next_step(tmp_path: Path) -> None:
    done = assay("status", cwd=tmp_path)
    assert done.returncode == 0
    assert "No run yet" in done.stdout
    assert "ASSAY_DATA_DIR" in done.stdout
    assert json.loads(assay("status", "--json", cwd=tmp_path).stdout) == []
    unknown = assay("status", "12-1", cwd=tmp_path)
    assert unknown.returncode == 2
    assert "ASSAY_DATA_DIR" in unknown.stderr


def test_an_unknown_option_is_a_usage_error(tmp_path: Path) -> None:
    assert assay("demo", "--colour", cwd=tmp_path).returncode == 2


def test_goldens_list_and_verify(tmp_path: Path) -> None:
    listed = json.loads(assay("goldens", "list", "--json", cwd=tmp_path).stdout)
    smoke = next(suite for suite in listed if suite["id"] == "smoke")
    assert (smoke["pulls"], smoke["clean"]) == (8, 2)
    assert assay("goldens", "verify", "smoke", cwd=tmp_path).returncode == 0
    unknown = assay("goldens", "verify", "smok", cwd=tmp_path)
    assert unknown.returncode == 2
    assert "smoke" in unknown.stderr


def test_the_issue_form_is_printed_with_suites_and_reviewers(tmp_path: Path) -> None:
    import yaml

    done = assay("form", cwd=tmp_path)
    form = yaml.safe_load(done.stdout)
    assert form["name"]
    assert "smoke" in done.stdout
    assert "coderabbit" in done.stdout


def test_rescoring_what_is_no_bundle_is_one_clear_line(tmp_path: Path) -> None:
    done = assay("rescore", ".", cwd=tmp_path)
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    assert "index.json" in done.stderr


def test_demo_on_the_folder_of_an_earlier_one_says_so_and_touches_nothing(tmp_path: Path) -> None:
    (tmp_path / "d" / "github").mkdir(parents=True)
    done = assay("demo", "--port", "0", "--data", "d", cwd=tmp_path)
    assert done.returncode == 3
    assert "holds an earlier demo" in done.stderr
    assert "Traceback" not in done.stderr
    assert list((tmp_path / "d" / "github").iterdir()) == []


def test_a_report_that_cannot_be_written_is_said_before_the_demo_starts(tmp_path: Path) -> None:
    done = assay("demo", "--json", "nowhere/report.json", "--port", "0", cwd=tmp_path)
    assert done.returncode == 2
    assert "nowhere" in done.stderr
    assert "stand-in" not in done.stderr


def test_serve_says_everything_that_is_missing_at_once(tmp_path: Path) -> None:
    done = assay("serve", cwd=tmp_path, ASSAY_JUDGE="replay:nobody")
    assert done.returncode == 2
    for name in ("ASSAY_APP_ID", "ASSAY_WEBHOOK_SECRET", "ASSAY_PRIVATE_KEY", "ASSAY_JUDGE"):
        assert name in done.stderr
    assert "Traceback" not in done.stderr
