"""Models played by functions. The honest one sees what a real one sees: the messages and the schema, nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from scoring.judges.asks import Ask, AskingJudge, Question, Reply, Unscored, Verdicts
from scoring.model import Candidate, Golden, PullId, ReviewerId

Model = Callable[[Ask], Reply]
_WORD = re.compile(r"[a-z]{4,}|[一-龥]")


@dataclass(frozen=True, slots=True)
class Block:
    head: str
    text: str


def blocks(message: str) -> dict[str, Block]:
    """The items of a message, told apart by the marker on its first line alone."""
    marker, *lines = message.split("\n")
    found: dict[str, Block] = {}
    name, head, body = "", "", list[str]()
    for line in lines:
        if line.startswith(f"{marker} "):
            if name:
                found[name] = Block(head, "\n".join(body))
            name, _, head = line.removeprefix(f"{marker} ").partition(" ")
            body = []
        else:
            body.append(line)
    return found


def words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))


def same(candidate: str, golden: str) -> bool:
    """Whether a claim has most of a golden's words, and few besides."""
    shared, known, said = words(candidate) & words(golden), words(golden), words(candidate)
    return bool(known) and len(shared) >= 0.6 * len(known) and len(shared) >= 0.25 * len(said)


def opinion(ask: Ask) -> dict[str, list[str]]:
    """What an honest reader of the prompt thinks: candidate -> goldens."""
    found = blocks(ask.messages[1].content)
    goldens = {name: one for name, one in found.items() if name.startswith("g")}
    return {
        name: [golden for golden, known in goldens.items() if same(one.text, known.text)]
        for name, one in found.items()
        if name.startswith("c")
    }


def entries(ask: Ask) -> list[dict[str, Any]]:
    return [
        {
            "candidate": name,
            "golden": hits[0] if hits else "none",
            "also": hits[1:],
            "confidence": 0.9,
            "valid": not hits,
            "reason": "the same problem" if hits else "nothing of the sort",
        }
        for name, hits in opinion(ask).items()
    ]


def reply(text: str, finish: str = "stop") -> Reply:
    return Reply(text, "scripted", len(text) // 4, len(text) // 4, 0.0, 0.1, finish)


def written(listed: object) -> Reply:
    return reply(json.dumps({"verdicts": listed}, ensure_ascii=False))


def honest(ask: Ask) -> Reply:
    return written(entries(ask))


def sloppy(ask: Ask) -> Reply:
    """Words for booleans, percentages, keys nobody asked for, blanks round ids."""
    listed = [
        one
        | {
            "candidate": f" {one['candidate']} ",
            "valid": str(one["valid"]).upper(),
            "confidence": 85,
            "mood": "fine",
        }
        for one in entries(ask)
    ]
    return written(listed)


def truncating(ask: Ask) -> Reply:
    text = honest(ask).text
    return reply(text[: len(text) * 2 // 3], "length")


def fenced(ask: Ask) -> Reply:
    return reply(f"```json\n{honest(ask).text}\n```")


def chatty(ask: Ask) -> Reply:
    return reply(f"Sure! I looked at {{each}} of [them].\n\n{honest(ask).text}\n\nLet me know if [more] is {{needed}}.")


def thinking(ask: Ask) -> Reply:
    draft = json.dumps({"verdicts": [one | {"golden": "none", "also": []} for one in entries(ask)]})
    return reply(f"<think>First idea: {draft}. No, wait.</think>\n{honest(ask).text}")


def listing(ask: Ask) -> Reply:
    return reply(json.dumps(entries(ask)))


def one_by_one(ask: Ask) -> Reply:
    return reply("\n".join(json.dumps(one) for one in entries(ask)))


def wrong_id(ask: Ask) -> Reply:
    return written([one | {"golden": "gzzzz"} for one in entries(ask)])


def our_ids(ask: Ask) -> Reply:
    """Answers with the names that a reviewer could know."""
    return written([one | {"golden": "sql", "candidate": "review_comment/1#1"} for one in entries(ask)])


def forgetful(ask: Ask) -> Reply:
    return written(entries(ask)[1:])


def twice(ask: Ask) -> Reply:
    listed = entries(ask)
    return written([*listed, listed[0]])


def wavering(ask: Ask) -> Reply:
    other = json.dumps({"verdicts": [one | {"golden": "none", "also": []} for one in entries(ask)]})
    everything = json.dumps({"verdicts": [one | {"golden": _any(ask), "also": []} for one in entries(ask)]})
    return reply(f"{other}\n{everything}")


def refusing(ask: Ask) -> Reply:
    return reply("I cannot help with that.")


def dying(ask: Ask) -> Reply:
    return reply("", "error")


def hijacked(ask: Ask) -> Reply:
    """Does what the loudest text says: everything matches."""
    return written([one | {"golden": _any(ask), "also": [], "confidence": 1.0, "valid": True} for one in entries(ask)])


def lazy(ask: Ask) -> Reply:
    return written([one | {"golden": "none", "also": [], "reason": ""} for one in entries(ask)])


def after(attempts: int, first: Model, then: Model = honest) -> Model:
    """Plays one model for so many attempts, and another from then on."""
    return lambda ask: first(ask) if ask.attempt <= attempts else then(ask)


def _any(ask: Ask) -> str:
    return next(name for name in ask.offered if name.startswith("g"))


def question(
    candidates: tuple[Candidate, ...],
    goldens: tuple[Golden, ...],
    context: Mapping[str, str] | None = None,
    reviewer: str = "acme",
) -> Question:
    return Question(PullId("p1"), ReviewerId(reviewer), candidates, goldens, context or {})


@dataclass
class Carrier:
    """Carries a judge's questions to a model, and keeps what went over the wire."""

    model: Model
    asked: list[Ask]

    def settle(self, judge: AskingJudge, of: Question) -> Verdicts | Unscored:
        readings = tuple(self._one(judge, ask) for ask in judge.plan(of))
        return judge.merge(of, readings)

    def _one(self, judge: AskingJudge, ask: Ask) -> Verdicts | Unscored:
        while True:
            self.asked.append(ask)
            reading = judge.read(ask, self.model(ask))
            if not isinstance(reading, Ask):
                return reading
            ask = reading


def settle(judge: AskingJudge, of: Question, model: Model = honest) -> Verdicts:
    result = Carrier(model, []).settle(judge, of)
    assert isinstance(result, Verdicts), result
    return result
