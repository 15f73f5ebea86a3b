"""Study bundles made by hand, so that every figure of a table can be counted on paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from bot.analysis.sheet import Cell, Sheet
from bot.studies.material import Material, material
from bot.studies.record import PART, SUITE_TAG, Condition, Nested, Record, Took, written
from bot.studies.tables import TABLES
from bot.studies.tables.common import made
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

Found = Mapping[str, Mapping[str, tuple[int, int]]]
"""Reviewer -> pull request -> (goldens found, false alarms)."""


def pull(name: str, goldens: int = 1, **more: object) -> BundlePull:
    """A pull request whose goldens stand at lines 10, 20, ..."""
    held = tuple(
        Golden(
            GoldenId(f"{name}-{at}"),
            f"defect {at} of {name}",
            Category.CORRECTNESS,
            Severity.HIGH,
            Place("a.py", (10 * at, 10 * at)),
        )
        for at in range(1, goldens + 1)
    )
    tags = {SUITE_TAG: "made", **dict(more.pop("tags", {}))}  # type: ignore[call-overload]
    return BundlePull(PullId(name), held, "python", tags=tags, **more)  # type: ignore[arg-type]


def claim(name: str, line: int) -> Candidate:
    return Candidate(CandidateId(name), name, Shape.INLINE, "", name, name, Place("a.py", (line, line)))


def said(found: int, alarms: int) -> tuple[Candidate, ...]:
    """Claims that find the first goldens, and alarms far away from all."""
    hits = [claim(f"hit-{at}", 10 * at) for at in range(1, found + 1)]
    return (*hits, *(claim(f"alarm-{at}", 1000 * at) for at in range(1, alarms + 1)))


def verdicts(one: BundlePull, claims: Sequence[Candidate], judge: str) -> tuple[Judgement, ...]:
    """A hit means the golden of its number."""
    return tuple(
        Judgement(
            candidate.id,
            golden.id,
            Verdict.MATCH if candidate.id == f"hit-{golden.id.rpartition('-')[2]}" else Verdict.NO_MATCH,
            judge,
            "by number",
        )
        for candidate in claims
        for golden in one.goldens
    )


def bundle(
    pulls: Sequence[BundlePull],
    found: Found,
    conditions: Sequence[Condition] = (),
    *,
    took: Sequence[Took] = (),
    costs: Mapping[str, float] = {},
    nested: Sequence[Nested] = (),
    judges: Sequence[str] = ("hand",),
    tolerances: tuple[int, ...] = (3, 0, 10),
) -> Bundle:
    """A study's bundle in which every claim was judged by its name."""
    by_name = {one.id: one for one in pulls}
    trials, answers = [], []
    for reviewer, own in found.items():
        for name, (hits, alarms) in own.items():
            claims = said(hits, alarms)
            status = TrialStatus.REVIEWED_FINDINGS if claims else TrialStatus.REVIEWED_CLEAN
            key = (PullId(name), ReviewerId(reviewer))
            trials.append(BundleTrial(*key, status, candidates=claims, cost=costs.get(reviewer)))
            answers.append((key, verdicts(by_name[PullId(name)], claims, "hand")))
    sets = tuple(
        JudgementSet(judge, tuple(TrialJudgements(*key, judgements) for key, judgements in answers)) for judge in judges
    )
    known = tuple(conditions) or tuple(Condition(ReviewerId(name), name, name) for name in found)
    suites = tuple(dict.fromkeys(one.tags[SUITE_TAG] for one in pulls))
    record = Record("made", "Made", "0" * 64, known, tuple(judges), suites, tuple(nested), tuple(took), 0, tolerances)
    suite = SuiteRef("made", "1", "0" * 64)
    card = Card("made up", "the test", "claim x golden")
    return Bundle(suite, card, tuple(pulls), tuple(trials), sets, extra={PART: written(record)})


def placed(name: str, sites: Sequence[Mapping[str, str]]) -> BundlePull:
    """A pull request whose goldens are the sites of a published table."""
    goldens = tuple(
        Golden(
            GoldenId(f"{name}-{at}"),
            "a site",
            Category.CORRECTNESS,
            Severity.HIGH,
            Place(row["file"], (int(row["line_start"]), int(row["line_end"]))),
        )
        for at, row in enumerate(sites)
    )
    return BundlePull(PullId(name), goldens, "python", tags={SUITE_TAG: "made"})


def remarked(name: str, row: Mapping[str, str]) -> Candidate:
    """A comment of a published table."""
    lines = (int(row["line_start"]), int(row["line_end"]))
    severity = Severity(row["severity"])
    return Candidate(
        CandidateId(name), name, Shape.INLINE, "", name, name, Place(row["file"], lines), severity=severity
    )


def spoken(pulls: Sequence[BundlePull], said: Mapping[str, Mapping[str, Sequence[Candidate]]]) -> Material:
    """A study in which every reviewer has a trial on every pull request, and nobody judged anything."""
    made = bundle(pulls, {name: {one.id: (0, 0) for one in pulls} for name in said})
    trials = tuple(replace(one, candidates=tuple(said[one.reviewer].get(one.pull, ()))) for one in made.trials)
    return material(replace(made, trials=trials))


def world(*args: object, **more: object) -> Material:
    return material(bundle(*args, **more))  # type: ignore[arg-type]


def table(made_of: Material, key: str) -> Sheet:
    return made(TABLES[key], made_of)


def rows(sheet: Sheet) -> list[dict[str, Cell]]:
    """The rows by the columns' keys."""
    keys = [column.key for column in sheet.columns]
    return [dict(zip(keys, row, strict=True)) for row in sheet.rows]


def missing(sheet: Sheet) -> str:
    """Why a table was not made; empty if it was."""
    return str(sheet.rows[0][0]) if sheet.columns[0].key == "missing" else ""
