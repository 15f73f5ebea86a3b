"""The rules of CR-Bench: each comment is a bug hit, a valid suggestion or noise.

The published text defines recall and precision by one numerator, which its Table 4 cannot have: recall counts distinct
defects, precision counts comments. Conventions: with no comments precision and usefulness are undefined (the table
shows 0 and says so); with no noise the ratio is infinite (the value is null, `snr_infinite` is true); `critical` is
counted under `high`, for the system has no such level. Usefulness needs someone who told valid from noise: where the
judge was not asked that it is undefined.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isinf

from scoring import stats
from scoring.bundle import Bundle, BundlePull
from scoring.model import (
    CandidateId,
    CandidateOutcome,
    Counts,
    Coverage,
    Estimate,
    Golden,
    GoldenId,
    GoldenOutcome,
    GoldenState,
    OutcomeKind,
    ReviewerId,
    Severity,
    Verdict,
)
from scoring.prf import derived, percent, ratio
from scoring.profiles.base import (
    Case,
    Json,
    Judging,
    Options,
    ProfileResult,
    ProfileRow,
    ProfileTrial,
    Rows,
    coverage,
    judged,
    not_scored,
    plain,
    read_options,
    totals_of,
)
from scoring.usefulness import Comments

NAME = "crbench"
TOTALS = ("bug_hit", "valid", "noise", "distinct_bugs", "defects")
"""What the sums of a reviewer are called where a source publishes sums only."""
AXES = ("category", "impact", "severity")
"""What recall is broken down by: a pull request's tag of that name, else what its golden says."""
_NOT_ASKED = "the judge was not asked which comments are sound though they match no golden"
_KINDS = {"bug_hit": OutcomeKind.TP, "valid_suggestion": OutcomeKind.VALID, "noise": OutcomeKind.FP}


@dataclass(frozen=True, slots=True)
class CrOptions:
    """There is nothing to choose."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """One trial with its comments labelled."""

    case: Case
    comments: Comments
    hit: frozenset[GoldenId]
    labels: Mapping[CandidateId, str]
    """`bug_hit`, `valid_suggestion`, `noise`, or `unscored` where the judge gave no answer."""
    asked: bool
    """Whether someone told valid suggestions from noise; if not, `noise` only means no hit."""

    @property
    def unscored(self) -> int:
        """Comments without a label."""
        return sum(label == "unscored" for label in self.labels.values())


def score(bundle: Bundle, *, judge: Judging = None, options: Options | None = None) -> ProfileResult:
    """Count a bundle as CR-Evaluator counts it.

    Raises:
        ProfileError: see `scoring.profiles.base.ProfileFn`.
    """
    chosen = read_options(CrOptions, options)
    material = judged(bundle, judge)
    trials: list[ProfileTrial] = []
    rows = []
    breakdown: list[Mapping[str, Json]] = []
    for reviewer, cases in material.by_reviewer().items():
        looked = [label(case) for case in cases]
        counted = [one for one in looked if isinstance(one, Labelled)]
        mine = [_trial(one) if isinstance(one, Labelled) else one for one in looked]
        trials += mine
        rows.append(_row(reviewer, counted, mine))
        breakdown += _breakdown(reviewer, counted)
    totals = totals_of(material.details, TOTALS)
    known = {row.reviewer for row in rows if row.coverage.scored}
    rows = [row for row in rows if row.coverage.scored or row.reviewer not in totals]
    rows += [from_totals(ReviewerId(name), sums) for name, sums in totals.items() if name not in known]
    rows.sort(key=lambda row: (-(row.f1.value or 0.0), row.reviewer))
    return ProfileResult(
        profile=NAME,
        suite=bundle.suite,
        card=bundle.card,
        judge=material.judge,
        unit="a comment that is noise",
        dedup="none: every comment counts",
        reviewers=tuple(rows),
        trials=tuple(trials),
        options=plain(chosen),
        tables={"table4": tuple(row.figures["table4"] for row in rows), "recall_by": tuple(breakdown)},
        notes=bundle.card.notes,
    )


def label(case: Case) -> Labelled | ProfileTrial:
    """Label the comments of a trial, or say why it is not counted."""
    if not case.asked:
        return not_scored(case, f"{case.trial.status.value}: there is no review to label")
    if case.judged is None and case.candidates:
        return not_scored(case, "this judge has no labels of it")
    if case.judged is not None and case.judged.failed:
        return not_scored(case, case.judged.failed)
    hits: dict[CandidateId, set[GoldenId]] = {}
    open_pairs: set[CandidateId] = set()
    goldens = {golden.id for golden in case.pull.goldens}
    for one in case.judged.judgements if case.judged else ():
        if one.verdict is Verdict.MATCH and one.golden in goldens:
            hits.setdefault(one.candidate, set()).add(one.golden)
        elif one.verdict is Verdict.UNDECIDED:
            open_pairs.add(one.candidate)
    asked = not case.candidates or (case.judged is not None and case.judged.valid is not None)
    valid = frozenset(case.judged.valid or ()) if case.judged else frozenset[str]()
    labels = {one.id: _label(one.id, hits, valid, open_pairs) for one in case.candidates}
    return Labelled(case, _sums(labels, hits, len(goldens)), frozenset().union(*hits.values()), labels, asked)


def _label(
    candidate: CandidateId, hits: Mapping[CandidateId, object], valid: frozenset[str], open_pairs: set[CandidateId]
) -> str:
    if candidate in hits:
        return "bug_hit"
    if candidate in valid:
        return "valid_suggestion"
    return "unscored" if candidate in open_pairs else "noise"


def _sums(labels: Mapping[CandidateId, str], hits: Mapping[CandidateId, set[GoldenId]], defects: int) -> Comments:
    kinds = list(labels.values())
    distinct = {golden for candidate, found in hits.items() if candidate in labels for golden in found}
    return Comments(
        bug_hit=kinds.count("bug_hit"),
        valid=kinds.count("valid_suggestion"),
        noise=kinds.count("noise"),
        distinct=len(distinct),
        defects=defects,
    )


# --- figures


def _trial(one: Labelled) -> ProfileTrial:
    case, sums = one.case, one.comments
    reasons = {"unscored": "the judge gave no answer", "noise": "noise" if one.asked else "no hit"}
    outcomes = tuple(
        CandidateOutcome(candidate, _KINDS.get(kind, OutcomeKind.UNSCORED), reasons.get(kind, kind))
        for candidate, kind in one.labels.items()
    )
    goldens = tuple(
        GoldenOutcome(golden.id, GoldenState.FOUND, "a comment hits it")
        if golden.id in one.hit
        else GoldenOutcome(golden.id, GoldenState.MISSED, "no comment hits it")
        for golden in case.pull.goldens
    )
    return replace(
        not_scored(case, case.trial.reason),
        scored=True,
        counts=_counts(sums, one.unscored),
        figures={"labels": {str(candidate): kind for candidate, kind in one.labels.items()}},
        outcomes=outcomes,
        goldens=goldens,
    )


def _counts(sums: Comments, unscored: int = 0) -> Counts:
    return Counts(tp=sums.bug_hit, fp=sums.noise, fn=sums.defects - sums.distinct, valid=sums.valid, unscored=unscored)


def _row(reviewer: ReviewerId, counted: Sequence[Labelled], trials: Sequence[ProfileTrial]) -> ProfileRow:
    sums = sum((one.comments for one in counted), Comments())
    asked = all(one.asked for one in counted)
    return _figures(reviewer, sums, coverage(trials), asked, sum(one.unscored for one in counted))


def from_totals(reviewer: ReviewerId, totals: Mapping[str, int]) -> ProfileRow:
    """A row from sums alone, by the names of `TOTALS`."""
    sums = Comments(*(totals[name] for name in TOTALS))
    return _figures(reviewer, sums, Coverage(0, 0, {}), True, 0)


def _figures(reviewer: ReviewerId, sums: Comments, covered: Coverage, asked: bool, unscored: int) -> ProfileRow:
    table = table4(reviewer, sums)
    useful = sums.bug_hit + sums.valid
    silent, unknown = "nothing was said", derived(None, 0, reason=_NOT_ASKED)
    figures: dict[str, Json] = {
        "reviews": sums.reviews,
        "bug_hit": sums.bug_hit,
        "valid_suggestion": sums.valid if asked else None,
        "noise": sums.noise if asked else None,
        "distinct_bugs": sums.distinct,
        "defects": sums.defects,
        "usefulness": stats.wilson(useful, sums.reviews, reason=silent) if asked else unknown,
        "signal_to_noise": _snr(sums) if asked else unknown,
        "snr_infinite": asked and isinf(sums.signal_to_noise or 0.0),
        "table4": table if asked else {**table, "usefulness_pct": None, "snr": None, "snr_infinite": False},
    }
    return ProfileRow(
        reviewer=reviewer,
        counts=_counts(sums, unscored),
        precision=stats.wilson(sums.bug_hit, sums.reviews, reason=silent),
        recall=stats.wilson(sums.distinct, sums.defects, reason="there are no defects"),
        f1=derived(sums.f1, sums.reviews, reason=None if sums.f1 is not None else "precision or recall is undefined"),
        coverage=covered,
        figures=figures,
    )


def _snr(sums: Comments) -> Estimate:
    value = sums.signal_to_noise
    if value is None:
        return derived(None, 0, reason="nothing was said")
    if isinf(value):
        return derived(None, sums.reviews, reason="infinite: there is no noise")
    return derived(value, sums.reviews)


def table4(reviewer: str, sums: Comments) -> dict[str, Json]:
    """A row in the form of Table 4. What is undefined for want of comments shows as 0, and `no_comments` says so."""
    snr = sums.signal_to_noise
    return {
        "reviewer": reviewer,
        "recall_pct": percent(sums.recall, 2),
        "precision_pct": percent(sums.precision or 0.0, 2),
        "f1_pct": percent(sums.f1 or 0.0, 2),
        "usefulness_pct": percent(sums.usefulness or 0.0, 2),
        "snr": None if snr is None or isinf(snr) else round(snr, 2),
        "snr_infinite": snr is not None and isinf(snr),
        "no_comments": not sums.reviews,
    }


# --- breakdown


def _breakdown(reviewer: ReviewerId, counted: Sequence[Labelled]) -> Rows:
    found: dict[tuple[str, str], list[bool]] = {}
    for one in counted:
        for golden in one.case.pull.goldens:
            for axis, read in _READERS.items():
                found.setdefault((axis, read(one.case.pull, golden)), []).append(golden.id in one.hit)
    return tuple(
        {
            "reviewer": reviewer,
            "axis": axis,
            "label": name,
            "found": sum(hits),
            "defects": len(hits),
            "recall": ratio(sum(hits), len(hits)),
        }
        for (axis, name), hits in sorted(found.items())
        if name
    )


def _severity(pull: BundlePull, golden: Golden) -> str:
    said = pull.tags.get("severity", golden.severity.value).casefold()
    return Severity.HIGH.value if said == Severity.CRITICAL.value else said


_READERS: Mapping[str, Callable[[BundlePull, Golden], str]] = {
    "category": lambda pull, golden: pull.tags.get("category", golden.category.value),
    "impact": lambda pull, golden: pull.tags.get("impact", golden.impact.value if golden.impact else ""),
    "severity": _severity,
}
