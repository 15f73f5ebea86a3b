"""Which candidates of one reviewer on one pull request say the same thing.

Merging two different defects is the dangerous mistake: it would hide a false alarm, or a finding. So places that
contradict keep candidates apart whatever their texts, and what is near in place must also be alike in text. Two claims
are the same only if one change would settle both: the same remark at ten places is ten remarks.
"""

from __future__ import annotations

from collections.abc import Sequence

from rapidfuzz import fuzz

from scoring.chatter import restates
from scoring.model import Candidate, CandidateId, Place
from scoring.words import Words, overlap, words_of

NEAR = 5
"""Lines between two ranges that may still be the same spot."""
ALIKE_NEAR = 0.55
"""Least likeness of texts at the same spot."""
ALIKE = 0.85
"""Least likeness of texts where a place is missing."""
REPEATED = 0.5
"""Least share of a summary's item that the claim it repeats must cover, at the same spot."""
_FEW_WORDS = 2.0


def gap(one: Place | None, other: Place | None) -> int | None:
    """Lines between two places of one file; 0 where they overlap, None where either names no lines or no file."""
    if one is None or other is None or one.lines is None or other.lines is None or not same_file(one.path, other.path):
        return None
    return max(0, one.lines[0] - other.lines[1], other.lines[0] - one.lines[1])


def same_file(one: str, other: str) -> bool:
    """Whether two paths may be one file: equal, or one is the tail of the other (reviewers shorten paths)."""
    short, long = sorted((one, other), key=lambda path: (len(path), path))
    return long == short or long.endswith("/" + short)


def alike(one: Candidate, other: Candidate) -> float:
    """How alike two texts are, in [0, 1]; 0 where they speak of different names of code only."""
    first, second = _words(one), _words(other)
    if first.names and second.names and not first.names & second.names:
        return 0.0
    covers = overlap(first, second)
    shared = 2 * covers[0] * covers[1] / (covers[0] + covers[1]) if sum(covers) else 0.0
    order = fuzz.token_sort_ratio(_plain(one), _plain(other)) / 100
    return 1.0 if _plain(one) == _plain(other) else min(1.0, 0.6 * shared + 0.4 * order)


def same(one: Candidate, other: Candidate) -> bool:
    """Whether two candidates say the same thing."""
    if not _plain(one) or not _plain(other):
        return False
    if one.place is None or other.place is None:
        return alike(one, other) >= ALIKE and min(_words(one).total, _words(other).total) >= _FEW_WORDS
    if not same_file(one.place.path, other.place.path):
        return False
    apart = gap(one.place, other.place)
    if apart is not None and apart > NEAR:
        return False
    return alike(one, other) >= (ALIKE if apart is None else ALIKE_NEAR)


def groups(candidates: Sequence[Candidate]) -> tuple[tuple[CandidateId, ...], ...]:
    """The candidates as groups that say the same thing, each sorted, in the order of their first ids.

    Every pair inside a group is alike (complete linkage), so that no chain of small steps joins different defects.
    Likest pairs are joined first and ties go by id, so the order of the input does not matter.
    """
    by_id = {candidate.id: candidate for candidate in sorted(candidates, key=lambda candidate: candidate.id)}
    ids = list(by_id)
    pairs = [
        (-alike(by_id[one], by_id[other]), one, other)
        for at, one in enumerate(ids)
        for other in ids[at + 1 :]
        if same(by_id[one], by_id[other])
    ]
    joined = {(one, other) for _, one, other in pairs}
    group_of = {identity: [identity] for identity in ids}
    for _, one, other in sorted(pairs):
        left, right = group_of[one], group_of[other]
        if left is not right and all((min(a, b), max(a, b)) in joined for a in left for b in right):
            left.extend(right)
            group_of.update(dict.fromkeys(right, left))
    found = {tuple(sorted(group)) for group in group_of.values()}
    return tuple(sorted(found))


def repeated(item: Candidate, placed: Sequence[Candidate]) -> CandidateId | None:
    """The claim on a line that an item of a summary says again, or None if the item is news."""
    if "prose" in item.flags:
        return _retold(item, placed)
    scored = [(_repeats(item, claim), claim) for claim in placed if claim.comment_id != item.comment_id]
    best = max(scored, key=lambda pair: (pair[0], pair[1].id), default=None)
    return best[1].id if best and best[0] > 0 else None


def _repeats(item: Candidate, claim: Candidate) -> float:
    """How surely an item says a claim again; 0 if it does not."""
    apart = gap(item.place, claim.place)
    if item.place and claim.place and (not same_file(item.place.path, claim.place.path) or (apart or 0) > NEAR):
        return 0.0
    covered = max(overlap(_words(item), _words(claim)))
    titles = fuzz.token_sort_ratio(item.title.casefold(), claim.title.casefold()) / 100
    needed = REPEATED if apart is not None else 0.8
    surely = max(covered, titles if titles >= ALIKE else 0.0)
    return surely if surely >= needed and min(_words(item).total, _words(claim).total) >= _FEW_WORDS / 2 else 0.0


def _retold(item: Candidate, placed: Sequence[Candidate]) -> CandidateId | None:
    """For prose that stands alone: whether all it says was said on lines, and where mostly."""
    if not placed:
        return None
    mine = _words(item)
    together = words_of("\n".join(_plain(claim) for claim in sorted(placed, key=lambda claim: claim.id)))
    needed = 0.35 if restates(item.text) else REPEATED
    if overlap(mine, together)[0] < needed:
        return None
    return max(placed, key=lambda claim: (overlap(mine, _words(claim))[0], claim.id)).id


def _words(candidate: Candidate) -> Words:
    return words_of(_plain(candidate))


def _plain(candidate: Candidate) -> str:
    """What is compared: the claim, or the code of its fixes where it says nothing."""
    text = candidate.text or "\n".join(candidate.suggestions)
    if candidate.title and not candidate.text.startswith(candidate.title.rstrip("…")):
        text = f"{candidate.title}\n{text}"
    return text.strip()
