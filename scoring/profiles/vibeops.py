"""The rules of the VibeOps study: two passes, half credits, figures weighted by severity, strata and ensembles.

Pass 1 decides by place and type without a judge; what it defers is the judge's, whose ruling on a pair is a match with
the evidence `credit` (1 where it is absent, 0.5 for a partial match). Where the paper gives no formula ours stands in
`scoring.credits`. Conventions: a sample with neither finding nor annotation is clean and in no figure; over samples
with either, an empty denominator gives 0; a deferred finding without a ruling is unscored.

The published Table 9 is no union: a union cannot lower recall. Ours is one; `mode=intersection` is there to compare.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import combinations
from statistics import mean

from scoring import credits
from scoring.bundle import Bundle, BundlePull
from scoring.credits import Credits, Dup, Kind, Note, Ruling, Tally
from scoring.ensembles import found_something, gap_to_real, intersection, size_bucket, union
from scoring.model import (
    Candidate,
    CandidateId,
    CandidateOutcome,
    Counts,
    Golden,
    GoldenId,
    GoldenOutcome,
    GoldenState,
    Judgement,
    OutcomeKind,
    PullId,
    ReviewerId,
    Verdict,
)
from scoring.prf import derived
from scoring.profiles.base import (
    Case,
    Json,
    Judging,
    Options,
    ProfileError,
    ProfileResult,
    ProfileRow,
    ProfileTrial,
    Rows,
    coverage,
    judged,
    not_scored,
    plain,
    read_options,
)
from scoring.sites import span_of

NAME = "vibeops"
CREDIT = "credit"
QUALITIES = ("depth", "context_awareness", "specificity", "suggestion_correctness")
"""What the judge grades from 1 to 5, as evidence of its rulings."""


class Mode(StrEnum):
    """How reviewers are put together."""

    UNION = "union"
    INTERSECTION = "intersection"


@dataclass(frozen=True, slots=True)
class VibeOptions:
    """What may be chosen."""

    tolerance: int = credits.TOLERANCE
    dup: Dup = Dup.FP
    mode: Mode = Mode.UNION
    ensembles: tuple[tuple[str, ...], ...] = ()
    """Which reviewers to put together; every two if none are named."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One trial matched."""

    case: Case
    findings: tuple[Note, ...]
    annotations: tuple[Note, ...]
    rulings: Mapping[str, Sequence[Ruling] | None]
    result: Credits
    tally: Tally


def score(bundle: Bundle, *, judge: Judging = None, options: Options | None = None) -> ProfileResult:
    """Score a bundle as the VibeOps study scores it. Without a judge only pass 1 is decided.

    Raises:
        ProfileError: see `scoring.profiles.base.ProfileFn`.
    """
    chosen = read_options(VibeOptions, options)
    if chosen.tolerance < 0:
        raise ProfileError("a tolerance is 0 lines or more")
    material = judged(bundle, judge, needed=False)
    samples: dict[ReviewerId, list[Sample]] = {}
    trials: list[ProfileTrial] = []
    rows = []
    for reviewer, cases in material.by_reviewer().items():
        samples[reviewer] = own = [_sample(case, chosen) for case in cases if not why_not(case)]
        mine = [*(_trial(one) for one in own), *(not_scored(case, why_not(case)) for case in cases if why_not(case))]
        trials += mine
        rows.append(_row(reviewer, own, mine))
    rows.sort(key=lambda row: (-(row.f1.value or 0.0), row.reviewer))
    return ProfileResult(
        profile=NAME,
        suite=bundle.suite,
        card=bundle.card,
        judge=material.judge,
        unit="a finding without credit",
        dedup=f"a finding whose annotation is taken: {chosen.dup.value}",
        reviewers=tuple(rows),
        trials=tuple(trials),
        options=plain(chosen),
        tables={
            "strata": tuple(row for reviewer, own in samples.items() for row in _strata(reviewer, own)),
            "recall_by_type": tuple(row for reviewer, own in samples.items() for row in _by_type(reviewer, own)),
            "ensembles": _ensembles(samples, chosen),
            "agreement": _agreement(samples),
        },
        notes=bundle.card.notes,
    )


def why_not(case: Case) -> str:
    """Why a trial is not counted; empty if it is."""
    if not case.asked:
        return f"{case.trial.status.value}: there is no review to match"
    return case.judged.failed if case.judged else ""


def _sample(case: Case, chosen: VibeOptions) -> Sample:
    findings = tuple(_finding(one) for one in case.candidates)
    annotations = tuple(_annotation(case.pull, one) for one in case.pull.goldens)
    said = rulings(case)
    result = credits.settle(findings, annotations, said, chosen.dup, chosen.tolerance)
    sums = credits.tally(result, findings, annotations, dup=chosen.dup)
    return Sample(case, findings, annotations, said, result, sums)


def rulings(case: Case) -> dict[str, list[Ruling] | None]:
    """What the judge said of each finding: the credits it gave, or None where it gave no answer."""
    found: dict[str, list[Ruling] | None] = {one.id: None for one in case.candidates}
    answers: dict[str, list[Judgement]] = {}
    for one in case.judged.judgements if case.judged else ():
        answers.setdefault(one.candidate, []).append(one)
    for candidate in found:
        own = answers.get(candidate, [])
        given = [
            Ruling(one.golden, one.evidence.get(CREDIT, 1.0), one.confidence)
            for one in own
            if one.verdict is Verdict.MATCH
        ]
        if given or (own and not any(one.verdict is Verdict.UNDECIDED for one in own)):
            found[candidate] = given
    return found


def _finding(one: Candidate) -> Note:
    said = (one.category_said or "").strip().casefold() or None
    return Note(one.id, span_of(one.place), credits.kind_said(one.category_said), one.severity, said)


def _annotation(pull: BundlePull, golden: Golden) -> Note:
    """An annotation. The source's own word for its type wins over our category."""
    own = pull.tags.get(f"category:{golden.id}", "")
    kind = credits.kind_said(own) or credits.OF_CATEGORY[golden.category]
    return Note(golden.id, span_of(golden.place), kind, golden.severity, own.strip().casefold() or kind.value)


# --- trials and rows


def _counts(one: Sample) -> Counts:
    result = one.result
    full = sum(worth == 1.0 for _, worth in result.credit.values())
    aside = len([again for again in result.duplicates if again not in result.false_positives])
    return Counts(
        tp=full,
        fp=len(result.false_positives),
        fn=result.annotations - len(result.credit),
        duplicate=aside,
        unscored=len(result.unjudged),
    )


def _trial(one: Sample) -> ProfileTrial:
    figures = one.tally.plain
    return replace(
        not_scored(one.case, one.case.trial.reason),
        scored=True,
        counts=_counts(one),
        figures={
            "credit": one.result.earned,
            "partial": sum(worth < 1.0 for _, worth in one.result.credit.values()),
            "clean": bool(one.tally.clean),
            **figures._asdict(),
        },
        outcomes=tuple(_outcome(one.result, CandidateId(finding.id)) for finding in one.findings),
        goldens=tuple(_golden(one.result, golden) for golden in one.case.pull.goldens),
    )


def _outcome(result: Credits, finding: CandidateId) -> CandidateOutcome:
    if finding in result.credit:
        golden, worth = result.credit[finding]
        return CandidateOutcome(finding, OutcomeKind.TP, f"pass {result.passes[finding]}: credit {worth:g}", golden)
    if finding in result.unjudged:
        return CandidateOutcome(finding, OutcomeKind.UNSCORED, "deferred, and the judge gave no ruling")
    if finding in result.duplicates and finding not in result.false_positives:
        return CandidateOutcome(finding, OutcomeKind.DUPLICATE, "its annotation is taken")
    why = "its annotation is taken" if finding in result.duplicates else f"pass {result.passes[finding]}: no credit"
    return CandidateOutcome(finding, OutcomeKind.FP, why)


def _golden(result: Credits, golden: Golden) -> GoldenOutcome:
    worth = result.of_golden.get(golden.id)
    if worth is None:
        return GoldenOutcome(golden.id, GoldenState.MISSED, "no finding earned it")
    return GoldenOutcome(golden.id, GoldenState.FOUND, f"credit {worth:g}")


def _row(reviewer: ReviewerId, samples: Sequence[Sample], trials: Sequence[ProfileTrial]) -> ProfileRow:
    sums = sum((one.tally for one in samples), Tally())
    settled = [number for one in samples for number in one.result.passes.values()]
    costs = [one.case.trial.cost for one in samples if one.case.trial.cost is not None]
    origins = {origin: _f1_of(samples, origin) for origin in ("synthetic", "real")}
    figures: dict[str, Json] = {
        "credit": sums.credit,
        "partial": sum(worth < 1.0 for one in samples for _, worth in one.result.credit.values()),
        "findings": sums.findings,
        "annotations": sums.annotations,
        "clean_samples": sums.clean,
        "severity_weighted": {**sums.weighted._asdict(), "weights": dict(credits.WEIGHTS)},
        "settled_in_pass_1": settled.count(1) / len(settled) if settled else None,
        "f1_synthetic": origins["synthetic"],
        "f1_real": origins["real"],
        "synthetic_to_real_drop": gap_to_real(origins["synthetic"], origins["real"]),
        "cost_per_review": mean(costs) if costs else None,
        "reviews_with_cost": len(costs),
        "quality": _qualities(samples),
    }
    counts = sum((_counts(one) for one in samples), Counts())
    precision, recall, f1 = sums.plain
    empty = None if f1 is not None else "no finding and no annotation"
    return ProfileRow(
        reviewer=reviewer,
        counts=counts,
        precision=derived(precision, sums.findings, reason=empty),
        recall=derived(recall, sums.annotations, reason=empty),
        f1=derived(f1, sums.findings + sums.annotations, reason=empty),
        coverage=coverage(trials),
        figures=figures,
    )


def _f1_of(samples: Sequence[Sample], origin: str) -> float | None:
    return sum((one.tally for one in samples if one.case.pull.origin == origin), Tally()).plain.f1


def _qualities(samples: Sequence[Sample]) -> dict[str, float | None]:
    """The mean grade of each quality over the findings that got one; None where none did."""
    found: dict[str, list[float]] = {name: [] for name in QUALITIES}
    for one in samples:
        graded: dict[tuple[str, str], float] = {}
        for said in one.case.judged.judgements if one.case.judged else ():
            graded |= {(said.candidate, name): said.evidence[name] for name in QUALITIES if name in said.evidence}
        for (_, name), grade in graded.items():
            found[name].append(grade)
    return {name: mean(grades) if grades else None for name, grades in found.items()}


# --- tables


def _strata(reviewer: ReviewerId, samples: Sequence[Sample]) -> Rows:
    """The figures by language, size, origin, and size with origin, for size and origin go together."""
    found: dict[tuple[str, str], Tally] = {}
    for one in samples:
        pull, size = one.case.pull, size_bucket(one.case.pull.changed_lines)
        keys = [("language", pull.language), ("size", size), ("origin", pull.origin)]
        keys += [("size x origin", f"{size} {pull.origin}")] if size and pull.origin else []
        for key in keys:
            found[key] = found.get(key, Tally()) + one.tally
    return tuple(
        {"reviewer": reviewer, "axis": axis, "label": name, **_shown(sums)}
        for (axis, name), sums in sorted(found.items())
        if name
    )


def _shown(sums: Tally) -> dict[str, Json]:
    return {
        "samples": sums.samples,
        "findings": sums.findings,
        "annotations": sums.annotations,
        "credit": sums.credit,
        **sums.plain._asdict(),
        "weighted_f1": sums.weighted.f1,
    }


def _by_type(reviewer: ReviewerId, samples: Sequence[Sample]) -> Rows:
    there = dict.fromkeys(Kind, 0)
    earned = dict.fromkeys(Kind, 0.0)
    for one in samples:
        worth = one.result.of_golden
        for annotation in one.annotations:
            assert annotation.kind is not None
            there[annotation.kind] += 1
            earned[annotation.kind] += worth.get(GoldenId(annotation.id), 0.0)
    return tuple(
        {
            "reviewer": reviewer,
            "type": kind.value,
            "annotations": many,
            "credit": earned[kind],
            "recall": earned[kind] / many,
        }
        for kind, many in there.items()
        if many
    )


def _ensembles(samples: Mapping[ReviewerId, Sequence[Sample]], chosen: VibeOptions) -> Rows:
    wanted = chosen.ensembles or tuple(combinations(sorted(samples), 2))
    if unknown := sorted({name for names in wanted for name in names} - set(samples)):
        raise ProfileError(f"no reviewer {unknown[0]!r} to put together; there is: {', '.join(sorted(samples))}")
    if twice := [name for names in wanted for name in names if list(names).count(name) > 1]:
        raise ProfileError(f"{twice[0]} cannot be put together with itself")
    named = {reviewer: {one.case.pull.id: _named(one) for one in own} for reviewer, own in samples.items()}
    return tuple(_ensemble([named[ReviewerId(name)] for name in names], names, chosen) for names in wanted)


def _named(one: Sample) -> Sample:
    """A sample whose findings are called by their reviewer too: ids are unique inside a trial only."""
    prefix = f"{one.case.trial.reviewer}\0"
    credit = {CandidateId(prefix + finding): earned for finding, earned in one.result.credit.items()}
    return replace(
        one,
        findings=tuple(replace(note, id=prefix + note.id) for note in one.findings),
        rulings={prefix + finding: given for finding, given in one.rulings.items()},
        result=replace(one.result, credit=credit),
    )


def _ensemble(by_pull: Sequence[Mapping[PullId, Sample]], names: Sequence[str], chosen: VibeOptions) -> dict[str, Json]:
    """Some reviewers as one, over the samples that all of them were scored on."""
    shared = [pull for pull in by_pull[0] if all(pull in other for other in by_pull)]
    sums = sum((_together([found[pull] for found in by_pull], chosen) for pull in shared), Tally())
    return {"reviewers": list(names), "mode": chosen.mode.value, **_shown(sums)}


def _together(samples: Sequence[Sample], chosen: VibeOptions) -> Tally:
    lists = [one.findings for one in samples]
    said = {finding: given for one in samples for finding, given in one.rulings.items()}
    annotations = samples[0].annotations
    if chosen.mode is Mode.UNION:
        alone = {finding for one in samples for finding in one.result.credit}
        kept = union(lists, annotations, said, chosen.dup, chosen.tolerance, alone)
    else:
        kept = intersection(lists, chosen.tolerance)
    result = credits.settle(kept, annotations, said, chosen.dup, chosen.tolerance)
    return credits.tally(result, kept, annotations, dup=chosen.dup)


def _agreement(samples: Mapping[ReviewerId, Sequence[Sample]]) -> Rows:
    """On how many samples, of those that all reviewers were scored on, all or none found something."""
    found: dict[PullId, list[bool]] = {}
    for own in samples.values():
        for one in own:
            found.setdefault(one.case.pull.id, []).append(found_something(one.result))
    shared = [hits for hits in found.values() if len(hits) == len(samples)]
    if not shared:
        return ()
    none = sum(not any(hits) for hits in shared)
    return ({"samples": len(shared), "all_found": sum(map(all, shared)), "none_found": none},)
