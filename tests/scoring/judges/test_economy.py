from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from scoring.judges.asks import Question, Verdicts
from scoring.judges.llm import LlmJudge
from scoring.model import Verdict
from tests.bench.bench_judge_calls import CALLS, TOKENS, messages_of, pairwise, published
from tests.bench.judged import WORDS
from tests.scoring.judges.models import Carrier, honest, question
from tests.scoring.make import candidate, golden
from tests.shared import SHARED


def tokens(messages: list[dict[str, str]]) -> int:
    """About as many as a model's own counter gives: four characters each, and a few for each message."""
    return sum(len(one["content"]) // 4 + 4 for one in messages)


def made_up(trials: int) -> Iterator[Question]:
    """Trials of a usual size: three goldens, five claims, some of them the goldens in almost the same words."""
    rng = Random(3)
    nouns = [
        f"{first}{last}" for first in ("cache", "token", "queue", "socket") for last in ("Reader", "Writer", "Pool")
    ]
    for number in range(trials):
        goldens = [f"{rng.choice(nouns)} {' '.join(rng.choices(WORDS, k=22))} {rng.choice(nouns)}" for _ in range(3)]
        claims = [f"Careful: {goldens[0]}", *(" ".join(rng.choices(WORDS + nouns, k=25)) for _ in range(4))]
        yield question(
            tuple(candidate(f"c#{number}.{at}", text) for at, text in enumerate(claims)),
            tuple(golden(f"g{at}", text) for at, text in enumerate(goldens)),
        )


def pair_by_pair(of: Question) -> set[tuple[str, str]]:
    """What the same honest model says when it sees one claim and one golden at a time."""
    judge = LlmJudge("m", decoys=False)
    found: set[tuple[str, str]] = set()
    for one in of.candidates:
        for known in of.goldens:
            answer = Carrier(honest, []).settle(judge, Question(of.pull, of.reviewer, (one,), (known,)))
            assert isinstance(answer, Verdicts)
            found |= {(said.candidate, said.golden) for said in answer.judgements if said.verdict is Verdict.MATCH}
    return found


def economical(questions: list[Question]) -> int:
    """One call a trial against one a pair: an eighth of the calls, a quarter of the tokens, the same verdicts."""
    judge = LlmJudge("m", decoys=False)
    calls = ours = pairs = theirs = matches = 0
    for of in questions:
        carrier = Carrier(honest, [])
        found = carrier.settle(judge, of)
        assert isinstance(found, Verdicts)
        matched = {(one.candidate, one.golden) for one in found.judgements if one.verdict is Verdict.MATCH}
        assert matched == pair_by_pair(of)
        matches += len(matched)
        calls += len(carrier.asked)
        ours += sum(tokens(messages_of(ask)) for ask in carrier.asked)
        asked = [tokens(messages) for messages in pairwise(of)]
        pairs, theirs = pairs + len(asked), theirs + sum(asked)
    assert calls <= CALLS * pairs
    assert ours <= TOKENS * theirs
    return matches


def test_one_call_a_trial_costs_an_eighth_of_the_calls_and_a_quarter_of_the_tokens() -> None:
    assert economical(list(made_up(40))) > 30


def test_so_it_is_on_published_reviews() -> None:
    folder = SHARED / "data" / "martian"
    if not folder.exists():
        pytest.skip(f"no published reviews under {folder}: the shared reference material is not here")
    name = next(one.name for one in sorted(folder.iterdir()) if (one / "evaluations.json").exists())
    assert economical(list(published(name))[::4]) > 5
