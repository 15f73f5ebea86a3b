"""What a judge costs: one call for a trial against one call for each candidate x golden, on published reviews.

The pairwise prompt is in our own words and about as long as those in use (instructions, both texts, and a JSON object
with reasoning, match and confidence). Tokens are counted by litellm for one model. The reviews are the shared Martian
files; without them there is nothing to measure.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from typing import Any

from goldens.importers import FORMATS
from scoring.judges.asks import Ask, Question
from scoring.judges.llm import LlmJudge
from scoring.profiles.base import claims
from tests.bench.table import Row
from tests.shared import SHARED

MODEL = "gpt-4o"
CALLS, TOKENS = 1 / 8, 1 / 4
SYSTEM = "You evaluate code review comments with care. Always answer with one valid JSON object and nothing else."
BEFORE = (
    "You are evaluating tools that review code. Decide whether a candidate comment from a tool and a golden comment, "
    "which is known to be right, describe the same issue.\n\nGolden comment (what should have been found):\n"
)
BETWEEN = "\n\nCandidate comment (what the tool said):\n"
AFTER = """

How to decide:
- They match if they point at the same underlying problem, concern or bug in the code
- Different words are fine as long as the meaning is the same
- If only the topic or the place is shared, they do not match

Answer with ONLY a JSON object of this form:
{"reasoning": "a brief explanation", "match": true or false, "confidence": a number from 0.0 to 1.0}"""


def run() -> list[Row]:
    folder = SHARED / "data" / "martian"
    if not folder.exists():
        sys.stderr.write(f"nothing is measured: {folder} is not here\n")
        return []
    count = counter()
    rows: list[Row] = []
    for judge in sorted(one.name for one in folder.iterdir() if (one / "evaluations.json").exists()):
        questions = list(published(judge))
        rows += compare(judge, questions, count)
    return rows


def compare(name: str, questions: list[Question], count: Callable[[list[dict[str, str]]], int]) -> list[Row]:
    judge = LlmJudge(MODEL, decoys=False)
    asks = [ask for question in questions for ask in judge.plan(question)]
    pairs = [messages for question in questions for messages in pairwise(question)]
    ours = sum(count(messages_of(ask)) for ask in asks)
    schemas = sum(count([{"role": "system", "content": json.dumps(ask.schema)}]) for ask in asks)
    theirs = sum(map(count, pairs))
    checked = [ask for question in questions for ask in LlmJudge(MODEL).plan(question)]
    canaries = sum(count(messages_of(ask)) for ask in checked)
    return [
        Row(f"{name}: calls; against: pairwise", len(asks), "calls", len(pairs), CALLS * len(pairs)),
        Row("- prompt tokens", ours, "tokens", theirs, TOKENS * theirs),
        Row("- with the schema of the answer counted too", ours + schemas, "tokens", theirs),
        Row("- prompt tokens with decoys", canaries, "tokens", theirs),
    ]


def published(judge: str) -> Iterator[Question]:
    """The trials of the published reviews, with the candidates that this judge was given."""
    bundle = FORMATS["martian"].read(SHARED / "data" / "martian")
    details = next(one.details for one in bundle.judgements if one.judge == judge)
    lists = details.get("candidates", {})
    for pull, trial, taken in claims(bundle):
        key = f"{trial.pull}|{trial.reviewer}"
        listed = set(lists[key]) if key in lists else {one.id for one in taken}
        own = tuple(one for one in taken if one.id in listed)
        yield Question(trial.pull, trial.reviewer, own, pull.goldens)


def pairwise(question: Question) -> Iterator[list[dict[str, str]]]:
    for golden in question.goldens:
        for candidate in question.candidates:
            asked = "".join([BEFORE, golden.finding, BETWEEN, candidate.text, AFTER])
            yield [{"role": "system", "content": SYSTEM}, {"role": "user", "content": asked}]


def messages_of(ask: Ask) -> list[dict[str, str]]:
    return [{"role": one.role, "content": one.content} for one in ask.messages]


def counter() -> Callable[[list[dict[str, str]]], int]:
    """litellm's counter of tokens, imported without reaching for the network."""
    import os

    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    os.environ.setdefault("LITELLM_MODE", "PRODUCTION")
    import litellm

    count: Any = litellm.token_counter
    return lambda messages: int(count(model=MODEL, messages=messages))
