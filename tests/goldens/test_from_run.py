"""Drafts from a run: sound claims of several reviewers, never one that a golden covers, never the same twice."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from goldens.edit import SuiteText
from goldens.from_run import RunError, proposals
from goldens.keeping import Who, reject
from goldens.load import load_suite
from goldens.model import Suite
from scoring.bundle import Bundle, BundlePull, BundleTrial, Card, JudgementSet, TrialJudgements
from scoring.model import (
    Candidate,
    CandidateId,
    GoldenId,
    Judgement,
    Place,
    PullId,
    ReviewerId,
    Severity,
    Shape,
    TrialStatus,
    Verdict,
)
from tests.goldens.written import write_suite

PULL = PullId("mean-price")
SUM = "total walks the whole list again although mean has the sum already, so every mean costs twice the time."
LIKE = "mean calls total which walks the whole list again, so each mean costs twice the time it should."
OTHER = "The name prices hides what currency the numbers are in."


def claim(text: str, line: int = 6, identity: str = "c1", level: Severity | None = Severity.LOW) -> Candidate:
    place = Place("prices.py", (line, line))
    return Candidate(CandidateId(identity), "x/1", Shape.INLINE, "", text[:40], text, place, severity=level)


def bundle(
    suite: Suite,
    said: dict[str, list[Candidate]],
    *,
    valid: tuple[str, ...] | None = ("c1",),
    matched: tuple[str, ...] = (),
    judges: tuple[str, ...] = ("j",),
) -> Bundle:
    pulls = (BundlePull(PULL, suite.pulls[0].goldens),)
    trials = tuple(
        BundleTrial(PULL, ReviewerId(name), TrialStatus.REVIEWED_FINDINGS, candidates=tuple(claims))
        for name, claims in said.items()
    )
    answers = tuple(
        TrialJudgements(
            PULL,
            ReviewerId(name),
            tuple(
                Judgement(
                    one.id, GoldenId("divisor"), Verdict.MATCH if one.id in matched else Verdict.NO_MATCH, "j", ""
                )
                for one in claims
            ),
            valid=valid,
        )
        for name, claims in said.items()
    )
    sets = tuple(JudgementSet(judge, answers) for judge in judges)
    return Bundle(suite.ref, Card("c", "l", "u"), pulls, trials, sets)


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    return load_suite(write_suite(tmp_path))


def test_two_reviewers_and_a_judge_make_a_draft(suite: Suite) -> None:
    (found,) = proposals(bundle(suite, {"a": [claim(SUM)], "b": [claim(LIKE, 5)]}), suite)
    assert found.reviewers == ("a", "b") and found.judges == ("j",)
    # The reviewers shortened the path; the tree knows the whole one.
    assert found.place is not None and found.place.path == "shop/prices.py"
    assert found.severity is Severity.LOW and found.finding in (SUM, LIKE)
    entry = found.entry()
    assert entry["status"] == "draft" and "called valid by j" in entry["reason"] and entry["evidence"]


@pytest.mark.parametrize(
    "said",
    [
        {"a": [claim(SUM)]},
        {"a": [claim(SUM), claim(LIKE, 6, "c2")]},
        {"a": [claim(SUM)], "b": [claim(OTHER)]},
        {"a": [claim(SUM)], "b": [claim(LIKE, 60)]},
    ],
    ids=["one reviewer", "one reviewer twice", "another thing", "another place"],
)
def test_one_voice_is_not_enough(said: dict[str, list[Candidate]], suite: Suite) -> None:
    assert proposals(bundle(suite, said, valid=("c1", "c2")), suite) == ()


def test_what_a_golden_covers_or_a_judge_calls_unsound_is_no_news(suite: Suite) -> None:
    said = {"a": [claim(SUM)], "b": [claim(LIKE)]}
    assert proposals(bundle(suite, said, matched=("c1",)), suite) == ()
    assert proposals(bundle(suite, said, valid=()), suite) == ()
    two = bundle(suite, said, judges=("j", "k"))
    assert len(proposals(two, suite)) == 1
    strict = replace(two.judgements[1], trials=tuple(replace(one, valid=()) for one in two.judgements[1].trials))
    assert proposals(replace(two, judgements=(two.judgements[0], strict)), suite) == ()


def test_judges_that_were_not_asked_about_validity_are_told(suite: Suite) -> None:
    with pytest.raises(RunError, match="judge it first"):
        proposals(bundle(suite, {"a": [claim(SUM)], "b": [claim(LIKE)]}, valid=None), suite)
    alien = replace(bundle(suite, {"a": [claim(SUM)]}), suite=suite.ref)
    alien = replace(alien, trials=(replace(alien.trials[0], pull=PullId("elsewhere")),))
    with pytest.raises(RunError, match="elsewhere"):
        proposals(alien, suite)


def test_a_trial_that_is_not_scored_says_nothing(suite: Suite) -> None:
    whole = bundle(suite, {"a": [claim(SUM)], "b": [claim(LIKE)]})
    late = replace(whole.trials[1], status=TrialStatus.TIMEOUT)
    assert proposals(replace(whole, trials=(whole.trials[0], late)), suite) == ()


def test_a_place_that_the_tree_does_not_have_is_left_out(suite: Suite) -> None:
    wild = [
        replace(claim(SUM), place=Place("prices.py", (99, 99))),
        replace(claim(LIKE), place=Place("prices.py", (99, 99))),
    ]
    (found,) = proposals(bundle(suite, {"a": [wild[0]], "b": [wild[1]]}), suite)
    assert found.place == Place("shop/prices.py") and found.evidence == ""


def test_what_somebody_rejected_is_not_proposed_again(suite: Suite, tmp_path: Path) -> None:
    run = bundle(suite, {"a": [claim(SUM)], "b": [claim(LIKE)]})
    (found,) = proposals(run, suite)
    text = SuiteText(suite.path.read_bytes(), "x")
    text.add_golden(text.pull(PULL), found.entry())
    path = tmp_path / "suite.yaml"
    path.write_bytes(text.data())
    assert proposals(run, load_suite(path)) == ()
    text = SuiteText(path.read_bytes(), "x")
    reject(text, found.id, "It is cheap.", Who("ada", "2026-01-31"))
    path.write_bytes(text.data())
    assert proposals(run, load_suite(path)) == ()
    assert load_suite(path).ref.hash == suite.ref.hash


def test_hostile_claims_stay_text(suite: Suite, tmp_path: Path) -> None:
    bad = SUM + "\x1b[31m\u202e {x} *y &z: - #"
    (found,) = proposals(bundle(suite, {"a": [claim(bad)], "b": [claim(bad)]}), suite)
    text = SuiteText(suite.path.read_bytes(), "x")
    text.add_golden(text.pull(PULL), found.entry())
    assert b"\x1b" not in text.data() and "\u202e" not in text.data().decode()
