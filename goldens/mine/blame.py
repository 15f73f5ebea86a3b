"""From a fix back to the pull request that brought the defect.

The lines a fix removed are blamed at the fix's base; whitespace and moves inside a file are looked through. What comes
of one fix must point to exactly one pull request, or the defect could not have been seen in a single review.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from goldens.diff import FileChange
from goldens.mine.config import MineConfig
from goldens.mine.draft import Discard, DraftGolden, DraftPull, Mined, Reason, Rejected
from goldens.mine.drafting import draft_pull, first_golden, spread
from goldens.mine.lines import excerpt, read, runs, shown
from goldens.mine.preventable import Complete, NoOpinion, Opinion, prompt, read_reply
from goldens.mine.quarry import Fix, Quarry, labelled_fixes
from goldens.mine.reader import Span
from goldens.mine.trace import Origin, trace
from goldens.model import SourceSignal

NO_MODEL = "no model is configured: preventability is unchecked, and findings are what the fixes say"


def mine_blame(
    quarry: Quarry,
    config: MineConfig,
    fixes: Sequence[Fix] | None = None,
    *,
    complete: Complete | None = None,
    copies: bool = False,
) -> Mined:
    """Draft goldens from fixes: those given, or every merged pull request with a bug's label.

    Args:
        quarry: the repository.
        config: the words of labels.
        fixes: what to trace; None: what the saved answers have.
        complete: a model that judges preventability and words the finding; None: neither is done, and a note says so.
        copies: look for lines moved or copied between files too, which is much slower.
    """
    discards: list[Discard] = []
    if fixes is None:
        fixes, discards = labelled_fixes(quarry, config)
    miner = _Miner(quarry, complete)
    drafts, kept, notes = dict[int, DraftPull](), list[str](), [] if complete else [NO_MODEL]
    for fix, found in trace(quarry, fixes, copies=copies):
        try:
            if isinstance(found, Rejected):
                raise found
            draft, note = miner.draft(found)
        except Rejected as rejected:
            discards.append(Discard(fix.subject, rejected.reason, rejected.detail))
            continue
        drafts[draft.number] = _joined(drafts.get(draft.number), draft)
        kept.append(fix.subject)
        notes += [note] if note else []
    return Mined(tuple(drafts.values()), tuple(kept), tuple(discards), tuple(notes))


def _joined(known: DraftPull | None, draft: DraftPull) -> DraftPull:
    """One draft of what two fixes found in one pull request; a place that both name is one golden, the first's."""
    if known is None:
        return draft
    taken = {(golden.path, golden.lines) for golden in known.goldens}
    fresh = (golden for golden in draft.goldens if (golden.path, golden.lines) not in taken)
    return replace(known, goldens=(*known.goldens, *fresh))


class _Miner:
    """Makes drafts of origins."""

    def __init__(self, quarry: Quarry, complete: Complete | None) -> None:
        self._quarry = quarry
        self._complete = complete

    def draft(self, origin: Origin) -> tuple[DraftPull, str | None]:
        quarry, pull, fix = self._quarry, origin.pull, origin.fix
        if not origin.lines:
            raise Rejected(Reason.NOT_AT_HEAD, f"#{pull.number} rewrote the lines before it was merged")
        diff, repair = quarry.diffs([(pull.base, pull.head), (fix.base, fix.head)])
        changes = read(diff, f"#{pull.number}")
        places = list(_places(changes, origin.lines))
        if not places:
            raise Rejected(Reason.OUTSIDE_DIFF, f"the lines are not among those that #{pull.number} added")
        evidence = quarry.evidence(pull.head, places)
        opinion = self._opinion(excerpt(changes, places), repair.decode("utf-8", "replace"), fix)
        plain = _reworded(first_golden(fix, quarry.id(fix.head)), opinion)
        goldens = spread(plain, places, evidence)
        note = f"{fix.subject}: preventability is not known: {opinion.why}" if isinstance(opinion, NoOpinion) else None
        return draft_pull(quarry, pull, changes, goldens, SourceSignal.BLAME), note

    def _opinion(self, change: str, repair: str, fix: Fix) -> Opinion | NoOpinion | None:
        if self._complete is None:
            return None
        told = f"{fix.title}\n\n{fix.body}"
        reply = self._complete(prompt(change, repair, told))
        opinion = reply if isinstance(reply, NoOpinion) else read_reply(reply)
        if isinstance(opinion, Opinion) and not opinion.preventable:
            raise Rejected(Reason.NOT_PREVENTABLE, opinion.reason or "the model gave no reason")
        return opinion


def _places(changes: Iterable[FileChange], lines: Iterable[tuple[str, int]]) -> Iterator[tuple[str, Span]]:
    """Runs of the lines that the introducing pull request added."""
    listed, by_path = tuple(changes), dict[str, list[int]]()
    for path, number in lines:
        by_path.setdefault(path, []).append(number)
    for path, numbers in sorted(by_path.items()):
        yield from ((path, span) for span in runs(shown(listed, path, numbers)))


def _reworded(plain: DraftGolden, opinion: Opinion | NoOpinion | None) -> DraftGolden:
    """The golden as the model put it, if it did; it is no more confirmed by that."""
    if not isinstance(opinion, Opinion):
        return plain
    return replace(
        plain,
        finding=opinion.finding,
        category=opinion.category,
        impact=opinion.impact,
        severity=opinion.severity,
        unverified=(*plain.unverified, "impact"),
    )
