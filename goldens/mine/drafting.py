"""From places and texts to drafts: what the three miners have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from goldens.diff import FileChange
from goldens.mine.draft import DraftGolden, DraftPull
from goldens.mine.labels import category_of, language_of, severity_of
from goldens.mine.lines import size_of
from goldens.mine.pulls import PullRange
from goldens.mine.quarry import Fix, Quarry, draft_body, draft_title, told_finding
from goldens.mine.reader import Span
from goldens.model import Direction, SourceSignal
from scoring.model import Category, Severity


def first_golden(fix: Fix, head: str) -> DraftGolden:
    """A golden without a place, as the fix tells it: labels say the category and severity, if they do."""
    return DraftGolden(
        path="",
        lines=(1, 1),
        finding=told_finding(fix.title, fix.body),
        evidence="",
        category=category_of(fix.labels) or Category.CORRECTNESS,
        severity=severity_of(fix.labels) or Severity.MEDIUM,
        source=fix.subject,
        fix=head,
    )


def spread(plain: DraftGolden, places: Sequence[tuple[str, Span]], evidence: Sequence[str]) -> tuple[DraftGolden, ...]:
    """One golden for each place; several are one mistake seen at several places."""
    group = f"fix-{plain.fix[:12]}" if len(places) > 1 else None
    rows = zip(places, evidence, strict=True)
    return tuple(replace(plain, path=path, lines=lines, evidence=text, group=group) for (path, lines), text in rows)


def draft_pull(
    quarry: Quarry,
    pull: PullRange,
    changes: Sequence[FileChange],
    goldens: tuple[DraftGolden, ...],
    signal: SourceSignal,
    direction: Direction = Direction.AS_PUBLISHED,
    name: str | None = None,
) -> DraftPull:
    """A pull request with its goldens, pinned. Run backwards, its base is the tree with the fix."""
    facts = quarry.answers.pulls.get(pull.number)
    title = draft_title(facts.title if facts else quarry.history.subjects[pull.head])
    ends = quarry.id(pull.base), quarry.id(pull.head)
    base, head = ends if direction is Direction.AS_PUBLISHED else ends[::-1]
    return DraftPull(
        id=name or f"pull-{pull.number}",
        upstream=quarry.upstream,
        number=pull.number,
        base_sha=base,
        head_sha=head,
        language=language_of(change.path for change in changes),
        title=title,
        body=draft_body(facts.body if facts else "", title),
        direction=direction,
        signal=signal,
        goldens=goldens,
        size=size_of(changes),
        date=quarry.day(pull.head),
    )
