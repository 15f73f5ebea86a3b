"""From one format into another: what the other can hold arrives, and what it cannot is refused, never half-written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from goldens.importers import FORMATS, ImportProblem
from scoring.bundle import (
    Bundle,
    BundlePull,
    BundleReviewer,
    BundleTrial,
    Card,
    JudgementSet,
    TrialJudgements,
)
from scoring.candidates import extract
from scoring.model import (
    Category,
    Comment,
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
from tests.goldens.importers.material import data

SOURCES = {
    "martian": ("martian", "anthropic_claude-opus-4-5-20251101"),
    "cloudaeye": ("cpp16",),
    "codevetter": ("codevetter",),
    "swe": ("swe",),
    "rest": ("real_comments", "droid"),
}
HOLDS_GOLDENS = ("martian", "cloudaeye", "codevetter")


def findings(bundle: Bundle) -> list[list[tuple[str, str]]]:
    return sorted(sorted((one.finding, one.severity) for one in pull.goldens) for pull in bundle.pulls)


def unstated(bundle: Bundle) -> int:
    return sum("severity" in golden.unverified for pull in bundle.pulls for golden in pull.goldens)


@pytest.mark.parametrize("target", FORMATS)
@pytest.mark.parametrize("source", SOURCES)
def test_every_format_goes_into_every_other_or_is_refused_whole(source: str, target: str, tmp_path: Path) -> None:
    bundle = FORMATS[source].read(data(*SOURCES[source]))
    try:
        FORMATS[target].write(bundle, tmp_path / "out")
    except ImportProblem as problem:
        assert "expected something that" in str(problem)
        assert target == "swe" and source in ("martian", "rest")
        assert list(tmp_path.iterdir()) == []
        return
    again = FORMATS[target].read(tmp_path / "out")
    assert len(again.pulls) == len(bundle.pulls)
    if target in HOLDS_GOLDENS:
        assert findings(again) == findings(bundle)
        # What nobody said is still what nobody said.
        assert unstated(again) == unstated(bundle)


def test_judgements_arrive_where_the_other_format_has_them(tmp_path: Path) -> None:
    bundle = FORMATS["martian"].read(data(*SOURCES["martian"]))
    FORMATS["codevetter"].write(bundle, tmp_path / "out")
    again = FORMATS["codevetter"].read(tmp_path / "out")
    assert matches(again) == matches(bundle)


def test_a_match_without_confidence_is_still_a_match_where_confidence_decides(tmp_path: Path) -> None:
    bundle = FORMATS["martian"].read(data(*SOURCES["martian"]))
    FORMATS["codevetter"].write(bundle, tmp_path / "out")
    unsure = FORMATS["codevetter"].read(tmp_path / "out")
    assert all(one.confidence is None for own in unsure.judgements for t in own.trials for one in t.judgements)
    FORMATS["martian"].write(unsure, tmp_path / "back")
    back = FORMATS["martian"].read(tmp_path / "back")
    assert found(back) == found(bundle)


def found(bundle: Bundle) -> int:
    return sum(one["tp"] for judged in bundle.judgements for one in judged.details["published"].values())


def matches(bundle: Bundle) -> int:
    return sum(
        one.verdict is Verdict.MATCH
        for judged in bundle.judgements
        for trial in judged.trials
        for one in trial.judgements
    )


def live() -> Bundle:
    """A bundle as a run leaves it: comments, and judgements on what was taken from them."""
    body = "**High: `total` is used before it is set**\n\nThe loop may not run, and then the sum below reads garbage."
    chat = "Reviewed by quill 1.2"
    said = tuple(
        Comment(
            f"review_comment/{n}",
            Shape.INLINE,
            "quill[bot]",
            text,
            f"{LINK}#r{n}",
            Place("src/sum.c", (n, n)),
            revision="r",
        )
        for n, text in enumerate((body, chat), start=1)
    )
    golden = Golden(
        GoldenId("g1"), "total is read uninitialised", Category.CORRECTNESS, Severity.HIGH, Place("src/sum.c", (1, 2))
    )
    reviewer = BundleReviewer(ReviewerId("quill"), "Quill", not_findings=("^Reviewed by quill",))
    (claim,) = extract(said, not_findings=reviewer.not_findings)
    judgement = Judgement(claim.id, golden.id, Verdict.MATCH, "judge", "same defect", 0.8)
    trial = BundleTrial(PullId("sum"), reviewer.id, TrialStatus.REVIEWED_FINDINGS, comments=said)
    refused = BundleTrial(PullId("sum"), ReviewerId("mute"), TrialStatus.RATE_LIMITED, reason="come back later")
    return Bundle(
        suite=SuiteRef("own", "1", "0" * 64),
        card=Card("own", "us", "claim x golden"),
        pulls=(BundlePull(PullId("sum"), (golden,), "c", "Sum"),),
        trials=(trial, refused),
        judgements=(JudgementSet("judge", (TrialJudgements(trial.pull, trial.reviewer, (judgement,)),)),),
        reviewers=(reviewer,),
    )


LINK = "https://github.com/labs/fork-1/pull/1"


@pytest.mark.parametrize("target", ["martian", "codevetter"])
def test_a_live_runs_match_arrives_as_a_match(target: str, tmp_path: Path) -> None:
    FORMATS[target].write(live(), tmp_path / "out")
    again = FORMATS[target].read(tmp_path / "out")
    quill = next(trial for trial in again.trials if trial.reviewer == "quill")
    assert quill.candidates is not None and len(quill.candidates) == 1
    assert matches(again) == 1
    assert again.pulls[0].id == "sum"


def test_a_refused_reviewer_is_not_exported_as_one_that_found_nothing(tmp_path: Path) -> None:
    FORMATS["martian"].write(live(), tmp_path / "martian")
    stored = json.loads((tmp_path / "martian" / "judge" / "evaluations.json").read_text())
    assert list(stored["sum"]) == ["quill"]
    assert [trial.reviewer for trial in FORMATS["martian"].read(tmp_path / "martian").trials] == ["quill"]
    FORMATS["codevetter"].write(live(), tmp_path / "codevetter")
    assert [one.name for one in (tmp_path / "codevetter" / "reviews").iterdir()] == ["sum.quill.json"]
    FORMATS["sarif"].write(live(), tmp_path / "out.sarif")
    runs = json.loads((tmp_path / "out.sarif").read_text())["runs"]
    assert [("results" in run) for run in runs] == [True, False]
