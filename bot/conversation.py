"""A snapshot as attributable items: who said what, where, when, about which commit, and what kind of saying it is.

`settle` and `scrape` both read a conversation through this module, so they cannot disagree about whose text
something is, when it happened or whether it is chatter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from bot.model import Raw, Snapshot
from bot.patterns import found, window
from bot.registry import Registry, Reviewer, normalise_login


class Surface(StrEnum):
    """Where an item was made."""

    REVIEW = "review"
    REVIEW_COMMENT = "review_comment"
    ISSUE_COMMENT = "issue_comment"
    CHECK_RUN = "check_run"
    STATUS = "status"
    REACTION = "reaction"


class Tone(StrEnum):
    """What kind of saying a text is, by the reviewer's patterns. The order is the order in which they are tried."""

    UNABLE = "unable"
    SKIPPED = "skipped"
    ERROR = "error"
    CLEAN = "clean"
    DONE = "done"
    RATE_LIMITED = "rate_limited"
    PLACEHOLDER = "placeholder"
    CHATTER = "not_findings"
    PROSE = "prose"


REFUSALS = (Tone.UNABLE, Tone.SKIPPED, Tone.ERROR, Tone.RATE_LIMITED)


@dataclass(frozen=True, slots=True)
class Item:
    """One thing somebody did on a pull request."""

    surface: Surface
    key: str
    """GitHub's id; the position in its list where GitHub gave none."""
    login: str | None
    """None: the account is gone."""
    account: str | None
    """GitHub's type of the account, where given."""
    app_slug: str | None
    body: str
    created: datetime | None
    changed: datetime | None
    """The last edit, or the creation."""
    raw: Raw

    @property
    def id(self) -> str:
        """`<surface>/<GitHub id>`."""
        return f"{self.surface.value}/{self.key}"

    @property
    def author(self) -> str:
        """The login, or what GitHub shows for an account that is gone."""
        return self.login or self.app_slug or "ghost"

    @property
    def root(self) -> bool:
        """Whether it starts a thread rather than replying in one."""
        return not self.raw.get("in_reply_to_id")


def instant(text: str | None) -> datetime | None:
    """GitHub's timestamp as a UTC moment; None for none.

    Raises:
        ValueError: it is no ISO 8601 timestamp with a time zone.
    """
    if not text:
        return None
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"{text!r} has no time zone")
    return moment.astimezone(UTC)


def merge_pages(pages: Iterable[Sequence[Raw] | None]) -> tuple[Raw, ...]:
    """The objects of all pages once each, in order of first sight, each in its last edited version.

    An object shows up on two pages when something arrived between the two reads. Objects without an id are kept.

    Raises:
        ValueError: a page is None, that is, could not be read: what is missing is unknown, not empty.
    """
    merged: dict[str, Raw] = {}
    for number, page in enumerate(pages, 1):
        if page is None:
            raise ValueError(f"page {number} was not read, so the list is unknown; read it again")
        for raw in page:
            key = str(raw["id"]) if raw.get("id") is not None else f"without id {len(merged)}"
            if key not in merged or _edited(raw) >= _edited(merged[key]):
                merged[key] = raw
    return tuple(merged.values())


def _edited(raw: Raw) -> str:
    return str(raw.get("updated_at") or raw.get("completed_at") or "")


def read_items(snapshot: Snapshot) -> Iterator[Item]:
    """Everything in the conversation, each object once. Reviews that nobody submitted yet are left out."""
    hidden = {review.get("id") for review in snapshot.reviews if review.get("state") == "PENDING"} - {None}
    reviews = [review for review in snapshot.reviews if review.get("state") != "PENDING"]
    comments = [raw for raw in snapshot.review_comments if raw.get("pull_request_review_id") not in hidden]
    yield from _items(Surface.REVIEW, reviews)
    yield from _items(Surface.REVIEW_COMMENT, comments)
    yield from _items(Surface.ISSUE_COMMENT, snapshot.issue_comments)
    yield from _items(Surface.CHECK_RUN, snapshot.check_runs)
    yield from _items(Surface.STATUS, snapshot.statuses)
    yield from _items(Surface.REACTION, snapshot.reactions)


def _items(surface: Surface, raws: Sequence[Raw]) -> Iterator[Item]:
    for position, raw in enumerate(merge_pages([raws])):
        key = str(raw["id"]) if raw.get("id") is not None else f"at-{position}"
        user: Mapping[str, str] = raw.get("user") or raw.get("creator") or {}
        slug = (raw.get("app") or {}).get("slug")
        created, changed = _moments(surface, raw)
        yield Item(surface, key, user.get("login"), user.get("type"), slug, _body(surface, raw), created, changed, raw)


def _body(surface: Surface, raw: Raw) -> str:
    if surface is Surface.CHECK_RUN:
        output = raw.get("output") or {}
        return "\n".join(part for name in ("title", "summary", "text") if (part := output.get(name)))
    if surface is Surface.STATUS:
        return raw.get("description") or ""
    return raw.get("body") or ""


def _moments(surface: Surface, raw: Raw) -> tuple[datetime | None, datetime | None]:
    if surface is Surface.CHECK_RUN:
        created = instant(raw.get("started_at")) or instant(raw.get("completed_at"))
        return created, instant(raw.get("completed_at")) or created
    created = instant(raw.get("created_at")) or instant(raw.get("submitted_at"))
    edited = instant(raw.get("updated_at"))
    return created, max(filter(None, (created, edited)), default=None)


def by_reviewer(item: Item, reviewer: Reviewer) -> bool:
    """Whether an item is this reviewer's: check runs by App, statuses by context, the rest by login."""
    if item.surface is Surface.CHECK_RUN:
        named = item.raw.get("name") in reviewer.check_names
        if not reviewer.app_slugs:
            return named
        return item.app_slug in reviewer.app_slugs and (named or not reviewer.check_names)
    if item.surface is Surface.STATUS:
        ours = item.login is None or reviewer.speaks(item.login, "", item.account)
        return ours and item.raw.get("context") in reviewer.check_names
    return reviewer.speaks(item.login, item.body, item.account)


def owner(item: Item, registry: Registry) -> Reviewer | None:
    """Whose item it is. Every check run of a reviewer's App is its own here, whatever the check is called."""
    if item.surface is Surface.CHECK_RUN:
        return registry.by_app_slug(item.app_slug)
    return registry.by_login(item.login, item.body, item.account)


def about(item: Item, reviewer: Reviewer, head: str) -> bool:
    """Whether an item is about this commit. Where neither GitHub nor the text names one, it is taken to be."""
    names = ("commit_id", "original_commit_id", "head_sha", "sha")
    shas = {str(item.raw[name]) for name in names if item.raw.get(name)}
    if shas and head not in shas:
        return False
    named = found((reviewer.signals.reviewed_commit,), window(item.body)) if reviewer.signals.reviewed_commit else None
    return named is None or not named[1] or head.lower().startswith(named[1].lower())


def tone(body: str, reviewer: Reviewer) -> Tone:
    """What kind of saying a text is.

    A refusal wins over a success in the same text, except a rate limit: reviewers edit a review into the comment
    that said they were rate limited and leave the old words standing.
    """
    text = window(body)
    for kind in Tone:
        if kind is not Tone.PROSE and found(getattr(reviewer.signals, kind.value), text):
            return kind
    return Tone.PROSE


_CARRIED_FINDING = re.compile(
    r"^[> \t]{0,12}`?\d{1,6}(?:-\d{1,6})?`?: "
    r"|<summary>[^<>\n]{1,200} \(\d{1,4}\)</summary>"
    r"|/blob/[0-9a-f]{7,40}/[^\s#]{1,200}#L\d{1,6}",
    re.MULTILINE,
)


def carries_findings(body: str) -> bool:
    """Whether a summary holds findings of its own by its shape: `12-15:` items, files with a count, line links."""
    return any(
        "." in match[0] or not match[0].startswith("<summary>") for match in _CARRIED_FINDING.finditer(window(body))
    )


_BARE = re.compile(
    r"\W{0,20}(?:lgtm|looks good(?: to me)?|approved?|ship it|nice work|well done"
    r"|on it|working on it|i am on it|i'm on it|looking(?: into (?:it|this))?|reviewing(?: now| this)?|thanks|thank you"
    r")\W{0,20}",
    re.IGNORECASE,
)


def bare(body: str) -> bool:
    """Whether a text is nothing but an acknowledgement or an approval."""
    return len(body) < 200 and _BARE.fullmatch(body.strip()) is not None


def same_login(one: str | None, others: frozenset[str]) -> bool:
    """Whether a login is among others, compared as GitHub does and without its suffixes."""
    return one is not None and normalise_login(one) in {normalise_login(other) for other in others}
