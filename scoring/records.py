"""The report as versioned JSON, and back. The same report always gives the same bytes: no times, no unordered sets."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from pydantic import ValidationError

from scoring import record_shapes as shape
from scoring.card import Card
from scoring.model import (
    Candidate,
    CandidateId,
    CandidateOutcome,
    Counts,
    Coverage,
    Estimate,
    Golden,
    GoldenId,
    GoldenOutcome,
    Judgement,
    NoClaim,
    Place,
    PullId,
    Report,
    ReviewerId,
    ReviewerScore,
    Side,
    SuiteRef,
    Trial,
    TrialScore,
)
from scoring.profiles.assay import SCHEMA


class BadRecord(ValueError):
    """A text that is no report of ours: what is wrong, and where."""


def to_record(report: Report) -> dict[str, Any]:
    """The report as plain JSON values, in a fixed order of keys."""
    record = shape.ReportRecord(
        schema=report.schema,
        profile=report.profile,
        suite=shape.SuiteRecord(**asdict(report.suite)),
        judge=report.judge,
        reviewers=tuple(_reviewer(row) for row in report.reviewers),
        trials=tuple(_trial(score) for score in report.trials),
        notes=report.notes,
        card=None if report.card is None else shape.CardRecord(**asdict(report.card)),
        unit=report.unit,
        dedup=report.dedup,
        judges=tuple(sorted({report.judge} | {one.judge for score in report.trials for one in score.judgements})),
        versions=dict(sorted(report.versions.items())),
    )
    return record.model_dump(mode="json", by_alias=True)


def dumps(report: Report) -> str:
    """The report as canonical JSON."""
    return json.dumps(to_record(report), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def loads(text: str | bytes) -> Report:
    """Read a report. The comments of its trials are not in it; they stay in the bundle.

    Raises:
        BadRecord: The text is no JSON, another version, or has unknown, missing or wrong fields.
    """
    try:
        raw = json.loads(text)
    except ValueError as error:
        raise BadRecord(f"the report is no JSON: {error}") from error
    found = raw.get("schema") if isinstance(raw, dict) else None
    if found != SCHEMA:
        raise BadRecord(f"schema: {found!r} is not supported; this version reads {SCHEMA!r}")
    try:
        return _report(shape.ReportRecord.model_validate_json(text))
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in error.errors(include_url=False)[:5]
        )
        raise BadRecord(f"the report does not fit {SCHEMA}: {problems}") from error


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a report."""
    schema = shape.ReportRecord.model_json_schema(by_alias=True, mode="serialization")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


# --- writing


def _estimate(estimate: Estimate) -> shape.EstimateRecord:
    return shape.EstimateRecord(**asdict(estimate))


def _counts(counts: Counts) -> dict[str, int]:
    return asdict(counts)


def _reviewer(row: ReviewerScore) -> shape.ReviewerRecord:
    coverage = row.coverage
    return shape.ReviewerRecord(
        **_counts(row.counts),
        reviewer=row.reviewer,
        precision=_estimate(row.precision),
        recall=_estimate(row.recall),
        f1=_estimate(row.f1),
        recall_bound=_estimate(row.recall_bound),
        clean_pulls=row.clean_pulls,
        clean_quiet=row.clean_quiet,
        valid_judged=row.valid_judged,
        usefulness=_estimate(row.usefulness),
        coverage=shape.CoverageRecord(
            trials=coverage.trials, scored=coverage.scored, by_status=dict(sorted(coverage.by_status.items()))
        ),
    )


def _place(place: Place | None) -> dict[str, Any]:
    return {"path": place.path, "lines": place.lines, "side": place.side} if place else {}


def _trial(score: TrialScore) -> shape.TrialRecord:
    trial = score.trial
    outcomes = {outcome.candidate: outcome for outcome in score.outcomes}
    states = {outcome.golden: outcome for outcome in score.goldens}
    return shape.TrialRecord(
        pull=trial.pull,
        reviewer=trial.reviewer,
        status=trial.status,
        complete=trial.complete,
        reason=trial.reason,
        scored=score.scored,
        language=trial.language,
        foreign_before_first=trial.foreign_before_first,
        counts=shape.CountsRecord(**_counts(score.counts)),
        candidates=tuple(_candidate(one, outcomes[one.id], score) for one in score.candidates),
        goldens=tuple(_golden(one, states.get(one.id)) for one in trial.goldens),
        no_claims=tuple(shape.NoClaimRecord(comment=one.comment_id, reason=one.reason) for one in score.no_claims),
        valid_judged=score.valid_judged,
    )


def _candidate(candidate: Candidate, outcome: CandidateOutcome, score: TrialScore) -> shape.CandidateRecord:
    answers = sorted((one for one in score.judgements if one.candidate == candidate.id), key=lambda one: one.golden)
    return shape.CandidateRecord(
        id=candidate.id,
        comment=candidate.comment_id,
        shape=candidate.shape,
        permalink=candidate.permalink,
        revision=candidate.revision,
        commit=candidate.commit,
        **_place(candidate.place),
        title=candidate.title,
        text=candidate.text,
        severity=candidate.severity,
        category_said=candidate.category_said,
        suggestions=candidate.suggestions,
        repeats=candidate.repeats,
        flags=candidate.flags,
        outcome=outcome.kind,
        reason=outcome.reason,
        golden=outcome.golden,
        same_as=outcome.same_as,
        confidence=outcome.confidence,
        answers=tuple(_answer(one) for one in answers),
    )


def _answer(judgement: Judgement) -> shape.AnswerRecord:
    return shape.AnswerRecord(
        golden=judgement.golden,
        verdict=judgement.verdict,
        judge=judgement.judge,
        reason=judgement.reason,
        confidence=judgement.confidence,
        evidence=dict(sorted(judgement.evidence.items())),
    )


def _golden(golden: Golden, outcome: GoldenOutcome | None) -> shape.GoldenRecord:
    return shape.GoldenRecord(
        id=golden.id,
        finding=golden.finding,
        category=golden.category,
        severity=golden.severity,
        **_place(golden.place),
        evidence=golden.evidence,
        group=golden.group,
        status=golden.status,
        status_reason=golden.reason,
        label=golden.label,
        impact=golden.impact,
        discoverability=golden.discoverability,
        outcome=outcome.state if outcome else None,
        reason=outcome.reason if outcome else None,
        candidate=outcome.candidate if outcome else None,
    )


# --- reading


def _report(record: shape.ReportRecord) -> Report:
    return Report(
        schema=record.schema_,
        profile=record.profile,
        suite=SuiteRef(**record.suite.model_dump()),
        judge=record.judge,
        reviewers=tuple(_read_reviewer(row) for row in record.reviewers),
        trials=tuple(_read_trial(one) for one in record.trials),
        notes=record.notes,
        card=None if record.card is None else Card(**record.card.model_dump()),
        unit=record.unit,
        dedup=record.dedup,
        versions=record.versions,
    )


def _read_counts(record: shape.CountsRecord) -> Counts:
    return Counts(**{name: getattr(record, name) for name in shape.CountsRecord.model_fields})


def _read_reviewer(record: shape.ReviewerRecord) -> ReviewerScore:
    return ReviewerScore(
        reviewer=ReviewerId(record.reviewer),
        counts=_read_counts(record),
        precision=Estimate(**record.precision.model_dump()),
        recall=Estimate(**record.recall.model_dump()),
        f1=Estimate(**record.f1.model_dump()),
        recall_bound=Estimate(**record.recall_bound.model_dump()),
        clean_pulls=record.clean_pulls,
        clean_quiet=record.clean_quiet,
        coverage=Coverage(**record.coverage.model_dump()),
        valid_judged=record.valid_judged,
        usefulness=Estimate(**record.usefulness.model_dump()),
    )


def _read_place(record: shape.CandidateRecord | shape.GoldenRecord) -> Place | None:
    return None if record.path is None else Place(record.path, record.lines, record.side or Side.RIGHT)


def _read_trial(record: shape.TrialRecord) -> TrialScore:
    trial = Trial(
        pull=PullId(record.pull),
        reviewer=ReviewerId(record.reviewer),
        status=record.status,
        complete=record.complete,
        reason=record.reason,
        goldens=tuple(_read_golden(one) for one in record.goldens),
        language=record.language,
        foreign_before_first=record.foreign_before_first,
    )
    return TrialScore(
        trial=trial,
        candidates=tuple(_read_candidate(one) for one in record.candidates),
        judgements=tuple(_read_answer(one, answer) for one in record.candidates for answer in one.answers),
        outcomes=tuple(_read_outcome(one) for one in record.candidates),
        goldens=tuple(state for one in record.goldens if (state := _read_state(one))),
        counts=_read_counts(record.counts),
        scored=record.scored,
        no_claims=tuple(NoClaim(one.comment, one.reason) for one in record.no_claims),
        valid_judged=record.valid_judged,
    )


def _read_golden(record: shape.GoldenRecord) -> Golden:
    return Golden(
        id=GoldenId(record.id),
        finding=record.finding,
        category=record.category,
        severity=record.severity,
        place=_read_place(record),
        evidence=record.evidence,
        group=record.group,
        impact=record.impact,
        discoverability=record.discoverability,
        status=record.status,
        reason=record.status_reason,
        label=record.label,
    )


def _read_state(record: shape.GoldenRecord) -> GoldenOutcome | None:
    if record.outcome is None:
        return None
    candidate = None if record.candidate is None else CandidateId(record.candidate)
    return GoldenOutcome(GoldenId(record.id), record.outcome, record.reason or "", candidate)


def _read_candidate(record: shape.CandidateRecord) -> Candidate:
    return Candidate(
        id=CandidateId(record.id),
        comment_id=record.comment,
        shape=record.shape,
        permalink=record.permalink,
        title=record.title,
        text=record.text,
        place=_read_place(record),
        commit=record.commit,
        revision=record.revision,
        severity=record.severity,
        category_said=record.category_said,
        suggestions=record.suggestions,
        repeats=record.repeats,
        flags=record.flags,
    )


def _read_outcome(record: shape.CandidateRecord) -> CandidateOutcome:
    return CandidateOutcome(
        candidate=CandidateId(record.id),
        kind=record.outcome,
        reason=record.reason,
        golden=None if record.golden is None else GoldenId(record.golden),
        same_as=None if record.same_as is None else CandidateId(record.same_as),
        confidence=record.confidence,
    )


def _read_answer(candidate: shape.CandidateRecord, record: shape.AnswerRecord) -> Judgement:
    return Judgement(
        candidate=CandidateId(candidate.id),
        golden=GoldenId(record.golden),
        verdict=record.verdict,
        judge=record.judge,
        reason=record.reason,
        confidence=record.confidence,
        evidence=record.evidence,
    )
