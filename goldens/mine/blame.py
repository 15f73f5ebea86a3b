"""From a fix back to the pull request that brought the defect.

The lines a fix removed are blamed at the fix's base; whitespace and moves inside a file are looked through. What comes
of one fix must point to exactly one pull request, or the defect could not have been seen in a single review.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

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
    found = list[_Found]()
    for number, (fix, traced) in enumerate(trace(quarry, fixes, copies=copies), start=1):
        quarry.progress(number, len(fixes))
        try:
            if isinstance(traced, Rejected):
                raise traced
            found.append(_found(quarry, traced))
        except Rejected as rejected:
            discards.append(Discard(fix.subject, rejected.reason, rejected.detail))
    opinions, notes = _opinions(found, complete)
    drafts, kept = dict[int, DraftPull](), list[str]()
    for one, opinion in zip(found, opinions, strict=True):
        subject = one.origin.fix.subject
        if isinstance(opinion, Opinion) and not opinion.preventable:
            reason = opinion.reason or "the model gave no reason"
            discards.append(Discard(subject, Reason.NOT_PREVENTABLE, reason))
            continue
        draft = _draft(quarry, one, opinion)
        drafts[draft.number] = _joined(drafts.get(draft.number), draft)
        kept.append(subject)
    return Mined(tuple(drafts.values()), tuple(kept), tuple(discards), tuple(notes))


def _joined(known: DraftPull | None, draft: DraftPull) -> DraftPull:
    """One draft of what two fixes found in one pull request; a place that both name is one golden, the first's."""
    if known is None:
        return draft
    taken = {(golden.path, golden.lines) for golden in known.goldens}
    fresh = (golden for golden in draft.goldens if (golden.path, golden.lines) not in taken)
    return replace(known, goldens=(*known.goldens, *fresh))


@dataclass(frozen=True, slots=True)
class _Found:
    """A fix whose defect has a place in the pull request that brought it."""

    origin: Origin
    changes: tuple[FileChange, ...]
    places: tuple[tuple[str, Span], ...]
    evidence: tuple[str, ...]
    repair: str


def _found(quarry: Quarry, origin: Origin) -> _Found:
    pull, fix = origin.pull, origin.fix
    if not origin.lines:
        raise Rejected(Reason.NOT_AT_HEAD, f"#{pull.number} rewrote the lines before it was merged")
    diff, repair = quarry.diffs([(pull.base, pull.head), (fix.base, fix.head)])
    changes = tuple(read(diff, f"#{pull.number}"))
    places = tuple(_places(changes, origin.lines))
    if not places:
        raise Rejected(Reason.OUTSIDE_DIFF, f"the lines are not among those that #{pull.number} added")
    evidence = tuple(quarry.evidence(pull.head, places))
    return _Found(origin, changes, places, evidence, repair.decode("utf-8", "replace"))


def _opinions(
    found: Sequence[_Found], complete: Complete | None
) -> tuple[Sequence[Opinion | NoOpinion | None], list[str]]:
    """What the model says of each, and what is to be noted."""
    if complete is None:
        return [None] * len(found), [NO_MODEL]
    asked = [_prompt(one) for one in found]
    replies = complete(asked) if asked else ()
    opinions = [reply if isinstance(reply, NoOpinion) else read_reply(reply) for reply in replies]
    pairs = zip(found, opinions, strict=True)
    notes = [
        f"{one.origin.fix.subject}: preventability is not known: {opinion.why}"
        for one, opinion in pairs
        if isinstance(opinion, NoOpinion)
    ]
    return opinions, notes


def _prompt(found: _Found) -> str:
    fix = found.origin.fix
    return prompt(excerpt(found.changes, found.places), found.repair, f"{fix.title}\n\n{fix.body}")


def _draft(quarry: Quarry, found: _Found, opinion: Opinion | NoOpinion | None) -> DraftPull:
    fix = found.origin.fix
    plain = _reworded(first_golden(fix, quarry.id(fix.head)), opinion)
    goldens = spread(plain, found.places, found.evidence)
    return draft_pull(quarry, found.origin.pull, found.changes, goldens, SourceSignal.BLAME)


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
