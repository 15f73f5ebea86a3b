"""Merged bug fixes, run backwards: what a fix removed or changed is where the defect is.

The draft's base is the tree with the fix and its head the one without, so that a reviewer sees the defect come in.
"""

from __future__ import annotations

from goldens.mine.config import MineConfig
from goldens.mine.draft import Discard, DraftPull, Mined, Reason, Rejected
from goldens.mine.drafting import draft_pull, first_golden, spread
from goldens.mine.lines import read, sites, size_of
from goldens.mine.pulls import PullRange
from goldens.mine.quarry import Fix, Quarry, labelled_fixes
from goldens.model import Direction, SourceSignal

_BATCH = 256


def mine_bugfix(quarry: Quarry, config: MineConfig) -> Mined:
    """Draft one pull request for each merged bug fix of the saved answers that is neither too small nor too large."""
    fixes, discards = labelled_fixes(quarry, config)
    drafts = list[DraftPull]()
    kept = list[str]()
    for start in range(0, len(fixes), _BATCH):
        batch = fixes[start : start + _BATCH]
        for fix, diff in zip(batch, quarry.diffs([(fix.base, fix.head) for fix in batch]), strict=True):
            try:
                drafts.append(_draft(quarry, config, fix, diff))
                kept.append(fix.subject)
            except Rejected as rejected:
                discards.append(Discard(fix.subject, rejected.reason, rejected.detail))
        quarry.progress(start + len(batch), len(fixes))
    return Mined(tuple(drafts), tuple(kept), tuple(discards))


def _draft(quarry: Quarry, config: MineConfig, fix: Fix, diff: bytes) -> DraftPull:
    changes = read(diff, fix.subject)
    size = size_of(changes)
    _within(Reason.FILE_COUNT, size.files, config.files, "files")
    _within(Reason.CHANGED_LINES, size.lines, config.changed_lines, "changed lines")
    places = list(sites(changes))
    if not places:
        raise Rejected(Reason.NO_SITE, "it removes or changes no code")
    evidence = quarry.evidence(fix.base, places)
    goldens = spread(first_golden(fix, quarry.id(fix.head)), places, evidence)
    assert fix.number is not None
    pull = PullRange(fix.number, fix.base, fix.head)
    return draft_pull(quarry, pull, changes, goldens, SourceSignal.BUG_FIX, Direction.INVERTED)


def _within(reason: Reason, count: int, bounds: tuple[int, int], what: str) -> None:
    if not bounds[0] <= count <= bounds[1]:
        raise Rejected(reason, f"{count} {what}; wanted are {bounds[0]} to {bounds[1]}")
