"""What a result can and cannot prove, said beside every figure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Card:
    """Where the goldens come from, what is counted, and what that does not show."""

    corpus: str
    """What kind of pull requests these are, for example `own pull requests, defects planted`."""
    labelled_by: str
    """Who decided what the goldens are."""
    unit: str
    """What is counted, for example `claim x golden`."""
    not_proven: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """What was seen on the way that a reader of the result should know."""
