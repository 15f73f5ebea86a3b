"""The counting walk of the Martian family of benchmarks, with its effects of order and its identity by text.

Goldens outside, candidates inside, in the order they are listed: a match takes the golden if its confidence is strictly
above the best so far, and the candidate is then flagged for good. So a later match that is no surer is a false
positive, an earlier one that is later beaten is neither hit nor false positive, one candidate may find several goldens,
and the same comments in another order give other counts. We keep this to reproduce published figures;
`scoring.matching` is how we do it ourselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum


class Dedup(StrEnum):
    """What is done with candidates that were found to say the same thing."""

    NONE = "none"
    """Nothing: the raw walk."""
    PROPAGATE = "propagate"
    """Who says the same as a flagged candidate is flagged too. Duplicates that match nothing still count one each."""
    MERGE = "merge"
    """Each group is its first member before anything is counted."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the judge said of one golden and one candidate, both by text."""

    golden: str
    candidate: str
    match: bool
    weight: float = 0.0
    """The judge's confidence. A match without any never counts."""
    error: bool = False
    """The judge gave no answer: counted as an error, and no match."""


@dataclass(frozen=True, slots=True)
class Walked:
    """What came of one review."""

    found: Mapping[str, str]
    """Golden -> the candidate that holds it in the end."""
    missed: tuple[str, ...]
    false_positives: tuple[str, ...]
    beaten: tuple[str, ...]
    """Flagged, by a match later beaten or by a sibling, and holding nothing: neither hit nor false positive."""
    candidates: int
    """All that were listed, texts that occur twice counted twice."""
    goldens: int
    errors: int

    @property
    def tp(self) -> int:
        """Goldens found."""
        return len(self.found)

    @property
    def fp(self) -> int:
        """Distinct candidate texts never flagged."""
        return len(self.false_positives)

    @property
    def fn(self) -> int:
        """Goldens not found."""
        return len(self.missed)

    @property
    def stored_precision(self) -> float:
        """The precision these systems store with a review: goldens found per candidate listed; 0 without candidates."""
        return self.tp / self.candidates if self.candidates else 0.0

    @property
    def stored_recall(self) -> float:
        """The recall they store with a review."""
        return self.tp / self.goldens if self.goldens else 0.0


def walk(
    goldens: Sequence[str],
    candidates: Sequence[str],
    answers: Sequence[Answer],
    groups: Sequence[Sequence[str]] = (),
    dedup: Dedup = Dedup.NONE,
) -> Walked:
    """Count one review.

    Args:
        goldens: The texts of the goldens, in file order.
        candidates: The texts of the candidates, in list order.
        answers: What the judge said, in the order it was asked.
        groups: Texts that say the same thing.
        dedup: What to do with the groups.
    """
    if dedup is Dedup.MERGE:
        candidates, answers = _merged(candidates, answers, groups)
    siblings = _siblings(groups) if dedup is Dedup.PROPAGATE else {}
    best = dict.fromkeys(goldens, 0.0)
    holder: dict[str, str] = {}
    flagged = dict.fromkeys(candidates, False)
    for answer in answers:
        if answer.error or not answer.match or answer.golden not in best or answer.weight <= best[answer.golden]:
            continue
        best[answer.golden], holder[answer.golden] = answer.weight, answer.candidate
        flagged |= dict.fromkeys(siblings.get(answer.candidate, (answer.candidate,)), True)
    return Walked(
        found={golden: holder[golden] for golden in best if golden in holder},
        missed=tuple(golden for golden in best if golden not in holder),
        false_positives=tuple(text for text in dict.fromkeys(candidates) if not flagged[text]),
        beaten=tuple(text for text in dict.fromkeys(candidates) if flagged[text] and text not in holder.values()),
        candidates=len(candidates),
        goldens=len(goldens),
        errors=sum(answer.error for answer in answers),
    )


def _siblings(groups: Sequence[Sequence[str]]) -> dict[str, tuple[str, ...]]:
    return {text: tuple(group) for group in groups for text in group}


def _merged(
    candidates: Sequence[str], answers: Sequence[Answer], groups: Sequence[Sequence[str]]
) -> tuple[list[str], list[Answer]]:
    """The review as if only the first member of each group had been said."""
    order = {text: at for at, text in reversed(list(enumerate(candidates)))}
    first = {text: min(group, key=lambda one: order.get(one, len(order))) for group in groups for text in group}
    kept = [text for text in candidates if first.get(text, text) == text]
    return kept, [answer for answer in answers if first.get(answer.candidate, answer.candidate) == answer.candidate]
