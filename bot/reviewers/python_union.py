"""Ruff and Pylint together, each remark once."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from bot.reviewers.finding import Finding, in_order
from bot.reviewers.pylint_lint import pylint
from bot.reviewers.ruff_lint import ruff

SELECT = "E4,E7,E9,F,B,C4,SIM,PLC,PLE,PLW"
"""What most teams switch on: mistakes and needless code, no layout and no size limits."""
IGNORE = "PLC0415,B011,PLW2901"
_PORTED = re.compile(r"PL([CEFRW]\d{4})")
_TWINS = {
    "F401": ("W0611", "W0614"),
    "F403": ("W0401",),
    "F404": ("W0410",),
    "F405": ("W0614",),
    "F402": ("W0621",),
    "F501": ("E1300", "E1305", "E1306"),
    "F502": ("E1303",),
    "F506": ("E1302",),
    "F507": ("E1305", "E1306"),
    "F509": ("E1300",),
    "F541": ("W1309",),
    "F601": ("W0109",),
    "F631": ("W0199",),
    "F632": ("R0123",),
    "F634": ("W0199",),
    "F701": ("E0103",),
    "F702": ("E0103",),
    "F704": ("E0105",),
    "F706": ("E0104",),
    "F811": ("W0404", "E0102"),
    "F821": ("E0602",),
    "F822": ("E0603",),
    "F823": ("E0601",),
    "F841": ("W0612",),
    "E722": ("W0702",),
    "invalid-syntax": ("E0001",),
    "B006": ("W0102",),
    "B007": ("W0612",),
    "B012": ("W0150", "W0134"),
    "B014": ("W0705",),
    "B015": ("W0104", "W0106"),
    "B016": ("E0702",),
    "B018": ("W0104", "W0105", "W0106"),
    "B019": ("W1518",),
    "B023": ("W0640",),
    "B025": ("W0705",),
    "B030": ("E0712",),
    "B033": ("W0130",),
    "B904": ("W0707",),
    "SIM115": ("R1732",),
}
"""Ruff's code -> Pylint's codes for the same remark. Rules that Ruff ported keep Pylint's number and need no entry."""


def python_union(tree: Path, files: Iterable[str]) -> tuple[Finding, ...]:
    """What Ruff or Pylint says of `files`; where both say the same of a line, Ruff's remark stands.

    Raises:
        ToolFailed: one of the two gave no usable answer.
    """
    names = sorted(files)
    return without_twins(ruff(tree, names, select=SELECT, ignore=IGNORE), pylint(tree, names))


def without_twins(first: Iterable[Finding], second: Iterable[Finding]) -> tuple[Finding, ...]:
    """Both, without those of `second` that repeat one of `first` at the same line."""
    kept = list(first)
    said = {(*_spot(finding), code) for finding in kept for code in _pylint_codes(finding.rule)}
    return in_order([*kept, *(f for f in second if (*_spot(f), f.rule) not in said)])


def _spot(finding: Finding) -> tuple[str, int]:
    """Where a twin must stand. Two parsers stumble over one mistake at different lines: the file is enough there."""
    broken = finding.rule in ("invalid-syntax", "E0001")
    return finding.path, 0 if broken else finding.line


def _pylint_codes(rule: str) -> tuple[str, ...]:
    ported = _PORTED.fullmatch(rule)
    return (ported[1],) if ported else _TWINS.get(rule, ())
