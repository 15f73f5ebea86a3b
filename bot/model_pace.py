"""What may be done how often, and what that means for a plan, as values."""

from __future__ import annotations

from dataclasses import dataclass

from scoring.model import ReviewerId


@dataclass(frozen=True, slots=True)
class Bucket:
    """What may be done so often in so long, by whomever of us."""

    name: str
    most: int
    seconds: float


@dataclass(frozen=True, slots=True)
class ReviewerBudget:
    """What a plan asks of one reviewer."""

    reviewer: ReviewerId
    trials: int
    hours: float
    """From the first ask to the last, as its quota allows; 0 where none is known."""
    least_cost: float | None = None
    """US dollars to its vendor; None: not known, or nothing beyond a seat."""
    most_cost: float | None = None
