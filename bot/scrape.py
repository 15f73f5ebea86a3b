"""A snapshot to what each reviewer said: attributed, placed, with chatter left out and counted.

A finding is a thread's root, a submitted review's text, a comment on the conversation or, where the registry says
so, a line of a check run. What a review or comment *claims* is for the candidates to say: a review's summary is kept
even if it only repeats the inline findings. Left out here is what cannot hold a claim: replies, commands, empty
wrappers, placeholders, refusals, chatter, bare approvals and bare "nothing found" texts. Each is counted by reason.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import NamedTuple

from bot.conversation import (
    Item,
    Surface,
    Tone,
    bare,
    carries_findings,
    merge_pages,
    owner,
    read_items,
    same_login,
    tone,
)
from bot.model import Raw, Snapshot
from bot.patterns import found, window
from bot.registry import Registry, Reviewer
from scoring.model import Comment, Place, ReviewerId, Shape, Side

__all__ = ["Revision", "Scraped", "Stray", "gone", "merge_pages", "read", "revisions"]

AFTER_FREEZE = "after_freeze"
WITHDRAWN = "withdrawn_by_author_bot"

_NO_CLAIM = (Tone.UNABLE, Tone.SKIPPED, Tone.ERROR, Tone.RATE_LIMITED, Tone.PLACEHOLDER, Tone.CHATTER)
_TAKES_BACK = re.compile(
    r"review_comment_withdrawn|\bwithdr(?:aw|awn|awing|ew)\b|\bretract(?:ed|ing)?\b"
    r"|\b(?:take|taking|took) (?:this|that|it|my|the)(?: \w{1,20}){0,2} back\b"
    r"|\bmy (?:finding|comment|remark|claim|concern) (?:was|is) (?:wrong|incorrect|mistaken|invalid)\b"
    r"|\b(?:this|that|it) (?:was|is) a false positive\b",
    re.IGNORECASE,
)
_STANDS_BY = re.compile(
    r"\b(?:retain|maintain|keep|reinstat)\w{0,4} (?:the|this|my|that) (?:finding|comment|remark|claim|concern)\b"
    r"|\bstand(?:ing)? by (?:the|this|my|it)\b"
    r"|(?:\bnot|n['\u2019]t|\bnever)(?: \w{1,12}){0,2} (?:withdr\w{1,6}|retract\w{0,3})\b"
    r"|(?:\bnot|n['\u2019]t|\bnever) tak\w{1,3}(?: \w{1,12}){1,3} back\b"
    r"|(?:\bnot|n['\u2019]t) a false positive\b",
    re.IGNORECASE,
)


class Stray(NamedTuple):
    """Something that is no reviewer's and not ours."""

    id: str
    author: str
    permalink: str


class Revision(NamedTuple):
    """A body's hash and how many bodies we have seen under its id, this one included."""

    digest: str
    number: int


@dataclass(frozen=True, slots=True)
class Scraped:
    """What one snapshot holds, by whom."""

    by_reviewer: Mapping[ReviewerId, tuple[Comment, ...]]
    """Every reviewer of the registry, in order of time; empty where it said nothing that may be scored."""
    late: Mapping[ReviewerId, tuple[Comment, ...]]
    """Made or edited after the freeze: kept and flagged, never scored. Reviewers without any are left out."""
    unattributed: tuple[Stray, ...]
    unknown_bots: tuple[str, ...]
    """Bot accounts that no registry entry names: perhaps a reviewer under a login we do not know."""
    ghosts: int
    """Items whose account is gone. They are nobody's."""
    foreign_before_first: Mapping[ReviewerId, int]
    """Findings of other reviewers that stood there before this one's first; reviewers without any are left out."""
    excluded: Mapping[str, int]
    """How many items were left out, by reason."""
    spoke: Mapping[ReviewerId, int]
    """How many texts of each reviewer there are, chatter and refusals among them; who is silent is left out."""


def read(
    snapshot: Snapshot,
    registry: Registry,
    *,
    our_logins: frozenset[str],
    frozen_at: datetime | None = None,
) -> Scraped:
    """Read a snapshot.

    Args:
        snapshot: the conversation, raw.
        registry: who the reviewers are.
        our_logins: the accounts that this App and its author token act as; nothing of theirs is a finding.
        frozen_at: what was made or edited after this moment is late; None: nothing is.
    """
    reading = _Reading(registry, our_logins, frozen_at)
    reading.excluded["pending"] = sum(review.get("state") == "PENDING" for review in snapshot.reviews)
    items = sorted(read_items(snapshot), key=_in_time)
    for item in items:
        if item.surface not in (Surface.REACTION, Surface.STATUS):
            reading.take(item)
    return reading.result(_stances(items, registry, frozen_at))


def revisions(previous: Mapping[str, Revision], snapshot: Snapshot) -> dict[str, Revision]:
    """The revisions after this snapshot: a body that differs from the one stored is one more. Nothing is forgotten."""
    current = dict(previous)
    for item in read_items(snapshot):
        if item.surface is Surface.REACTION:
            continue
        digest = _digest(item.body)
        before = current.get(item.id)
        if before is None or before.digest != digest:
            current[item.id] = Revision(digest, before.number + 1 if before else 1)
    return current


def gone(versions: Sequence[Snapshot]) -> tuple[str, ...]:
    """What stood in an earlier version and not in the last: deleted by somebody. It is kept in the earlier ones."""
    if not versions:
        return ()
    texts = (Surface.REVIEW, Surface.REVIEW_COMMENT, Surface.ISSUE_COMMENT)
    seen = [{item.id for item in read_items(version) if item.surface in texts} for version in versions]
    return tuple(sorted(set().union(*seen) - seen[-1]))


def _digest(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()[:12]


def _in_time(item: Item) -> tuple[datetime, str, int, str]:
    """Undated items first; the same order whatever order GitHub listed them in."""
    number = int(item.key) if item.key.isdecimal() else 0
    return item.created or datetime.min.replace(tzinfo=UTC), item.surface.value, number, item.key


class _Reading:
    """The piles that items are sorted onto, one at a time, in order of time."""

    def __init__(self, registry: Registry, ours: frozenset[str], frozen_at: datetime | None) -> None:
        self.registry, self.ours, self.frozen_at = registry, ours, frozen_at
        self.kept: dict[ReviewerId, list[Comment]] = {reviewer: [] for reviewer in registry.ids}
        self.late: dict[ReviewerId, list[Comment]] = {}
        self.strays: list[Stray] = []
        self.unknown: set[str] = set()
        self.ghosts = 0
        self.spoken: list[tuple[ReviewerId, datetime | None]] = []
        self.foreign: dict[ReviewerId, int] = {}
        self.excluded: Counter[str] = Counter()
        self.spoke: Counter[ReviewerId] = Counter()
        self.commands = {
            spec.text.strip() for reviewer in registry.reviewers for spec in (reviewer.trigger, reviewer.rerun) if spec
        } - {""}

    def take(self, item: Item) -> None:
        """Put one item where it belongs."""
        if item.surface is not Surface.CHECK_RUN and item.login is None:
            self.ghosts += 1
        elif same_login(item.login, self.ours):
            self.excluded["ours"] += 1
        elif item.body.strip() in self.commands:
            self.excluded["command"] += 1
        elif (reviewer := owner(item, self.registry)) is None:
            self._stray(item)
        else:
            self._said(item, reviewer)

    def _stray(self, item: Item) -> None:
        if item.surface is Surface.CHECK_RUN:
            return
        self.strays.append(Stray(item.id, item.author, _permalink(item)))
        if item.login and _is_bot(item) and not self.registry.knows_login(item.login):
            self.unknown.add(item.login)

    def _said(self, item: Item, reviewer: Reviewer) -> None:
        who = ReviewerId(reviewer.id)
        self.spoke[who] += item.surface is not Surface.CHECK_RUN
        late = self.frozen_at is not None and item.changed is not None and item.changed > self.frozen_at
        reason = _reason_to_leave_out(item, reviewer)
        comments = [] if reason else list(_comments(item, reviewer))
        if reason:
            self.excluded[reason] += 1
        if late:
            self.late.setdefault(who, []).extend(_flagged(comment, AFTER_FREEZE) for comment in comments)
            return
        if comments and who not in self.foreign:
            self.foreign[who] = sum(
                other != who and (at is None or item.created is None or at < item.created) for other, at in self.spoken
            )
        self.kept[who] += comments
        if comments and item.surface is not Surface.CHECK_RUN:
            self.spoken.append((who, item.created))

    def result(self, withdrawn: frozenset[str]) -> Scraped:
        """Everything taken so far, with the flags that later items put on earlier ones."""
        return Scraped(
            {who: _flag_withdrawn(comments, withdrawn) for who, comments in self.kept.items()},
            {who: _flag_withdrawn(comments, withdrawn) for who, comments in self.late.items() if comments},
            tuple(self.strays),
            tuple(sorted(self.unknown)),
            self.ghosts,
            self.foreign,
            {reason: count for reason, count in sorted(self.excluded.items()) if count},
            {who: count for who, count in sorted(self.spoke.items()) if count},
        )


def _is_bot(item: Item) -> bool:
    return item.account == "Bot" or (item.account is None and item.author.endswith("[bot]"))


def _reason_to_leave_out(item: Item, reviewer: Reviewer) -> str | None:
    """Why an item holds no claim; None: it may hold one."""
    if item.surface is Surface.CHECK_RUN:
        return _check_without_findings(item.raw, reviewer)
    if not item.root:
        return "reply"
    if not item.body.strip():
        return "empty"
    kind = tone(item.body, reviewer)
    if item.surface is Surface.REVIEW_COMMENT:
        return kind.value if kind is Tone.CHATTER else None
    if carries_findings(item.body) and kind is not Tone.CHATTER:
        return None
    if kind in _NO_CLAIM or kind is Tone.CLEAN:
        return kind.value
    if found(reviewer.signals.not_findings, window(item.body)):
        return Tone.CHATTER.value
    return "bare" if bare(item.body) else None


def _check_without_findings(raw: Raw, reviewer: Reviewer) -> str | None:
    if raw.get("conclusion") == "skipped":
        return "did_not_run"
    if not raw.get("annotations"):
        return "check_without_annotations"
    return None if reviewer.findings_in_checks else "annotations_not_findings"


def _comments(item: Item, reviewer: Reviewer) -> Iterable[Comment]:
    if item.surface is Surface.CHECK_RUN:
        yield from (_annotation(item, number, raw) for number, raw in enumerate(item.raw["annotations"]))
        return
    place, commit, outdated = _place(item.raw) if item.surface is Surface.REVIEW_COMMENT else (None, None, False)
    shape = {Surface.REVIEW: Shape.REVIEW_BODY, Surface.ISSUE_COMMENT: Shape.ISSUE_COMMENT}.get(
        item.surface, Shape.INLINE if place and place.lines else Shape.FILE
    )
    yield Comment(
        id=item.id,
        shape=shape,
        author=item.author,
        body=_without_markers(item.body, reviewer),
        permalink=_permalink(item),
        place=place,
        commit=commit or item.raw.get("commit_id"),
        outdated=outdated,
        revision=_digest(item.body),
        created_at=_stamp(item.created),
        updated_at=_stamp(item.changed),
    )


def _place(raw: Raw) -> tuple[Place | None, str | None, bool]:
    """Where a review comment stands, at which commit, and whether that is no longer the head's text."""
    path = raw.get("path")
    if not path:
        return None, None, False
    side = Side.LEFT if raw.get("side") == "LEFT" else Side.RIGHT
    outdated = raw.get("line") is None
    last: int | None = raw.get("original_line") if outdated else raw["line"]
    if raw.get("subject_type") == "file" or last is None:
        return Place(path, None, side), raw.get("commit_id"), False
    start: int | None = raw.get("original_start_line" if outdated else "start_line")
    first = start if start is not None and raw.get("start_side") in (None, raw.get("side")) else last
    commit = raw.get("original_commit_id") if outdated else raw.get("commit_id")
    return Place(path, (min(first, last), max(first, last)), side), commit, outdated


def _annotation(item: Item, number: int, raw: Raw) -> Comment:
    title, message = (raw.get("title") or "").strip(), raw.get("message") or ""
    first = raw.get("start_line")
    lines = None if first is None else (first, max(first, raw.get("end_line") or first))
    return Comment(
        id=f"{item.id}/{number}",
        shape=Shape.ANNOTATION,
        author=item.author,
        body=f"{title}\n\n{message}" if title else message,
        revision=_digest(message),
        permalink=raw.get("blob_href") or _permalink(item),
        place=Place(raw["path"], lines) if raw.get("path") else None,
        commit=item.raw.get("head_sha"),
        created_at=_stamp(item.changed),
        updated_at=_stamp(item.changed),
    )


def _without_markers(body: str, reviewer: Reviewer) -> str:
    """The body without what only says whose it is; the judge must not see it."""
    for login in reviewer.logins:
        body = body.replace(login.body_marker, "") if login.body_marker else body
    return body.lstrip("\r\n")


def _permalink(item: Item) -> str:
    return str(item.raw.get("html_url") or "")


def _stamp(moment: datetime | None) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ") if moment else ""


def _flagged(comment: Comment, flag: str) -> Comment:
    return replace(comment, flags=(*comment.flags, flag))


def _flag_withdrawn(comments: Iterable[Comment], withdrawn: frozenset[str]) -> tuple[Comment, ...]:
    return tuple(_flagged(comment, WITHDRAWN) if comment.id in withdrawn else comment for comment in comments)


def _stances(items: Iterable[Item], registry: Registry, frozen_at: datetime | None) -> frozenset[str]:
    """The threads whose own reviewer took its finding back, and did not then stand by it again."""
    comments = [item for item in items if item.surface is Surface.REVIEW_COMMENT]
    roots = {item.key: owner(item, registry) for item in comments if item.root}
    withdrawn: dict[str, bool] = {}
    for item in comments:
        thread = str(item.raw.get("in_reply_to_id"))
        author = owner(item, registry)
        late = frozen_at is not None and item.changed is not None and item.changed > frozen_at
        if item.root or late or author is None or roots.get(thread) is not author:
            continue
        stance = _takes_back(item.body)
        if stance is not None:
            withdrawn[f"{Surface.REVIEW_COMMENT.value}/{thread}"] = stance
    return frozenset(thread for thread, taken_back in withdrawn.items() if taken_back)


def _takes_back(body: str) -> bool | None:
    """Whether a reply withdraws (True) or upholds (False) the finding it answers; None: neither."""
    text = window(body)
    if _STANDS_BY.search(text):
        return False
    return True if _TAKES_BACK.search(text) else None
