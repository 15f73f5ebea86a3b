"""The shapes of the report's JSON. Unknown keys are refused, so that a typo or a newer file cannot pass unnoticed."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from scoring.model import Category, GoldenState, OutcomeKind, Severity, Shape, Side, TrialStatus, Verdict


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class EstimateRecord(_Strict):
    """A figure with its interval; `value` is null, with a reason, where it is undefined."""

    value: float | None
    low: float | None
    high: float | None
    n: int = Field(ge=0)
    reason: str | None = None


class SuiteRecord(_Strict):
    """Which goldens exactly."""

    id: str
    version: str
    hash: str


class CoverageRecord(_Strict):
    """How much of what was asked is behind the figures."""

    trials: int = Field(ge=0)
    scored: int = Field(ge=0)
    by_status: dict[str, int]


class CountsRecord(_Strict):
    """Sums of outcomes."""

    tp: int = Field(ge=0)
    fp: int = Field(ge=0)
    fn: int = Field(ge=0)
    valid: int = Field(ge=0)
    duplicate: int = Field(ge=0)
    unscored: int = Field(ge=0)
    goldens_unscored: int = Field(ge=0)


class ReviewerRecord(CountsRecord):
    """One row of the leaderboard."""

    reviewer: str
    precision: EstimateRecord
    recall: EstimateRecord
    f1: EstimateRecord
    recall_bound: EstimateRecord
    """Recall if every golden that was not scored counts as missed."""
    clean_pulls: int = Field(ge=0)
    clean_quiet: int = Field(ge=0)
    coverage: CoverageRecord


class AnswerRecord(_Strict):
    """What the judge said of one candidate and one golden."""

    golden: str
    verdict: Verdict
    judge: str
    reason: str
    confidence: float | None = Field(default=None, ge=0, le=1)
    evidence: dict[str, float] = {}


class CandidateRecord(_Strict):
    """One claim, where it was made, and what came of it."""

    id: str
    comment: str
    shape: Shape
    permalink: str
    revision: str = ""
    """The first twelve hexadecimal digits of the SHA-256 of the comment's body as it was judged."""
    commit: str | None = None
    path: str | None = None
    lines: tuple[int, int] | None = None
    side: Side | None = None
    title: str
    text: str
    severity: Severity | None = None
    category_said: str | None = None
    suggestions: tuple[str, ...] = ()
    repeats: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    outcome: OutcomeKind
    reason: str
    golden: str | None = None
    same_as: str | None = None
    confidence: float | None = None
    answers: tuple[AnswerRecord, ...] = ()


class GoldenRecord(_Strict):
    """One known defect, and what came of it. `outcome` is null where the trial is not scored."""

    id: str
    finding: str
    category: Category
    severity: Severity
    path: str | None = None
    lines: tuple[int, int] | None = None
    side: Side | None = None
    evidence: str = ""
    group: str | None = None
    outcome: GoldenState | None = None
    reason: str | None = None
    candidate: str | None = None


class NoClaimRecord(_Strict):
    """A comment that made no claim."""

    comment: str
    reason: str


class TrialRecord(_Strict):
    """One golden pull request and one reviewer. The comments themselves stay in the bundle."""

    pull: str
    reviewer: str
    status: TrialStatus
    complete: bool
    reason: str
    scored: bool
    language: str = ""
    foreign_before_first: int | None = None
    counts: CountsRecord
    candidates: tuple[CandidateRecord, ...]
    goldens: tuple[GoldenRecord, ...]
    no_claims: tuple[NoClaimRecord, ...] = ()


class ReportRecord(_Strict):
    """Everything a run says."""

    schema_: str = Field(alias="schema")
    profile: str
    suite: SuiteRecord
    judge: str
    reviewers: tuple[ReviewerRecord, ...]
    trials: tuple[TrialRecord, ...]
    notes: tuple[str, ...] = ()
