"""A bundle judged: every trial a question, every answer on record, nothing asked twice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bot.judging.asking import Asked, Means, run_asks
from bot.judging.budget import Forecast, forecast
from bot.judging.trials import Contexts, Remembered, log_rows, questions, recall, remember
from scoring.bundle import Bundle, JudgementSet, TrialJudgements
from scoring.judges.asks import Ask, AskingJudge, Question, Unscored, Verdicts
from scoring.judges.base import Judge
from scoring.judges.llm import trusted
from scoring.judges.vendors import same_vendor
from scoring.model import CandidateId, Judgement, Verdict

Json = Any
UNTRUSTED = "untrusted_judge"


@dataclass(frozen=True, slots=True)
class Spent:
    """What one judging took just now; what was answered before costs nothing."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = 0.0
    """US dollars; None where a price is not known."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What a judge said of a bundle, and what it took to hear it."""

    said: JudgementSet
    spent: Spent = Spent()
    unscored: tuple[str, ...] = ()
    """Why which trial could not be judged, or not whole: `pull | reviewer: reason`."""


def judge_plainly(bundle: Bundle, judge: Judge) -> Judged:
    """Ask a judge that answers at once."""
    trials = tuple(
        TrialJudgements(one.pull, one.reviewer, tuple(judge.judge(one.candidates, one.goldens)))
        for one in questions(bundle)
    )
    return Judged(JudgementSet(judge.name, trials, {"calls": 0, "prompt_tokens": 0, "cost": 0.0}))


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be asked, once what is known is left out."""

    judge: AskingJudge
    trials: tuple[PlannedTrial, ...]

    @property
    def asks(self) -> tuple[Ask, ...]:
        """All calls, trial by trial."""
        return tuple(ask for trial in self.trials for ask in trial.asks)


@dataclass(frozen=True, slots=True)
class PlannedTrial:
    """One trial: what is known, and what is still to be asked."""

    question: Question
    """All of it."""
    known: Mapping[CandidateId, Remembered]
    rest: Question
    """The candidates of which nothing is known."""
    asks: tuple[Ask, ...]
    problem: str = ""
    """Why it cannot be asked."""


def plan_bundle(bundle: Bundle, judge: AskingJudge, means: Means, contexts: Contexts | None = None) -> Plan:
    """What judging a bundle takes. Asks nobody.

    Raises:
        ProfileError: a trial is about a golden pull request that the bundle does not hold.
    """
    return Plan(judge, tuple(_planned(judge, question, means) for question in questions(bundle, contexts)))


def _planned(judge: AskingJudge, question: Question, means: Means) -> PlannedTrial:
    known = recall(judge, question, means.replies)
    rest = replace(question, candidates=tuple(one for one in question.candidates if one.id not in known))
    try:
        return PlannedTrial(question, known, rest, judge.plan(rest))
    except ValueError as error:
        return PlannedTrial(question, known, rest, (), f"judge_out: {error}")


def forecast_of(plan: Plan, means: Means) -> Forecast:
    """What the calls that nobody has made yet will take."""
    fresh = {ask.key: ask for ask in plan.asks if means.replies.get(ask.key) is None}
    return forecast(fresh.values(), means.model)


def carry_out(bundle: Bundle, plan: Plan, means: Means) -> Judged:
    """Ask what was planned, and bring it together.

    Raises:
        BudgetError: a cost limit is set, and nobody knows what the model costs.
    """
    means.budget.check({ask.model for ask in plan.asks})
    answered = run_asks(plan.asks, plan.judge.read, means)
    by_trial, taken = [], 0
    for trial in plan.trials:
        by_trial.append((trial, answered[taken : taken + len(trial.asks)]))
        taken += len(trial.asks)
    merged = [_merged(plan.judge, trial, own, means) for trial, own in by_trial]
    return _judged(bundle, plan.judge, merged, answered)


@dataclass(frozen=True, slots=True)
class _Merged:
    trial: TrialJudgements
    flags: tuple[str, ...]
    calls: tuple[Json, ...]
    problem: str


def _merged(judge: AskingJudge, trial: PlannedTrial, asked: Sequence[Asked], means: Means) -> _Merged:
    """One trial whole again: what was known and what was just said, in the order of the candidates."""
    readings = tuple(one.reading for one in asked)
    problem = trial.problem or next((one.reason for one in readings if isinstance(one, Unscored)), "")
    merged: Verdicts | Unscored = Verdicts(())
    if trial.problem:
        merged = Unscored(trial.problem)
    elif asked:
        merged = judge.merge(trial.rest, readings)
    if isinstance(merged, Unscored):
        problem, merged = merged.reason, Verdicts(_undecided(trial.rest, judge.name, merged.reason))
    else:
        remember(judge, trial.rest, merged, asked, means.replies)
    said = {(one.candidate, one.golden): one for one in merged.judgements}
    said |= {(one.candidate, one.golden): one for kept in trial.known.values() for one in kept.judgements}
    ranked = [(c.id, g.id) for c in trial.question.candidates for g in trial.question.goldens]
    sound = set(merged.valid) | {identity for identity, kept in trial.known.items() if kept.valid}
    flags = [*merged.flags, *(f"{flag}: {name}" for name, kept in trial.known.items() for flag in kept.flags)]
    calls = [row for one in asked for row in log_rows(one)]
    calls += [row for kept in trial.known.values() for row in kept.calls]
    judgements = TrialJudgements(
        trial.question.pull,
        trial.question.reviewer,
        tuple(said[pair] for pair in ranked if pair in said),
        failed=problem if problem and not trial.known and not _any_read(asked) else "",
        valid=tuple(c.id for c in trial.question.candidates if c.id in sound) if _labels_valid(judge) else None,
    )
    return _Merged(judgements, tuple(dict.fromkeys(flags)), tuple({row["key"]: row for row in calls}.values()), problem)


def _any_read(asked: Sequence[Asked]) -> bool:
    return any(isinstance(one.reading, Verdicts) for one in asked)


def _labels_valid(judge: AskingJudge) -> bool:
    return bool(getattr(getattr(judge, "rubric", None), "labels_valid", True))


def _undecided(question: Question, judge: str, reason: str) -> tuple[Judgement, ...]:
    return tuple(
        Judgement(candidate.id, golden.id, Verdict.UNDECIDED, judge, reason)
        for candidate in question.candidates
        for golden in question.goldens
    )


# --- the record


def _judged(bundle: Bundle, judge: AskingJudge, merged: Sequence[_Merged], asked: Sequence[Asked]) -> Judged:
    calls = {row["key"]: (one.trial, row) for one in merged for row in one.calls}
    rows = [row for _, row in calls.values()]
    trust = trusted([Verdicts((), decoys_right=row["decoys_right"], decoys_wrong=row["decoys_wrong"]) for row in rows])
    warnings = [*_vendor_warnings(bundle, judge)]
    if trust.ok is False:
        warnings.append(f"the judge answered {trust.right} of {trust.right + trust.wrong} decoys rightly: not trusted")
    unscored = tuple(f"{one.trial.pull} | {one.trial.reviewer}: {one.problem}" for one in merged if one.problem)
    details = {
        **getattr(judge, "details", {}),
        **_sums(rows),
        "decoys_right": trust.right,
        "decoys_wrong": trust.wrong,
        "trusted": trust.ok,
        "warnings": warnings,
        "unscored": list(unscored),
        "flags": {f"{one.trial.pull}|{one.trial.reviewer}": list(one.flags) for one in merged if one.flags},
        "log": [{"pull": trial.pull, "reviewer": trial.reviewer, **row} for trial, row in calls.values()],
    }
    trials = tuple(one.trial if trust.ok is not False else _marked(one.trial) for one in merged)
    return Judged(JudgementSet(judge.name, trials, details), spent_on(asked), unscored)


def _marked(trial: TrialJudgements) -> TrialJudgements:
    marked = tuple(replace(one, evidence={**one.evidence, UNTRUSTED: 1.0}) for one in trial.judgements)
    return replace(trial, judgements=marked)


def _vendor_warnings(bundle: Bundle, judge: AskingJudge) -> Iterable[str]:
    model = str(getattr(judge, "model", ""))
    for reviewer in bundle.reviewers:
        if warning := same_vendor(model, reviewer.vendor):
            yield f"{reviewer.id}: {warning}"


def _sums(rows: Sequence[Mapping[str, Json]]) -> dict[str, Json]:
    """What everything that was said took, whenever it was paid for."""
    return {
        "calls": len(rows),
        "prompt_tokens": sum(row["prompt_tokens"] or 0 for row in rows),
        "completion_tokens": sum(row["completion_tokens"] or 0 for row in rows),
        "cost": _cost(row["cost"] for row in rows),
        "seconds": round(sum(row["seconds"] or 0.0 for row in rows), 3),
    }


def spent_on(asked: Iterable[Asked]) -> Spent:
    """What was paid for just now."""
    fresh = {call.ask.key: call.reply for one in asked for call in one.calls if not call.cached}
    return Spent(
        len(fresh),
        sum(reply.prompt_tokens or 0 for reply in fresh.values()),
        sum(reply.completion_tokens or 0 for reply in fresh.values()),
        _cost(reply.cost for reply in fresh.values()),
    )


def _cost(costs: Iterable[float | None]) -> float | None:
    total = 0.0
    for cost in costs:
        if cost is None:
            return None
        total += cost
    return round(total, 6)
