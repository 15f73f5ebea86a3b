"""What an analyser says: one remark about one place of a head tree, as a value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from bot.reviewers.patch import Patch
from scoring.model import Severity


@dataclass(frozen=True, slots=True)
class Finding:
    """One remark of one analyser."""

    path: str
    line: int
    end_line: int
    rule: str
    """The analyser's code for it, for example `B006`."""
    symbol: str
    """The rule's readable name, for example `mutable-argument-default`; empty where the analyser has none."""
    message: str
    engine: str
    """The analyser that said it."""
    severity: Severity | None = None
    """None where the analyser does not grade its rules."""
    confidence: str = ""
    note: str = ""
    """Why the rule exists, where the analyser says so."""
    fix: str | None = None
    """The text that should stand in place of lines `line` to `end_line`, without the last line end."""

    @property
    def order(self) -> tuple[str, int, str, int, str]:
        """The order in which findings are reported, whatever order the analysers ended in."""
        return self.path, self.line, self.rule, self.end_line, self.message


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Sorted by path, line and rule; exact repeats are dropped."""
    return tuple(sorted(set(findings), key=lambda finding: finding.order))


def on_changed_lines(findings: Iterable[Finding], patches: Mapping[str, Patch]) -> tuple[Finding, ...]:
    """Only the findings that start on a line the change added or rewrote."""
    return in_order(f for f in findings if f.path in patches and f.line in patches[f.path].added)
