"""What the deployment files start: read from them, so that a test that starts a command starts theirs."""

from __future__ import annotations

import configparser
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
UNITS = sorted((ROOT / "deploy" / "systemd").glob("*.service"))


def procfile() -> dict[str, tuple[str, ...]]:
    """Process -> what `assay` is told."""
    lines = (ROOT / "Procfile").read_text(encoding="utf-8").splitlines()
    return {name: _of_assay(line) for name, _, line in (line.partition(":") for line in lines if line)}


def unit(path: Path) -> configparser.ConfigParser:
    """A systemd unit; a key that stands twice is an error."""
    parser = configparser.ConfigParser(interpolation=None, delimiters=("=",), comment_prefixes=("#",), strict=True)
    parser.optionxform = str  # type: ignore[method-assign, assignment]
    parser.read_string(path.read_text(encoding="utf-8"))
    return parser


def units() -> dict[str, tuple[str, ...]]:
    """Unit -> what `assay` is told."""
    return {path.name: _of_assay(unit(path)["Service"]["ExecStart"]) for path in UNITS}


def dockerfile() -> list[tuple[str, str]]:
    """(instruction, the rest) in order; continued lines are one."""
    text = re.sub(r"\\\n", " ", (ROOT / "Dockerfile").read_text(encoding="utf-8"))
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in lines)]


def image() -> tuple[str, ...]:
    """What `assay` is told by an image that is started without arguments."""
    told = {word: json.loads(rest) for word, rest in dockerfile() if word in ("ENTRYPOINT", "CMD")}
    program, *first = told["ENTRYPOINT"]
    assert program == "assay"
    return (*first, *told["CMD"])


def everything() -> Iterator[tuple[str, tuple[str, ...]]]:
    """(where it stands, what `assay` is told)."""
    yield from ((f"Procfile {name}", command) for name, command in procfile().items())
    yield from units().items()
    yield "Dockerfile", image()


def _of_assay(line: str) -> tuple[str, ...]:
    program, *arguments = shlex.split(line)
    assert Path(program).name == "assay", line
    return tuple(arguments)
