"""`chunked:<reviewer>`: another reviewer, given a change one function or one hunk at a time."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from bot.judging.budget import Forecast
from bot.reviewers.changes import files_of
from bot.reviewers.claims import distinct
from bot.reviewers.diffs import hunks, part_of, text_of
from bot.reviewers.functions import Span, functions
from bot.reviewers.offline import forecast_of, plus
from bot.reviewers.protocol import Change, Remark, Review, Reviewer, Round, Usage
from bot.reviewers.talking import together
from goldens.diff import FileChange, Hunk

MOST = 200
"""So many parts of one change are reviewed."""


@dataclass(frozen=True, slots=True)
class Chunked:
    """Implements `Reviewer` by another one. What it says of several parts alike is said once."""

    name: str
    inner: Reviewer
    by_function: bool
    most: int = MOST

    def review(self, change: Change) -> Review:
        """Review each part, and put together what was said."""
        parts = list(chunks(change, self.by_function))
        taken = parts[: self.most]
        reviews = [(where, self.inner.review(part)) for where, part in taken]
        left_out = tuple(f"{where}: more than {self.most} parts" for where, _ in parts[self.most :])
        return merged(reviews, left_out)

    def forecast(self, change: Change) -> Forecast:
        """What all parts will take."""
        total = Forecast(0, 0, 0.0, 0.0)
        for _, part in list(chunks(change, self.by_function))[: self.most]:
            total = plus(total, forecast_of(self.inner, "", part))
        return total


def chunks(change: Change, by_function: bool) -> Iterator[tuple[str, Change]]:
    """The parts of a change, each with its place in words.

    A part's trees are those of the whole change, and its diff is about one place only. A function is shown whole.
    """
    for one in files_of(change):
        if one.binary or not one.hunks:
            yield one.path, replace(change, diff=text_of(one))
            continue
        for hunk in _parts(one, change, by_function):
            last = hunk.new_start + max(0, hunk.new_count - 1)
            where = f"{one.path}: lines {hunk.new_start} to {last}"
            yield where, replace(change, diff=text_of(replace(one, hunks=(hunk,))))


def _parts(one: FileChange, change: Change, by_function: bool) -> Iterator[Hunk]:
    new = change.head.get(one.new_path) if one.new_path is not None else None
    if not by_function or new is None or one.new_path is None:
        yield from one.hunks
        return
    old = change.base.get(one.old_path, b"") if one.old_path is not None else b""
    spans = functions(one.new_path, new)
    whole = next(hunks(old, new, context=len(old) + len(new)), None)
    if whole is None:
        yield from one.hunks
        return
    yield from (part for span in spans if (part := part_of(whole, *span)) is not None)
    for gap in _between(spans):
        yield from (part for hunk in one.hunks if (part := part_of(hunk, *gap)) is not None)


def _between(spans: Sequence[Span]) -> Iterator[Span]:
    """The lines outside of some spans."""
    at = 1
    for first, last in spans:
        if at < first:
            yield at, first - 1
        at = max(at, last + 1)
    yield at, sys.maxsize


def merged(reviews: Sequence[tuple[str, Review]], left_out: Iterable[str] = ()) -> Review:
    """The reviews of a change's parts as one.

    A part that could not be reviewed leaves a gap; only where all parts failed has the review failed.
    """
    good = [(where, one) for where, one in reviews if not one.failed]
    bad = [(where, one) for where, one in reviews if one.failed]
    usage = _total(one.usage for _, one in reviews)
    unread = [f"{where}: {one.failed}" for where, one in bad]
    unread += [text for _, one in good for text in one.unread]
    invalid = tuple(f"{where}: {text}" for where, one in reviews for text in one.invalid)
    failed = bad[0][1].failed if bad and not good else ""
    return Review(
        distinct([remark for _, one in good for remark in one.remarks]),
        usage,
        _rounds([one for _, one in good]),
        invalid,
        tuple(dict.fromkeys([*unread, *left_out])),
        failed,
    )


def _total(usages: Iterable[Usage]) -> Usage:
    total = Usage()
    for one in usages:
        total = together(total, one)
    return total


def _rounds(reviews: Sequence[Review]) -> tuple[Round, ...]:
    """The rounds of all parts. A part that was done before the others stays as it was."""
    longest = max((one.rounds for one in reviews), key=len, default=())
    found: list[Round] = []
    for at, model in enumerate(longest):
        last = at == len(longest) - 1
        states = [_state(one, at, last) for one in reviews]
        remarks: list[Remark] = [remark for state in states for remark in state.remarks]
        found.append(Round(model.name, distinct(remarks), _total(state.usage for state in states)))
    return tuple(found)


def _state(review: Review, at: int, last: bool) -> Round:
    """How far a review was after some round; its final is the last round of all."""
    if not review.rounds:
        return Round("", review.remarks, review.usage)
    if last:
        return review.rounds[-1]
    return review.rounds[min(at, max(0, len(review.rounds) - 2))]
