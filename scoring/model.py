"""The words of the field as values: what a reviewer said, what was wrong, and what came of comparing the two."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NewType

from scoring.card import Card

GoldenId = NewType("GoldenId", str)
CandidateId = NewType("CandidateId", str)
ReviewerId = NewType("ReviewerId", str)
PullId = NewType("PullId", str)
"""The id of a golden pull request inside its suite."""


class Severity(StrEnum):
    """How bad a defect is; the order of the members is from worst to mildest."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Category(StrEnum):
    """What kind of defect a golden is."""

    CORRECTNESS = "correctness"
    SECURITY = "security"
    PERFORMANCE = "performance"
    CONCURRENCY = "concurrency"
    RESOURCES = "resources"
    ERROR_HANDLING = "error_handling"
    API = "api"
    MAINTAINABILITY = "maintainability"


class Impact(StrEnum):
    """Which quality of the product a defect harms; the characteristics of ISO/IEC 25010."""

    FUNCTIONAL_SUITABILITY = "functional_suitability"
    PERFORMANCE_EFFICIENCY = "performance_efficiency"
    COMPATIBILITY = "compatibility"
    USABILITY = "usability"
    RELIABILITY = "reliability"
    SECURITY = "security"
    MAINTAINABILITY = "maintainability"
    PORTABILITY = "portability"


class Discoverability(StrEnum):
    """What a reviewer has to read to see a defect."""

    DIFF = "diff"
    """The changed lines and what the diff shows around them."""
    DIFF_PLUS_REPO = "diff_plus_repo"
    """Other files of the repository too."""


class GoldenStatus(StrEnum):
    """Whether a golden still counts as truth."""

    LIVE = "live"
    DISPUTED = "disputed"
    """Somebody doubts it, with a reason. It is scored, and named, so that figures can be given without it."""
    RETIRED = "retired"
    """It was wrong or is spent. It stays on record and is never scored."""
    DRAFT = "draft"
    """Mined or proposed; nobody confirmed it. It is never scored."""

    @property
    def scored(self) -> bool:
        """Whether a golden of this status counts."""
        return self in (GoldenStatus.LIVE, GoldenStatus.DISPUTED)


class Side(StrEnum):
    """Which side of the diff a place is on; GitHub's names."""

    LEFT = "LEFT"
    RIGHT = "RIGHT"


class Shape(StrEnum):
    """The surface a comment was made on."""

    INLINE = "inline"
    FILE = "file"
    REVIEW_BODY = "review_body"
    ISSUE_COMMENT = "issue_comment"
    ANNOTATION = "annotation"


class TrialStatus(StrEnum):
    """What happened to a trial. Only the two `reviewed_*` states may be scored."""

    REVIEWED_FINDINGS = "reviewed_findings"
    REVIEWED_CLEAN = "reviewed_clean"
    SKIPPED = "skipped"
    RATE_LIMITED = "rate_limited"
    UNABLE = "unable"
    ERROR = "error"
    TIMEOUT = "timeout"
    NOT_INSTALLED = "not_installed"
    NOT_FORKED = "not_forked"
    CANCELLED = "cancelled"

    @property
    def scored(self) -> bool:
        """Whether a trial that ended so is evidence about the reviewer's findings."""
        return self in (TrialStatus.REVIEWED_FINDINGS, TrialStatus.REVIEWED_CLEAN)


@dataclass(frozen=True, slots=True)
class Place:
    """A closed line range of one file. `lines` is None for a file-level remark."""

    path: str
    lines: tuple[int, int] | None = None
    side: Side = Side.RIGHT


@dataclass(frozen=True, slots=True)
class Golden:
    """One known defect in a golden pull request."""

    id: GoldenId
    finding: str
    category: Category
    severity: Severity
    place: Place | None = None
    evidence: str = ""
    group: str | None = None
    """Root-cause group: goldens of one group are the same mistake seen at several places."""
    impact: Impact | None = None
    discoverability: Discoverability | None = None
    status: GoldenStatus = GoldenStatus.LIVE
    reason: str = ""
    """Why it is disputed or retired, or where a draft comes from."""
    label: str = ""
    """What its source calls this kind of defect, for example `sql_injection`; finer than the category."""
    fix: str = ""
    """Where it was put right (commit, pull request), or by what sign we know that it was."""
    unverified: tuple[str, ...] = ()
    """Names of the fields above that nobody has checked, or that the source does not say."""


@dataclass(frozen=True, slots=True)
class Comment:
    """One thing a reviewer said, at one revision, as scraped."""

    id: str
    """`<surface>/<GitHub id>`, for example `review_comment/91`; unique inside a snapshot."""
    shape: Shape
    author: str
    body: str
    permalink: str
    place: Place | None = None
    commit: str | None = None
    """The commit `place` refers to (a review comment's original commit once it is outdated)."""
    outdated: bool = False
    revision: str = ""
    """Which of its bodies this is: the first twelve hexadecimal digits of the body's SHA-256."""
    created_at: str = ""
    updated_at: str = ""
    flags: tuple[str, ...] = ()
    """What the scraper noticed, for example `withdrawn_by_author_bot`."""


@dataclass(frozen=True, slots=True)
class NoClaim:
    """A comment that made no claim, and why we think so."""

    comment_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """One atomic claim taken from a reviewer's comments."""

    id: CandidateId
    comment_id: str
    shape: Shape
    permalink: str
    title: str
    text: str
    """The claim as a judge reads it: markup, badges, footers and suggestion blocks are gone."""
    place: Place | None = None
    commit: str | None = None
    revision: str = ""
    """The revision of the comment that was judged."""
    severity: Severity | None = None
    """What the reviewer called it; None if it said nothing or a word we do not know."""
    category_said: str | None = None
    suggestions: tuple[str, ...] = ()
    repeats: tuple[str, ...] = ()
    """Ids of further comments that repeat this claim (a summary that lists the inline findings)."""
    flags: tuple[str, ...] = ()


class Verdict(StrEnum):
    """A judge's answer on one candidate x golden."""

    MATCH = "match"
    NO_MATCH = "no_match"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on one candidate x golden, with who judged and why."""

    candidate: CandidateId
    golden: GoldenId
    verdict: Verdict
    judge: str
    reason: str
    confidence: float | None = None
    """Probability of a match in [0, 1]; None where the judge gave none. Never decides, only breaks ties."""
    evidence: Mapping[str, float] = field(default_factory=dict)


class OutcomeKind(StrEnum):
    """What came of a candidate."""

    TP = "tp"
    FP = "fp"
    VALID = "valid"
    DUPLICATE = "duplicate"
    UNSCORED = "unscored"


class GoldenState(StrEnum):
    """What came of a golden. `unscored`: its only possible matches could not be judged, so it is no miss."""

    FOUND = "found"
    MISSED = "fn"
    UNSCORED = "unscored"


@dataclass(frozen=True, slots=True)
class CandidateOutcome:
    """The outcome of one candidate, explained."""

    candidate: CandidateId
    kind: OutcomeKind
    reason: str
    golden: GoldenId | None = None
    """The golden it is matched to (tp) or says again (duplicate)."""
    same_as: CandidateId | None = None
    """For a duplicate: the candidate that said it first."""
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class GoldenOutcome:
    """The outcome of one golden, explained."""

    golden: GoldenId
    state: GoldenState
    reason: str
    candidate: CandidateId | None = None


@dataclass(frozen=True, slots=True)
class Counts:
    """Sums of outcomes. tp + fp + valid + duplicate + unscored = candidates; tp + fn + goldens_unscored = goldens."""

    tp: int = 0
    fp: int = 0
    fn: int = 0
    valid: int = 0
    duplicate: int = 0
    unscored: int = 0
    goldens_unscored: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.tp + other.tp,
            self.fp + other.fp,
            self.fn + other.fn,
            self.valid + other.valid,
            self.duplicate + other.duplicate,
            self.unscored + other.unscored,
            self.goldens_unscored + other.goldens_unscored,
        )


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its interval. `value` is None, with a `reason`, where it is undefined; never 0 by default."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    """The number of observations (the denominator) behind `value`."""
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Trial:
    """One golden pull request x one reviewer, ready to be scored: the status, and the evidence if there is any."""

    pull: PullId
    reviewer: ReviewerId
    status: TrialStatus
    complete: bool
    """False where the reviewer was cut off (`cut_at_deadline`) or announced more than was found."""
    reason: str
    goldens: tuple[Golden, ...]
    comments: tuple[Comment, ...] = ()
    language: str = ""
    foreign_before_first: int | None = None
    """Comments by other reviewers that stood on the fork before this one's first; None if it said nothing."""


@dataclass(frozen=True, slots=True)
class TrialScore:
    """A trial with its judged outcome. Candidates and outcomes are empty where the trial is not scored."""

    trial: Trial
    candidates: tuple[Candidate, ...] = ()
    judgements: tuple[Judgement, ...] = ()
    outcomes: tuple[CandidateOutcome, ...] = ()
    goldens: tuple[GoldenOutcome, ...] = ()
    counts: Counts = Counts()
    scored: bool = False
    no_claims: tuple[NoClaim, ...] = ()
    """The comments that made no claim, so that nothing a reviewer said vanishes."""
    valid_judged: bool = False
    """Whether somebody was asked which claims are sound though no golden covers them; if not, none counts as that."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of what was asked of a reviewer is behind its figures."""

    trials: int
    scored: int
    by_status: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ReviewerScore:
    """One row of the leaderboard."""

    reviewer: ReviewerId
    counts: Counts
    precision: Estimate
    recall: Estimate
    f1: Estimate
    recall_bound: Estimate
    """Recall if every golden of an unscored or unrun trial counts as missed."""
    clean_pulls: int
    """Scored clean pull requests."""
    clean_quiet: int
    """Of those, the ones on which the reviewer claimed nothing."""
    coverage: Coverage
    valid_judged: bool = False
    """Whether `valid` was judged on every scored trial with a claim; if not, its 0 means not judged."""
    usefulness: Estimate = Estimate(None, None, None, 0, "not judged")
    """The share of the scored claims that are worth having: hits, and sound ones without a golden."""


@dataclass(frozen=True, slots=True)
class SuiteRef:
    """Which goldens exactly: the hash covers every golden and every pinned tree."""

    id: str
    version: str
    hash: str


@dataclass(frozen=True, slots=True)
class Report:
    """Everything a run says, as one immutable tree. Check runs, comments, pages and JSON are renderings of it."""

    schema: str
    profile: str
    suite: SuiteRef
    judge: str
    reviewers: tuple[ReviewerScore, ...]
    trials: tuple[TrialScore, ...]
    notes: tuple[str, ...] = ()
    """What the result does not prove, and warnings of the run."""
    card: Card | None = None
    unit: str = ""
    """What one false positive is. Figures of different units never belong in one table."""
    dedup: str = ""
    """How it was decided which claims of a reviewer say the same."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """What counted, by name: the same versions give the same report for the same evidence."""
