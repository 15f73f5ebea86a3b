"""Defects that people raised in review and put right before the merge.

The draft is pinned to the commit before the one that touched the lines, so the defect is still there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from goldens.mine.answers import Thread, ThreadComment
from goldens.mine.draft import Discard, DraftGolden, DraftPull, Mined, Reason, Rejected
from goldens.mine.drafting import draft_pull, spread
from goldens.mine.labels import category_of, is_code
from goldens.mine.lines import Carry, read, runs, shown
from goldens.mine.pulls import PullRange
from goldens.mine.quarry import Quarry, told_finding, usable
from goldens.model import SourceSignal
from scoring.model import Category, Severity

_TASTE = re.compile(
    r"\A\W{0,6}(?:nit(?:pick)?|typo|style|minor|optional|naming|question|thanks|thank you|lgtm|nice|great|good catch"
    r"|wording|formatting|grammar|docs?)\b",
    re.IGNORECASE,
)
_FENCE = re.compile(r"```[\s\S]{0,20000}?(?:```|\Z)")


@dataclass(frozen=True, slots=True)
class _Raised:
    """A defect with the commit it is pinned to."""

    pull: PullRange
    places: tuple[tuple[str, int], ...]
    """(path, line) at the pinned head."""
    fix: str


def mine_review(quarry: Quarry) -> Mined:
    """Draft goldens from the review threads of the saved answers; threads pinned to one commit share a draft."""
    drafts, kept, discards = dict[tuple[int, int], DraftPull](), list[str](), list[Discard]()
    threads = quarry.answers.threads
    for number, thread in enumerate(threads):
        quarry.progress(number, len(threads))
        subject = f"#{thread.pull} {thread.id}"
        try:
            first = _opening(quarry, thread)
            raised = _raised(quarry, thread, first)
            key = (thread.pull, raised.pull.head)
            drafts[key] = _with(quarry, drafts.get(key), thread, first, raised)
            kept.append(subject)
        except Rejected as rejected:
            discards.append(Discard(subject, rejected.reason, rejected.detail))
    return Mined(tuple(drafts.values()), tuple(kept), tuple(discards))


def _opening(quarry: Quarry, thread: Thread) -> ThreadComment:
    """The remark that opened a thread, if it may be one about a defect that was put right."""
    first = thread.comments[0] if thread.comments else None
    facts = quarry.answers.pulls.get(thread.pull)
    if facts is None or facts.merged_at is None:
        raise Rejected(Reason.NOT_MERGED, f"#{thread.pull} is not known as merged")
    if not thread.resolved:
        raise Rejected(Reason.UNRESOLVED, "nobody marked it as resolved")
    if first is None or not first.body.strip() or thread.left or thread.lines is None:
        raise Rejected(Reason.NO_LINES, "it has no words, or is not about lines of the new side")
    if first.bot:
        raise Rejected(Reason.BY_BOT, f"{first.author} is a bot")
    if first.author is not None and first.author == facts.author:
        raise Rejected(Reason.BY_AUTHOR, "the author remarked on their own change")
    words = _FENCE.sub(" ", first.body).strip()
    if _TASTE.match(words) or (words.endswith("?") and words.count("?") == 1 and "." not in words):
        raise Rejected(Reason.NOT_A_DEFECT, "by its own words a matter of taste, a question or praise")
    if not is_code(usable(thread.path)):
        raise Rejected(Reason.NO_SITE, f"{thread.path} is no code")
    return first


def _raised(quarry: Quarry, thread: Thread, first: ThreadComment) -> _Raised:
    """Follow the lines from the remark's commit up to the one that touches them."""
    history, pull = quarry.history, quarry.pulls.range_of(thread.pull)
    at = history.numbers.get(first.commit or "")
    if at is None:
        raise Rejected(Reason.NOT_IN_CLONE, f"commit {first.commit} is not in the clone")
    steps = _steps(quarry, at, _branch_head(quarry, thread.pull, pull))
    assert thread.lines is not None
    places = [(thread.path, number) for number in range(thread.lines[0], thread.lines[1] + 1)]
    pairs = list(pairwise(steps))
    for (old, new), diff in zip(pairs, quarry.diffs(pairs, ignore_blanks=True), strict=True):
        carry = Carry(read(diff, history.ids[new]))
        after = [carry.line(*place) for place in places]
        if None in after:
            return _Raised(PullRange(thread.pull, _base(quarry, pull, old), old), tuple(places), history.ids[new])
        places = [place for place in after if place]
    raise Rejected(Reason.NEVER_TOUCHED, "no later commit changed those lines")


def _branch_head(quarry: Quarry, number: int, pull: PullRange) -> int:
    """The branch as it was reviewed: what it was squashed into holds none of its commits."""
    facts = quarry.answers.pulls.get(number)
    found = quarry.history.numbers.get(facts.head_sha) if facts and facts.head_sha else None
    return pull.head if found is None else found


def _steps(quarry: Quarry, old: int, head: int) -> list[int]:
    """The commits from one to the head, by first parents, oldest first."""
    steps, history = [head], quarry.history
    while steps[-1] < old and history.parents[steps[-1]]:
        steps.append(history.parents[steps[-1]][0])
    if steps[-1] != old:
        raise Rejected(Reason.HISTORY_REWRITTEN, f"{history.ids[old]} is not below the head")
    return steps[::-1]


def _base(quarry: Quarry, pull: PullRange, head: int) -> int:
    """The merge base of the pinned commit with the branch that the pull request went into."""
    bases = quarry.history.merge_bases(pull.base, head)
    if len(bases) != 1 or bases[0] == head:
        raise Rejected(Reason.CROSSED, f"#{pull.number} has {len(bases)} merge bases at the remark's commit")
    return bases[0]


def _with(quarry: Quarry, draft: DraftPull | None, thread: Thread, first: ThreadComment, raised: _Raised) -> DraftPull:
    """The draft with one more golden, or a new one."""
    pull = raised.pull
    changes = read(quarry.diffs([(pull.base, pull.head)])[0], f"#{pull.number}")
    path = raised.places[0][0]
    added = shown(changes, path, [number for _, number in raised.places])
    if not added:
        raise Rejected(Reason.OUTSIDE_DIFF, f"the lines are not among those that #{pull.number} added")
    places: Sequence[tuple[str, tuple[int, int]]] = [(path, span) for span in runs(added)]
    facts = quarry.answers.pulls[pull.number]
    plain = DraftGolden(
        path="",
        lines=(1, 1),
        finding=told_finding("", _FENCE.sub(" ", first.body)),
        evidence="",
        category=category_of(facts.labels) or Category.CORRECTNESS,
        severity=Severity.MEDIUM,
        source=thread.id,
        fix=raised.fix,
    )
    goldens = spread(plain, places, quarry.evidence(pull.head, places))
    name = f"pull-{pull.number}-at-{quarry.id(pull.head)[:8]}"
    before = draft.goldens if draft else ()
    return draft_pull(quarry, pull, changes, (*before, *goldens), SourceSignal.RESOLVED_IN_REVIEW, name=name)
