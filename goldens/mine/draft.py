"""What mining makes: drafts, and for everything that was looked at and not kept the reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from goldens.model import Direction, SourceSignal
from goldens.trees import Size
from scoring.model import Category, Impact, Severity


class Reason(StrEnum):
    """Why something that was looked at gave no draft."""

    NOT_MERGED = "not_merged"
    NO_BUG_LABEL = "no_bug_label"
    NOT_IN_CLONE = "not_in_clone"
    CROSSED = "crossed_branches"
    """No merge base, or several: what the pull request changed is not defined."""
    FILE_COUNT = "file_count"
    CHANGED_LINES = "changed_lines"
    UNREADABLE = "unreadable_difference"
    NO_SITE = "no_site"
    """Nothing is removed or changed in code: only additions, tests, texts, binaries, whitespace or braces."""
    BOUNDARY = "boundary"
    """The lines were there when the history begins."""
    NO_PULL_REQUEST = "no_pull_request"
    SEVERAL_PULL_REQUESTS = "several_pull_requests"
    SAME_PULL_REQUEST = "same_pull_request"
    """The fix and the defect came together."""
    WRITTEN_IN_MERGE = "written_in_merge"
    NOT_AT_HEAD = "not_at_head"
    """The lines were rewritten before the introducing pull request was merged."""
    OUTSIDE_DIFF = "outside_diff"
    NOT_PREVENTABLE = "not_preventable"
    UNRESOLVED = "unresolved"
    BY_BOT = "by_bot"
    BY_AUTHOR = "by_author"
    NO_LINES = "no_lines"
    """A remark on a whole file, on deleted lines, or with nobody's words."""
    NOT_A_DEFECT = "not_a_defect"
    """A matter of taste by its own words, a question or praise."""
    HISTORY_REWRITTEN = "history_rewritten"
    """The commit the remark was made on is not below the pull request's head."""
    NEVER_TOUCHED = "never_touched"
    """Resolved, but no later commit changed those lines."""
    UNUSABLE_PATH = "unusable_path"


class Rejected(Exception):
    """Something gives no draft; who asked counts it."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


@dataclass(frozen=True, slots=True)
class DraftGolden:
    """One defect as it was mined. Nobody has confirmed it."""

    path: str
    lines: tuple[int, int]
    """In the head tree of its draft pull request."""
    finding: str
    evidence: str
    category: Category
    severity: Severity
    source: str
    """Where it was mined: the fix, or the thread."""
    fix: str
    """The commit that put it right."""
    group: str | None = None
    impact: Impact | None = None
    unverified: tuple[str, ...] = ("category", "severity", "finding")


@dataclass(frozen=True, slots=True)
class DraftPull:
    """A pull request with at least one mined defect."""

    id: str
    upstream: str
    number: int
    base_sha: str
    head_sha: str
    language: str
    title: str
    body: str
    direction: Direction
    signal: SourceSignal
    goldens: tuple[DraftGolden, ...]
    size: Size
    date: str | None = None
    unverified: tuple[str, ...] = ("title", "body")


@dataclass(frozen=True, slots=True)
class Discard:
    """Something that was looked at and gave no draft."""

    subject: str
    reason: Reason
    detail: str


@dataclass(frozen=True, slots=True)
class Mined:
    """The result of one miner. Every subject it looked at is in `kept` or in `discards`, once."""

    drafts: tuple[DraftPull, ...] = ()
    kept: tuple[str, ...] = ()
    discards: tuple[Discard, ...] = ()
    notes: tuple[str, ...] = field(default=())
    """What was left out or could not be known."""

    @property
    def considered(self) -> int:
        """How many subjects were looked at."""
        return len(self.kept) + len(self.discards)

    def by_reason(self) -> Mapping[Reason, int]:
        """How many were discarded for what, the most frequent first."""
        return dict(Counter(discard.reason for discard in self.discards).most_common())
