"""Bandit on the Python files of a head tree."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from bot.reviewers.child import ToolFailed, relative, run_tool, targets
from bot.reviewers.finding import Finding, in_order
from scoring.model import Severity

_SECONDS = 30.0
_SEVERITY = {"HIGH": Severity.HIGH, "MEDIUM": Severity.MEDIUM, "LOW": Severity.LOW}


def bandit(tree: Path, files: Iterable[str]) -> tuple[Finding, ...]:
    """Bandit's findings in `files`.

    Raises:
        ToolFailed: Bandit is not installed, did not end, or did not answer in JSON.
    """
    names = targets(files, (".py",))
    if not names:
        return ()
    argv = [sys.executable, "-P", "-m", "bandit", "--quiet", "--exit-zero", "--format", "json", "--", *names]
    ran = run_tool("Bandit", argv, cwd=tree, seconds=_SECONDS)
    try:
        rows = json.loads(ran.stdout)["results"]
    except (ValueError, KeyError, TypeError) as problem:
        raise ToolFailed(f"Bandit ended with status {ran.status} and did not answer in JSON") from problem
    return in_order(_finding(row, tree) for row in rows)


def _finding(row: Mapping[str, Any], tree: Path) -> Finding:
    return Finding(
        path=relative(row["filename"], tree),
        line=row["line_number"],
        end_line=max([row["line_number"], *row["line_range"]]),
        rule=row["test_id"],
        symbol=row["test_name"],
        message=row["issue_text"],
        engine="bandit",
        severity=_SEVERITY.get(row["issue_severity"]),
        confidence=row["issue_confidence"].lower(),
    )
