"""The models that a study asks: scripts that stand in for one, and the others, with the prices that the study gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bot.ports import Json, Model, Replies
from bot.studies.schema import PriceEntry
from bot.studies.scripted import PREFIX, Scripted
from scoring.ensembles import cost_of
from scoring.judges.asks import Ask, Reply


class StudyModel:
    """Implements `bot.ports.Model`: names that begin with `scripted/` are answered here, and ask nobody."""

    def __init__(self, others: Model, prices: Mapping[str, PriceEntry]) -> None:
        self._others = others
        self._scripted = Scripted()
        self._prices = prices

    def complete(self, ask: Ask) -> Reply:
        """One call, answered by whoever bears the name."""
        reply = self._of(ask.model).complete(ask)
        # What the study says of a price goes before what a list says.
        return replace(reply, cost=None) if ask.model in self._prices else reply

    def count_tokens(self, model: str, text: str) -> int:
        """About how many tokens a text is."""
        return self._of(model).count_tokens(model, text)

    def price(self, model: str, prompt_tokens: int, completion_tokens: int) -> float | None:
        """US dollars; what the study says goes before any list."""
        own = self._prices.get(model)
        if own is None:
            return self._of(model).price(model, prompt_tokens, completion_tokens)
        return cost_of(prompt_tokens, completion_tokens, own.input, own.output)

    def window(self, model: str) -> int | None:
        """How many tokens a prompt may have."""
        return self._of(model).window(model)

    def missing_key(self, model: str) -> str | None:
        """What keeps the model from being asked."""
        return self._of(model).missing_key(model)

    def _of(self, model: str) -> Model:
        return self._scripted if model.startswith(PREFIX) else self._others


class Answers:
    """Implements `bot.ports.Replies` over another, and remembers answers alone, not what was read of each claim.

    So a study that is run again reads the same answers in the same way, and its record is the same to the byte.
    """

    def __init__(self, kept: Replies) -> None:
        self._kept = kept

    def get(self, key: str) -> Reply | None:
        """The answer to an ask."""
        return self._kept.get(key)

    def put(self, key: str, reply: Reply, account: str = "") -> None:
        """Keep an answer."""
        self._kept.put(key, reply, account)

    def spent(self, account: str) -> float:
        """US dollars that an account has paid."""
        return self._kept.spent(account)

    def verdicts(self, key: str) -> Json | None:
        """Nothing."""
        return None

    def keep_verdicts(self, key: str, said: Json) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Let the file go."""
        self._kept.close()
