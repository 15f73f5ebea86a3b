"""The shapes of the report's JSON. Unknown keys are refused, so that a typo or a newer file cannot pass unnoticed."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from scoring.model import (
    Category,
    Discoverability,
    GoldenState,
    GoldenStatus,
    Impact,
    OutcomeKind,
    Severity,
    Shape,
    Side,
    TrialStatus,
    Verdict,
)


class Strict(BaseModel):
    """What a record has in common: no unknown key, and nothing is changed."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class EstimateRecord(Strict):
    """A figure with its interval; `value` is null, with a reason, where it is undefined."""

    value: float | None
    low: float | None
    high: float | None
    n: int = Field(ge=0)
    reason: str | None = None


class SuiteRecord(Strict):
    """Which goldens exactly."""

    id: str
    version: str
    hash: str


class CoverageRecord(Strict):
    """How much of what was asked is behind the figures."""

    trials: int = Field(ge=0)
    scored: int = Field(ge=0)
    by_status: dict[str, int]


class CountsRecord(Strict):
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
    valid_judged: bool = False
    """False: nobody was asked which claims are sound though no golden covers them, so a `valid` of 0 says nothing."""
    usefulness: EstimateRecord = EstimateRecord(value=None, low=None, high=None, n=0, reason="not judged")


class AnswerRecord(Strict):
    """What the judge said of one candidate and one golden."""

    golden: str
    verdict: Verdict
    judge: str
    reason: str
    confidence: float | None = Field(default=None, ge=0, le=1)
    evidence: dict[str, float] = {}


class CandidateRecord(Strict):
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


class GoldenRecord(Strict):
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
    status: GoldenStatus = GoldenStatus.LIVE
    status_reason: str = ""
    """Why it is disputed."""
    label: str = ""
    impact: Impact | None = None
    discoverability: Discoverability | None = None
    outcome: GoldenState | None = None
    reason: str | None = None
    candidate: str | None = None


class NoClaimRecord(Strict):
    """A comment that made no claim."""

    comment: str
    reason: str


class TrialRecord(Strict):
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
    valid_judged: bool = False
    """Whether somebody was asked which claims are sound though no golden covers them."""


class CardRecord(Strict):
    """What the result can and cannot prove."""

    corpus: str
    labelled_by: str
    unit: str
    not_proven: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class ReportRecord(Strict):
    """Everything a run says."""

    schema_: str = Field(alias="schema")
    profile: str
    suite: SuiteRecord
    judge: str
    reviewers: tuple[ReviewerRecord, ...]
    trials: tuple[TrialRecord, ...]
    notes: tuple[str, ...] = ()
    card: CardRecord | None = None
    unit: str = ""
    """What one false positive is."""
    dedup: str = ""
    """How it was decided which claims of a reviewer say the same."""
    judges: tuple[str, ...] = ()
    """Everybody whose answers were counted: the members, where the judge is a panel."""
    versions: dict[str, str] = {}
