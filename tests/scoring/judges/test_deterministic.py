from __future__ import annotations

import pytest

from scoring.judges.deterministic import DeterministicJudge, evidence
from scoring.matching import settle
from scoring.model import Candidate, OutcomeKind, Trial, Verdict
from scoring.profiles import assay
from tests.scoring.make import candidate, golden, place

KNOWN = golden("g", "the lock is held", place("src/a.py", 10, 12))


def claim(path: str | None = "src/a.py", line: int | None = 11, kind: str | None = "bug") -> Candidate:
    return candidate("c#1", "anything", place(path, line), category_said=kind)


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        (claim(), Verdict.MATCH),
        (claim(line=17), Verdict.MATCH),
        (claim(line=18), Verdict.UNDECIDED),
        (claim(line=None), Verdict.UNDECIDED),
        (claim(kind="security"), Verdict.UNDECIDED),
        (claim(kind="mood"), Verdict.UNDECIDED),
        (claim(kind=None), Verdict.UNDECIDED),
        (claim(kind=" "), Verdict.UNDECIDED),
        (claim(path=None), Verdict.UNDECIDED),
        (claim(path="src/b.py"), Verdict.NO_MATCH),
        (claim(path="a.py"), Verdict.MATCH),
        (claim(kind="Potential Bug"), Verdict.MATCH),
    ],
)
def test_alone_it_decides_by_place_and_type(said: Candidate, wanted: Verdict) -> None:
    (one,) = DeterministicJudge(alone=True).judge([said], [KNOWN])
    assert one.verdict is wanted, one.reason


@pytest.mark.parametrize("said", [claim(), claim(path="src/b.py"), claim(path=None), claim(kind=None), claim(line=99)])
def test_under_our_own_rules_place_is_evidence_and_nobody_gets_a_false_alarm(said: Candidate) -> None:
    judgements = DeterministicJudge().judge([said], [KNOWN])
    assert [one.verdict for one in judgements] == [Verdict.UNDECIDED]
    settled = settle([said], [KNOWN], judgements)
    assert [one.kind for one in settled.outcomes] == [OutcomeKind.UNSCORED]
    assert settled.counts.fp == 0
    assert settled.counts.fn == 0


def test_what_is_not_said_is_absent_from_the_evidence() -> None:
    assert evidence(claim(), KNOWN) == {"same_file": 1.0, "lines_apart": 0.0, "near": 1.0, "same_type": 1.0}
    assert evidence(claim(path=None, kind=None), KNOWN) == {}
    assert evidence(claim(line=None, kind="security"), KNOWN) == {"same_file": 1.0, "same_type": 0.0}
    assert evidence(claim(), golden("g")) == {"same_type": 1.0}


def test_a_golden_without_a_place_is_deferred() -> None:
    (one,) = DeterministicJudge(alone=True).judge([claim()], [golden("g")])
    assert one.verdict is Verdict.UNDECIDED
    assert "no place" in one.reason


def test_the_settings_are_in_the_name() -> None:
    names = {DeterministicJudge().name, DeterministicJudge(alone=True).name, DeterministicJudge(tolerance=3).name}
    assert len(names) == 3
    with pytest.raises(ValueError, match="0 lines"):
        DeterministicJudge(tolerance=-1)


def test_it_is_a_judge_for_a_live_run() -> None:
    from tests.scoring.make import inline, trial

    of: Trial = trial((KNOWN,), (inline(1, "The lock stays held.", "src/a.py", 11),))
    score = assay.score_trial(of, DeterministicJudge())
    assert score.counts.unscored == 1
    assert score.counts.fp == 0
