"""Which two sets of judgements a calibration compares."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from bot.judging.adjudicating import HUMAN
from bot.judging.asking import Means
from bot.judging.bundles import judge_plainly
from bot.judging.choosing import Chosen, JudgeProblem, judge_with, stored, verdicts_in
from bot.judging.trials import Contexts
from scoring.bundle import Bundle, JudgementSet
from scoring.judges.lexical import LexicalJudge

_FILES = (".json", ".yaml", ".yml", ".csv")


def against(bundle: Bundle, judge: str, name: str | None) -> JudgementSet:
    """What a judge is measured by: a file of verdicts, a judge in the bundle, or the one that offers itself.

    Raises:
        JudgeProblem: there is none, or there are several and none was named.
    """
    if name is not None:
        file = Path(name.removeprefix("human:"))
        by_file = name.startswith("human:") or (file.suffix.lower() in _FILES and file.is_file())
        return verdicts_in(file, bundle) if by_file else stored(bundle, name.removeprefix("replay:"))
    others = {one.judge: one for one in bundle.judgements if not _same(one.judge, judge)}
    if HUMAN in others:
        return others[HUMAN]
    if len(others) == 1:
        return next(iter(others.values()))
    there = f"name one of {', '.join(sorted(others))}" if others else "the bundle holds no other judge; give a file"
    raise JudgeProblem(f"measure it against whom? --against NAME or FILE: {there}")


def _same(held: str, name: str) -> bool:
    wanted = name.removeprefix("replay:")
    return held == wanted or held.startswith(f"{wanted}/")


def measured(
    bundle: Bundle, name: str, choose: Callable[[], Chosen], means: Means, contexts: Contexts | None
) -> JudgementSet:
    """What the judge says: from the bundle where it holds the judge of that name, else asked now.

    Raises:
        JudgeProblem: there is no such judge, or it lacks what it needs.
        BudgetError: a limit cannot be kept.
    """
    if any(_same(one.judge, name) for one in bundle.judgements):
        return stored(bundle, name.removeprefix("replay:"))
    judged = judge_with(bundle, choose(), means, contexts)
    if judged.unscored and not any(one.judgements for one in judged.said.trials if not one.failed):
        raise JudgeProblem(f"{name} judged nothing: {judged.unscored[0]}")
    return judged.said


def plain_or_stored(bundle: Bundle, name: str) -> JudgementSet:
    """A judge in the bundle, or the one that can always be asked.

    Raises:
        JudgeProblem: there is none of that name.
    """
    if name == "lexical" and not any(_same(one.judge, name) for one in bundle.judgements):
        return judge_plainly(bundle, LexicalJudge()).said
    return stored(bundle, name)
