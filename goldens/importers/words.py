"""What the sources call things, and the ids we give to what they leave without one."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass

from goldens.categories import OURS, to_ours
from goldens.importers.strict import Node
from scoring.claims import short_title
from scoring.model import (
    Candidate,
    CandidateId,
    Category,
    Golden,
    GoldenId,
    Place,
    PullId,
    Severity,
    Shape,
    SuiteRef,
)

_LEVELS = {level.value: level for level in Severity}
_SYNONYMS = {
    "blocker": Severity.CRITICAL,
    "major": Severity.HIGH,
    "error": Severity.HIGH,
    "moderate": Severity.MEDIUM,
    "warning": Severity.MEDIUM,
    "minor": Severity.LOW,
    "info": Severity.LOW,
    "note": Severity.LOW,
    "none": Severity.LOW,
}
_SLUG = re.compile(r"[^a-z0-9]+")
_PULL_URL = re.compile(
    r"https?://([^/\s]{1,200})/([^/\s]{1,100})/([^/\s]{1,100})/pull/([0-9]{1,9})(?:[/?#]\S{0,200})?\Z"
)


@dataclass(frozen=True, slots=True)
class Options:
    """What a source may leave unsaid."""

    judge: str = ""
    """Name of the judge; a source's own name for it where empty."""
    reviewer: str = ""
    """Whose comments these are, where the source names nobody."""
    pull: str = ""
    """The id or URL of the golden pull request, where a source is about one and does not say which."""
    suite: str = ""
    """Id of the suite; the format's own where empty."""


def digest(*parts: str, length: int = 10) -> str:
    """A short hash over texts that cannot run into each other."""
    joined = "\0".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(joined.encode()).hexdigest()[:length]


def slug(text: str, longest: int = 60) -> str:
    """A text as a name: lower case letters, digits and hyphens."""
    return _SLUG.sub("-", text.lower()).strip("-")[:longest].strip("-")


def pull_id(url: str) -> PullId:
    """The id of a pull request known by its URL: readable, and without the `#` that forges turn into a link.

    A name that is fit to be an id is the id itself, so that what we export comes back under its own.
    """
    if url and url == slug(url, longest=100):
        return PullId(url)
    hit = _PULL_URL.match(url)
    readable = slug("-".join(hit.groups()[1:]) if hit else url.rpartition("://")[2])
    return PullId(f"{readable or 'pull'}-{digest(url, length=6)}")


def golden_id(pull: str, position: int, text: str) -> GoldenId:
    """The id of a golden that its source tells from others by text alone; texts may be identical."""
    return GoldenId(f"g{position}-{digest(pull, str(position), text)}")


def category(system: str, *labels: str) -> Category | None:
    """Our category for the first of a source's labels that the table of categories knows in that system, or as ours."""
    said = (label for label in labels if label.strip())
    found = (to_ours(system, label) or to_ours(OURS, label) for label in said)
    return next((known for known in found if known), None)


def severity(item: Node, known: Iterable[str] = ()) -> Severity | None:
    """The severity an object states under that key; null says that nobody stated one, any other word is a problem."""
    node = item.need("severity", known)
    if node.value is None:
        return None
    word = node.value.strip().lower() if isinstance(node.value, str) else ""
    level = _LEVELS.get(word) or _SYNONYMS.get(word)
    return level or _LEVELS[node.one_of(_LEVELS)]


def golden(
    identity: GoldenId,
    text: str,
    *,
    system: str = OURS,
    label: str,
    level: Severity | None,
    place: Place | None = None,
    evidence: str = "",
    group: str | None = None,
    fix: str = "",
    broad: str = "",
) -> Golden:
    """A golden from what a source says, with what it does not say marked as unverified.

    `system` is whose words the labels are; `broad` is a wider word for the category, for labels that we do not know.
    """
    kind = category(system, label, broad)
    unsaid = [] if kind else ["category"]
    unsaid += [] if level else ["severity"]
    return Golden(
        identity,
        text,
        kind or Category.CORRECTNESS,
        level or Severity.MEDIUM,
        place,
        evidence,
        group,
        label=label,
        fix=fix,
        unverified=tuple(unsaid),
    )


def candidate(
    identity: str,
    text: str,
    *,
    place: Place | None = None,
    permalink: str = "",
    comment: str = "",
    level: Severity | None = None,
    label: str | None = None,
    flags: tuple[str, ...] = (),
) -> Candidate:
    """A claim that a source gives as such."""
    shape = Shape.INLINE if place else Shape.REVIEW_BODY
    return Candidate(
        CandidateId(identity),
        comment,
        shape,
        permalink,
        short_title(text),
        text,
        place,
        severity=level,
        category_said=label,
        flags=flags,
    )


def place(path: str | None, line: int | None, end: int | None = None) -> Place | None:
    """A place, if there is a path."""
    if not path:
        return None
    return Place(path, (line, max(line, end or line)) if line else None)


def content_suite(identity: str, version: str, goldens: Iterable[tuple[str, Golden]]) -> SuiteRef:
    """A reference to goldens by what they say, so that a changed golden changes it."""
    lines = sorted(digest(pull, one.id, one.finding, one.severity, one.label, length=64) for pull, one in goldens)
    return SuiteRef(identity, version, hashlib.sha256("\n".join(lines).encode()).hexdigest())


def revision(body: str) -> str:
    """Which body this is: the first twelve hexadecimal digits of its SHA-256."""
    return hashlib.sha256(body.encode()).hexdigest()[:12]
