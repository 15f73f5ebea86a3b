"""The shapes of a profile's result as JSON. Figures and tables are each profile's own; all else is strict."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from scoring.model import GoldenState, OutcomeKind, TrialStatus
from scoring.record_shapes import CardRecord, CountsRecord, CoverageRecord, EstimateRecord, Strict, SuiteRecord


class RowRecord(CountsRecord):
    """One row of the leaderboard."""

    reviewer: str
    precision: EstimateRecord
    recall: EstimateRecord
    f1: EstimateRecord
    coverage: CoverageRecord
    figures: dict[str, Any]


class OutcomeRecord(Strict):
    """What came of a candidate, and why."""

    candidate: str
    kind: OutcomeKind
    reason: str
    golden: str | None = None
    same_as: str | None = None
    confidence: float | None = None


class GoldenOutcomeRecord(Strict):
    """What came of a golden, and why."""

    golden: str
    state: GoldenState
    reason: str
    candidate: str | None = None


class ProfileTrialRecord(Strict):
    """One golden pull request and one reviewer."""

    pull: str
    reviewer: str
    status: TrialStatus
    complete: bool
    reason: str
    scored: bool
    counts: CountsRecord
    figures: dict[str, Any]
    candidates: tuple[OutcomeRecord, ...]
    goldens: tuple[GoldenOutcomeRecord, ...]


class ProfileRecord(Strict):
    """Everything a profile says of a bundle."""

    schema_: str = Field(alias="schema")
    profile: str
    suite: SuiteRecord
    judge: str
    unit: str
    dedup: str
    card: CardRecord | None
    options: dict[str, Any]
    reviewers: tuple[RowRecord, ...]
    trials: tuple[ProfileTrialRecord, ...]
    tables: dict[str, tuple[dict[str, Any], ...]]
    notes: tuple[str, ...]
    failures: tuple[str, ...]
    versions: dict[str, str]
