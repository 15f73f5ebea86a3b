"""What a suite is made of: counts, mixes and means, as the published benchmarks tell theirs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from statistics import mean, median
from typing import Any

from goldens.fields import printable
from goldens.model import AuditVerdict, GoldenPull, Suite
from scoring.model import Estimate, Golden, GoldenStatus, Severity
from scoring.stats import wilson


@dataclass(frozen=True, slots=True)
class Spread:
    """A number over many pull requests. All None where nothing is known."""

    n: int
    mean: float | None
    median: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class AuditStats:
    """What audits found."""

    audited: int
    confirmed: int
    by_verdict: Mapping[str, int]
    bug: Estimate
    """Share of audited goldens whose place holds the defect."""
    pulls: int
    pulls_with_bug: int


@dataclass(frozen=True, slots=True)
class Stats:
    """Everything that can be counted in a suite. Shares are of scored goldens, or of pull requests."""

    suite: Mapping[str, str]
    pulls: int
    clean: int
    unconfirmed: int
    """Pull requests that wait for somebody to confirm a draft."""
    goldens: int
    root_causes: int
    """Goldens, where those of one group count once."""
    by_status: Mapping[str, int]
    goldens_by: Mapping[str, Mapping[str, int]]
    """By category, severity, impact, discoverability and label."""
    pulls_by: Mapping[str, Mapping[str, int]]
    """By language, origin, source signal, author, direction, and each tag."""
    medium_or_worse: Estimate
    goldens_per_pull: Spread
    """Clean pull requests are left out."""
    files: Spread
    changed_lines: Spread
    title_and_body: Spread
    """Characters."""
    audit: AuditStats | None

    def record(self) -> dict[str, Any]:
        """As JSON values."""
        return asdict(self)


def stats(suite: Suite) -> Stats:
    """Count a suite."""
    goldens = [golden for pull in suite.pulls for golden in pull.goldens]
    sizes = [pull.size for pull in suite.pulls if pull.size is not None]
    grave = sum(golden.severity is not Severity.LOW for golden in goldens)
    everything = [one for pull in (*suite.pulls, *suite.unconfirmed) for one in _all(pull)]
    return Stats(
        suite={"id": suite.ref.id, "version": suite.ref.version, "hash": suite.ref.hash},
        pulls=len(suite.pulls),
        clean=sum(pull.clean for pull in suite.pulls),
        unconfirmed=sum(bool(pull.drafts) for pull in suite.unconfirmed),
        goldens=len(goldens),
        root_causes=sum(_root_causes(pull) for pull in suite.pulls),
        by_status=_counted((one.status for one in everything), GoldenStatus),
        goldens_by={name: _most(getattr(golden, name) for golden in goldens) for name in _OF_GOLDENS},
        pulls_by=_pulls_by(suite.pulls),
        medium_or_worse=wilson(grave, len(goldens), reason="there are no goldens"),
        goldens_per_pull=spread(len(pull.goldens) for pull in suite.pulls if pull.goldens),
        files=spread(size.files for size in sizes),
        changed_lines=spread(size.lines for size in sizes),
        title_and_body=spread(len(pull.title) + len(pull.body) for pull in suite.pulls),
        audit=_audit(suite),
    )


_OF_GOLDENS = ("category", "severity", "impact", "discoverability", "label")
_OF_PULLS = ("language", "origin", "source_signal", "authored_by", "direction")
_FEW = 12
"""A tag with more values than these tells single pull requests apart, which is no mix."""


def _all(pull: GoldenPull) -> tuple[Golden, ...]:
    return (*pull.goldens, *pull.retired, *pull.drafts)


def _root_causes(pull: GoldenPull) -> int:
    groups = {golden.group for golden in pull.goldens if golden.group is not None}
    return len(groups) + sum(golden.group is None for golden in pull.goldens)


def _pulls_by(pulls: Iterable[GoldenPull]) -> dict[str, dict[str, int]]:
    listed = tuple(pulls)
    found = {name: _most(getattr(pull, name) for pull in listed) for name in _OF_PULLS}
    for tag in sorted({tag for pull in listed for tag in pull.tags}):
        mix = _most(pull.tags.get(tag) for pull in listed)
        if len(mix) <= _FEW:
            found[f"tag {tag}"] = mix
    return found


def _most(values: Iterable[Any]) -> dict[str, int]:
    """The most frequent first; what is not said is left out."""
    counted = Counter(str(value) for value in values if value)
    return dict(sorted(counted.items(), key=lambda pair: (-pair[1], pair[0])))


def _counted(values: Iterable[Any], words: Iterable[Any]) -> dict[str, int]:
    counted = Counter(values)
    return {str(word): counted[word] for word in words}


def spread(values: Iterable[float]) -> Spread:
    """Mean, median, least and most of some numbers."""
    found = list(values)
    if not found:
        return Spread(0, None, None, None, None)
    return Spread(len(found), mean(found), median(found), min(found), max(found))


def _audit(suite: Suite) -> AuditStats | None:
    pulls = [pull for pull in suite.pulls if pull.audits]
    if not pulls:
        return None
    found = [one for pull in pulls for one in pull.audits.values()]
    bugs = sum(one.verdict is AuditVerdict.BUG for one in found)
    return AuditStats(
        audited=len(found),
        confirmed=sum(one.confirmed_by is not None for one in found),
        by_verdict=_counted((one.verdict for one in found), AuditVerdict),
        bug=wilson(bugs, len(found)),
        pulls=len(pulls),
        pulls_with_bug=sum(any(one.verdict is AuditVerdict.BUG for one in pull.audits.values()) for pull in pulls),
    )


def as_text(found: Stats) -> str:
    """The same for people."""
    suite = found.suite
    lines = [
        f"{suite['id']} {suite['version']}, hash {suite['hash']}",
        f"{found.pulls} pull requests, {found.clean} of them clean; {found.goldens} goldens, "
        f"{found.root_causes} root causes",
        "goldens by status: " + _mix(found.by_status),
    ]
    if found.unconfirmed:
        lines.append(f"{found.unconfirmed} pull requests wait for somebody to confirm a draft; no figure has them")
    lines += [f"goldens by {name}: {_mix(mix, found.goldens)}" for name, mix in found.goldens_by.items() if mix]
    lines += [f"pull requests by {name}: {_mix(mix, found.pulls)}" for name, mix in found.pulls_by.items() if mix]
    lines.append(f"medium or worse: {_share(found.medium_or_worse)}")
    for name in ("goldens_per_pull", "files", "changed_lines", "title_and_body"):
        lines.append(f"{name.replace('_', ' ')}: {_numbers(getattr(found, name))}")
    if found.audit is not None:
        told = _mix(found.audit.by_verdict, found.audit.audited)
        lines.append(f"audit: {found.audit.audited} goldens ({found.audit.confirmed} confirmed): {told}")
        lines.append(f"the defect itself: {_share(found.audit.bug)} of goldens, ")
        lines[-1] += f"in {found.audit.pulls_with_bug} of {found.audit.pulls} pull requests"
    return printable("\n".join(lines))


def _mix(mix: Mapping[str, int], total: int = 0) -> str:
    return ", ".join(f"{name} {count}" + (f" ({count / total:.0%})" if total else "") for name, count in mix.items())


def _share(found: Estimate) -> str:
    if found.value is None or found.low is None or found.high is None:
        return f"undefined: {found.reason}"
    return f"{found.value:.1%} [{found.low:.1%}, {found.high:.1%}]"


def _numbers(found: Spread) -> str:
    if found.mean is None:
        return "not known"
    return f"mean {found.mean:.2f}, median {found.median:g}, {found.low:g} to {found.high:g} (of {found.n})"
