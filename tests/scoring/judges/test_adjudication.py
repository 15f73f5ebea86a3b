from __future__ import annotations

from scoring.bundle import JudgementSet, TrialJudgements
from scoring.judges.adjudication import open_pairs, overridden
from scoring.judges.human import Known, read
from scoring.model import CandidateId, GoldenId, Judgement, PullId, ReviewerId, Verdict
from tests.scoring.judges.test_human import written

YES, NO, OPEN = Verdict.MATCH, Verdict.NO_MATCH, Verdict.UNDECIDED
TRIAL = (PullId("p1"), ReviewerId("acme"))
KNOWN: Known = {TRIAL: ([CandidateId("c#1"), CandidateId("c#2")], [GoldenId("g"), GoldenId("h")])}


def said(judge: str, **verdicts: Verdict) -> JudgementSet:
    judgements = tuple(
        Judgement(CandidateId(f"c#{name[1]}"), GoldenId(name[0]), verdict, judge, f"{judge} thinks so")
        for name, verdict in verdicts.items()
    )
    return JudgementSet(judge, (TrialJudgements(*TRIAL, judgements),), {"cost": 1.0})


def people(*rows: dict[str, str]) -> JudgementSet:
    full = [{"pull": "p1", "reviewer": "acme", "who": "kim", "when": "2026-03-01"} | row for row in rows]
    return read(written(full, "csv"), "csv", KNOWN, judge="people")


def test_disputes_come_first_then_what_nobody_decided_and_nothing_else() -> None:
    one = said("a", g1=YES, g2=OPEN, h1=NO, h2=YES)
    two = said("b", g1=NO, g2=OPEN, h1=NO, h2=OPEN)
    found = open_pairs([one, two])
    assert [(pair.candidate, pair.golden, pair.disputed) for pair in found] == [("c#1", "g", True), ("c#2", "g", False)]
    assert {judge: answer.verdict for judge, answer in found[0].said.items()} == {"a": YES, "b": NO}


def test_a_persons_word_stands_in_place_of_the_judges_and_the_judges_is_kept() -> None:
    judged = said("a", g1=YES, g2=OPEN, h1=NO)
    spoken = people(
        {"candidate": "c#1", "golden": "g", "verdict": "no_match", "reason": "only the topic is shared"},
        {"candidate": "c#2", "golden": "", "verdict": "valid", "reason": "a real flaw"},
    )
    made = overridden(judged, spoken)
    assert made.judge == "a+people"
    (trial,) = made.trials
    assert {(one.candidate, one.golden): one.verdict for one in trial.judgements} == {
        ("c#1", "g"): NO, ("c#2", "g"): NO, ("c#1", "h"): NO, ("c#2", "h"): NO
    }  # fmt: skip
    assert trial.valid == ("c#2",)
    first = made.details["history"][0]
    assert (first["who"], first["when"], first["why"]) == ("kim", "2026-03-01", "only the topic is shared")
    assert first["replaced"] == {"verdict": "match", "judge": "a", "reason": "a thinks so"}
    assert made.details["history"][1]["who"] == "kim"
    assert made.details["history"][2]["replaced"] is None
    assert judged.trials[0].judgements[0].verdict is YES
    assert made.details["cost"] == 1.0


def test_a_person_may_take_a_verdict_back_and_speak_of_a_trial_nobody_judged() -> None:
    spoken = people({"candidate": "c#1", "golden": "g", "verdict": "undecided"})
    assert overridden(said("a", g1=YES), spoken).trials[0].judgements[0].verdict is OPEN
    alone = overridden(JudgementSet("a", ()), spoken)
    assert alone.trials[0].judgements[0].verdict is OPEN
    assert overridden(said("a", g1=YES), JudgementSet("people", ())).trials == said("a", g1=YES).trials
