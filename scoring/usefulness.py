"""CR-Bench's measures of use: comments that hit the defect, comments worth having, and noise."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from scoring.prf import harmonic, ratio


@dataclass(frozen=True, slots=True)
class Comments:
    """Labelled comments added up. R = bug_hit + valid + noise."""

    bug_hit: int = 0
    """Comments that name the reference defect, several per defect counted each."""
    valid: int = 0
    """Sound and worth having, but about something else."""
    noise: int = 0
    distinct: int = 0
    """Defects with at least one hit."""
    defects: int = 0

    def __add__(self, other: Comments) -> Comments:
        return Comments(
            self.bug_hit + other.bug_hit,
            self.valid + other.valid,
            self.noise + other.noise,
            self.distinct + other.distinct,
            self.defects + other.defects,
        )

    @property
    def reviews(self) -> int:
        """All labelled comments."""
        return self.bug_hit + self.valid + self.noise

    @property
    def recall(self) -> float | None:
        """Distinct defects hit per defect; None without defects."""
        return ratio(self.distinct, self.defects)

    @property
    def precision(self) -> float | None:
        """Comments that hit per comment; None without comments."""
        return ratio(self.bug_hit, self.reviews)

    @property
    def f1(self) -> float | None:
        """The harmonic mean of precision and recall, which count different things; 0 if both are 0."""
        return harmonic(self.precision, self.recall, zero=0.0)

    @property
    def usefulness(self) -> float | None:
        """Comments worth having, hits included, per comment; None without comments."""
        return ratio(self.bug_hit + self.valid, self.reviews)

    @property
    def signal_to_noise(self) -> float | None:
        """Comments worth having per comment of noise; infinite without noise, None without comments."""
        useful = self.bug_hit + self.valid
        return ratio(useful, self.noise, zero=inf if useful else None)


def snr_from_usefulness(usefulness: float) -> float:
    """Signal to noise from the share of useful comments: U / (1 - U); infinite at 1."""
    if not 0 <= usefulness <= 1:
        raise ValueError(f"a share lies between 0 and 1, not {usefulness}")
    return usefulness / (1 - usefulness) if usefulness < 1 else inf
