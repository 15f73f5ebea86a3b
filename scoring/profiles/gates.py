"""The gates of CodeVetter's agent-PR harness: least rates, most false positives, and what a change gained and lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from scoring.bundle import Bundle
from scoring.catch import Caught
from scoring.model import Severity, Verdict
from scoring.profiles.base import Case, Json

PLACES = 6


@dataclass(frozen=True, slots=True)
class Limits:
    """What a reviewer must reach; None: no gate."""

    min_rate: float | None = None
    max_fp: int | None = None
    max_redundant: int | None = None
    min_severity: Mapping[Severity, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison. `caught` is None where only the number is known."""

    reviewer: str
    sums: Caught
    caught: frozenset[str] | None


def unmet(reviewer: str, sums: Caught, by_severity: Mapping[str, float | None], limits: Limits) -> tuple[str, ...]:
    """The gates a reviewer does not meet, each as a sentence. A value on the limit meets it."""
    found = []
    if limits.min_rate is not None and sums.catch_rate < limits.min_rate:
        found.append(f"{reviewer}: catch rate {sums.catch_rate:.6f} is below {limits.min_rate}")
    if limits.max_fp is not None and sums.false_positives > limits.max_fp:
        found.append(f"{reviewer}: {sums.false_positives} false positives are more than {limits.max_fp}")
    if limits.max_redundant is not None and sums.redundant > limits.max_redundant:
        found.append(f"{reviewer}: {sums.redundant} redundant findings are more than {limits.max_redundant}")
    found += [_severity(reviewer, level, least, by_severity) for level, least in limits.min_severity.items()]
    return tuple(one for one in found if one)


def _severity(reviewer: str, level: Severity, least: float, rates: Mapping[str, float | None]) -> str:
    """A severity without labels, or whose rate is not known, cannot meet a gate: it fails, and says why."""
    if level.value not in rates:
        return f"{reviewer}: no label is {level.value}, so the gate {level.value}:{least} cannot be met"
    rate = rates[level.value]
    if rate is None:
        return f"{reviewer}: the catch rate of {level.value} labels cannot be told from the published counts"
    return f"{reviewer}: catch rate of {level.value} labels {rate:.6f} is below {least}" if rate < least else ""


def comparison(base: Side, other: Side) -> dict[str, Json]:
    """What `other` gains and loses against `base`."""
    known = base.caught is not None and other.caught is not None
    before, after = base.caught or frozenset(), other.caught or frozenset()
    return {
        "baseline": base.reviewer,
        "reviewer": other.reviewer,
        "caught": other.sums.caught - base.sums.caught,
        "false_positives": other.sums.false_positives - base.sums.false_positives,
        "redundant": other.sums.redundant - base.sums.redundant,
        "catch_rate": round(other.sums.catch_rate - base.sums.catch_rate, PLACES),
        "precision": round(other.sums.precision - base.sums.precision, PLACES),
        "f1": round(other.sums.f1 - base.sums.f1, PLACES),
        "newly_caught": sorted(after - before) if known else None,
        "regressed": sorted(before - after) if known else None,
    }


def without_rationale(bundle: Bundle, cases: Sequence[Case]) -> tuple[str, ...]:
    """Labels without evidence and matches without a reason; a TODO is neither."""
    labels = [
        f"{pull.id}/{golden.id}: the label has no evidence"
        for pull in bundle.pulls
        for golden in pull.goldens
        if not _said(golden.evidence)
    ]
    matches = [
        f"{case.pull.id}/{one.candidate}: {case.trial.reviewer} is matched to {one.golden} without a reason"
        for case in cases
        for one in (case.judged.judgements if case.judged else ())
        if one.verdict is Verdict.MATCH and not _said(one.reason)
    ]
    return (*labels, *matches)


def _said(text: str) -> bool:
    return bool(text.strip()) and "todo" not in text.casefold()
