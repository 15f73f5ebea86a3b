"""What a doctor says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How bad it is."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    check: str
    level: Level
    says: str
    do: str = ""
    """What to do about it; empty where there is nothing to do."""

    def as_json(self) -> dict[str, str]:
        """The same as JSON values."""
        return {"check": self.check, "level": self.level.value, "says": self.says, "do": self.do}


def ok(check: str, says: str) -> Finding:
    """All is well."""
    return Finding(check, Level.OK, says)


def warn(check: str, says: str, do: str) -> Finding:
    """It works, but."""
    return Finding(check, Level.WARN, says, do)


def fail(check: str, says: str, do: str) -> Finding:
    """It does not work."""
    return Finding(check, Level.FAIL, says, do)


def as_text(findings: Sequence[Finding]) -> str:
    """All findings for people, and how many there are of each kind."""
    width = max((len(one.check) for one in findings), default=0)
    lines: list[str] = []
    for one in findings:
        lines.append(f"{one.level.value:<4}  {one.check:<{width}}  {one.says}")
        if one.do:
            lines.append(f"{'':<{6 + width + 2}}-> {one.do}")
    counts = ", ".join(f"{sum(one.level is level for one in findings)} {level.value}" for level in Level)
    return "\n".join([*lines, "", counts])
