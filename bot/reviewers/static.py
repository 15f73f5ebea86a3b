"""`static`, the union of Ruff and Pylint as a published benchmark defines it, and `static+` with more analysers.

A file is analysed alone and whole, as it stands in the head tree. What both tools say under one rule id at one line is
said once; the same defect under two rule ids stays two remarks. At most twenty a file are kept, the worst first.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.reviewers.bandit_scan import bandit
from bot.reviewers.changes import files_of, head_paths
from bot.reviewers.child import ToolFailed, is_plain, written
from bot.reviewers.finding import Finding, on_changed_lines
from bot.reviewers.patch import Patch
from bot.reviewers.protocol import Change, Remark, Review, Usage
from bot.reviewers.pylint_lint import pylint
from bot.reviewers.ruff_lint import ruff
from bot.reviewers.structural import MORE_SUFFIXES, structural
from scoring.model import Severity

RUFF_RULES = "F,E9,B,A"
PYLINT_SWITCHES = ("--disable=C,R,import-error,no-name-in-module",)
CAP = 20
"""Remarks that are kept of one file."""
PYTHON = (".py",)
_RANKS = {Severity.CRITICAL: 0, Severity.HIGH: 0, Severity.MEDIUM: 1, Severity.LOW: 2}
_UNRANKED = 3

Tool = Callable[[Path, Iterable[str]], tuple[Finding, ...]]


@dataclass(frozen=True, slots=True)
class Static:
    """Implements `Reviewer` without a model."""

    name: str
    more: bool
    """Whether Bandit and our rules are asked too."""
    cap: int = CAP
    only_changed: bool = False
    """Whether only remarks on added or rewritten lines are kept."""

    def review(self, change: Change) -> Review:
        """Analyse each changed file."""
        begun = time.monotonic()
        kept: list[Remark] = []
        unread: list[str] = []
        for path in head_paths(change, (*PYTHON, *MORE_SUFFIXES) if self.more else PYTHON):
            if not is_plain(path):
                unread.append(f"{path!r}: no name that a file of ours may have")
                continue
            try:
                findings = self._of(path, change)
            except ToolFailed as problem:
                return Review((), Usage(seconds=time.monotonic() - begun), failed=f"{path}: {problem}")
            kept += [_remark(one) for one in findings]
        return Review(tuple(kept), Usage(seconds=time.monotonic() - begun), unread=tuple(unread))

    def _of(self, path: str, change: Change) -> Sequence[Finding]:
        with written({path: change.head[path]}) as tree:
            found = union(tree, path) if path.endswith(PYTHON) else []
            if self.more:
                found = merged([*found, *bandit(tree, [path]), *structural(tree, [path], more=True)])
        if self.only_changed:
            found = list(on_changed_lines(found, {path: _patch(change, path)}))
        return capped(found, self.cap)


def union(tree: Path, path: str) -> list[Finding]:
    """What Ruff and Pylint say of one Python file.

    Raises:
        ToolFailed: one of them gave no usable answer.
    """
    first = ruff(tree, [path], select=RUFF_RULES, every=True)
    second = pylint(tree, [path], switches=PYLINT_SWITCHES)
    return merged([*first, *second])


def merged(findings: Iterable[Finding]) -> list[Finding]:
    """One finding for each line and rule id; the first stands."""
    kept: dict[tuple[int, str], Finding] = {}
    for one in findings:
        kept.setdefault((one.line, one.rule), one)
    return list(kept.values())


def capped(findings: Iterable[Finding], most: int) -> list[Finding]:
    """The worst so many, by severity and then by line."""
    return sorted(findings, key=lambda one: (_rank(graded(one)), one.line))[:most]


def graded(finding: Finding) -> Severity | None:
    """How bad: Ruff does not say, so its rules' letters decide.

    A syntax error, which Ruff no longer calls E999, is low by the letter of the definition; Pylint's is high.
    """
    if finding.engine != "ruff":
        return finding.severity or (Severity.LOW if finding.engine == "pylint" else None)
    if finding.rule.startswith(("F", "E9")):
        return Severity.HIGH
    return Severity.MEDIUM if finding.rule.startswith("B") else Severity.LOW


def _rank(severity: Severity | None) -> int:
    return _UNRANKED if severity is None else _RANKS[severity]


def _remark(finding: Finding) -> Remark:
    return Remark(
        finding.message,
        finding.path,
        finding.line,
        finding.end_line,
        kind=finding.rule,
        severity=graded(finding),
        citation=finding.note,
        suggestion=finding.fix or "",
    )


def _patch(change: Change, path: str) -> Patch:
    added = next(frozenset(one.added_lines) for one in files_of(change) if one.new_path == path)
    return Patch(added)
