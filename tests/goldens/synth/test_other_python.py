"""The same seed gives the same bytes on another Python version.

Another interpreter must have what the generator imports; `SECOND_PYTHON` names one, else those on this machine
are tried. Where none has it, the test says so and is skipped: parsers are built for one version of Python each.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
_MAKE = """\
import hashlib, sys
from pathlib import Path
from goldens.synth import main
out = Path(sys.argv[1])
main(int(sys.argv[2]), 12, sys.argv[3], out, clean=4)
for path in sorted(out.rglob("*")):
    if path.is_file():
        print(path.relative_to(out).as_posix(), hashlib.sha256(path.read_bytes()).hexdigest())
"""


def _candidates() -> list[str]:
    named = os.environ.get("SECOND_PYTHON")
    if named:
        return [named]
    found = [shutil.which(f"python3.{minor}") for minor in range(11, 16)]
    kept = sorted(str(path) for path in Path.home().glob(".pyenv/versions/3.1[1-9].*/bin/python"))
    return [one for one in (*found, *kept) if one]


def _run(python: str, code: str, *arguments: str, seed: str = "0") -> subprocess.CompletedProcess[str]:
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": seed, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([python, "-c", code, *arguments], capture_output=True, text=True, env=env, timeout=120)


@cache
def _other() -> str:
    """An interpreter of another version that can run the generator."""
    tried = []
    ready = "import sys, goldens.synth, tree_sitter; print('%d.%d' % sys.version_info[:2])"
    for python in _candidates():
        done = _run(python, ready)
        version = done.stdout.strip()
        if done.returncode == 0 and version != f"{sys.version_info[0]}.{sys.version_info[1]}":
            return python
        why = (done.stderr.strip().splitlines() or [f"it is {version} too"])[-1]
        tried.append(f"{python}: {why}")
    pytest.skip(f"no second Python can run the generator; name one in SECOND_PYTHON. Tried: {'; '.join(tried)}")


@pytest.mark.parametrize(("seed", "churn"), [("42", "none"), ("7", "small")])
def test_another_python_version_makes_the_same_bytes(seed: str, churn: str, tmp_path: Path) -> None:
    made = [
        _run(python, _MAKE, str(tmp_path / str(at)), seed, churn, seed=str(at))
        for at, python in enumerate((sys.executable, _other()), 1)
    ]
    assert [one.returncode for one in made] == [0, 0], made[1].stderr
    assert made[0].stdout == made[1].stdout and made[0].stdout.count("\n") > 12
