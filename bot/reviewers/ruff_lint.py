"""Ruff on the Python files of a head tree."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bot.reviewers.child import ToolFailed, relative, run_tool, targets
from bot.reviewers.finding import Finding, in_order
from scoring.model import Severity

PYTHON = (".py", ".pyi")
_SECONDS = 20.0
_SYNTAX = "invalid-syntax"
_WHY = re.compile(r"^## Why is this bad\?\n(?:[ \t]*\n)?(.{1,2000}?)(?:\n[ \t]*\n|\Z)", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[([^\[\]]{1,200})\](?:\([^()]{1,300}\)|\[[^\[\]]{1,100}\])?")


def ruff(
    tree: Path, files: Iterable[str], *, select: str, ignore: str = "", every: bool = False
) -> tuple[Finding, ...]:
    """Ruff's findings in `files`, with the given rules and no configuration file of anybody.

    Args:
        tree: Where the files lie.
        files: Their paths in it.
        select: The rules, as Ruff's option takes them.
        ignore: Rules to leave out.
        every: Whether syntax errors that follow from the first of a file are kept.

    Raises:
        ToolFailed: Ruff is not installed, did not end, or did not answer in JSON.
    """
    names = targets(files, PYTHON)
    if not names:
        return ()
    rules = ["--select", select, *(["--ignore", ignore] if ignore else [])]
    fixed = ["check", "--isolated", "--no-cache", "--no-respect-gitignore", "--exit-zero", "--output-format", "json"]
    argv = [sys.executable, "-P", "-m", "ruff", *fixed, *rules, "--", *names]
    ran = run_tool("Ruff", argv, cwd=tree, seconds=_SECONDS)
    if ran.status != 0:
        raise ToolFailed(f"Ruff ended with status {ran.status}")
    try:
        rows = json.loads(ran.stdout)
    except ValueError as problem:
        raise ToolFailed("Ruff did not answer in JSON") from problem
    lines = _Lines(tree)
    found = in_order(_finding(row, tree, lines) for row in rows)
    return found if every else _one_syntax_error(found)


def _one_syntax_error(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Only the first syntax error of a file: the parser's later ones follow from it."""
    first: dict[str, Finding] = {}
    for finding in findings:
        if finding.rule == _SYNTAX:
            first.setdefault(finding.path, finding)
    return tuple(f for f in findings if f.rule != _SYNTAX or first[f.path] is f)


@cache
def _reasons() -> Mapping[str, str]:
    """Ruff's own words on why each rule exists: one paragraph, without links."""
    with TemporaryDirectory(prefix="rules-") as home:
        tree = Path(home) / "tree"
        tree.mkdir()
        argv = [sys.executable, "-P", "-m", "ruff", "rule", "--all", "--output-format", "json"]
        ran = run_tool("Ruff", argv, cwd=tree, seconds=_SECONDS)
    try:
        rules = json.loads(ran.stdout)
    except ValueError as problem:
        raise ToolFailed("Ruff did not list its rules in JSON") from problem
    return {rule["code"]: _reason(rule["explanation"] or "") for rule in rules}


def _reason(explanation: str) -> str:
    found = _WHY.search(explanation)
    return " ".join(_LINK.sub(r"\1", found[1]).split()) if found else ""


class _Lines:
    """The lines of the tree's files, each read once."""

    def __init__(self, tree: Path) -> None:
        self._tree = tree
        self._read: dict[str, list[str]] = {}

    def of(self, path: str) -> list[str]:
        """The lines of one file, without their ends."""
        if path not in self._read:
            text = (self._tree / path).read_bytes().decode("utf-8", errors="replace")
            self._read[path] = [line.removesuffix("\r") for line in text.split("\n")]
        return self._read[path]


def _finding(row: Mapping[str, Any], tree: Path, lines: _Lines) -> Finding:
    path, first, last = relative(row["filename"], tree), row["location"]["row"], row["end_location"]["row"]
    code = row["code"] or _SYNTAX
    return Finding(
        path=path,
        line=first,
        end_line=max(first, last),
        rule=code,
        symbol=(row.get("url") or "").rstrip("/").rpartition("/")[2],
        message=row["message"],
        engine="ruff",
        severity=Severity.HIGH if code == _SYNTAX else None,
        note=_reasons().get(code, ""),
        fix=_fix(row.get("fix"), first, max(first, last), lines.of(path)),
    )


def _fix(fix: Mapping[str, Any] | None, first: int, last: int, lines: list[str]) -> str | None:
    """The lines `first` to `last` with Ruff's edits applied; None if there are none or they reach further."""
    if not fix:
        return None
    edits = [(_at(edit["location"]), _at(edit["end_location"]), edit["content"]) for edit in fix["edits"]]
    if any(start[0] < first or end[0] > last for start, end, _ in edits):
        return None
    text = lines[first - 1 : last]
    for (row, column), (end_row, end_column), content in sorted(edits, reverse=True):
        head, tail = text[row - first][: column - 1], text[end_row - first][end_column - 1 :]
        text[row - first : end_row - first + 1] = (head + content + tail).split("\n")
    return "\n".join(text)


def _at(place: Mapping[str, int]) -> tuple[int, int]:
    return place["row"], place["column"]
