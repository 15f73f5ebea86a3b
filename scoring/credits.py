"""VibeOps' two-pass matching with half credits, and what is made of them.

Pass 1 needs no judge: same file, lines within five, types that go together. What is in a file that has annotations but
fails on lines or type is deferred to a judge, who gives 1, 0.5 or 0. Each annotation and each finding counts once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from scoring.model import CandidateId, Category, GoldenId, Severity
from scoring.prf import Prf, harmonic, ratio
from scoring.sites import Span, distance_of, normal_path

TOLERANCE = 5
PARTIAL = 0.5
WEIGHTS: Mapping[Severity, float] = MappingProxyType(
    {Severity.CRITICAL: 4.0, Severity.HIGH: 2.0, Severity.MEDIUM: 1.0, Severity.LOW: 0.5}
)
WEIGHT_UNSAID = 0.5
"""What a finding weighs that says no severity we know: as little as the mildest."""
BUCKETS: tuple[tuple[str, int, int | None], ...] = (
    ("<10", 0, 10),
    ("10-50", 10, 50),
    ("50-150", 50, 150),
    (">150", 150, None),
)
"""Sizes of a change in changed lines, half open: exactly 150 lines are in the last."""


Pair = tuple[CandidateId, GoldenId, float]
"""A finding, an annotation, and what the pair is worth."""


class Kind(StrEnum):
    """The types of finding, as groups whose members go together."""

    BUG = "bug"
    SECURITY = "security"
    ARCHITECTURE = "architecture"
    PERFORMANCE = "performance"
    BEST_PRACTICE = "best_practice"


_WORDS: Mapping[str, Kind] = MappingProxyType(
    {
        "bug": Kind.BUG,
        "logic": Kind.BUG,
        "correctness": Kind.BUG,
        "security": Kind.SECURITY,
        "architecture": Kind.ARCHITECTURE,
        "performance": Kind.PERFORMANCE,
        "best practice": Kind.BEST_PRACTICE,
    }
)
OF_CATEGORY: Mapping[Category, Kind] = MappingProxyType(
    {
        Category.CORRECTNESS: Kind.BUG,
        Category.CONCURRENCY: Kind.BUG,
        Category.RESOURCES: Kind.BUG,
        Category.ERROR_HANDLING: Kind.BUG,
        Category.SECURITY: Kind.SECURITY,
        Category.PERFORMANCE: Kind.PERFORMANCE,
        Category.API: Kind.ARCHITECTURE,
        Category.MAINTAINABILITY: Kind.BEST_PRACTICE,
    }
)


def kind_said(word: str | None) -> Kind | None:
    """The type a reviewer named; None for a word that is none of them, which goes with nothing."""
    return _WORDS.get((word or "").strip().casefold().replace("_", " ").replace("-", " "))


class Dup(StrEnum):
    """What a finding is whose annotation is already taken."""

    FP = "fp"
    """A false positive: the default."""
    IGNORE = "ignore"
    """Neither hit nor false positive, and not in the denominator."""


@dataclass(frozen=True, slots=True)
class Note:
    """A finding or an annotation, as far as these rules look."""

    id: str
    span: Span
    kind: Kind | None
    severity: Severity | None
    said: str | None = None
    """The type in the source's own word; pairs that agree in it are matched first."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """What the judge of pass 2 says of a deferred finding: what it is worth, and of which annotation."""

    golden: GoldenId
    credit: float
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Credits:
    """What came of the findings of one sample."""

    findings: int
    """Those in the denominator of precision."""
    annotations: int
    credit: Mapping[CandidateId, tuple[GoldenId, float]]
    """Finding -> annotation and credit, where it earned any."""
    passes: Mapping[CandidateId, int]
    """In which pass a finding was settled."""
    false_positives: tuple[CandidateId, ...]
    duplicates: tuple[CandidateId, ...]
    """Findings whose annotation was taken; under `Dup.FP` they are among the false positives too."""
    unjudged: tuple[CandidateId, ...]
    """Deferred findings without a ruling: in no denominator."""

    @property
    def of_golden(self) -> dict[GoldenId, float]:
        """Annotation -> credit."""
        return dict(self.credit.values())

    @property
    def earned(self) -> float:
        """The sum of credits."""
        return sum(worth for _, worth in self.credit.values())


def fits(finding: Note, annotation: Note, tolerance: int = TOLERANCE) -> bool:
    """Whether pass 1 settles a pair."""
    if finding.kind is None or finding.kind is not annotation.kind:
        return False
    distance = distance_of(finding.span, annotation.span)
    return distance is not None and distance <= tolerance


def settle(
    findings: Sequence[Note],
    annotations: Sequence[Note],
    rulings: Mapping[str, Sequence[Ruling] | None],
    dup: Dup = Dup.FP,
    tolerance: int = TOLERANCE,
) -> Credits:
    """Match one sample.

    Greedy over pairs: first those of pass 1, by smaller gap, then same word for the type, then worse severity; then
    those of pass 2, by larger credit, then confidence; ties in both by order. So a further finding never takes credit
    from an annotation.

    Args:
        findings: In the reviewer's order.
        annotations: In the sample's order.
        rulings: For each deferred finding what the judge said; None or absent where it gave no answer.
        dup: What a finding is whose annotation is taken.
        tolerance: How many lines off a finding may be.
    """
    credit: dict[CandidateId, tuple[GoldenId, float]] = {}
    passes: dict[CandidateId, int] = {}
    taken: set[GoldenId] = set()
    first, second = _clear(findings, annotations, tolerance), _ruled(findings, annotations, rulings)
    for number, pairs in ((1, first), (2, second)):
        for finding, golden, worth in pairs:
            if finding not in credit and golden not in taken:
                credit[finding], passes[finding] = (golden, worth), number
                taken.add(golden)
    rest = [CandidateId(one.id) for one in findings if one.id not in credit]
    known = _files(annotations)
    elsewhere = {one.id for one in findings if normal_path(one.span.path) not in known}
    unjudged = [one for one in rest if one not in elsewhere and rulings.get(one) is None]
    again = [one for one in rest if one not in elsewhere and any(said.credit > 0 for said in rulings.get(one) or ())]
    wrong = [one for one in rest if one not in unjudged and (dup is Dup.FP or one not in again)]
    return Credits(
        findings=len(credit) + len(wrong),
        annotations=len(annotations),
        credit=credit,
        passes=passes | {one: 1 if one in elsewhere else 2 for one in rest if one not in unjudged},
        false_positives=tuple(wrong),
        duplicates=tuple(again),
        unjudged=tuple(unjudged),
    )


def _clear(findings: Sequence[Note], annotations: Sequence[Note], tolerance: int) -> list[Pair]:
    """The pairs that pass 1 settles, first ones first."""
    order = list(Severity)
    found = sorted(
        (
            distance_of(finding.span, annotation.span) or 0,
            finding.said != annotation.said,
            order.index(annotation.severity) if annotation.severity else len(order),
            at,
            to,
        )
        for at, finding in enumerate(findings)
        for to, annotation in enumerate(annotations)
        if fits(finding, annotation, tolerance)
    )
    return [(CandidateId(findings[at].id), GoldenId(annotations[to].id), 1.0) for _, _, _, at, to in found]


def _ruled(
    findings: Sequence[Note], annotations: Sequence[Note], rulings: Mapping[str, Sequence[Ruling] | None]
) -> list[Pair]:
    """The pairs that the judge gave credit to, first ones first. Findings in other files are not its business."""
    known, place = _files(annotations), {one.id: at for at, one in enumerate(annotations)}
    found = sorted(
        (-said.credit, -(said.confidence or 0.0), at, place[said.golden])
        for at, finding in enumerate(findings)
        if normal_path(finding.span.path) in known
        for said in rulings.get(finding.id) or ()
        if said.credit > 0 and said.golden in place
    )
    return [(CandidateId(findings[at].id), GoldenId(annotations[to].id), -worth) for worth, _, at, to in found]


def _files(annotations: Sequence[Note]) -> set[str]:
    return {normal_path(one.span.path) for one in annotations}


# --- figures


@dataclass(frozen=True, slots=True)
class Tally:
    """Samples added up. What is not earned counts against precision and against recall."""

    samples: int = 0
    clean: int = 0
    """Samples with neither finding nor annotation: reported apart, in no figure."""
    credit: float = 0.0
    findings: int = 0
    annotations: int = 0
    weighted_hit: float = 0.0
    weighted_wrong: float = 0.0
    weighted_all: float = 0.0

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.samples + other.samples,
            self.clean + other.clean,
            self.credit + other.credit,
            self.findings + other.findings,
            self.annotations + other.annotations,
            self.weighted_hit + other.weighted_hit,
            self.weighted_wrong + other.weighted_wrong,
            self.weighted_all + other.weighted_all,
        )

    @property
    def plain(self) -> Prf:
        """Precision, recall and F1; None without findings and annotations, else 0 for an empty denominator."""
        return _figures(self.credit, self.findings, self.credit, self.annotations)

    @property
    def weighted(self) -> Prf:
        """The same, each annotation weighing as its severity and each unearned rest as the finding's own."""
        hit = self.weighted_hit
        return _figures(hit, hit + self.weighted_wrong, hit, self.weighted_all)


def _figures(hit: float, claimed: float, found: float, there: float) -> Prf:
    if not claimed and not there:
        return Prf(None, None, None)
    precision, recall = ratio(hit, claimed, 0.0), ratio(found, there, 0.0)
    return Prf(precision, recall, harmonic(precision, recall, 0.0))


def tally(
    result: Credits,
    findings: Sequence[Note],
    annotations: Sequence[Note],
    weights: Mapping[Severity, float] = WEIGHTS,
    unsaid: float = WEIGHT_UNSAID,
    dup: Dup = Dup.FP,
) -> Tally:
    """One sample as sums."""
    level = {one.id: unsaid if one.severity is None else weights[one.severity] for one in annotations}
    out = {*result.unjudged, *(result.duplicates if dup is Dup.IGNORE else ())}
    wrong = 0.0
    for finding in findings:
        if finding.id not in out:
            _, worth = result.credit.get(CandidateId(finding.id), ("", 0.0))
            wrong += (unsaid if finding.severity is None else weights[finding.severity]) * (1 - worth)
    return Tally(
        samples=1,
        clean=not findings and not annotations,
        credit=result.earned,
        findings=result.findings,
        annotations=result.annotations,
        weighted_hit=sum(level[golden] * worth for golden, worth in result.credit.values()),
        weighted_wrong=wrong,
        weighted_all=sum(level.values()),
    )
