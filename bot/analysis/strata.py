"""Every reviewer's figures by a property of the pull requests or of their goldens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bot.analysis.opening import Scored
from bot.analysis.problems import one_of
from bot.analysis.sheet import Column, Kind, Sheet, as_json
from scoring.bundle import Bundle
from scoring.model import ReviewerId
from scoring.statistics.bootstrap import Resampler
from scoring.statistics.strata import BY_CATEGORY, BY_LANGUAGE, BY_SEVERITY, Key, Stratum, by, by_size

Json = Any
Strata = Mapping[ReviewerId, Mapping[str, Stratum]]
KEYS = ("language", "category", "severity", "size")
_FEW = 5
"""Under so many pull requests a stratum is an anecdote."""


def key(name: str, bundle: Bundle) -> Key:
    """What to group by.

    Raises:
        Unusable: there is no such key.
    """
    keys: dict[str, Key] = {"language": BY_LANGUAGE, "category": BY_CATEGORY, "severity": BY_SEVERITY}
    if name in keys:
        return keys[name]
    if name != "size":
        raise one_of("key", name, KEYS)
    return by_size({pull.id: pull.changed_lines for pull in bundle.pulls})


def of(scored: Scored, name: str, resampler: Resampler, reviewers: Sequence[ReviewerId] | None = None) -> Strata:
    """The strata of every reviewer, or of those named."""
    wanted = key(name, scored.bundle)
    names = scored.trials.reviewers if reviewers is None else tuple(reviewers)
    there = scored.trials.reviewers
    return {one: by(scored.trials.scored(one).values(), wanted, resampler) if one in there else {} for one in names}


def sheet(found: Strata, name: str) -> Sheet:
    """The strata as a table: stratum by stratum, so that reviewers stand beside each other."""
    columns = (
        Column(name, name),
        Column("reviewer", "reviewer"),
        Column("pulls", "pull requests", Kind.COUNT),
        Column("tp", "TP", Kind.COUNT),
        Column("fn", "FN", Kind.COUNT),
        Column("fp", "FP", Kind.COUNT),
        Column("recall", "recall", Kind.ESTIMATE),
        Column("precision", "precision", Kind.ESTIMATE),
        Column("f1", "F1", Kind.ESTIMATE),
    )
    rows = tuple(
        (
            stratum,
            reviewer,
            one.pulls,
            one.goldens.tp,
            one.goldens.fn,
            None if one.claims is None else one.claims.fp,
            one.figures.recall,
            one.figures.precision,
            one.figures.f1,
        )
        for stratum in _names(found)
        for reviewer, own in found.items()
        if (one := own.get(stratum)) is not None
    )
    few = sorted({row[0] for row in rows if row[2] < _FEW})
    notes = (f"Fewer than {_FEW} pull requests, so read them as examples: {', '.join(few)}.",) if few else ()
    return Sheet("strata", f"By {name}", columns, rows, notes)


def _names(found: Strata) -> list[str]:
    """All strata, in the order in which the reviewer that has most of them has them."""
    longest = max(found.values(), key=len, default={})
    return list(dict.fromkeys([*longest, *(name for own in found.values() for name in own)]))


def record(found: Strata) -> list[dict[str, Json]]:
    """The same for machines."""
    return [
        {
            "stratum": stratum,
            "reviewer": reviewer,
            "pulls": one.pulls,
            "goldens": as_json(one.goldens),
            "claims": as_json(one.claims),
            **as_json(one.figures),
        }
        for stratum in _names(found)
        for reviewer, own in found.items()
        if (one := own.get(stratum)) is not None
    ]
