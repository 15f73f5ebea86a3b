"""What a report says of a golden is what its suite says, so that one can leave out the doubted or split by label."""

from __future__ import annotations

import json

from scoring import records
from scoring.judges.lexical import LexicalJudge
from scoring.model import (
    Category,
    Discoverability,
    Golden,
    GoldenId,
    GoldenStatus,
    Impact,
    PullId,
    ReviewerId,
    Severity,
    SuiteRef,
    Trial,
    TrialStatus,
)
from scoring.profiles.assay import score_run

DOUBTED = Golden(
    GoldenId("g"),
    "The divisor is one short.",
    Category.CORRECTNESS,
    Severity.HIGH,
    impact=Impact.RELIABILITY,
    discoverability=Discoverability.DIFF_PLUS_REPO,
    status=GoldenStatus.DISPUTED,
    reason="A caller checks it.",
    label="off_by_one",
)


def text(*goldens: Golden) -> str:
    trial = Trial(PullId("p"), ReviewerId("r"), TrialStatus.REVIEWED_CLEAN, True, "", goldens)
    return records.dumps(score_run([trial], LexicalJudge(), SuiteRef("s", "1", "h")))


def test_status_label_impact_and_discoverability_come_back() -> None:
    said = text(DOUBTED)
    (golden,) = json.loads(said)["trials"][0]["goldens"]
    assert (golden["status"], golden["status_reason"]) == ("disputed", "A caller checks it.")
    assert (golden["label"], golden["impact"]) == ("off_by_one", "reliability")
    assert golden["discoverability"] == "diff_plus_repo"
    report = records.loads(said)
    assert report.trials[0].trial.goldens == (DOUBTED,)
    assert records.dumps(report) == said


def test_a_report_without_these_fields_can_still_be_read() -> None:
    old = json.loads(text(DOUBTED))
    for name in ("status", "status_reason", "label", "impact", "discoverability"):
        del old["trials"][0]["goldens"][0][name]
    (golden,) = records.loads(json.dumps(old)).trials[0].trial.goldens
    assert (golden.status, golden.label, golden.impact) == (GoldenStatus.LIVE, "", None)
