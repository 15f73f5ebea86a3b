"""A model under test, asked: through the cache, the budget and the patience of all other calls, and counted."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from bot.judging.asking import Call
from bot.judging.budget import Forecast, answer_limit, most_cost, prompt_tokens
from bot.reviewers.answers import CUT_OFF, Answer, read
from bot.reviewers.means import ReviewMeans
from bot.reviewers.protocol import Change, Remark, Usage
from bot.reviewers.sheet import digest
from scoring.judges.asks import Ask, Message, Question, Reply, Unscored
from scoring.judges.reply import ReplyError
from scoring.model import PullId, ReviewerId

PROMPT_TOKENS = 24_000
"""How long a prompt may be where nobody knows the model's window."""
PROMPT_SHARE = 0.6
"""So much of a window may be prompt."""
ATTEMPTS = 2
"""How often a model is asked for an answer that can be read."""
LIKELY_ANSWER = 600
_SEED = 7
_NOTHING = Question(PullId(""), ReviewerId(""), (), ())
_OUT = "judge_out: "

FINDING_KEYS = (
    "path",
    "start_line",
    "end_line",
    "type",
    "severity",
    "description",
    "failing_input",
    "citation",
    "suggestion",
)
_FINDING: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": list(FINDING_KEYS),
    "properties": {
        **{key: {"type": "string"} for key in FINDING_KEYS},
        "start_line": {"type": "integer"},
        "end_line": {"type": "integer"},
        "type": {"type": "string", "enum": ["security", "bug", "performance", "architecture", "best_practice"]},
        "severity": {"type": "string", "enum": ["critical", "high", "medium", "low"]},
    },
}
FINDINGS: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["findings"],
    "properties": {"findings": {"type": "array", "items": _FINDING}},
}
"""The JSON Schema of a review."""
FREE: Mapping[str, Any] = {}
"""No schema: the answer is not constrained."""


@dataclass(slots=True)
class Tally:
    """What calls took, summed up."""

    usage: Usage = field(default_factory=Usage)

    def add(self, reply: Reply) -> None:
        """Count a call. What nobody knows the price of makes the sum unknown."""
        self.usage = together(
            self.usage,
            Usage(1, reply.prompt_tokens or 0, reply.completion_tokens or 0, reply.cost, reply.seconds or 0.0),
        )


def together(first: Usage, second: Usage) -> Usage:
    """Two usages as one."""
    cost = None if first.cost is None or second.cost is None else first.cost + second.cost
    return Usage(
        first.calls + second.calls,
        first.prompt_tokens + second.prompt_tokens,
        first.completion_tokens + second.completion_tokens,
        cost,
        first.seconds + second.seconds,
    )


@dataclass(frozen=True, slots=True)
class Said:
    """What became of asking."""

    remarks: tuple[Remark, ...] = ()
    invalid: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    failed: str = ""


@dataclass(frozen=True, slots=True)
class Talker:
    """One model, and how it is asked."""

    model: str
    means: ReviewMeans
    temperature: float
    tokens: int
    """The most tokens of an answer."""
    window: int | None = None
    """Tokens that prompt and answer may have, if the user says so."""

    @property
    def room(self) -> int:
        """How many tokens a prompt may have."""
        window = self.window or self._model().window(self.model)
        return PROMPT_TOKENS if window is None else int(window * PROMPT_SHARE)

    def _model(self) -> Any:
        assert self.means.asking is not None
        return self.means.asking.model

    def count(self, text: str) -> int:
        """About how many tokens a text is."""
        return int(self._model().count_tokens(self.model, text))

    def ask(self, messages: Sequence[Message], schema: Mapping[str, Any], attempt: int = 1) -> Ask:
        """A call. Its key is over all that decides the answer, the repetition included."""
        settings = {"temperature": self.temperature, "seed": _SEED + self.means.repeat, "max_tokens": self.tokens}
        content = [self.model, [asdict(one) for one in messages], dict(schema), settings, self.means.repeat]
        return Ask(
            digest("review", json.dumps(content, sort_keys=True)),
            self.model,
            tuple(messages),
            schema,
            settings,
            _NOTHING,
            {},
            attempt=attempt,
        )

    def say(self, ask: Ask, change: Change, tally: Tally, only: str | None = None) -> Said:
        """Make a call and read the answer; one that cannot be read is asked for again, with the reason."""
        problem = ""
        for attempt in range(1, ATTEMPTS + 1):
            call = self._call(ask)
            if isinstance(call, Unscored):
                return Said(failed=call.reason.removeprefix(_OUT))
            tally.add(call.reply)
            if only is not None and not call.reply.text.strip():
                return Said(invalid=(f"{only}: the answer is empty",))
            try:
                return _said(read(call.reply.text, change, only), call.reply, only)
            except ReplyError as error:
                problem = str(error)
            ask = self._again(ask, call.reply.text, problem, attempt + 1)
        return Said(failed=f"reply: {problem}")

    def _call(self, ask: Ask) -> Call | Unscored:
        assert self.means.caller is not None
        return self.means.caller.call(ask)

    def _again(self, ask: Ask, said: str, problem: str, attempt: int) -> Ask:
        told = f"That answer cannot be used: {problem}. Give the whole answer again, as JSON alone."
        more = (Message("assistant", said[:20_000] or "(nothing)"), Message("user", told))
        return self.ask((*ask.messages, *more), ask.schema, attempt)

    def forecast(self, asks: Iterable[Ask], times: int = 1) -> Forecast:
        """What these calls will take, each so many times. Those that are answered already cost nothing."""
        assert self.means.asking is not None
        model, kept = self.means.asking.model, self.means.asking.replies
        sizes = [(ask, prompt_tokens(ask, model)) for ask in asks if kept.get(ask.key) is None]
        likely = [model.price(self.model, size, min(answer_limit(ask), LIKELY_ANSWER)) for ask, size in sizes]
        most = [most_cost(ask, size, model) for ask, size in sizes]
        return Forecast(
            len(sizes) * times, sum(s for _, s in sizes) * times, _times(likely, times), _times(most, times)
        )


def _times(prices: Sequence[float | None], times: int) -> float | None:
    known = [price for price in prices if price is not None]
    return sum(known) * times if len(known) == len(prices) else None


def _said(answer: Answer, reply: Reply, only: str | None) -> Said:
    where = f"{only}: " if only is not None else ""
    cut = answer.cut_off or reply.finish == "length"
    unread = (f"{where}{CUT_OFF}",) if cut else ()
    return Said(answer.remarks, tuple(f"{where}{one}" for one in answer.invalid), unread)
