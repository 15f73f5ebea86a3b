"""Which reviewers an organisation has installed, as far as its list of Apps tells.

The list is evidence of absence only for a reviewer that is an App of its own: GitHub's own bots are in no such list,
and one that posts as somebody else (a workflow, a person) need not be installed at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from bot.model import Raw
from bot.patterns import bounded
from bot.registry import Reviewer, normalise_login
from scoring.model import ReviewerId

_HOUSE = "github"
"""The vendor whose bots are part of GitHub."""


class Presence(StrEnum):
    """Where a reviewer is installed."""

    EVERYWHERE = "all repositories"
    SELECTED = "selected repositories"
    """Perhaps not on repositories made later."""
    SUSPENDED = "suspended"
    ABSENT = "not found"
    UNKNOWN = "not known"


@dataclass(frozen=True, slots=True)
class Installed:
    """Who is installed in one organisation."""

    presence: Mapping[ReviewerId, Presence]
    others: tuple[str, ...] = ()
    """Apps of the organisation that no entry of the registry stands for, by slug."""
    told: bool = True
    """Whether GitHub showed us the list."""

    def of(self, reviewer: str) -> Presence:
        """Where a reviewer is installed."""
        return self.presence.get(ReviewerId(reviewer), Presence.UNKNOWN)

    def evidence(self, reviewer: str) -> bool | None:
        """Whether a reviewer is known to be installed on every repository (True) or on none (False)."""
        return _EVIDENCE[self.of(reviewer)]


_EVIDENCE: Mapping[Presence, bool | None] = MappingProxyType(
    {
        Presence.EVERYWHERE: True,
        Presence.SELECTED: None,
        Presence.SUSPENDED: False,
        Presence.ABSENT: False,
        Presence.UNKNOWN: None,
    }
)


def slugs_of(reviewer: Reviewer) -> frozenset[str]:
    """The Apps that are this reviewer: those it names, and those behind the accounts that are its alone."""
    own = (
        normalise_login(login.login)
        for login in reviewer.logins
        if login.body_marker is None and login.login.endswith("[bot]")
    )
    return frozenset({slug.lower() for slug in reviewer.app_slugs} | set(own))


def installed(reviewers: Iterable[Reviewer], installations: Sequence[Raw] | None, *, ours: str = "") -> Installed:
    """Match reviewers against the Apps of an organisation.

    Args:
        reviewers: the registry's.
        installations: as GitHub lists them; None: it did not show them.
        ours: our own slug, which is none of the others.
    """
    entries = tuple(reviewers)
    if installations is None:
        return Installed({ReviewerId(entry.id): Presence.UNKNOWN for entry in entries}, told=False)
    found = {ReviewerId(entry.id): _presence(entry, installations) for entry in entries}
    known = {slug for entry in entries for slug in slugs_of(entry)} | {ours.lower()}
    others = sorted({slug for one in installations if (slug := _slug(one)) and slug not in known})
    return Installed(found, tuple(others))


def _presence(reviewer: Reviewer, installations: Sequence[Raw]) -> Presence:
    slugs = slugs_of(reviewer)
    there = [one for one in installations if _slug(one) in slugs or _same_app(reviewer, one)]
    if not there:
        doubtful = reviewer.vendor == _HOUSE or not slugs or any(_hinted(reviewer, one) for one in installations)
        return Presence.UNKNOWN if doubtful else Presence.ABSENT
    awake = [one for one in there if not one.get("suspended_at")]
    if not awake:
        return Presence.SUSPENDED
    selections = {one.get("repository_selection") for one in awake}
    return Presence.EVERYWHERE if "all" in selections else Presence.SELECTED


def _same_app(reviewer: Reviewer, installation: Raw) -> bool:
    return reviewer.app_id is not None and reviewer.app_id == installation.get("app_id")


def _hinted(reviewer: Reviewer, installation: Raw) -> bool:
    """Whether an App may be the reviewer under a name made for one customer."""
    return reviewer.login_hint is not None and bool(bounded(reviewer.login_hint).search(_slug(installation)))


def _slug(installation: Raw) -> str:
    return str(installation.get("app_slug") or "").lower()


def notes(reviewers: Iterable[Reviewer], found: Installed) -> Iterator[str]:
    """What the plan of a run says of reviewers that may not be there."""
    for reviewer in reviewers:
        where = found.of(reviewer.id)
        if where is Presence.ABSENT:
            yield (
                f"{reviewer.name} is not among the Apps of this organisation and will likely not answer: "
                "an owner has to install it."
            )
        elif where is Presence.SUSPENDED:
            yield f"{reviewer.name} is suspended in this organisation and will not answer: an owner has to resume it."
        elif where is Presence.SELECTED:
            yield (
                f"{reviewer.name} is installed on selected repositories only, and forks are new ones: "
                "it answers only if an owner lets it have all repositories, or adds each fork."
            )
    if not found.told:
        yield (
            "Which reviewers are installed is not known: GitHub shows the Apps of an organisation only to an App with "
            "the permission to read its administration, and those of a personal account to nobody."
        )


def author_notes(owner: str, *, owner_is_user: bool, author: str, author_is_user: bool) -> Iterator[str]:
    """What the plan of a run says of who acts."""
    if not author_is_user:
        yield (
            f"No author token is set, so the App ({author}) opens the pull requests and asks the reviewers itself: "
            "reviewers that heed only people will not answer, and this is no fair measure of them."
        )
    if owner_is_user and author_is_user:
        yield (
            f"{owner} is a personal account: the forks are made with the author's token, and the App sees them only "
            "if it is installed on all repositories."
        )
