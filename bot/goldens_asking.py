"""Models asked in plain text about many things at once: what it will take first, then the answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bot.adapters.llm import LiteLlm
from bot.adapters.replies import SqliteReplies
from bot.judging import choosing
from bot.judging.asking import Means, Progress, run_asks
from bot.judging.asking_text import text_ask
from bot.judging.budget import Forecast, Limits, forecast
from bot.judging.choosing import JudgeProblem
from bot.judging.store import means_of
from scoring.judges.asks import Ask, Reply, Unscored, Verdicts

Usable = Callable[[str], str]
"""Takes a reply; what is wrong with its form, or nothing."""
_AGAIN = "\n\nYour answer before this one could not be used: {}. Answer in the form that was asked for.\n"


class NotAgreed(Exception):
    """Asking would cost something, and nobody said that it may."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What asking may take."""

    limits: Limits
    yes: bool
    """Go ahead without a limit."""
    announce: Callable[[Forecast], None]
    """Takes what it will take, before anything is spent."""
    progress: Progress

    def agree(self, found: Forecast) -> None:
        """Say what it will take.

        Raises:
            NotAgreed: it is not for nothing, has no limit, and nobody said yes.
        """
        self.announce(found)
        limited = self.limits.max_cost is not None or self.limits.max_calls is not None
        if found.calls and not (self.yes or limited):
            raise NotAgreed("nothing was asked: say --yes, or limit it with --max-cost or --max-calls")


@dataclass(frozen=True, slots=True)
class Question:
    """A prompt, and the JSON Schema of its answer."""

    prompt: str
    schema: Mapping[str, Any]


class Panel:
    """Models that are ready to be asked."""

    def __init__(self, models: Sequence[str], means: Means, terms: Terms) -> None:
        self.models = tuple(models)
        self._means = means
        self._terms = terms

    def ask(self, questions: Sequence[Question], usable: Usable) -> list[tuple[str | Unscored, ...]]:
        """What every model answers to each question, in the order of the models.

        Raises:
            NotAgreed: see `Terms`.
            BudgetError: a limit cannot be kept.
        """
        asks = [text_ask(model, one.prompt, one.schema) for one in questions for model in self.models]
        fresh = {ask.key: ask for ask in asks if self._means.replies.get(ask.key) is None}
        self._terms.agree(forecast(fresh.values(), self._means.model))
        self._means.budget.check(set(self.models))
        texts = [_text_of(one.reading, one.calls) for one in run_asks(asks, _reader(usable), self._means)]
        width = len(self.models)
        return [tuple(texts[at : at + width]) for at in range(0, len(texts), width)]


def _reader(usable: Usable) -> Callable[[Ask, Reply], Ask | Unscored | Verdicts]:
    def read(ask: Ask, reply: Reply) -> Ask | Unscored | Verdicts:
        wrong = usable(reply.text)
        if not wrong:
            return Verdicts(())
        if ask.attempt > 1:
            return Unscored(f"judge_reply: {wrong}")
        again = text_ask(ask.model, ask.messages[0].content + _AGAIN.replace("{}", wrong), ask.schema)
        return replace(again, attempt=2)

    return read


def _text_of(reading: Verdicts | Unscored, calls: Sequence[Any]) -> str | Unscored:
    return reading if isinstance(reading, Unscored) else str(calls[-1].reply.text)


@contextmanager
def panel(
    names: Sequence[str], cache: Path, terms: Terms, *, api_base: str | None, concurrency: int
) -> Iterator[Panel]:
    """The named models, ready; their answers are kept in a file.

    Raises:
        JudgeProblem: a name is no model's, stands twice, or lacks its key.
    """
    llm = LiteLlm(api_base)
    models = [_model(name, llm) for name in names]
    if len(set(models)) < len(models):
        raise JudgeProblem(f"{', '.join(names)}: name different models; one model is one opinion")
    replies = SqliteReplies(cache)
    try:
        means = means_of(llm, replies, terms.limits, concurrency=concurrency)
        yield Panel(models, replace(means, progress=terms.progress), terms)
    finally:
        replies.close()


def _model(name: str, llm: LiteLlm) -> str:
    chosen = choosing.choose(name, llm)
    if not isinstance(chosen, choosing.LanguageModel):
        raise JudgeProblem(f"only a language model can be asked this: litellm:<provider/model>, and {name!r} is none")
    return chosen.judge.model
