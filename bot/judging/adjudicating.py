"""People decide what judges left open or disagree about. Every decision keeps who, when, why and what it replaced."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bot.judging.trials import questions
from scoring.bundle import Bundle, JudgementSet, TrialJudgements
from scoring.judges.asks import Question
from scoring.judges.human import VALID
from scoring.model import Candidate, CandidateId, Golden, GoldenId, Judgement, PullId, ReviewerId, Verdict

Json = Any
HUMAN = "human"
_FIELDS = ("pull", "reviewer", "candidate", "golden", "verdict", "reason", "who", "when", "replaced")
_Trial = tuple[PullId, ReviewerId]
Pair = tuple[PullId, ReviewerId, CandidateId, GoldenId]


@dataclass(frozen=True, slots=True)
class Item:
    """A pair to decide."""

    pull: PullId
    reviewer: ReviewerId
    candidate: Candidate
    golden: Golden
    said: tuple[Judgement, ...]
    """One of each judge that was asked, in the order of the judges."""

    @property
    def pair(self) -> Pair:
        """Which pair it is."""
        return self.pull, self.reviewer, self.candidate.id, self.golden.id

    @property
    def is_open(self) -> bool:
        """Whether judges left it open, or disagree."""
        verdicts = {one.verdict for one in self.said}
        return len(verdicts) > 1 or verdicts == {Verdict.UNDECIDED}

    @property
    def why(self) -> str:
        """Why somebody has to decide."""
        return "the judges disagree" if len({one.verdict for one in self.said}) > 1 else "undecided"


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person decided. Its fields are the columns of a file of verdicts."""

    pull: str
    reviewer: str
    candidate: str
    golden: str
    """Empty where the candidate is sound and matches none."""
    verdict: str
    """`match`, `no_match`, `undecided` or `valid`."""
    reason: str
    who: str
    when: str
    replaced: str
    """What each judge had said."""

    def about(self, pair: Pair) -> bool:
        """Whether it settles a pair."""
        same = (self.pull, self.reviewer, self.candidate) == pair[:3]
        return same and self.golden in ("", pair[3])


def open_items(bundle: Bundle, sets: Sequence[JudgementSet]) -> tuple[Item, ...]:
    """What judges left open, or disagree about, in the order of the bundle."""
    return tuple(item for item in items(questions(bundle), sets) if item.is_open)


def items(asked: Iterable[Question], sets: Sequence[JudgementSet]) -> Iterator[Item]:
    """Every pair that judges were asked about, with what each said."""
    said = [_by_pair(one) for one in sets]
    for question in asked:
        for candidate in question.candidates:
            for golden in question.goldens:
                pair = question.pull, question.reviewer, candidate.id, golden.id
                given = tuple(one[pair] for one in said if pair in one)
                yield Item(question.pull, question.reviewer, candidate, golden, given)


def _by_pair(judged: JudgementSet) -> dict[Pair, Judgement]:
    return {
        (trial.pull, trial.reviewer, one.candidate, one.golden): one
        for trial in judged.trials
        for one in trial.judgements
    }


def decide(item: Item, verdict: str, *, reason: str, who: str, when: str) -> Decision:
    """A decision about an item; what it replaces is written into it."""
    replaced = "; ".join(f"{one.judge}: {one.verdict.value}" for one in item.said)
    golden = "" if verdict == VALID else item.golden.id
    return Decision(item.pull, item.reviewer, item.candidate.id, golden, verdict, reason, who, when, replaced)


def decisions(judged: JudgementSet | None) -> tuple[Decision, ...]:
    """The decisions that were made earlier, oldest first. A set of verdicts from a file counts as well."""
    if judged is None:
        return ()
    history = [Decision(**{name: str(row.get(name, "")) for name in _FIELDS}) for row in _history(judged)]
    told = [pair for pair in _by_pair(judged).items() if not any(one.about(pair[0]) for one in history)]
    bare = [Decision(*pair, said.verdict.value, said.reason, "", "", "") for pair, said in told]
    return (*bare, *history)


def _history(judged: JudgementSet) -> Sequence[Mapping[str, Json]]:
    rows = judged.details.get("history", [])
    return rows if isinstance(rows, list) else []


def as_set(made: Sequence[Decision], bundle: Bundle) -> JudgementSet:
    """The decisions as what a judge called `human` said. It says nothing of pairs that nobody decided."""
    by_trial: dict[_Trial, list[Decision]] = {}
    for one in made:
        by_trial.setdefault((PullId(one.pull), ReviewerId(one.reviewer)), []).append(one)
    trials = [
        _said(question.pull, question.reviewer, [golden.id for golden in question.goldens], own)
        for question in questions(bundle)
        if (own := by_trial.get((question.pull, question.reviewer)))
    ]
    history = [{name: getattr(one, name) for name in _FIELDS} for one in made]
    return JudgementSet(HUMAN, tuple(trials), {"by": "people", "rows": len(made), "history": history})


def _said(pull: PullId, reviewer: ReviewerId, goldens: Sequence[GoldenId], made: Sequence[Decision]) -> TrialJudgements:
    """A later decision about a pair stands in place of an earlier one."""
    latest: dict[tuple[CandidateId, GoldenId], Judgement] = {}
    for one in made:
        verdict = Verdict.NO_MATCH if one.verdict == VALID else Verdict(one.verdict)
        judge = f"{HUMAN}:{one.who}" if one.who else HUMAN
        for golden in [GoldenId(one.golden)] if one.golden else goldens:
            pair = CandidateId(one.candidate), golden
            latest[pair] = Judgement(*pair, verdict, judge, one.reason)
    valid = tuple(dict.fromkeys(one.candidate for one in made if one.verdict == VALID))
    return TrialJudgements(pull, reviewer, tuple(latest.values()), valid=valid or None)


def overlaid(base: JudgementSet, people: JudgementSet) -> JudgementSet:
    """A judge's verdicts with what people decided in their place, fit to be counted."""
    decided = {(one.pull, one.reviewer): one for one in people.trials}
    trials = tuple(_over(one, decided.get((one.pull, one.reviewer))) for one in base.trials)
    details = {"base": base.judge, "decisions": people.details.get("rows", 0)}
    return JudgementSet(f"{base.judge}+{HUMAN}", trials, details)


def _over(trial: TrialJudgements, people: TrialJudgements | None) -> TrialJudgements:
    if people is None:
        return trial
    decided = {(one.candidate, one.golden): one for one in people.judgements}
    judgements = tuple(decided.pop((one.candidate, one.golden), one) for one in trial.judgements)
    sound = {*(trial.valid or ()), *(people.valid or ())}
    asked = trial.valid is not None or people.valid is not None
    matched = {one.candidate for one in (*judgements, *decided.values()) if one.verdict is Verdict.MATCH}
    return replace(
        trial,
        judgements=(*judgements, *decided.values()),
        valid=tuple(sorted(sound - matched)) if asked else None,
        failed="",
    )
