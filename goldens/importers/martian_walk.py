"""Judgements rebuilt from stored evaluations, so that walking them in order counts what the source counted.

A stored evaluation keeps the goldens found and by whom, the candidate texts that matched nothing, and the goldens
missed. It does not keep the pairs. What follows from the pipeline's rule is rebuilt: a text in neither list was matched
first and beaten later, or is the duplicate of a match.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from goldens.importers.martian_eval import Evaluation, Hit
from scoring import walk as counting
from scoring.model import Candidate, CandidateId, Golden, Judgement, Verdict
from scoring.walk import Answer, Dedup, Walked

FULL = 1.0
"""The weight of a stored match whose own confidence is none."""
_NOT_STORED = "not stored; the source counts no match here"
_BEATEN = "inferred: the source counts this text neither as found nor as unmatched, so a better match replaced it"


def weight(judgement: Judgement) -> float:
    """What the walk compares: the source's confidence, or what stands in for it."""
    return judgement.evidence.get("weight", judgement.confidence or 0.0)


def walk(
    goldens: Sequence[Golden],
    candidates: Sequence[Candidate],
    judgements: Iterable[Judgement],
    groups: Iterable[Sequence[str]] = (),
) -> Walked:
    """Count judgements as the source does.

    Args:
        goldens: The goldens that were judged.
        candidates: The claims that the judgements name; others were not judged and count nowhere.
        judgements: In the order in which they were made.
        groups: Candidate ids of duplicates, to flag along with a match; none where the source did not use them.
    """
    finding = {one.id: one.finding for one in goldens}
    text = {one.id: one.text for one in candidates}
    usable = [one for one in judgements if one.golden in finding and one.candidate in text]
    answers = [_answer(one, finding[one.golden], text[one.candidate]) for one in usable]
    named = {one.candidate for one in usable}
    siblings = [[text[CandidateId(one)] for one in group if one in text] for group in groups]
    return counting.walk(
        [one.finding for one in goldens],
        [one.text for one in candidates if one.id in named],
        answers,
        siblings,
        Dedup.PROPAGATE if siblings else Dedup.NONE,
    )


def _answer(one: Judgement, golden: str, candidate: str) -> Answer:
    match, undecided = one.verdict is Verdict.MATCH, one.verdict is Verdict.UNDECIDED
    return Answer(golden, candidate, match, weight(one), undecided)


def used_groups(evaluations: Iterable[tuple[Evaluation, Sequence[Sequence[str]]]]) -> str:
    """Whether stored evaluations flagged duplicates along with a match: `none`, `propagate`, or `unknown`.

    Args:
        evaluations: Each with the groups of its candidate texts.
    """
    spared = counted = False
    for evaluation, groups in evaluations:
        found = {hit.candidate for hit in evaluation.hits}
        unmatched = set(evaluation.unmatched)
        for group in groups:
            rest = set(group) - found
            if found & set(group):
                counted = counted or bool(rest & unmatched)
                spared = spared or bool(rest - unmatched)
    return "none" if counted else "propagate" if spared else "unknown"


def rebuild(
    judge: str,
    goldens: Sequence[Golden],
    candidates: Sequence[Candidate],
    evaluation: Evaluation,
    siblings: Iterable[Sequence[str]] = (),
) -> tuple[Judgement, ...]:
    """The judgements behind a stored evaluation, in the order of the walk.

    Args:
        judge: Who judged.
        goldens: All goldens of the pull request, in file order.
        candidates: This judge's candidates, in list order.
        evaluation: What is stored.
        siblings: Groups of duplicate texts that the source flagged along with a match.
    """
    hits = {hit.golden: hit for hit in evaluation.hits}
    texts = list(dict.fromkeys(one.text for one in candidates))
    spared = {text for group in siblings if {h.candidate for h in evaluation.hits} & set(group) for text in group}
    known = {*evaluation.candidates, *spared}
    beaten = _beaten([text for text in texts if text not in known], texts, goldens, hits)
    left_out = set() if hits else set(texts) - known
    errors = {(golden, candidate): what for golden, candidate, what in evaluation.errors}
    found: list[Judgement] = []
    for golden in goldens:
        row = _Row(judge, golden, hits.get(golden.finding), beaten.get(golden.finding, ()), errors)
        found.extend(row.judgements([one for one in candidates if one.text not in left_out]))
    return tuple(found)


def _beaten(
    texts: Sequence[str], order: Sequence[str], goldens: Sequence[Golden], hits: Mapping[str, Hit]
) -> dict[str, tuple[str, ...]]:
    """Golden text -> the texts that likely matched it first: the first golden whose winner comes later has it."""
    at = {text: position for position, text in enumerate(order)}
    found = list(dict.fromkeys(golden.finding for golden in goldens if golden.finding in hits))
    beaten: dict[str, tuple[str, ...]] = {}
    for text in texts:
        later = [golden for golden in found if at.get(hits[golden].candidate, -1) > at[text]]
        for golden in (later or found)[:1]:
            beaten[golden] = (*beaten.get(golden, ()), text)
    return beaten


@dataclass(frozen=True, slots=True)
class _Row:
    """All judgements on one golden."""

    judge: str
    golden: Golden
    hit: Hit | None
    beaten: Sequence[str]
    errors: Mapping[tuple[str, str], str]

    def judgements(self, candidates: Sequence[Candidate]) -> list[Judgement]:
        """In list order, but what was beaten stands directly before what beat it."""
        weights = self._weights()
        first = [self._match(one, _BEATEN, None, weights[one.text]) for one in candidates if one.text in weights]
        found: list[Judgement] = []
        for one in candidates:
            if self.hit and one.text == self.hit.candidate:
                usable = self.hit.usable
                found += [*first, self._match(one, self.hit.reason, usable, None if usable else FULL)]
                first = []
            elif one.text not in weights:
                found.append(self._other(one))
        return found

    def _weights(self) -> dict[str, float]:
        """Weights for the beaten that rise towards the winner's."""
        if not self.hit:
            return {}
        top = self.hit.usable or FULL
        return {text: top * (at + 1) / (len(self.beaten) + 1) for at, text in enumerate(self.beaten)}

    def _match(self, one: Candidate, reason: str, confidence: float | None, stand_in: float | None) -> Judgement:
        evidence = {} if stand_in is None else {"weight": stand_in}
        if reason is _BEATEN:
            evidence["inferred"] = 1.0
        return Judgement(one.id, self.golden.id, Verdict.MATCH, self.judge, reason, confidence, evidence)

    def _other(self, one: Candidate) -> Judgement:
        error = self.errors.get((self.golden.finding, one.text))
        verdict, reason = (Verdict.NO_MATCH, _NOT_STORED) if error is None else (Verdict.UNDECIDED, error)
        return Judgement(one.id, self.golden.id, verdict, self.judge, reason)
