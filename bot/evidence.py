"""What a snapshot proves about one reviewer: that it began, spoke, finished or refused, and when.

Only what is about the head commit and stamped by the deadline counts. Something made in time and edited after the
deadline still exists, but its words are no longer those of the deadline, so they prove nothing. A green check alone
proves nothing either: reviewers conclude `success` when they skipped the review or had no budget left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.conversation import (
    REFUSALS,
    Item,
    Surface,
    Tone,
    about,
    bare,
    by_reviewer,
    carries_findings,
    read_items,
    tone,
)
from bot.model import Asks, Snapshot
from bot.patterns import bounded, found, window
from bot.registry import Reviewer

_LONGEST_WINDOW = timedelta(days=366)
_TERMS = {"hours": 3600, "minutes": 60, "seconds": 1}
_TEXTS = (Surface.REVIEW, Surface.ISSUE_COMMENT)
_CHECKS = (Surface.CHECK_RUN, Surface.STATUS)
_PASSED = ("success", "neutral")


@dataclass(frozen=True, slots=True)
class Refusal:
    """A text or check that says there will be no review."""

    tone: Tone
    at: datetime
    words: str
    window_ends: datetime | None
    """When a rate-limited reviewer says it may be asked again."""
    live: bool
    """Whether it still stands: the reviewer was not asked again since, and said nothing to be scored since."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything that counts, folded."""

    last_change: datetime | None
    """The last time the reviewer made or edited anything."""
    last_said: datetime | None
    """The last time it made or edited something that is more than a sign of life."""
    done: bool
    found: int
    """Comments in the diff, and annotations where they are findings."""
    announced: int | None
    has_findings: bool
    at_work: bool
    """Whether a check of its own is still running."""
    check_only: bool
    """Whether a completed check of its own is all it left."""
    refusal: Refusal | None


@dataclass(frozen=True, slots=True)
class _Seen:
    """An item that counts."""

    item: Item
    at: datetime
    words: str
    """What patterns are searched in; empty where the words are not those of the deadline, or a reply's."""
    tone: Tone
    announced: int | None
    finding_count: int
    running: bool
    """Whether it is a check that was still running at the deadline."""


def gather(snapshot: Snapshot, reviewer: Reviewer, asks: Asks, deadline: datetime) -> Evidence:
    """Fold a snapshot."""
    seen = tuple(_seen(snapshot, reviewer, asks.at[0], deadline))
    said = [one.at for one in seen if _says_something(one, reviewer)]
    passed = [one for one in seen if one.item.surface in _CHECKS and _verdict(one, seen) == "passed"]
    at_work = any(one.running for one in seen)
    last_said = max(said, default=None)
    refusal = _latest_refusal(seen, reviewer, asks, last_said)
    live = refusal is not None and refusal.live
    signed = any(_is_done_sign(one, reviewer, seen) for one in seen)
    return Evidence(
        last_change=max((one.at for one in seen), default=None),
        last_said=last_said,
        done=signed or bool(passed and said and not at_work and not live),
        found=sum(one.finding_count for one in seen),
        announced=max((one.announced for one in seen if one.announced is not None), default=None),
        has_findings=_has_findings(seen, reviewer),
        at_work=at_work,
        check_only=bool(passed) and not said,
        refusal=refusal,
    )


def _seen(snapshot: Snapshot, reviewer: Reviewer, asked: datetime, deadline: datetime) -> Iterator[_Seen]:
    for item in read_items(snapshot):
        created = item.created or asked
        if created > deadline or not by_reviewer(item, reviewer) or not about(item, reviewer, snapshot.head_sha):
            continue
        changed = item.changed or created
        running = _running(item, deadline)
        words = item.body if changed <= deadline and item.root else ""
        readable = words.strip() and item.surface is not Surface.REVIEW_COMMENT and not running
        yield _Seen(
            item,
            changed if changed <= deadline else created,
            words,
            tone(words, reviewer) if words.strip() else Tone.CHATTER,
            _announced(words, reviewer) if readable else None,
            0 if running else _finding_count(item, reviewer),
            running,
        )


def _announced(words: str, reviewer: Reviewer) -> int | None:
    """The number of findings a text announces; a word such as "no" is none at all."""
    pattern = reviewer.signals.announced
    match = found((pattern,), window(words)) if pattern else None
    if match is None or match[1] is None:
        return None
    digits = match[1].replace(",", "")[:9]
    return int(digits) if digits.isdecimal() else 0


def _finding_count(item: Item, reviewer: Reviewer) -> int:
    if item.surface is Surface.REVIEW_COMMENT:
        return int(item.root and bool(item.body.strip()) and tone(item.body, reviewer) is not Tone.CHATTER)
    if item.surface is Surface.CHECK_RUN and reviewer.findings_in_checks:
        return len(item.raw.get("annotations") or ())
    return 0


def _says_something(one: _Seen, reviewer: Reviewer) -> bool:
    """Whether an item is positive evidence of a review, rather than a sign of life, a refusal or a colour."""
    if one.finding_count or one.announced is not None:
        return True
    if one.item.surface is Surface.REACTION:
        return _reacts_clean(one.item, reviewer)
    if one.item.surface in _CHECKS:
        return one.tone in (Tone.CLEAN, Tone.DONE) and not one.running
    if one.item.surface in _TEXTS:
        approved = one.item.raw.get("state") == "APPROVED" and one.tone not in REFUSALS
        return approved or one.tone in (Tone.CLEAN, Tone.DONE) or _is_prose(one)
    return False


def _is_prose(one: _Seen) -> bool:
    plain = one.tone is Tone.PROSE and one.announced is None
    return one.item.surface in _TEXTS and plain and not bare(one.words)


def _is_done_sign(one: _Seen, reviewer: Reviewer, seen: Sequence[_Seen]) -> bool:
    """Whether an item says by itself that the review is over."""
    if one.item.surface is Surface.REACTION:
        at_it = any(other.item.raw.get("content") == "eyes" for other in seen if other.item.surface is Surface.REACTION)
        return _reacts_clean(one.item, reviewer) and not at_it
    if one.item.surface is Surface.REVIEW_COMMENT or one.running or one.tone in REFUSALS:
        return False
    approved = one.item.surface is Surface.REVIEW and one.item.raw.get("state") == "APPROVED"
    return approved or one.tone in (Tone.CLEAN, Tone.DONE) or one.announced is not None


def _reacts_clean(item: Item, reviewer: Reviewer) -> bool:
    wanted = reviewer.signals.clean_reaction
    return wanted is not None and item.raw.get("content") == wanted


def _has_findings(seen: Sequence[_Seen], reviewer: Reviewer) -> bool:
    """By structure: something in the diff, an announced number, a summary with items, or prose no pattern explains."""
    if any(one.finding_count or one.announced or _carries(one) for one in seen):
        return True
    clean = any(one.tone is Tone.CLEAN or _reacts_clean(one.item, reviewer) for one in seen)
    return not clean and any(_is_prose(one) and one.item.raw.get("state") != "APPROVED" for one in seen)


def _carries(one: _Seen) -> bool:
    scored = one.tone in (Tone.CLEAN, Tone.DONE, Tone.PROSE)
    return one.item.surface in _TEXTS and scored and carries_findings(one.words)


def _running(item: Item, deadline: datetime) -> bool:
    """Whether a check was still running at the deadline."""
    if item.surface is Surface.STATUS:
        return item.raw.get("state") == "pending"
    if item.surface is not Surface.CHECK_RUN:
        return False
    return item.raw.get("status", "completed") != "completed" or (item.changed is not None and item.changed > deadline)


def _verdict(one: _Seen, seen: Sequence[_Seen]) -> str:
    """What a check says by its colour: running, passed, skipped, unable or failed.

    A reviewer may fail its check because it found something, so a failed check passes here if findings stand beside it.
    """
    raw = one.item.raw
    colour = raw.get("state") if one.item.surface is Surface.STATUS else raw.get("conclusion")
    if one.running:
        return "running"
    if colour in _PASSED or one.tone in (Tone.CLEAN, Tone.DONE):
        return "passed"
    if colour == "failure" and any(other.finding_count or other.announced for other in seen):
        return "passed"
    return {"skipped": "skipped", "action_required": "unable"}.get(str(colour), "failed")


def _latest_refusal(
    seen: Sequence[_Seen], reviewer: Reviewer, asks: Asks, last_said: datetime | None
) -> Refusal | None:
    told = [(one, kind) for one in seen if (kind := _refuses(one, seen)) is not None]
    if not told:
        return None
    one, kind = max(told, key=lambda pair: (pair[0].at, pair[0].item.id))
    asked_since = len(asks.at) > 1 and one.at < asks.at[-1].replace(microsecond=0)
    said_since = last_said is not None and last_said > one.at
    return Refusal(
        kind, one.at, _excerpt(one, kind, reviewer), _window_end(one, reviewer), not (asked_since or said_since)
    )


def _refuses(one: _Seen, seen: Sequence[_Seen]) -> Tone | None:
    if one.item.surface in _TEXTS:
        return one.tone if one.tone in REFUSALS else None
    if one.item.surface not in _CHECKS:
        return None
    verdict = _verdict(one, seen)
    if verdict == "running":
        return None
    if one.tone in REFUSALS:
        return one.tone
    return {"skipped": Tone.SKIPPED, "unable": Tone.UNABLE, "failed": Tone.ERROR}.get(verdict)


def _excerpt(one: _Seen, kind: Tone, reviewer: Reviewer) -> str:
    """The words that gave it away, on one short line."""
    match = found(getattr(reviewer.signals, kind.value), window(one.words))
    if match is None:
        return f"its check concluded {one.item.raw.get('conclusion') or one.item.raw.get('state')}"
    line = match.string[match.start() : match.start() + 200].splitlines()[0]
    return " ".join(line.split())[:120]


def _window_end(one: _Seen, reviewer: Reviewer) -> datetime | None:
    pattern = reviewer.signals.window
    match = bounded(pattern).search(window(one.words)) if pattern else None
    if match is None:
        return None
    terms = {name: (text or "0").replace(",", "")[:9] for name, text in match.groupdict().items()}
    seconds = sum(int(text) * _TERMS[name] for name, text in terms.items() if text.isdecimal())
    return one.at + min(timedelta(seconds=seconds), _LONGEST_WINDOW) if seconds else None
