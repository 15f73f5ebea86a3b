"""Reviews and verdicts brought into one bundle."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bot.analysis import pooling
from bot.judging import choosing
from bot.judging.asking import Means
from bot.judging.choosing import Asking, Chosen, JudgeProblem
from bot.ports import Model
from bot.reviewers.choose import prompts_of
from bot.reviewers.record import of_round
from bot.studies.beside import Guests
from bot.studies.evidence import Heard, heard, rounds_of
from bot.studies.plan import Part, Study, bundle_pull
from bot.studies.record import PART, Condition, Record, written
from bot.studies.running import Outcome
from scoring.bundle import Bundle, BundleReviewer, Card, JudgementSet
from scoring.judges.rubrics import RUBRICS
from scoring.model import ReviewerId

Json = Any
_TIMES = ("seconds",)


def judges_of(study: Study, model: Model) -> tuple[Chosen, ...]:
    """The judges that a study names.

    Raises:
        StudyError: there is none of that name, it lacks what it needs, or it answers from a bundle.
    """
    found = []
    for at, entry in enumerate(study.judges):
        asking = Asking(entry.orders, decoys=entry.canaries, rubric=RUBRICS[entry.rubric])
        try:
            chosen = choosing.choose(entry.judge, model, asking)
        except JudgeProblem as error:
            raise study.wrong(("judges", at, "judge"), error) from None
        if isinstance(chosen, choosing.Stored):
            why = f"{entry.judge} answers from a bundle that is there already; a study makes its own"
            raise study.wrong(("judges", at, "judge"), why)
        found.append(chosen)
    return tuple(found)


def unjudged(study: Study, outcomes: Sequence[Outcome], guests: Guests) -> tuple[Bundle, Record]:
    """The evidence before anybody judged it."""
    rounds = {
        name: rounds_of(one.review for one in outcomes if one.planned.condition.id == name)
        for name in {one.planned.condition.id for one in outcomes}
    }
    told = [one for outcome in outcomes for one in _heard(study, outcome, rounds[outcome.planned.condition.id])]
    conditions = _in_order(study, {one.condition.id: _asked_with(one.condition) for one in told})
    bundle = _pooled([(part, [one for one in told if _of(study, part, one)]) for part in study.parts], study)
    known = tuple(BundleReviewer(one.id, one.spec) for one in conditions)
    bundle = replace(bundle, reviewers=(*known, *guests.reviewers), trials=(*bundle.trials, *guests.trials))
    record = Record(
        study.file.study,
        study.file.title,
        study.hash,
        (*conditions, *guests.conditions),
        (),
        tuple(part.suite.ref.id for part in study.parts),
        study.nested,
        tuple(one.took for one in told),
        study.file.seed,
        study.file.tolerances,
        study.file.notes,
    )
    return bundle, record


def _asked_with(condition: Condition) -> Condition:
    return replace(condition, asked_with=tuple(sorted(prompts_of(condition.spec).items())))


def _heard(study: Study, outcome: Outcome, rounds: Sequence[str]) -> Iterator[Heard]:
    planned = outcome.planned
    pull = study.named(planned.suite, planned.pull.id)
    return heard(pull, planned.condition, outcome.review, rounds=rounds, seconds=study.file.latency)


def _in_order(study: Study, there: Mapping[ReviewerId, Condition]) -> tuple[Condition, ...]:
    """The conditions as the study has them, each with its rounds before it."""
    found: list[Condition] = []
    for one in study.conditions:
        own = [other for name, other in there.items() if name.startswith(of_round(one.id, ""))]
        found += [*own, one]
    return tuple(found)


def _of(study: Study, part: Part, one: Heard) -> bool:
    return one.trial.pull in {study.named(part.suite.ref.id, pull.id) for pull in part.pulls}


def _pooled(parts: Sequence[tuple[Part, list[Heard]]], study: Study) -> Bundle:
    """One bundle. Where there are several suites their pull requests are called by their suite already."""
    bundles = [
        (
            part.suite.ref.id,
            Bundle(
                part.suite.ref,
                _card(part),
                tuple(bundle_pull(study, part.suite, pull) for pull in part.pulls),
                tuple(one.trial for one in told),
            ),
        )
        for part, told in parts
    ]
    if len(bundles) == 1:
        return bundles[0][1]
    # Under one suite's name nothing is prefixed again; the name of all is set afterwards.
    first = bundles[0][1].suite
    joined = pooling.pool([(name, replace(bundle, suite=first)) for name, bundle in bundles])
    whole = pooling.pool([(name, replace(bundle, pulls=(), trials=())) for name, bundle in bundles])
    return replace(joined, suite=whole.suite)


def _card(part: Part) -> Card:
    return Card(
        corpus=part.suite.title,
        labelled_by=part.suite.provenance or "the suite's authors",
        unit="one claim of a reviewer x one golden",
        not_proven=("other code has other defects",),
    )


# --- judging


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What the judges said, and what they could not."""

    sets: tuple[JudgementSet, ...]
    unscored: tuple[str, ...]
    warnings: tuple[str, ...]


def judged(bundle: Bundle, judges: Sequence[Chosen], means: Means, *, seconds: bool) -> Verdicts:
    """Ask every judge about the whole bundle.

    Raises:
        JudgeProblem: a judge cannot be asked, or two have one name.
        BudgetError: a limit cannot be kept.
    """
    sets: list[JudgementSet] = []
    unscored: list[str] = []
    for chosen in judges:
        made = choosing.judge_with(bundle, chosen, means)
        if made.said.judge in {one.judge for one in sets}:
            raise JudgeProblem(f"two judges of the study are both called {made.said.judge}; they cannot be told apart")
        sets.append(made.said if seconds else _timeless(made.said))
        unscored += [f"{made.said.judge}: {line}" for line in made.unscored]
    warnings = [str(line) for one in sets for line in one.details.get("warnings", ())]
    return Verdicts(tuple(sets), tuple(unscored), tuple(dict.fromkeys(warnings)))


def _timeless(said: JudgementSet) -> JudgementSet:
    """Without what was measured: no two runs take the same time."""
    return replace(said, details=_without_times(said.details))


def _without_times(value: Json) -> Json:
    if isinstance(value, Mapping):
        return {key: _without_times(one) for key, one in value.items() if key not in _TIMES}
    return [_without_times(one) for one in value] if isinstance(value, list | tuple) else value


def finished(bundle: Bundle, record: Record, sets: Sequence[JudgementSet]) -> Bundle:
    """The study's bundle."""
    whole = replace(record, judges=tuple(one.judge for one in sets))
    return replace(bundle, judgements=tuple(sets), extra={**bundle.extra, PART: written(whole)})
