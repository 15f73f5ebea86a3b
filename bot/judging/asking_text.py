"""A model asked in plain text: prompt in, reply out, with the cache, the patience and the budget of all other calls."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from bot.judging.asking import Caller, Means
from scoring.judges.asks import Ask, Message, Question, Unscored
from scoring.model import PullId, ReviewerId

_PARAMETERS = {"temperature": 0, "seed": 7, "max_tokens": 1024}


def asking_text(model: str, schema: Mapping[str, Any], means: Means) -> Callable[[str], str | Unscored]:
    """A function that asks the model.

    Args:
        model: `provider/model`.
        schema: The JSON Schema of the answer.
        means: What asking takes.

    Raises:
        BudgetError: a cost limit is set, and nobody knows what the model costs.
    """
    means.budget.check({model})
    caller = Caller(means)

    def asked(prompt: str) -> str | Unscored:
        answer = caller.call(text_ask(model, prompt, schema))
        return answer if isinstance(answer, Unscored) else answer.reply.text

    return asked


def text_ask(model: str, prompt: str, schema: Mapping[str, Any]) -> Ask:
    """The call that sends a prompt; its key is over all that decides the answer."""
    message = Message("user", prompt)
    content = json.dumps([model, asdict(message), dict(schema), _PARAMETERS], sort_keys=True)
    key = hashlib.sha256(content.encode()).hexdigest()
    nothing = Question(PullId(""), ReviewerId(""), (), ())
    return Ask(key, model, (message,), schema, _PARAMETERS, nothing, {})
