"""Suites as values. `schema.py` turns YAML into these and `load.py` finds and reads the files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from goldens.trees import Size, size_between
from scoring.model import Golden, GoldenId, PullId, SuiteRef


class SourceSignal(StrEnum):
    """How we came to know that there is a defect in a pull request."""

    RESOLVED_IN_REVIEW = "resolved_in_review"
    """People raised it in review and it was put right before the merge."""
    REJECTED = "rejected"
    """People raised it in review and the pull request was not merged."""
    BUG_FIX = "bug_fix"
    """The pull request put a reported defect right; here it runs backwards."""
    BLAME = "blame"
    """A later fix was traced back to the pull request that brought the defect."""
    REVIEWER_CLAIMS = "reviewer_claims"
    """Several reviewers claimed it in a run, and judges agreed."""
    MUTATION = "mutation"
    """A generator planted it."""
    WRITTEN = "written"
    """Somebody wrote the code with the defect in it."""


class AuthoredBy(StrEnum):
    """Who wrote the change under review."""

    AGENT = "agent"
    HUMAN = "human"
    SYNTHETIC = "synthetic"


class Direction(StrEnum):
    """Which way the upstream change runs. Figures never mix the two."""

    AS_PUBLISHED = "as-published"
    INVERTED = "inverted"
    """The fix reversed: base is the tree with the fix, head the one without."""


class Origin(StrEnum):
    """Where the code under review comes from."""

    REAL = "real"
    """An upstream repository."""
    SYNTHETIC = "synthetic"
    """A generator."""
    WRITTEN = "written"
    """Written by hand for the suite."""


class AuditVerdict(StrEnum):
    """What an audit finds at a golden's place."""

    BUG = "bug"
    """The defect itself."""
    RELATED = "related"
    """Code that the fix had to change along with it."""
    UNRELATED = "unrelated"
    """Nothing that a reviewer should remark on."""


@dataclass(frozen=True, slots=True)
class Audit:
    """What somebody who looked at a golden's place found."""

    verdict: AuditVerdict
    drafted_by: str
    confirmed_by: str | None = None
    """Who looked again; None as long as nobody did."""


@dataclass(frozen=True, slots=True)
class TreeFiles:
    """A pinned tree whose files ship with the suite: path in the tree -> bytes. Modes are 0644."""

    files: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class GitPin:
    """A pinned pair of commits of an upstream repository."""

    upstream: str
    """`owner/name` on GitHub."""
    number: int
    base_sha: str
    head_sha: str
    direction: Direction = Direction.AS_PUBLISHED
    """Inverted: head is an ancestor of base, and not the other way round."""


@dataclass(frozen=True, slots=True)
class GoldenPull:
    """One golden pull request."""

    id: PullId
    language: str
    title: str
    """Neutral, pinned: what the fork's pull request is called."""
    body: str
    goldens: tuple[Golden, ...]
    source: GitPin | tuple[TreeFiles, TreeFiles]
    """Where the two trees come from: an upstream pin, or (base, head) files that ship with the suite."""
    retired: tuple[Golden, ...] = ()
    """Goldens that are no longer scored, on record with their reasons. `goldens` never holds one of them."""
    drafts: tuple[Golden, ...] = ()
    """Goldens that somebody mined or proposed and nobody confirmed. They are never scored."""
    audits: Mapping[GoldenId, Audit] = field(default_factory=dict)
    """What audits found, by golden."""
    origin: Origin | None = None
    source_signal: SourceSignal | None = None
    authored_by: AuthoredBy | None = None
    direction: Direction = Direction.AS_PUBLISHED
    date: str = ""
    """The day its code became public, as 2026-01-31: models trained later may have seen it. Empty: not known."""
    tags: Mapping[str, str] = field(default_factory=dict)
    """Further strata by name, for example `domain: database`."""
    confirmed_by: tuple[str, ...] = ()
    """Who confirmed the goldens: people, or the means."""
    unverified: tuple[str, ...] = ()
    """Names of the fields of this pull request that nobody has checked, or that the source does not say."""
    declared_size: Size | None = None
    """What the source says of the size of a pinned pull request."""

    @property
    def clean(self) -> bool:
        """A clean pull request has no golden: every claim on it is a false alarm. Not so in `Suite.unconfirmed`."""
        return not self.goldens

    @property
    def size(self) -> Size | None:
        """How large the change is: counted where the trees ship with the suite, else as declared."""
        if isinstance(self.source, GitPin):
            return self.declared_size
        base, head = self.source
        return size_between(base.files, head.files)


@dataclass(frozen=True, slots=True)
class Suite:
    """A named, versioned set of golden pull requests."""

    ref: SuiteRef
    title: str
    licence: str
    pulls: tuple[GoldenPull, ...]
    path: Path
    """The suite file."""
    provenance: str = ""
    """Where the pull requests and goldens come from, and who checked them."""
    unconfirmed: tuple[GoldenPull, ...] = ()
    """Pull requests of which only drafts are known, or were and are rejected. Nobody can say that they are clean, so no
    run has them."""
