"""Suites as values. `schema.py` turns YAML into these and `load.py` finds and reads the files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from scoring.model import Golden, PullId, SuiteRef


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

    @property
    def clean(self) -> bool:
        """A clean pull request has no golden: every claim on it is a false alarm."""
        return not self.goldens


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
