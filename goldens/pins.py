"""What only the upstream repository can tell about a pinned pull request, as values that somebody has read from it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from goldens.findings import Finding, Level, about
from goldens.model import Direction, GitPin, GoldenPull
from goldens.trees import Size
from scoring.model import GoldenId

_PART = re.compile(r"[^A-Za-z0-9]+")


@dataclass(frozen=True, slots=True)
class PinFacts:
    """What a repository says about a pin."""

    base_found: bool
    head_found: bool
    merge_base: str | None = None
    """The merge base of the two commits; None where they have none, or one is missing."""
    fixed: frozenset[GoldenId] = frozenset()
    """Goldens whose fix is already contained in head."""


def check_pin(pull: GoldenPull, facts: PinFacts) -> Iterator[Finding]:
    """Whether the commits exist and belong together, and whether a golden is already put right at head."""
    if not isinstance(pull.source, GitPin):
        return
    pin = pull.source
    for name, sha, found in (("base", pin.base_sha, facts.base_found), ("head", pin.head_sha, facts.head_found)):
        if not found:
            yield about(pull, Level.ERROR, "no-such-commit", f"{name}_sha {sha} is not in the repository")
    yield from _check_merge_base(pull, pin, facts)
    for golden in pull.goldens:
        if golden.id in facts.fixed:
            yield about(pull, Level.ERROR, "already-fixed", f"head contains its fix ({golden.fix})", golden)


def _check_merge_base(pull: GoldenPull, pin: GitPin, facts: PinFacts) -> Iterator[Finding]:
    """Published, the change grew from its base; run backwards, the base grew from the head."""
    inverted = pull.direction is Direction.INVERTED
    name, older = ("head_sha", pin.head_sha) if inverted else ("base_sha", pin.base_sha)
    if facts.base_found and facts.head_found and facts.merge_base != older:
        said = f"it is {facts.merge_base}" if facts.merge_base else "the two commits have none"
        other = "base, which must hold the fix" if inverted else "head"
        what = f"{name} {older} is not the merge base with {other}; {said}"
        yield about(pull, Level.ERROR, "not-merge-base", what)


def check_size(pull: GoldenPull, counted: Size) -> Iterator[Finding]:
    """Whether the size that the source declares is the one that its trees have."""
    said = pull.declared_size
    if said is not None and said != counted:
        what = (
            f"declared as {said.files} files, {said.lines} lines; the trees differ in {counted.files}, {counted.lines}"
        )
        yield about(pull, Level.WARNING, "size-differs", what)


def check_names(pull: GoldenPull) -> Iterator[Finding]:
    """Whether title or body name the upstream project."""
    if not isinstance(pull.source, GitPin):
        return
    owner, _, name = pull.source.upstream.lower().partition("/")
    parts = {part for part in (owner, name, *_PART.split(owner), *_PART.split(name)) if len(part) > 2}
    for where, text in (("title", pull.title), ("body", pull.body)):
        shown = f" {text.lower()} "
        for part in sorted(parts):
            if re.search(rf"(?<![a-z0-9]){re.escape(part)}(?![a-z0-9])", shown):
                yield about(
                    pull, Level.ERROR, "text-names-upstream", f"the {where} says {part!r}, as upstream is called"
                )
