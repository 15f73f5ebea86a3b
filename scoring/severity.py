"""What reviewers call the badness of a finding, mapped to our four levels by a table and by nothing else."""

from __future__ import annotations

import re

from scoring.model import Severity

WORDS: dict[str, Severity] = {
    word: severity
    for severity, words in {
        Severity.CRITICAL: "critical blocker p0 s0 sev0 severe fatal 严重 致命 阻断",
        Severity.HIGH: "high major p1 s1 sev1 high-priority 高 高危 重要",
        Severity.MEDIUM: "medium moderate p2 s2 sev2 normal warning 中 中等 一般",
        Severity.LOW: "low minor p3 p4 s3 sev3 nit nits nitpick trivial info informational cosmetic 低 轻微 次要",
    }.items()
    for word in words.split()
}
"""Level by word. A word that is not here is no level: it is counted as unknown, never taken for `medium`."""

_FILE_ENDING = re.compile(r"\.(?:svg|png|gif|webp)\b.*$", re.DOTALL)
_ASIDE = re.compile(r"\([^()]{0,60}\)")
_FILLER = frozenset(
    {"severity", "priority", "level", "impact", "risk", "badge", "issue", "security", "bug", "question"}
)
_SPLIT = re.compile(r"[/|,;:·•]+")
_WORD = re.compile(r"[^\W_]+(?:-(?=ish))?[^\W_]*")
_SLOT = re.compile(r"\b(?:severity|priority)\b", re.IGNORECASE)


def said(label: str | None) -> Severity | None:
    """The level a label names, or None if it names none we know.

    A label is a few words in a place made for it: a badge, a bracket, an emphasised first line. All words but fillers
    (`severity`, `priority`) must be known, so that `important-ish` or `not critical` say nothing.
    """
    if not label:
        return None
    parts = _SPLIT.split(_ASIDE.sub(" ", _FILE_ENDING.sub("", label)))
    found = [level for level in (_part(part) for part in parts) if level is not None]
    return found[0] if found else None


def is_only(label: str) -> bool:
    """Whether a text says how bad something is and nothing else (`High Severity`, `Severity: High`)."""
    parts = [part for part in _SPLIT.split(_ASIDE.sub(" ", label)) if _WORD.search(part)]
    levels = [_part(part) for part in parts]
    fillers = [all(word.lower() in _FILLER for word in _WORD.findall(part)) for part in parts]
    return any(levels) and all(level or filler for level, filler in zip(levels, fillers, strict=True))


def names_a_slot(label: str) -> bool:
    """Whether a label is about badness at all, whatever word it then uses (`Severity: spicy`)."""
    return bool(_SLOT.search(label))


def _part(part: str) -> Severity | None:
    words = [word.lower() for word in _WORD.findall(part)]
    telling = [word for word in words if word not in _FILLER]
    levels = {WORDS[word] for word in telling if word in WORDS}
    return levels.pop() if len(levels) == 1 and all(word in WORDS for word in telling) else None
