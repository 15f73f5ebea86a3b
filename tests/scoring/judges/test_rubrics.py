from __future__ import annotations

import json
from typing import Any

import pytest

from scoring.bundle import Bundle, BundlePull, BundleTrial, Card, JudgementSet, TrialJudgements
from scoring.judges.asks import Ask, Question, Reply, Verdicts
from scoring.judges.llm import LlmJudge
from scoring.judges.rubrics import CRBENCH, QUALITIES, VIBEOPS
from scoring.model import Judgement, SuiteRef, TrialStatus, Verdict
from scoring.profiles import crbench, vibeops
from tests.scoring.judges.models import Carrier, opinion, question, reply, settle
from tests.scoring.make import candidate, golden, place

LOCK = golden("lock", "The connection lock stays held after an early return", place("src/pool.py", 12, 14))
LOOP = golden("loop", "The last page is never fetched because the loop stops early", place("src/pages.py", 7))
CLAIMS = (
    candidate("c#1", "The connection lock stays held when an early return is taken", place("src/pool.py", 40)),
    candidate("c#2", "Consider a clearer name.", place("src/pool.py", 80)),
    candidate("c#3", "The loop stops early, so the last page is never fetched", place("src/pages.py", 50)),
    candidate("c#4", "Nonsense.", place("src/pool.py", 90)),
)
ALL = question(CLAIMS, (LOCK, LOOP))


def ruling(ask: Ask, **more: Any) -> list[dict[str, Any]]:
    """An honest reader under either rubric; what is about the loop it gives half."""
    labels = {"vibeops": ("true_positive", "partial_match", "false_positive"),
              "crbench": ("bug_hit", "bug_hit", "noise")}  # fmt: skip
    whole, part, none = labels["vibeops" if "depth" in json.dumps(ask.schema) else "crbench"]
    listed = []
    for name, hits in opinion(ask).items():
        text = ask.messages[1].content.split(f" {name}", 1)[1].split("\u00a7")[0]
        label = none if not hits else part if "page" in text else whole
        if whole == "bug_hit" and not hits and "clearer name" in text:
            label = "valid_suggestion"
        grades: dict[str, Any] = (
            {quality: 2 + at for at, quality in enumerate(QUALITIES)} if whole != "bug_hit" else {"also": []}
        )
        row = {"candidate": name, "label": label, "golden": hits[0] if hits else "none", "confidence": 0.8}
        listed.append(row | grades | {"reason": "as it reads"} | more)
    return listed


def model(ask: Ask) -> Reply:
    return reply(json.dumps({"verdicts": ruling(ask)}))


def bundle(of: Question, found: Verdicts, judge: str, asked_valid: bool) -> Bundle:
    said = TrialJudgements(of.pull, of.reviewer, found.judgements, valid=found.valid if asked_valid else None)
    trial = BundleTrial(of.pull, of.reviewer, TrialStatus.REVIEWED_FINDINGS, candidates=of.candidates)
    return Bundle(
        SuiteRef("s", "1", "h"),
        Card("made up", "us", "claim"),
        (BundlePull(of.pull, of.goldens),),
        (trial,),
        (JudgementSet(judge, (said,)),),
    )


def test_the_second_pass_gives_half_credits_and_grades_to_the_vibeops_profile() -> None:
    judge = LlmJudge("m", rubric=VIBEOPS)
    found = settle(judge, ALL, model)
    credit = {
        (one.candidate, one.golden): one.evidence["credit"] for one in found.judgements if one.verdict is Verdict.MATCH
    }
    assert credit == {("c#1", "lock"): 1.0, ("c#3", "loop"): 0.5}
    assert found.decoys_wrong == 0
    (row,) = vibeops.score(bundle(ALL, found, judge.name, False)).reviewers
    assert row.figures["credit"] == 1.5
    assert row.figures["partial"] == 1
    assert row.figures["quality"] == {
        "depth": 2.0, "context_awareness": 3.0, "specificity": 4.0, "suggestion_correctness": 5.0
    }  # fmt: skip


def test_the_three_labels_reach_the_crbench_profile() -> None:
    judge = LlmJudge("m", rubric=CRBENCH)
    found = settle(judge, ALL, model)
    assert found.valid == ("c#2",)
    (row,) = crbench.score(bundle(ALL, found, judge.name, True)).reviewers
    assert (row.counts.tp, row.counts.valid, row.counts.fp) == (2, 1, 1)


def test_noise_and_suggestions_are_told_apart_on_a_clean_pull_request_too() -> None:
    clean = question(CLAIMS, ())
    judge = LlmJudge("m", rubric=CRBENCH, orders=2)
    assert len(judge.plan(clean)) == 2
    assert not any(ask.decoys for ask in judge.plan(clean))
    found = settle(judge, clean, model)
    assert found.judgements == ()
    assert found.valid == ("c#2",)
    assert LlmJudge("m", rubric=VIBEOPS).plan(clean) == ()


@pytest.mark.parametrize(
    ("rubric", "more", "words"),
    [
        (VIBEOPS, {"label": "false_positive", "golden": "$g"}, "names a golden"),
        (VIBEOPS, {"label": "true_positive", "golden": "none"}, "names no golden"),
        (VIBEOPS, {"label": "partial_match", "golden": "none"}, "names no golden"),
        (VIBEOPS, {"label": "tp"}, "label must be one of"),
        (VIBEOPS, {"depth": 6}, "depth must be a number from 1 to 5"),
        (VIBEOPS, {"depth": 0}, "depth must be a number from 1 to 5"),
        (VIBEOPS, {"depth": "4"}, "depth must be a number from 1 to 5"),
        (VIBEOPS, {"specificity": None}, "specificity must be"),
        (CRBENCH, {"label": "bug_hit", "golden": "none"}, "names no golden"),
        (CRBENCH, {"label": "noise", "golden": "$g"}, "names a golden"),
        (CRBENCH, {"label": True}, "label must be one of"),
    ],
)
def test_a_label_that_its_golden_contradicts_is_asked_again(rubric: Any, more: dict[str, Any], words: str) -> None:
    judge = LlmJudge("m", rubric=rubric)
    (ask,) = judge.plan(ALL)
    first = next(name for name in ask.offered if name.startswith("g"))
    real = {key: first if value == "$g" else value for key, value in more.items()}
    again = judge.read(ask, reply(json.dumps({"verdicts": ruling(ask, **real)})))
    assert isinstance(again, Ask)
    assert words in again.messages[2].content


def test_orders_that_give_other_credits_decide_nothing() -> None:
    def wavering(ask: Ask) -> Reply:
        listed = ruling(ask)
        if ask.order == "backward":
            listed = [one | {"label": "partial_match"} if one["label"] == "true_positive" else one for one in listed]
        return reply(json.dumps({"verdicts": listed}))

    found = settle(LlmJudge("m", rubric=VIBEOPS, orders=2, decoys=False), ALL, wavering)
    by_pair: dict[tuple[str, str], Judgement] = {(one.candidate, one.golden): one for one in found.judgements}
    assert by_pair["c#1", "lock"].verdict is Verdict.UNDECIDED
    assert by_pair["c#3", "loop"].verdict is Verdict.MATCH
    assert by_pair["c#3", "loop"].evidence["credit"] == 0.5


def test_rubrics_have_names_of_their_own() -> None:
    assert len({LlmJudge("m", rubric=one).name for one in (VIBEOPS, CRBENCH)} | {LlmJudge("m").name}) == 3


def test_a_rubric_looks_at_every_candidate() -> None:
    carrier = Carrier(model, [])
    carrier.settle(LlmJudge("m", rubric=VIBEOPS), question(CLAIMS, (LOCK,)))
    assert set(carrier.asked[0].offered.values()) >= {one.id for one in CLAIMS}
