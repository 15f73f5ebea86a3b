"""The rules of withmartian/code-review-benchmark (step 3 and its dashboard), order effects included.

Identity is text; see `scoring.walk` for the count. Precision is TP / (TP + FP) on the sums over pull requests; the
precision stored with each review is TP / candidates listed and stands in the figures of its trial. Conventions: 0 / 0
is 0; a pull request without goldens is skipped; a review without candidates misses every golden, whatever kept the
reviewer from answering; a pull request without a record for a reviewer adds nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scoring.bundle import Bundle
from scoring.profiles import texts
from scoring.profiles.base import Json, Judging, Options, ProfileResult, judged, plain, read_options
from scoring.walk import Dedup

NAME = "martian"


@dataclass(frozen=True, slots=True)
class MartianOptions:
    """What may be chosen."""

    dedup: Dedup | None = None
    """None: as the stored evaluations were made, as far as they show it; else `propagate`."""


def score(bundle: Bundle, *, judge: Judging = None, options: Options | None = None) -> ProfileResult:
    """Count a bundle as Martian's pipeline counts it.

    Raises:
        ProfileError: see `scoring.profiles.base.ProfileFn`.
    """
    chosen = read_options(MartianOptions, options)
    material = judged(bundle, judge)
    dedup = chosen.dedup or as_stored(material.details)
    trials = tuple(texts.trial(texts.review(case, dedup)) for case in material.cases)
    rows = texts.rows(trials, "Martian")
    return ProfileResult(
        profile=NAME,
        suite=bundle.suite,
        card=bundle.card,
        judge=material.judge,
        unit=texts.UNIT,
        dedup=dedup.value,
        reviewers=rows,
        trials=trials,
        options=plain(MartianOptions(dedup)),
        tables={"leaderboard": texts.leaderboard(rows)},
        notes=(*bundle.card.notes, *texts_notes(material.details)),
    )


def as_stored(details: Mapping[str, Json]) -> Dedup:
    """How the groups were used when the stored evaluations were made; `propagate` where nothing is stored."""
    said = details.get("dedup", Dedup.PROPAGATE.value)
    return Dedup.PROPAGATE if said == Dedup.PROPAGATE.value else Dedup.NONE


def texts_notes(details: Mapping[str, Json]) -> tuple[str, ...]:
    """What the import found that these rules cannot mend."""
    odd = details.get("inconsistent", {})
    notes = [f"{key}: {what}" for key, what in sorted(odd.items())]
    return ("the counts depend on the order of goldens and candidates", *notes)
