"""People and judges: which pairs need a person, and what becomes of a judge's verdicts once a person has spoken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from scoring.bundle import JudgementSet, TrialJudgements
from scoring.model import CandidateId, GoldenId, Judgement, PullId, ReviewerId, Verdict

Json = Any
Pair = tuple[CandidateId, GoldenId]
_HISTORY = "history"


@dataclass(frozen=True, slots=True)
class OpenPair:
    """A pair that no judge decided, or about which judges differ."""

    pull: PullId
    reviewer: ReviewerId
    candidate: CandidateId
    golden: GoldenId
    said: Mapping[str, Judgement]
    """What each judge said, by the judge's name."""

    @property
    def disputed(self) -> bool:
        """Whether judges gave different verdicts, and not only none."""
        return len({one.verdict for one in self.said.values()} - {Verdict.UNDECIDED}) > 1


def open_pairs(sets: Sequence[JudgementSet]) -> tuple[OpenPair, ...]:
    """The pairs worth a person's time: first those that judges dispute, then the undecided, by their ids."""
    said: dict[tuple[PullId, ReviewerId, CandidateId, GoldenId], dict[str, Judgement]] = {}
    for judged in sets:
        for trial in judged.trials:
            for one in trial.judgements:
                said.setdefault((trial.pull, trial.reviewer, one.candidate, one.golden), {})[judged.judge] = one
    found = [OpenPair(*key, own) for key, own in sorted(said.items())]
    undecided = [one for one in found if not one.disputed and _nobody_knows(one)]
    return (*(one for one in found if one.disputed), *undecided)


def _nobody_knows(pair: OpenPair) -> bool:
    return all(one.verdict is Verdict.UNDECIDED for one in pair.said.values())


def overridden(judged: JudgementSet, people: JudgementSet) -> JudgementSet:
    """A judge's verdicts with people's in their place, as a set of its own: the judge's stays what it was.

    A person's `undecided` takes a verdict back too. Each override is kept in the history, with what it replaced.
    """
    theirs = {(one.pull, one.reviewer): one for one in people.trials}
    notes = {_note_key(note): note for note in people.details.get(_HISTORY, ())}
    history: list[Mapping[str, Json]] = []
    trials = [_overridden(one, theirs.pop((one.pull, one.reviewer), None), notes, history) for one in judged.trials]
    for trial in theirs.values():
        empty = replace(trial, judgements=(), valid=None)
        trials.append(_overridden(empty, trial, notes, history))
    details = {**judged.details, "judged_by": judged.judge, "overridden_by": people.judge, _HISTORY: history}
    return JudgementSet(f"{judged.judge}+{people.judge}", tuple(trials), details)


def _overridden(
    trial: TrialJudgements,
    people: TrialJudgements | None,
    notes: Mapping[tuple[str, ...], Mapping[str, Json]],
    history: list[Mapping[str, Json]],
) -> TrialJudgements:
    if people is None:
        return trial
    kept: dict[Pair, Judgement] = {(one.candidate, one.golden): one for one in trial.judgements}
    for one in people.judgements:
        before = kept.get((one.candidate, one.golden))
        kept[one.candidate, one.golden] = one
        history.append(_entry(trial, one, before, notes))
    sound = set(trial.valid or ()) | set(people.valid or ())
    asked = trial.valid is not None or people.valid is not None
    return replace(trial, judgements=tuple(kept.values()), valid=tuple(sorted(sound)) if asked else None, failed="")


def _entry(
    trial: TrialJudgements,
    one: Judgement,
    before: Judgement | None,
    notes: Mapping[tuple[str, ...], Mapping[str, Json]],
) -> Mapping[str, Json]:
    key = (trial.pull, trial.reviewer, one.candidate)
    note = notes.get((*key, one.golden)) or notes.get((*key, "")) or {}
    return {
        "pull": trial.pull,
        "reviewer": trial.reviewer,
        "candidate": one.candidate,
        "golden": one.golden,
        "verdict": one.verdict.value,
        "who": note.get("who", one.judge),
        "when": note.get("when", ""),
        "why": one.reason,
        "replaced": {"verdict": before.verdict.value, "judge": before.judge, "reason": before.reason}
        if before
        else None,
    }


def _note_key(note: Mapping[str, Json]) -> tuple[str, ...]:
    return note["pull"], note["reviewer"], note["candidate"], note.get("golden", "")
