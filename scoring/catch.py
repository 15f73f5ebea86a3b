"""CodeVetter's count: which labels were caught, what was said again, what was said of nothing.

Events are counted per matched id, so that one finding can be several. A finding that names no label is one false
positive, and so is each id that is no label; an id already caught in the case is redundant.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from scoring.prf import harmonic, ratio


@dataclass(frozen=True, slots=True)
class Caught:
    """Sums of events over cases."""

    expected: int = 0
    caught: int = 0
    false_positives: int = 0
    redundant: int = 0

    def __add__(self, other: Caught) -> Caught:
        return Caught(
            self.expected + other.expected,
            self.caught + other.caught,
            self.false_positives + other.false_positives,
            self.redundant + other.redundant,
        )

    @property
    def catch_rate(self) -> float:
        """Labels caught per label expected; 0 if none was expected."""
        return ratio(self.caught, self.expected) or 0.0

    @property
    def precision(self) -> float:
        """Caught per event, redundant ones included; 0 without events."""
        return ratio(self.caught, self.caught + self.false_positives + self.redundant) or 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of the two; 0 if both are 0."""
        return harmonic(self.precision, self.catch_rate) or 0.0


@dataclass(frozen=True, slots=True)
class Events:
    """One case counted, with the labels by name."""

    caught: tuple[str, ...]
    missed: tuple[str, ...]
    false_positives: int
    redundant: int
    unknown: tuple[str, ...]
    """Ids that findings name and the case does not have."""
    kinds: tuple[str, ...]
    """What came of each finding, in order: caught, redundant or false_positive."""

    @property
    def sums(self) -> Caught:
        """The counts."""
        return Caught(len(self.caught) + len(self.missed), len(self.caught), self.false_positives, self.redundant)


def count(labels: Collection[str], findings: Sequence[Sequence[str]]) -> Events:
    """Count one case.

    Args:
        labels: Ids of the case's labels.
        findings: For each finding, in order, the ids it was matched to.
    """
    caught: dict[str, None] = {}
    wrong = redundant = 0
    unknown, kinds = [], []
    for ids in findings:
        before = len(caught)
        repeats = 0
        for label in ids:
            if label not in labels:
                unknown.append(label)
                wrong += 1
            elif label in caught:
                repeats += 1
            else:
                caught[label] = None
        wrong += not ids
        redundant += repeats
        kinds.append("caught" if len(caught) > before else "redundant" if repeats else "false_positive")
    missed = tuple(label for label in labels if label not in caught)
    return Events(tuple(caught), missed, wrong, redundant, tuple(unknown), tuple(kinds))
