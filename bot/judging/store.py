"""Judging a bundle that lies on a disk: open, estimate, judge, add."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bot.judging import choosing
from bot.judging.asking import Means
from bot.judging.budget import Budget, Forecast, Limits
from bot.judging.bundles import forecast_of
from bot.judging.choosing import Chosen, JudgeProblem
from bot.judging.keeping import keep
from bot.judging.trials import Contexts
from bot.ports import Model, Replies
from scoring.bundle import Bundle, JudgementSet, load
from scoring.model import Report
from scoring.profiles import replay

Json = Any
CACHE = "judge-cache.db"
"""Beside the bundles, so that whoever judges one of them again finds what was paid for."""


def cache_of(bundle: Path) -> Path:
    """Where the answers about a bundle are kept."""
    return bundle.resolve().parent / CACHE


def means_of(
    model: Model,
    replies: Replies,
    limits: Limits,
    *,
    sleep: Callable[[float], None] = time.sleep,
    concurrency: int = 4,
    account: str = "",
) -> Means:
    """What asking takes, in a real process. With an account, what it paid before counts as well."""
    budget = Budget(limits, model, replies.spent(account) if account else 0.0)
    return Means(model, replies, budget, sleep, time.monotonic, concurrency, account=account)


@dataclass(frozen=True, slots=True)
class Live:
    """A run's bundle, judged and counted."""

    report: Report
    said: JudgementSet


def judge_run(folder: Path, chosen: Chosen, means: Means) -> Live:
    """Judge a run's bundle with a judge that has to ask, add what it said, and count.

    Killed at any moment and done again, it asks nothing twice and comes to the same.

    Raises:
        JudgeProblem: a live run cannot be judged by this judge.
        BudgetError: a limit cannot be kept.
    """
    bundle = load(lambda name: (folder / name).read_bytes())
    judged = choosing.judge_with(bundle, chosen, means)
    keep(folder, [judged.said], replace=True)
    return Live(_counted(bundle, judged.said), judged.said)


def _counted(bundle: Bundle, said: JudgementSet) -> Report:
    others = tuple(one for one in bundle.judgements if one.judge != said.judge)
    return replay.report(replace(bundle, judgements=(*others, said)), said.judge)


def forecasts(bundle: Bundle, chosen: Chosen, means: Means, contexts: Contexts | None) -> Forecast:
    """What judging will take, over all models."""
    total = Forecast(0, 0, 0.0, 0.0)
    for plan in choosing.plans(bundle, chosen, means, contexts):
        one = forecast_of(plan, means)
        total = Forecast(
            total.calls + one.calls,
            total.prompt_tokens + one.prompt_tokens,
            _plus(total.likely_cost, one.likely_cost),
            _plus(total.most_cost, one.most_cost),
        )
    return total


def _plus(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else first + second


def again_allowed(bundle: Bundle, name: str, again: bool) -> bool:
    """Whether a judge's set may be replaced: it was asked for, or the set is unfinished and this goes on with it."""
    held = next((one for one in bundle.judgements if one.judge == name), None)
    return again or (held is not None and bool(held.details.get("unscored")))


def name_of(chosen: Chosen) -> str:
    """What a judge's set will be called, where that is known before; empty where not."""
    if isinstance(chosen, choosing.Plain | choosing.LanguageModel):
        return chosen.judge.name
    return ""


def for_a_run(chosen: Chosen, name: str) -> Chosen:
    """A judge that a live run may have.

    Raises:
        JudgeProblem: it answers from files of this machine, which whoever asks for a run may not name.
    """
    members = chosen.members if isinstance(chosen, choosing.Panel) else (chosen,)
    if any(isinstance(one, choosing.Stored | choosing.People) for one in members):
        raise JudgeProblem(f"{name} is for stored bundles; a run is judged by lexical or litellm:<provider/model>")
    return chosen
