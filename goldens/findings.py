"""What verification says about a suite, and the same gathered by golden."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from goldens.model import GoldenPull, Suite
from scoring.model import Golden, GoldenId, GoldenStatus, PullId


class Level(StrEnum):
    """What a finding means for the suite."""

    ERROR = "error"
    """The suite must not be used: a score against it would be wrong."""
    WARNING = "warning"
    """Look at it: it may be meant."""
    NOTE = "note"
    """Something could not be checked, or is worth knowing."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that `verify` has to say about a suite."""

    level: Level
    rule: str
    pull: PullId
    golden: GoldenId | None
    message: str

    def __str__(self) -> str:
        where = f"{self.pull}/{self.golden}" if self.golden else self.pull
        return f"{self.level}: {where}: {self.message} [{self.rule}]"


@dataclass(frozen=True, slots=True)
class GoldenReport:
    """Everything there is to say about one golden."""

    pull: PullId
    golden: GoldenId
    status: GoldenStatus
    reason: str
    """Why it is disputed or retired."""
    checked: bool
    """Whether its place could be checked: its trees were here."""
    unverified: tuple[str, ...]
    findings: tuple[Finding, ...]

    @property
    def sound(self) -> bool:
        """Whether nothing forbids to score it."""
        return not any(finding.level is Level.ERROR for finding in self.findings)


def about(pull: GoldenPull, level: Level, rule: str, message: str, golden: Golden | None = None) -> Finding:
    """A finding about a pull request, or about one of its goldens."""
    return Finding(level, rule, pull.id, golden.id if golden else None, message)


def by_golden(suite: Suite, findings: Iterable[Finding]) -> tuple[GoldenReport, ...]:
    """A report for every golden of a suite, retired ones and drafts included, in suite order.

    Args:
        suite: the suite that was verified.
        findings: what `verify` answered.
    """
    of_golden: dict[tuple[PullId, GoldenId], list[Finding]] = {}
    unchecked: set[PullId] = set()
    for finding in findings:
        if finding.golden is not None:
            of_golden.setdefault((finding.pull, finding.golden), []).append(finding)
        elif finding.rule == "not-checked":
            unchecked.add(finding.pull)
    return tuple(
        GoldenReport(
            pull=pull.id,
            golden=golden.id,
            status=golden.status,
            reason=golden.reason,
            checked=pull.id not in unchecked and golden.status.scored,
            unverified=golden.unverified,
            findings=tuple(of_golden.get((pull.id, golden.id), ())),
        )
        for pull in (*suite.pulls, *suite.unconfirmed)
        for golden in (*pull.goldens, *pull.retired, *pull.drafts)
    )
