"""Several reviewers as one, and further measures of the VibeOps study over samples and models."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from scoring.credits import BUCKETS, TOLERANCE, Credits, Dup, Note, Ruling, fits, settle


def union(
    lists: Sequence[Sequence[Note]],
    annotations: Sequence[Note],
    rulings: Mapping[str, Sequence[Ruling] | None],
    dup: Dup = Dup.FP,
    tolerance: int = TOLERANCE,
    alone: Collection[str] | None = None,
) -> list[Note]:
    """The findings of several reviewers as one list, what was said twice once.

    A finding goes if another reviewer's finding that stays fits it (same file, lines, type), or if alone it earned an
    annotation that another one holds now. Only findings that earn nothing in the whole list go, so that the union finds
    at least what each found alone, with no more findings and no more false positives than all of them together.

    Args:
        lists: The findings of each reviewer; ids differ between reviewers.
        annotations: Of the sample.
        rulings: On the findings of all of them.
        dup: As in `credits.settle`.
        tolerance: As in `credits.settle`.
        alone: The findings that earned an annotation when their reviewer was matched alone, where that is known.
    """
    owner = {one.id: at for at, own in enumerate(lists) for one in own}
    listed = [one for own in lists for one in own]
    if len(owner) != len(listed):
        raise ValueError("two findings of a union have one id")
    together = settle(listed, annotations, rulings, dup, tolerance).credit
    if alone is None:
        alone = {one for own in lists for one in settle(own, annotations, rulings, dup, tolerance).credit}
    kept: list[Note] = []
    for finding in sorted(listed, key=lambda one: one.id not in together):
        if finding.id in together or not (finding.id in alone or _said(finding, kept, owner, tolerance)):
            kept.append(finding)
    place = {one.id: at for at, one in enumerate(listed)}
    return sorted(kept, key=lambda one: place[one.id])


def _said(finding: Note, kept: Sequence[Note], owner: Mapping[str, int], tolerance: int) -> bool:
    others = (one for one in kept if owner[one.id] != owner[finding.id])
    return any(fits(finding, other, tolerance) for other in others)


def intersection(lists: Sequence[Sequence[Note]], tolerance: int = TOLERANCE) -> list[Note]:
    """The first reviewer's findings that all the others have too. It raises precision and costs recall."""
    first, *others = lists
    return [one for one in first if all(any(fits(one, other, tolerance) for other in own) for own in others)]


def found_something(result: Credits) -> bool:
    """Whether a reviewer earned any credit on a sample."""
    return result.earned > 0


def size_bucket(changed_lines: int | None) -> str:
    """The size class of a change; empty where its size is not known."""
    if changed_lines is None:
        return ""
    return next(name for name, low, high in BUCKETS if low <= changed_lines and (high is None or changed_lines < high))


def cost_of(tokens_in: int, tokens_out: int, price_in: float, price_out: float) -> float:
    """US dollars of one review; prices are per million tokens."""
    return (tokens_in * price_in + tokens_out * price_out) / 1e6


def gap_to_real(synthetic: float | None, real: float | None) -> float | None:
    """By what share F1 falls from synthetic to real samples; None where either is undefined or synthetic is 0."""
    return None if not synthetic or real is None else 1 - real / synthetic


def mean_rank(figures: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Each one's mean rank over conditions, best first; equal figures share the mean of their ranks."""
    names = sorted({name for condition in figures for name in condition})
    ranks: dict[str, list[float]] = {name: [] for name in names}
    for condition in figures:
        for name, value in condition.items():
            above = sum(other > value for other in condition.values())
            equal = sum(other == value for other in condition.values())
            ranks[name].append(above + (equal + 1) / 2)
    return {name: sum(own) / len(own) for name, own in ranks.items()}
