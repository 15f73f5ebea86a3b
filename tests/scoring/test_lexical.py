from __future__ import annotations

import json
import random
from importlib import resources
from typing import Any

import pytest

from scoring.candidates import extract
from scoring.judges import phrases
from scoring.judges.base import Judge, Recorded
from scoring.judges.features import NAMES, text_features
from scoring.judges.lexical import LexicalJudge, load, parse
from scoring.model import Candidate, Golden, Judgement, Place, Severity, Verdict
from tests.bench.fit_lexical import agreement, best_threshold, fit, leave_one_out, model_text, read, train
from tests.scoring.make import candidate, golden, inline, judged, place
from tests.shared import SHARED, case

HELD = "`Pool.acquire()` returns early when the pool is empty without releasing the lock"
LEAK = golden("leak", HELD, place("src/pool.c", 12))
TIMING = golden("timing", "The token is compared with ==, so the comparison time reveals it", place("src/auth.py", 40))
RACE = golden("race", "Two workers can read the same offset before either commits it, so messages are processed twice")
OFF = golden("off", "The last page is never fetched because the loop stops at page_count - 1", place("src/pages.py", 7))
ALL = (LEAK, TIMING, RACE, OFF)


def one(said: str, known: Golden, where: Place | None = None, **more: Any) -> Judgement:
    answers = LexicalJudge().judge([candidate("c#1", said, where, **more)], ALL)
    return next(answer for answer in answers if answer.golden == known.id)


@pytest.mark.parametrize(
    ("said", "known"),
    [
        ("The lock is not released if the pool is empty and `acquire()` bails out early.", LEAK),
        (
            "Missing unlock on early return\n\n`acquire` leaves the pool locked when it is empty.",
            LEAK,
        ),
        ("Use a constant-time comparison for the token; `==` leaks timing of the comparison.", TIMING),
        (
            "Race: the offset may be read by two workers before it is committed, so a message can be handled twice.",
            RACE,
        ),
        ("Off-by-one: the loop condition `page < page_count - 1` skips the last page.", OFF),
    ],
)
def test_the_same_defect_in_other_words_matches(said: str, known: Golden) -> None:
    answer = one(said, known)
    assert answer.verdict is Verdict.MATCH, (answer.confidence, answer.evidence)
    for other in ALL:
        if other is not known:
            assert one(said, other).verdict is not Verdict.MATCH


@pytest.mark.parametrize(
    "said",
    [
        "Unused import of `os`.",
        "Consider adding a docstring to this function.",
        "The log message has a typo: 'recieved'.",
        "This function is too long; split it.",
        "Magic number 42 should be a named constant.",
    ],
)
def test_the_right_line_with_unrelated_words_is_no_match(said: str) -> None:
    for known in ALL:
        answer = one(said, known, where=known.place, severity=Severity.HIGH, category_said="Bug")
        assert answer.verdict is Verdict.NO_MATCH, (known.id, answer.confidence)
        if known.place:
            assert "same lines" in answer.reason
            assert "the place alone proves nothing" in answer.reason


def test_place_is_evidence_and_another_file_is_evidence_against() -> None:
    said = "The lock stays held on one path of this function."
    near = one(said, LEAK, where=place("src/pool.c", 12)).confidence
    silent = one(said, LEAK).confidence
    elsewhere = one(said, LEAK, where=place("src/other.c", 12)).confidence
    assert near is not None
    assert silent is not None
    assert elsewhere is not None
    assert near > silent > elsewhere


def test_a_match_does_not_need_the_line() -> None:
    said = "The lock is not released if the pool is empty and `acquire()` returns early."
    assert one(said, LEAK, where=place("src/pool.c", 300)).verdict is Verdict.MATCH


def test_between_the_thresholds_the_judge_does_not_decide() -> None:
    model = load()
    seen = {answer.verdict for answer in _ladder()}
    assert seen == set(Verdict)
    for answer in _ladder():
        assert answer.confidence is not None
        if answer.verdict is Verdict.UNDECIDED:
            assert model.no_match_below <= answer.confidence < model.match_from
        if answer.verdict is Verdict.MATCH:
            assert answer.confidence >= model.match_from


def test_what_the_text_calls_no_match_the_place_makes_undecided_at_most() -> None:
    model = load()
    for known in ALL:
        for said in (" ".join(known.finding.split()[:length]) + " xyzzy plugh" for length in range(1, 12)):
            by_text = one(said, known).verdict
            placed = one(said, known, where=known.place, severity=known.severity)
            assert by_text is not Verdict.NO_MATCH or placed.verdict is not Verdict.MATCH, said
            assert placed.verdict is not Verdict.MATCH or placed.evidence["text"] >= model.no_match_below


def _ladder() -> list[Judgement]:
    """For each golden, claims that say ever more of it among ever more words of no meaning."""
    return [
        one(" ".join(known.finding.split()[:length]) + " xyzzy" + " plugh frobnicate quux"[: 7 * more], known)
        for known in ALL
        for length in range(1, len(known.finding.split()) + 1)
        for more in range(4)
    ]


@pytest.mark.parametrize(
    ("said", "known"),
    [
        ("`Pool.acquire()` lacks a docstring.", LEAK),
        ("`Pool.acquire()` is called with the wrong argument.", LEAK),
        ("`page_count` may be a float.", OFF),
        ("`page_count` should be renamed to `total_pages`.", OFF),
        ("The token variable is unused in this test.", TIMING),
    ],
)
def test_another_defect_of_the_same_function_on_the_same_line_is_no_match(said: str, known: Golden) -> None:
    answer = one(said, known, where=known.place)
    assert answer.verdict is not Verdict.MATCH, (answer.confidence, answer.evidence)
    assert one(said, known).verdict is Verdict.NO_MATCH


def test_what_else_a_reviewer_said_changes_no_verdict() -> None:
    claims = [
        candidate(f"{at}#1", said)
        for at, said in enumerate(["The lock is not released.", "Unused import.", "Page skipped."])
    ]
    together = {(answer.candidate, answer.golden): answer for answer in LexicalJudge().judge(claims, ALL)}
    for claim in claims:
        for answer in LexicalJudge().judge([claim], random.Random(1).sample(ALL, len(ALL))):
            assert together[answer.candidate, answer.golden] == answer


def test_text_aimed_at_the_judge_gives_the_verdict_it_would_have_without() -> None:
    shared = case("23")
    known = golden("g", shared["input"]["golden"])
    (attacked,) = extract([inline(1, shared["input"]["candidate"])])
    (plain,) = extract([inline(1, "Unused import.")])
    first, second = (LexicalJudge().judge([claim], [known])[0] for claim in (attacked, plain))
    assert (first.verdict is Verdict.MATCH) is shared["expected"]["match"]
    assert (first.verdict, first.confidence, first.evidence) == (second.verdict, second.confidence, second.evidence)


def test_a_fix_without_words_is_judged_by_its_code_and_nothing_at_all_is_no_match() -> None:
    known = golden("g", "`hmac.compare_digest` must be used to compare `signature` with `expected`")
    fix = candidate("c#1", "", suggestions=("if not hmac.compare_digest(signature, expected):",))
    answer = LexicalJudge().judge([fix], [known])[0]
    assert answer.evidence["names_shared"] > 0
    empty = LexicalJudge().judge([candidate("c#1", "", title="")], [known])[0]
    assert empty.verdict is Verdict.NO_MATCH


def test_chinese_claims_are_compared_by_their_characters() -> None:
    known = golden("g", "锁未释放\uff0c出错时会死锁")
    answers = LexicalJudge().judge(
        [candidate("a#1", "出错时锁没有释放\uff0c会造成死锁"), candidate("b#1", "变量命名不规范")], [known]
    )
    assert [answer.verdict for answer in answers] == [Verdict.MATCH, Verdict.NO_MATCH]


def test_every_answer_explains_itself() -> None:
    answer = one("The lock is not released if the pool is empty.", LEAK, where=LEAK.place)
    assert "lock" in answer.reason
    assert "same lines" in answer.reason
    assert {"text", "same_lines", *NAMES} <= set(answer.evidence)
    assert answer.judge == LexicalJudge().name


def test_a_model_file_with_other_features_or_thresholds_is_refused() -> None:
    model = load()
    raw = {
        "version": "t",
        "intercept": 0,
        "coefficients": dict(model.coefficients),
        "evidence": dict(model.evidence),
        "no_match_below": 0.2,
        "match_from": 0.4,
        "text_floor": 0.1,
    }
    assert parse(json.dumps(raw)).version == "t"
    with pytest.raises(ValueError, match="thresholds"):
        parse(json.dumps(raw | {"no_match_below": 0.6}))
    with pytest.raises(ValueError, match="features"):
        parse(json.dumps(raw | {"coefficients": {"magic": 1.0}}))


def test_features_stay_between_minus_one_and_one() -> None:
    for said in ("", "lock", LEAK.finding, "x" * 10_000, "锁", "`a`" * 500):
        values = text_features(said, LEAK.finding, [TIMING.finding])
        assert all(-1 <= value <= 1 for value in values), said[:10]


def test_recorded_answers_are_given_again_and_gaps_are_undecided() -> None:
    judge: Judge = Recorded("old/1", [judged("a#1", "leak", Verdict.MATCH, 0.7)])
    claims: list[Candidate] = [candidate("a#1", "x"), candidate("b#1", "y")]
    assert [answer.verdict for answer in judge.judge(claims, [LEAK])] == [Verdict.MATCH, Verdict.UNDECIDED]


def test_the_fit_recovers_known_coefficients() -> None:
    rng = random.Random(3)
    rows = [tuple(rng.random() for _ in NAMES) for _ in range(600)]
    weights = fit([(row, int(row[0] + row[3] > 1), 1.0) for row in rows])
    assert weights[1] > 3
    assert weights[4] > 3
    assert all(abs(weight) < 1.5 for at, weight in enumerate(weights) if at not in (0, 1, 4))


def test_a_threshold_is_chosen_for_its_neighbourhood_and_not_for_one_lucky_step() -> None:
    broad = {at / 100: 0.8 if 10 <= at <= 20 else 0.6 for at in range(1, 40)}
    assert 0.13 <= best_threshold(broad | {0.35: 0.9}) <= 0.17


def test_a_fit_needs_a_repository_to_leave_out() -> None:
    with pytest.raises(ValueError, match="two repositories or more; these are of none"):
        train([])


def test_the_order_of_words_tells_two_texts_of_the_same_words_apart() -> None:
    known = "The lock is taken before the queue is drained"
    swapped = "The queue is drained before the lock is taken"
    assert phrases.order_kept(known, known) > phrases.order_kept(swapped, known)
    assert phrases.phrases_shared(known, known) > phrases.phrases_shared(swapped, known)
    assert phrases.written_alike(known, known) == pytest.approx(1.0)
    assert phrases.written_alike(known, "") == phrases.order_kept("", known) == 0.0


def test_agreement_with_strong_models_on_repositories_it_was_not_fitted_on() -> None:
    folder = SHARED / "data" / "martian"
    if not folder.exists():
        pytest.skip(f"no {folder}: the shared reference material is not here")
    pulls = read(folder)
    shipped = resources.files("scoring.judges").joinpath("lexical_model.json").read_text(encoding="utf-8")
    assert model_text(train(pulls)) == shipped
    held_out = leave_one_out(pulls)
    assert len(held_out) == 3
    for judge in sorted({pull.judge for pull in pulls}):
        measured = agreement([pull for pull in pulls if pull.judge == judge], held_out.__getitem__)
        assert measured["kappa_found"] > 0.78
        assert measured["undecided"] < 0.06 * measured["goldens"]
        assert abs(measured["found_by_judge"] - measured["found_by_model"]) < 0.1 * measured["found_by_model"]
