"""Precision, recall and F1 of plain or half counts, with the convention of a system for 0 / 0.

Our library says None where a figure is undefined. Published systems say 0; who reproduces one asks for that by
`zero=0.0`, in the open.
"""

from __future__ import annotations

from typing import NamedTuple

from scoring.model import Estimate
from scoring.stats import wilson


class Prf(NamedTuple):
    """Precision, recall and F1; None where undefined and no convention was asked for."""

    precision: float | None
    recall: float | None
    f1: float | None


def ratio(part: float, whole: float, zero: float | None = None) -> float | None:
    """`part / whole`, or the convention for an empty whole."""
    return part / whole if whole else zero


def harmonic(one: float | None, other: float | None, zero: float | None = None) -> float | None:
    """The harmonic mean of two rates; None if either is None."""
    if one is None or other is None:
        return None
    return ratio(2 * one * other, one + other, zero)


def prf(tp: float, fp: float, fn: float, zero: float | None = None) -> Prf:
    """Precision TP / (TP + FP), recall TP / (TP + FN) and their harmonic mean."""
    precision, recall = ratio(tp, tp + fp, zero), ratio(tp, tp + fn, zero)
    return Prf(precision, recall, harmonic(precision, recall, zero))


def percent(value: float | None, places: int = 1) -> float | None:
    """A rate in percent, rounded as published tables are."""
    return None if value is None else round(100 * value, places)


def proportion(part: int, whole: int, *, system: str, undefined: str) -> Estimate:
    """A proportion with its Wilson interval; for 0 of 0 the value is 0 as the system says, and the reason says so."""
    if whole:
        return wilson(part, whole)
    return Estimate(0.0, None, None, 0, f"{undefined}; {system} counts that as 0")


def derived(value: float | None, n: int, *, reason: str | None = None) -> Estimate:
    """A figure without an interval: no proportion of independent observations stands behind it."""
    return Estimate(value, None, None, n, reason)
