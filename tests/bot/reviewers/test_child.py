"""Analysers run on code nobody trusts: names, runaways and environments."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import psutil
import pytest

from bot.reviewers.child import ToolFailed, is_plain, relative, run_tool, targets, written

HOSTILE = ["../x.py", "/etc/x.py", "a/../../x.py", "a//x.py", "./x.py", "x\0.py", "", "a/", "\ud800.py", "n" * 256]


@pytest.mark.parametrize("path", HOSTILE)
def test_a_name_that_leaves_the_tree_is_not_plain(path: str) -> None:
    assert not is_plain(path)


@pytest.mark.parametrize("path", ["-rf.py", "a b.py", "a\nb.py", "x?#%.py", "..x/y..py", "$(id).py", "ü/é.py"])
def test_an_odd_name_is_written_as_it_is(path: str) -> None:
    with written({path: b"odd"}) as tree:
        assert (tree / path).read_bytes() == b"odd"


def test_hostile_names_are_left_out_and_nothing_is_written_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with written(dict.fromkeys([*HOSTILE, "good.py"], b"1")) as tree:
        assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["good.py"]
        assert tree.is_relative_to(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_no_target_can_be_read_as_an_option() -> None:
    assert targets(["-rf.py", "b.py", "B.PY", "../x.py", "c.txt"], (".py",)) == ["./-rf.py", "./b.py"]


def test_a_reported_path_comes_back_as_the_fork_calls_it(tmp_path: Path) -> None:
    assert relative(f"{tmp_path}/a b/c.py", tmp_path) == relative("./a b/c.py", tmp_path) == "a b/c.py"


def test_a_runaway_is_ended_together_with_its_children(tmp_path: Path) -> None:
    script = (
        "import subprocess, sys, time, pathlib\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(300)'])\n"
        "pathlib.Path('child').write_text(str(child.pid))\n"
        "time.sleep(300)\n"
    )
    begun = time.monotonic()
    with pytest.raises(ToolFailed, match="Sleeper did not end within 1 s"):
        run_tool("Sleeper", [sys.executable, "-c", script], cwd=tmp_path, seconds=1.0)
    assert time.monotonic() - begun < 10
    child = int((tmp_path / "child").read_text())
    _, alive = psutil.wait_procs([psutil.Process(child)] if psutil.pid_exists(child) else [], timeout=5)
    assert [process for process in alive if process.status() != psutil.STATUS_ZOMBIE] == []


def test_a_child_sees_no_secret_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_PRIVATE_KEY", "secret")
    ran = run_tool("Env", [sys.executable, "-c", "import os; print(sorted(os.environ))"], cwd=tmp_path, seconds=20)
    assert b"ASSAY" not in ran.stdout
    assert set(eval(ran.stdout)) <= {"PATH", "HOME", "TMPDIR", "LC_ALL", "PYTHONHASHSEED", "NO_COLOR", "LC_CTYPE"} | {
        name for name in os.environ if name.startswith("__")
    }


def test_a_tool_that_is_not_there_says_so_without_a_path(tmp_path: Path) -> None:
    with pytest.raises(ToolFailed, match="Nothing could not be started: No such file"):
        run_tool("Nothing", [str(tmp_path / "missing")], cwd=tmp_path, seconds=1)


def test_a_flood_of_output_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.reviewers.child._OUTPUT_LIMIT", 1000)
    with pytest.raises(ToolFailed, match="wrote more than 1000 bytes"):
        run_tool("Flood", [sys.executable, "-c", "print('x' * 5000)"], cwd=tmp_path, seconds=20)
