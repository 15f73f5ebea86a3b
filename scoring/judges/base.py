"""What a judge is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from scoring.model import Candidate, CandidateId, Golden, GoldenId, Judgement, Verdict

if TYPE_CHECKING:
    pass


class Judge(Protocol):
    """Says for each candidate and golden whether they mean the same defect."""

    @property
    def name(self) -> str:
        """Who judges, with its version; it stands in the report and in every judgement."""
        ...

    def judge(self, candidates: Sequence[Candidate], goldens: Sequence[Golden]) -> Sequence[Judgement]:
        """One judgement for each pair of one trial.

        The verdict on a pair must depend on that pair and the goldens only, not on what else a reviewer said.
        """
        ...


class Recorded:
    """Answers from judgements made earlier, so that a bundle can be scored again without whoever judged it."""

    def __init__(self, name: str, judgements: Sequence[Judgement]) -> None:
        self._name = name
        self._known: Mapping[tuple[CandidateId, GoldenId], Judgement] = {
            (judgement.candidate, judgement.golden): judgement for judgement in judgements
        }

    @property
    def name(self) -> str:
        """The name of the judge that made them."""
        return self._name

    def judge(self, candidates: Sequence[Candidate], goldens: Sequence[Golden]) -> Sequence[Judgement]:
        """The recorded judgements; a pair without one is undecided."""
        return tuple(self._answer(candidate.id, golden.id) for candidate in candidates for golden in goldens)

    def _answer(self, candidate: CandidateId, golden: GoldenId) -> Judgement:
        known = self._known.get((candidate, golden))
        return known or Judgement(candidate, golden, Verdict.UNDECIDED, self._name, "no judgement is recorded")
