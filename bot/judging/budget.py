"""What judging may cost: estimated before, kept during."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from bot.ports import Model
from scoring.judges.asks import Ask

MOST_ANSWER_TOKENS = 4096
"""How long an answer can be where the ask sets no limit."""
_TOKENS_PER_VERDICT = 60
_COUNT_MARGIN = 1.25
"""Models count tokens differently; so many times our count is set aside."""


Charge = float | None | Literal["nothing"]
"""What a call cost; None: it may have been charged and nobody knows what; `nothing`: it was not worked on."""


class BudgetError(ValueError):
    """A limit cannot be kept; the message says which and what would do."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that one judging may take; None: no limit."""

    max_cost: float | None = None
    """US dollars."""
    max_calls: int | None = None


@dataclass(frozen=True, slots=True)
class Forecast:
    """What the calls that are still to be made will take."""

    calls: int
    prompt_tokens: int
    likely_cost: float | None
    """US dollars at list price, with answers as long as such answers are; None where no price is known."""
    most_cost: float | None
    """The same with answers as long as they may be, and without malformed ones that are asked again."""


def prompt_tokens(ask: Ask, model: Model) -> int:
    """About how many tokens a call sends, its schema included."""
    text = "\n".join(message.content for message in ask.messages)
    return model.count_tokens(ask.model, text) + model.count_tokens(ask.model, json.dumps(ask.schema))


def answer_limit(ask: Ask) -> int:
    """How many tokens the answer may have."""
    return int(ask.parameters.get("max_tokens", MOST_ANSWER_TOKENS))


def forecast(asks: Iterable[Ask], model: Model) -> Forecast:
    """What these calls will take."""
    sizes = [(ask, prompt_tokens(ask, model)) for ask in asks]
    likely = [min(answer_limit(ask), _TOKENS_PER_VERDICT * max(1, len(ask.offered))) for ask, _ in sizes]
    return Forecast(
        len(sizes),
        sum(size for _, size in sizes),
        _sum(model.price(ask.model, size, answer) for (ask, size), answer in zip(sizes, likely, strict=True)),
        _sum(most_cost(ask, size, model) for ask, size in sizes),
    )


def most_cost(ask: Ask, tokens: int, model: Model) -> float | None:
    """US dollars that a call with so many prompt tokens can cost; None where no price is known."""
    return model.price(ask.model, math.ceil(tokens * _COUNT_MARGIN), answer_limit(ask))


def _sum(prices: Iterable[float | None]) -> float | None:
    total = 0.0
    for price in prices:
        if price is None:
            return None
        total += price
    return total


@dataclass(frozen=True, slots=True)
class Slot:
    """The leave to make one call."""

    most: float
    """What is set aside for it."""


class Budget:
    """Hands out the leave to call. What a call can cost at most is set aside while it is under way."""

    def __init__(self, limits: Limits, model: Model, spent: float = 0.0) -> None:
        """Start with what was spent before."""
        self._limits = limits
        self._model = model
        self._changed = threading.Condition()
        self._aside = 0.0
        self._under_way = 0
        self.calls = 0
        """Calls that were made and may have been charged."""
        self.cost = spent

    def check(self, models: Iterable[str]) -> None:
        """Make sure that the limits can be kept.

        Raises:
            BudgetError: a cost limit is set, and nobody knows what a model costs.
        """
        if self._limits.max_cost is None:
            return
        for name in models:
            if self._model.price(name, 1, 1) is None:
                raise BudgetError(f"no price of {name} is known, so a cost limit cannot be kept; limit the calls")

    def take(self, ask: Ask) -> Slot | str:
        """The leave to make a call, once there is room for it; or why there is none.

        While other calls are under way it waits for them: most of what is set aside for them comes back.
        """
        most = self._most(ask)
        with self._changed:
            while problem := self._short(most):
                if not self._under_way:
                    return problem
                self._changed.wait()
            self._aside += most
            self._under_way += 1
            return Slot(most)

    def _most(self, ask: Ask) -> float:
        if self._limits.max_cost is None:
            return 0.0
        return most_cost(ask, prompt_tokens(ask, self._model), self._model) or 0.0

    def _short(self, most: float) -> str:
        max_calls, max_cost = self._limits.max_calls, self._limits.max_cost
        if max_calls is not None and self.calls + self._under_way >= max_calls:
            return f"budget: all {max_calls} calls are used"
        if max_cost is not None and self.cost + self._aside + most > max_cost:
            left = max(0.0, max_cost - self.cost)
            return f"budget: ${left:.4f} of ${max_cost:.2f} are left, and the call could cost ${most:.4f}"
        return ""

    def give_back(self, slot: Slot, charged: Charge) -> None:
        """Say what became of a call. Where nobody knows what it cost, all that was set aside counts as spent."""
        with self._changed:
            self._aside -= slot.most
            self._under_way -= 1
            if charged != "nothing":
                self.calls += 1
                self.cost += slot.most if charged is None else charged
            self._changed.notify_all()
