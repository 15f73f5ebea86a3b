"""The rules of CloudAEye/c_cpp_benchmark: Martian's walk, counted over the goldens of the benchmark file only.

A golden that is no longer in the benchmark file counts neither as found nor as missed; false positives stay. A pull
request without a record for a tool adds nothing, not even misses. Percentages have one decimal; rows are ordered by
F1, ties by name; 0 / 0 is 0. Goldens with one root cause are counted apart, so one remark may earn several; the figure
`root_causes` counts causes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scoring.bundle import Bundle, BundlePull
from scoring.model import Counts, Coverage, GoldenId, ReviewerId
from scoring.profiles import texts
from scoring.profiles.base import (
    Judging,
    Options,
    ProfileResult,
    ProfileRow,
    Rows,
    judged,
    plain,
    read_options,
    totals_of,
)
from scoring.profiles.martian import MartianOptions, as_stored, texts_notes

NAME = "cpp16"
SYSTEM = "c_cpp_benchmark"


def score(bundle: Bundle, *, judge: Judging = None, options: Options | None = None) -> ProfileResult:
    """Count a bundle as the C/C++ benchmark counts it.

    Raises:
        ProfileError: see `scoring.profiles.base.ProfileFn`.
    """
    chosen = read_options(MartianOptions, options)
    material = judged(bundle, judge)
    dedup = chosen.dedup or as_stored(material.details)
    trials = tuple(texts.trial(texts.review(case, dedup), left_out=stale(case.pull)) for case in material.cases)
    totals = totals_of(material.details, texts.COUNTS)
    counted = {one.reviewer for one in trials if one.scored}
    bare = [from_totals(ReviewerId(name), counts) for name, counts in totals.items() if name not in counted]
    summed = [row for row in texts.rows(trials, SYSTEM) if row.reviewer in counted or row.reviewer not in totals]
    rows = texts.ranked([*summed, *bare])
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
        notes=(*bundle.card.notes, *texts_notes(material.details), *_differences(rows, totals)),
    )


def stale(pull: BundlePull) -> frozenset[GoldenId]:
    """The goldens that only old evaluations know."""
    return frozenset(golden.id for golden in pull.goldens if f"stale:{golden.id}" in pull.tags)


def from_totals(reviewer: ReviewerId, totals: Mapping[str, int]) -> ProfileRow:
    """A row of which only the sums are published."""
    counts = Counts(tp=totals["tp"], fp=totals["fp"], fn=totals["fn"])
    figures = {"reviews": None, "published_totals_only": True}
    return ProfileRow(reviewer, counts, *texts.estimates(counts, SYSTEM), Coverage(0, 0, {}), figures)


def rank(rows: Mapping[str, tuple[int, int, int]]) -> Rows:
    """A leaderboard from TP, FP and FN by tool, in its published order."""
    made = [
        from_totals(ReviewerId(tool), dict(zip(texts.COUNTS, counts, strict=True))) for tool, counts in rows.items()
    ]
    return texts.leaderboard(texts.ranked(made))


def _differences(rows: Sequence[ProfileRow], totals: Mapping[str, Mapping[str, int]]) -> tuple[str, ...]:
    """Where the sums we count are not the sums that were published."""
    notes = []
    for row in rows:
        said = totals.get(row.reviewer)
        own = {"tp": row.counts.tp, "fp": row.counts.fp, "fn": row.counts.fn}
        if said is not None and own != {key: said[key] for key in own}:
            notes.append(f"{row.reviewer}: counted {own}, published {dict(said)}")
    return tuple(notes)
