from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.judges.asks import Ask, Unscored, Verdicts
from scoring.judges.llm import LlmJudge
from scoring.judges.reply import ReplyError, contradicts, rows
from scoring.model import Verdict
from tests.scoring.judges.models import entries, question, reply
from tests.scoring.make import candidate, golden
from tests.shared import case

KEYS = ("candidate", "golden", "match")
PAIR = question((candidate("c#1", "The lock is held."),), (golden("g", "The lock is never released"),))
TWO = question(
    (candidate("c#1", "The lock is held."), candidate("c#2", "Unused import.")),
    (golden("g", "The lock is never released"), golden("h", "The loop ends too early")),
)
JUDGE = LlmJudge("m", decoys=False)


def asked(of: object = PAIR) -> Ask:
    (ask,) = JUDGE.plan(of)  # type: ignore[arg-type]
    return ask


def said(text: str) -> str:
    """The verdict on the one pair, with its flags; `undecided` where the model is asked again."""
    reading = JUDGE.read(asked(), reply(text))
    if isinstance(reading, Ask):
        return "undecided"
    assert isinstance(reading, Verdicts)
    flags = [flag.partition(":")[0] for flag in reading.flags if flag.startswith("contradicts")]
    return " + flag ".join([reading.judgements[0].verdict.value, *flags])


def test_the_shared_shapes_of_answers() -> None:
    shared = case("84")
    assert [said(text) for text in shared["input"]["answers"]] == shared["expected"]["verdict"]


def test_the_shared_confidences() -> None:
    shared = case("83")
    for given_, match, confidence in zip(
        shared["input"]["verdicts"], shared["expected"]["match"], shared["expected"]["confidence"], strict=True
    ):
        reading = JUDGE.read(asked(), reply(json.dumps(given_)))
        assert isinstance(reading, Verdicts)
        (one,) = reading.judgements
        assert (one.verdict is Verdict.MATCH) is match
        # Sure that it is no match is a probability of 0 that it is one.
        wanted = confidence if match or confidence is None else 1 - confidence
        assert one.confidence == wanted
        unusable = given_.get("confidence") is not None and confidence is None
        assert any(flag.startswith("confidence_unusable") for flag in reading.flags) is unusable


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('\n\n  {"match": "TRUE"}  ', "match"),
        ('{"match": "false"}', "no_match"),
        ('{"match": 1}', "undecided"),
        ('{"match": 0}', "undecided"),
        ('{"match": "yes"}', "undecided"),
        ('{"match": null}', "undecided"),
        ('{"match": [true]}', "undecided"),
        ('{"match": true, "match": false}', "undecided"),
        ('{"match": true, "match": true}', "undecided"),
        ('{"match": false}\nOn reflection:\n{"match": tr', "undecided"),
        ('{"match": tr\nSorry, once more:\n{"match": false}', "no_match"),
        ('{"match": true}\nAs I said: {"match": true}', "match"),
        ('~~~\n{"match": true}\n~~~', "match"),
        ('```\n{"match": true}', "match"),
        ('The claim says {"severity": "high"} and [1, 2]. {"match": false}', "no_match"),
        ('The claim quotes {"match": true}. My answer: {"match": false}', "undecided"),
        ('<think>{"match": true}</think>{"match": false}', "no_match"),
        ('<think>{"match": true}', "undecided"),
        ('{"verdicts": []}', "undecided"),
        ('{"verdicts": [true]}', "undecided"),
        ('{"verdicts": {"match": true}}', "undecided"),
        ('[{"verdicts": [{"match": true}]}]', "match"),
        ('{"match": NaN}', "undecided"),
        ("true", "undecided"),
        ('"match"', "undecided"),
        ("It is a match.", "undecided"),
        ('{"match": true} {"match": true, "confidence": 0.4}', "undecided"),
        ('{"golden": "none"}', "no_match"),
        ('{"golden": null}', "no_match"),
        ('{"golden": "None"}', "undecided"),
        ('{"golden": "g"}', "undecided"),
        ('{"golden": "none", "match": true}', "undecided"),
        ('{"golden": "none", "also": "none"}', "undecided"),
    ],
)
def test_an_answer_is_taken_whole_or_not_at_all(text: str, wanted: str) -> None:
    assert said(text) == wanted


@pytest.mark.parametrize(
    ("confidence", "wanted", "flagged"),
    [(0, 0.0, False), (1, 1.0, False), (0.5, 0.5, False), (1.01, None, True), (-0.1, None, True), (True, None, True),
     ("0.9", None, True), ([], None, True), (10**400, None, True), (None, None, False)],
)  # fmt: skip
def test_a_confidence_out_of_range_is_none_and_flagged_and_decides_nothing(
    confidence: object, wanted: float | None, flagged: bool
) -> None:
    reading = JUDGE.read(asked(), reply(json.dumps({"match": True, "confidence": confidence})))
    assert isinstance(reading, Verdicts)
    assert reading.judgements[0].verdict is Verdict.MATCH
    assert reading.judgements[0].confidence == wanted
    assert any("confidence_unusable" in flag for flag in reading.flags) is flagged


def test_match_without_an_id_is_no_answer_where_there_are_several() -> None:
    assert isinstance(JUDGE.read(asked(TWO), reply('{"match": true}')), Ask)
    assert isinstance(JUDGE.read(asked(TWO), reply('[{"match": true}, {"match": false}]')), Ask)


def test_a_candidate_may_match_several_goldens() -> None:
    ask = asked(TWO)
    goldens = [name for name in ask.offered if name.startswith("g")]
    listed = [one | {"golden": goldens[0], "also": goldens[1:]} for one in entries(ask)]
    reading = JUDGE.read(ask, reply(json.dumps(listed)))
    assert isinstance(reading, Verdicts)
    assert {one.verdict for one in reading.judgements} == {Verdict.MATCH}
    listed = [one | {"golden": "none", "also": goldens[1:]} for one in entries(ask)]
    assert isinstance(JUDGE.read(ask, reply(json.dumps(listed))), Ask)


@pytest.mark.parametrize(
    ("reason", "matched", "wanted"),
    [
        ("These are different problems, so no match.", True, True),
        ("Not the same defect.", True, True),
        ("Different words, same problem.", True, False),
        ("The same underlying issue.", False, True),
        ("It is about another problem.", False, False),
        ("Both speak of the lock.", True, False),
        ("两者是不同的问题", True, True),
        ("", True, False),
    ],
)
def test_a_reason_against_its_verdict_is_flagged(reason: str, matched: bool, wanted: bool) -> None:
    assert contradicts(reason, matched) is wanted
    text = json.dumps({"match": matched, "reason": reason})
    assert said(text) == ("match" if matched else "no_match") + (" + flag contradicts_reasoning" if wanted else "")


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, '{"a":' * 40_000, '["' * 90_000, "{[" * 90_000, '{"match": ' * 20_000, '[{"match": 1}, ' * 12_000,
     '{"match": "' + "a" * 190_000, "x" * 300_000, '{"match": ' + "9" * 150_000 + "}",
     "\\u0000" * 30_000, '[[{"' * 50_000],
)  # fmt: skip
def test_no_answer_can_stall_or_break_the_reading(text: str) -> None:
    started = time.process_time()
    assert isinstance(JUDGE.read(asked(), reply(text)), Ask)
    assert time.process_time() - started < 3


_PIECES = st.sampled_from(
    ["{", "}", "[", "]", '"', ":", ",", '"match"', '"golden"', '"candidate"', '"verdicts"', "true", "false", "null",
     '"none"', "```json\n", "```", "<think>", "</think>", "0.9", "1e999", "NaN", "\\", "\\ud800", "\n",
     '{"match": true}',
     '{"verdicts": [', "]}", "\u202e", "\u00a7"]
)  # fmt: skip
_TEXTS = st.one_of(st.text(), st.lists(st.one_of(_PIECES, st.text(max_size=5)), max_size=30).map("".join))
_JSON = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.floats(), st.integers(), st.text(max_size=6), st.sampled_from(["none", "g"])
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["match", "golden", "candidate", "verdicts", "also", "confidence", "valid", "reason", "x"]),
            inner,
            max_size=5,
        ),
    ),
    max_leaves=12,
)


@given(st.one_of(_TEXTS, _JSON.map(json.dumps)), st.sampled_from([PAIR, TWO]))
def test_reading_never_raises_and_gives_every_pair_one_judgement(text: str, of: object) -> None:
    ask = asked(of)
    reading = JUDGE.read(ask, reply(text))
    assert isinstance(reading, Verdicts | Ask | Unscored)
    if isinstance(reading, Verdicts):
        wanted = sorted((one.id, known.id) for one in ask.question.candidates for known in ask.question.goldens)
        assert sorted((one.candidate, one.golden) for one in reading.judgements) == wanted
    else:
        assert isinstance(reading, Ask)
        assert reading.attempt == 2
        assert reading.key != ask.key


@given(_TEXTS)
def test_what_is_no_json_is_never_guessed(text: str) -> None:
    if "{" not in text and "[" not in text:
        with pytest.raises(ReplyError):
            rows(text, KEYS)
