"""Small bundles, and the shared data as bundles, for the tests of the profiles."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from scoring.bundle import Bundle, BundlePull, BundleTrial, Card, JudgementSet, TrialJudgements
from scoring.model import (
    Candidate,
    CandidateId,
    Category,
    Golden,
    GoldenId,
    Judgement,
    Place,
    PullId,
    ReviewerId,
    Severity,
    Shape,
    SuiteRef,
    TrialStatus,
    Verdict,
)
from tests.shared import SHARED

CARD = Card("planted", "the test", "claim x golden")
SUITE = SuiteRef("planted", "1", "0" * 64)


def data(*parts: str) -> Path:
    """A file or folder of the shared data; the test is skipped aloud where it is missing."""
    found = SHARED.joinpath("data", *parts)
    if not found.exists():
        pytest.skip(f"no {found}: the shared reference material is not here")
    return found


def table(*parts: str) -> list[dict[str, str]]:
    with data(*parts).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def parsed(*parts: str) -> Any:
    return json.loads(data(*parts).read_text(encoding="utf-8"))


def golden(
    name: str,
    path: str | None = None,
    lines: tuple[int, int] | None = None,
    *,
    finding: str = "",
    category: Category = Category.CORRECTNESS,
    severity: Severity = Severity.HIGH,
    group: str | None = None,
    evidence: str = "",
) -> Golden:
    where = None if path is None else Place(path, lines)
    return Golden(GoldenId(name), finding or f"text of {name}", category, severity, where, evidence, group)


def candidate(
    name: str,
    path: str | None = None,
    lines: tuple[int, int] | None = None,
    *,
    text: str = "",
    kind: str | None = None,
    severity: Severity | None = None,
) -> Candidate:
    where = None if path is None else Place(path, lines)
    said = text or f"text of {name}"
    return Candidate(CandidateId(name), "c", Shape.INLINE, "", said, said, where, severity=severity, category_said=kind)


def match(found: str, of: str, confidence: float | None = 0.9, reason: str = "same", **evidence: float) -> Judgement:
    return Judgement(CandidateId(found), GoldenId(of), Verdict.MATCH, "planted", reason, confidence, evidence)


def no_match(found: str, of: str, **evidence: float) -> Judgement:
    return Judgement(CandidateId(found), GoldenId(of), Verdict.NO_MATCH, "planted", "differs", 0.9, evidence)


def undecided(found: str, of: str) -> Judgement:
    return Judgement(CandidateId(found), GoldenId(of), Verdict.UNDECIDED, "planted", "the judge timed out")


def pull(name: str, goldens: Sequence[Golden] = (), **more: Any) -> BundlePull:
    return BundlePull(PullId(name), tuple(goldens), **more)


def trial(
    of: str,
    reviewer: str = "acme",
    candidates: Sequence[Candidate] | None = (),
    status: TrialStatus = TrialStatus.REVIEWED_FINDINGS,
    **more: Any,
) -> BundleTrial:
    said = None if candidates is None else tuple(candidates)
    return BundleTrial(PullId(of), ReviewerId(reviewer), status, candidates=said, **more)


def said(of: str, judgements: Sequence[Judgement] = (), reviewer: str = "acme", **more: Any) -> TrialJudgements:
    return TrialJudgements(PullId(of), ReviewerId(reviewer), tuple(judgements), **more)


def bundle(
    pulls: Sequence[BundlePull],
    trials: Sequence[BundleTrial],
    judged: Sequence[TrialJudgements] | None = None,
    details: Mapping[str, Any] | None = None,
    judge: str = "planted",
) -> Bundle:
    sets = () if judged is None else (JudgementSet(judge, tuple(judged), details or {}),)
    return Bundle(SUITE, CARD, tuple(pulls), tuple(trials), sets)


def all_pairs(
    goldens: Sequence[Golden], candidates: Sequence[Candidate], matches: Mapping[tuple[str, str], float]
) -> list[Judgement]:
    """A judgement for every pair, goldens outside: a match where a confidence is given for (golden, candidate)."""
    return [
        match(c.id, g.id, matches[g.id, c.id]) if (g.id, c.id) in matches else no_match(c.id, g.id)
        for g in goldens
        for c in candidates
    ]
