"""The repository's own promises: sizes, the lock, what may not stand in it."""

from __future__ import annotations

import ast
import re
import statistics
import subprocess
from pathlib import Path

from tests.test_architecture import rel, sources

ROOT = Path(__file__).resolve().parents[1]


def tracked() -> list[Path]:
    """Files that are or would be committed; without git (an unpacked archive), every source."""
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            capture_output=True,
            check=True,
            text=True,
        ).stdout
    except (OSError, subprocess.CalledProcessError):
        return list(sources())
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def function_lengths() -> list[tuple[int, str]]:
    found = []
    for path in sources():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                end = node.end_lineno or node.lineno
                found.append((end - node.lineno + 1, f"{rel(path)}:{node.lineno} {node.name}"))
    return found


def test_no_function_is_over_sixty_lines_and_the_median_is_small() -> None:
    lengths = function_lengths()
    assert [where for length, where in lengths if length > 60] == []
    assert statistics.median(length for length, _ in lengths) <= 12


def test_no_source_file_is_over_four_hundred_lines() -> None:
    sizes = {rel(path): len(path.read_text(encoding="utf-8").splitlines()) for path in sources()}
    assert {name: size for name, size in sizes.items() if size > 400} == {}


def test_the_lock_names_no_address_and_no_option() -> None:
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    assert not [line for line in lines if "://" in line]
    assert not [line for line in lines if re.match(r"-[^-]|--(?!hash)", line)]
    pinned = [line for line in lines if re.match(r"[a-z0-9]", line)]
    assert len(pinned) > 80
    assert all("==" in line for line in pinned)


def test_the_lock_covers_every_dependency() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *(d for extra in project["optional-dependencies"].values() for d in extra)]
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8").lower()
    for requirement in wanted:
        name = re.split(r"[<>=!~\[ ;]", requirement, maxsplit=1)[0].lower().replace("_", "-")
        assert re.search(rf"^{re.escape(name)}(\[[a-z, ]+\])?==", lock, re.MULTILINE), f"{name} is not in the lock"


def test_no_private_key_or_token_is_in_the_repository() -> None:
    secret = re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY-----\n[A-Za-z0-9+/]{40}|gh[pousr]_[A-Za-z0-9]{30,}")
    assert [rel(path) for path in tracked() if secret.search(path.read_bytes())] == []
