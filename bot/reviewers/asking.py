"""The reviewers that ask a model, made from their options."""

from __future__ import annotations

from bot.reviewers.means import ReviewMeans
from bot.reviewers.options import COLD, Options, ReviewerProblem
from bot.reviewers.protocol import Reviewer
from bot.reviewers.single_shot import Reflexion, SingleShot
from bot.reviewers.talking import Talker
from bot.reviewers.whole_files import COLD_TOKENS, Cold, Raw

ANSWER_TOKENS = 4_096
ROUNDS = 2
_SHARED = ("temperature", "tokens", "window")


def make(spec: str, kind: str, model: str, options: Options, means: ReviewMeans) -> Reviewer:
    """A reviewer that asks a model.

    Raises:
        ReviewerProblem: the model cannot be asked, or an option cannot be.
        BudgetError: a cost limit is set, and nobody knows what the model costs.
    """
    own = {"single-shot": ("context",), "reflexion": ("context", "rounds", "stop"), "cold": ("prompt",), "raw": ()}
    options.only(*own[kind], *_SHARED)
    talker = _talker(kind, model, options, means)
    context = options.yes("context", means.context) if "context" in own[kind] else False
    if kind == "single-shot":
        return SingleShot(spec, talker, context)
    if kind == "reflexion":
        stop = options.word("stop", "unchanged", ("unchanged", "never"))
        return Reflexion(spec, talker, options.whole("rounds", ROUNDS, 0, 10), stop == "unchanged", context)
    if kind == "raw":
        return Raw(spec, talker)
    return Cold(spec, talker, options.word("prompt", COLD[0], COLD), means.admit)


def _talker(kind: str, model: str, options: Options, means: ReviewMeans) -> Talker:
    if means.asking is None:
        raise ReviewerProblem(f"{kind}:{model} asks a model, and none can be asked here; `static` needs none")
    if (problem := means.asking.model.missing_key(model)) is not None:
        raise ReviewerProblem(f"{kind}:{model} cannot be asked: {problem}; `static` needs no key")
    means.asking.budget.check({model})
    return Talker(
        model,
        means,
        options.number("temperature", means.temperature, 0, 2),
        options.whole("tokens", COLD_TOKENS if kind == "cold" else ANSWER_TOKENS, 16, 200_000),
        options.whole("window", 0, 0, 10_000_000) or None,
    )
