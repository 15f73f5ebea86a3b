"""Pylint's errors and warnings on the Python files of a head tree."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bot.reviewers import pylint_child
from bot.reviewers.child import ToolFailed, relative, run_tool, targets
from bot.reviewers.finding import Finding, in_order
from scoring.model import Severity

_SECONDS = 40.0
_SETTLED_ELSEWHERE = (
    "import-error",
    "no-name-in-module",
    "relative-beyond-top-level",
    "fixme",
    "logging-format-interpolation",
    "logging-fstring-interpolation",
    "logging-not-lazy",
)
"""The first three ask for files that are not in the change; the others are matters of taste."""
_SWITCHES = ("--disable=all", "--enable=E,W,F", f"--disable={','.join(_SETTLED_ELSEWHERE)}")
_SEVERITY = {"fatal": Severity.HIGH, "error": Severity.HIGH, "warning": Severity.MEDIUM}


def pylint(tree: Path, files: Iterable[str], *, switches: Sequence[str] = _SWITCHES) -> tuple[Finding, ...]:
    """Pylint's errors and warnings in `files`, with no configuration file of anybody.

    Args:
        tree: Where the files lie.
        files: Their paths in it.
        switches: Which messages are on, as Pylint's options.

    Raises:
        ToolFailed: Pylint is not installed, did not end, or did not answer in JSON.
    """
    names = targets(files, (".py",))
    if not names:
        return ()
    settings = tree.parent / "empty.toml"
    settings.write_bytes(b"")
    options = [
        f"--rcfile={settings}",
        "--output-format=json2",
        "--persistent=n",
        "--score=n",
        *switches,
    ]
    argv = [sys.executable, "-P", str(Path(pylint_child.__file__)), *options, "--", *names]
    ran = run_tool("Pylint", argv, cwd=tree, seconds=_SECONDS)
    try:
        rows = json.loads(ran.stdout)["messages"]
    except (ValueError, KeyError, TypeError) as problem:
        raise ToolFailed(f"Pylint ended with status {ran.status} and did not answer in JSON") from problem
    return in_order(_finding(row, tree) for row in rows)


def _finding(row: Mapping[str, Any], tree: Path) -> Finding:
    return Finding(
        path=relative(row["absolutePath"], tree),
        line=max(1, row["line"]),
        end_line=max(1, row["line"], row["endLine"] or 0),
        rule=row["messageId"],
        symbol=row["symbol"],
        message=row["message"].replace(f"{tree}/", ""),
        engine="pylint",
        severity=_SEVERITY.get(row["type"]),
    )
