"""Judges by name: `lexical`, `deterministic`, `litellm:provider/model`, `panel:a,b`, `human:FILE`, `replay:NAME`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml

from bot.judging.asking import Means
from bot.judging.bundles import Judged, Plan, Spent, carry_out, judge_plainly, plan_bundle
from bot.judging.trials import Contexts, questions
from bot.ports import Model
from scoring.bundle import Bundle, JudgementSet
from scoring.judges import human
from scoring.judges.base import Judge
from scoring.judges.deterministic import DeterministicJudge
from scoring.judges.lexical import LexicalJudge
from scoring.judges.llm import LlmJudge
from scoring.judges.panel import panel
from scoring.judges.rubrics import MATCH, Rubric

JUDGES = ("lexical", "deterministic", "litellm:<provider/model>", "panel:<judge>,<judge>,...", "human:<file>")
FOR_BUNDLES = (*JUDGES, "replay:<judge in the bundle>")
_KINDS = ("lexical", "deterministic", "litellm", "panel", "human", "replay")
_FORMS: Mapping[str, human.Form] = {".json": "json", ".yaml": "yaml", ".yml": "yaml", ".csv": "csv"}
_LONGEST_NAME = 80
_MOST_PROMPT_TOKENS = 24_000
_ANSWER_SHARE = 0.6
"""So much of a small model's window may be prompt; the rest is for the answer."""


class JudgeProblem(ValueError):
    """A judge cannot be asked; the message says why and what would do."""


@dataclass(frozen=True, slots=True)
class Asking:
    """How a language model is asked."""

    orders: int = 1
    context: bool = False
    decoys: bool = True
    rubric: Rubric = MATCH


@dataclass(frozen=True, slots=True)
class Plain:
    """A judge that answers at once."""

    judge: Judge


@dataclass(frozen=True, slots=True)
class LanguageModel:
    """A judge that asks a language model."""

    judge: LlmJudge


@dataclass(frozen=True, slots=True)
class Panel:
    """Several judges; the majority decides."""

    members: tuple[Chosen, ...]


@dataclass(frozen=True, slots=True)
class Stored:
    """What a judge of that name said earlier, in the bundle."""

    name: str


@dataclass(frozen=True, slots=True)
class People:
    """Verdicts in a file."""

    file: Path


Chosen = Plain | LanguageModel | Panel | Stored | People


def choose(name: str, model: Model, asking: Asking | None = None) -> Chosen:
    """The judge of that name.

    Raises:
        JudgeProblem: there is none of that name, or it lacks what it needs.
    """
    kind, _, rest = name.partition(":")
    if kind == "litellm" and rest:
        return LanguageModel(_asking(rest, model, asking or Asking()))
    if kind == "panel" and rest:
        return Panel(_members(rest, model, asking))
    if kind == "human" and rest:
        return People(Path(rest))
    if kind == "replay" and rest:
        return Stored(rest)
    if name == "lexical":
        return Plain(LexicalJudge())
    if name == "deterministic":
        return Plain(DeterministicJudge())
    raise _unknown(name, kind)


def _unknown(name: str, kind: str) -> JudgeProblem:
    near = get_close_matches(kind, _KINDS, n=1)
    full = next((one for one in FOR_BUNDLES if near and one.partition(":")[0] == near[0]), "")
    hint = f"; did you mean {full}?" if full else "."
    short = name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}..."
    return JudgeProblem(f"there is no judge {short!r}{hint} Allowed: {', '.join(FOR_BUNDLES)}")


def _asking(name: str, model: Model, asking: Asking) -> LlmJudge:
    if (problem := model.missing_key(name)) is not None:
        raise JudgeProblem(f"litellm:{name} cannot be asked: {problem}; `lexical` needs no key")
    window = model.window(name)
    most = _MOST_PROMPT_TOKENS if window is None else min(_MOST_PROMPT_TOKENS, int(window * _ANSWER_SHARE))
    return LlmJudge(
        name,
        orders=asking.orders,
        context=asking.context,
        decoys=asking.decoys,
        max_prompt_tokens=most,
        rubric=asking.rubric,
    )


def _members(text: str, model: Model, asking: Asking | None) -> tuple[Chosen, ...]:
    names = [name.strip() for name in text.split(",")]
    if len(names) < 2 or len(set(names)) < len(names) or any(not name or name.startswith("panel") for name in names):
        raise JudgeProblem(f"panel:{text} is no panel: name two judges or more, each once, none of them a panel")
    return tuple(choose(name, model, asking) for name in names)


# --- judging


def judge_with(bundle: Bundle, chosen: Chosen, means: Means, contexts: Contexts | None = None) -> Judged:
    """What a judge says of a bundle.

    Raises:
        JudgeProblem: the bundle does not hold the judge, or a file of verdicts cannot be used.
        BudgetError: a limit cannot be kept.
        ProfileError: the bundle's parts do not fit together.
    """
    match chosen:
        case Plain(judge):
            return judge_plainly(bundle, judge)
        case LanguageModel(judge):
            return carry_out(bundle, plan_bundle(bundle, judge, means, contexts), means)
        case Stored(name):
            return Judged(stored(bundle, name))
        case People(file):
            return Judged(verdicts_in(file, bundle))
        case Panel(members):
            return _together([judge_with(bundle, one, means, contexts) for one in members])


def models_of(chosen: Chosen) -> frozenset[str]:
    """The language models that a judge asks."""
    if isinstance(chosen, Panel):
        return frozenset().union(*(models_of(one) for one in chosen.members))
    return frozenset({chosen.judge.model}) if isinstance(chosen, LanguageModel) else frozenset()


def plans(bundle: Bundle, chosen: Chosen, means: Means, contexts: Contexts | None = None) -> tuple[Plan, ...]:
    """What models will be asked, for an estimate before."""
    if isinstance(chosen, Panel):
        return tuple(plan for one in chosen.members for plan in plans(bundle, one, means, contexts))
    return (plan_bundle(bundle, chosen.judge, means, contexts),) if isinstance(chosen, LanguageModel) else ()


def _together(members: list[Judged]) -> Judged:
    costs = [one.spent.cost for one in members]
    known = [cost for cost in costs if cost is not None]
    spent = Spent(
        sum(one.spent.calls for one in members),
        sum(one.spent.prompt_tokens for one in members),
        sum(one.spent.completion_tokens for one in members),
        sum(known) if len(known) == len(costs) else None,
    )
    try:
        said = panel([one.said for one in members])
    except ValueError as error:
        raise JudgeProblem(str(error)) from None
    warnings = [line for one in members for line in one.said.details.get("warnings", ())]
    unscored = tuple(f"{one.said.judge}: {line}" for one in members for line in one.unscored)
    details: dict[str, Any] = {**said.details, "warnings": warnings, "unscored": list(unscored)}
    details["asked"] = {one.said.judge: dict(one.said.details) for one in members}
    return Judged(JudgementSet(said.judge, said.trials, details), spent, unscored)


def stored(bundle: Bundle, name: str) -> JudgementSet:
    """A judge in the bundle, by its name or by a beginning of it that is no other judge's.

    Raises:
        JudgeProblem: there is none.
    """
    by_name = {one.judge: one for one in bundle.judgements}
    if name in by_name:
        return by_name[name]
    begun = [judge for judge in by_name if judge.startswith(f"{name}/")]
    if len(begun) == 1:
        return by_name[begun[0]]
    near = begun or get_close_matches(name, by_name, n=1)
    hint = f"; did you mean {' or '.join(near)}?" if near else "."
    raise JudgeProblem(f"the bundle holds no judge {name!r}{hint} There is: {', '.join(sorted(by_name)) or 'none'}")


def verdicts_in(file: Path, bundle: Bundle) -> JudgementSet:
    """The verdicts of people, from a file.

    Raises:
        JudgeProblem: the file cannot be read or used; every problem is named with its line.
    """
    form = _FORMS.get(file.suffix.lower())
    if form is None:
        raise JudgeProblem(f"{file}: verdicts are read from {', '.join(_FORMS)}, not {file.suffix or 'this'}")
    known = {
        (one.pull, one.reviewer): ([c.id for c in one.candidates], [g.id for g in one.goldens])
        for one in questions(bundle)
    }
    try:
        return human.read(file.read_text(encoding="utf-8"), form, known, compose=_compose)
    except human.HumanError as error:
        raise JudgeProblem("\n".join(f"{file}: {problem}" for problem in error.problems)) from None
    except (OSError, UnicodeDecodeError) as error:
        raise JudgeProblem(f"{file}: cannot be read: {error}") from None


def _compose(text: str) -> Any:
    try:
        return yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from None
