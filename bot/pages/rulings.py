"""The queue of what people have to decide, what became of a ruling, and the record of all: as values and as a page."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from bot.analysis.opening import under
from bot.judging import adjudicating
from bot.judging.adjudicating import Decision, Item, Pair
from bot.judging.rulings import applied, base_of, by_people, decided
from bot.pages import diffing
from bot.pages.diffing import Mark, View
from bot.pages.library import Library, RunCard
from bot.pages.links import Links, slug
from bot.pages.markdown import visible
from bot.pages.paper import NOBODY, Visitor, render
from bot.pages.pulls import claim_key, golden_key, where
from bot.pages.views import NotThere, card_of
from bot.rulings import Ruling, standing
from scoring.bundle import Bundle, JudgementSet
from scoring.judges.asks import Question
from scoring.judges.human import VALID
from scoring.model import PullId, ReviewerId, ReviewerScore, TrialScore

MOST = 200
"""Rows of the queue, and of the record, on one page."""
AROUND = 5
"""Lines of the diff beside a claim."""
HIDDEN = "[a reviewer]"
WORDS: Mapping[str, str] = {
    "match": "the claim means this golden",
    "no_match": "the claim means something else",
    VALID: "sound, but none of the goldens",
    "undecided": "nobody can tell",
}
"""A verdict as people read it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One pair of the queue."""

    item: Item
    decision: Decision | None
    """What people decided about it, where they did."""

    @property
    def key(self) -> str:
        """Its name in addresses. It gives away no reviewer."""
        return key_of(self.item)


@dataclass(frozen=True, slots=True)
class Docket:
    """Everything that adjudicating a run needs."""

    bundle: Bundle
    base: JudgementSet
    """The judge whose verdicts people correct."""
    entries: tuple[Entry, ...]
    """Every pair that judges were asked about."""
    queue: tuple[Entry, ...]
    """What judges left open or disagree about, whether or not somebody decided it since."""
    rulings: tuple[Ruling, ...]

    def entry(self, key: str) -> Entry:
        """The pair of that key.

        Raises:
            NotThere: there is none.
        """
        found = next((one for one in self.entries if one.key == key), None)
        if found is None:
            raise NotThere("There is no such question; the evidence may have changed.")
        return found


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure before and after a ruling."""

    name: str
    before: str
    after: str

    @property
    def changed(self) -> bool:
        """Whether it did."""
        return self.before != self.after


@dataclass(frozen=True, slots=True)
class Effect:
    """What a ruling changed."""

    ruling: Ruling
    claim: tuple[str, str]
    """The claim's outcome before and after."""
    golden: tuple[str, str]
    figures: tuple[Figure, ...]
    """Of the reviewer, over the whole run."""
    can_undo: bool


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of the page."""

    item: str = ""
    claim: str = ""
    """All pairs of one claim, whether or not they are open."""
    pull: str = ""
    done: str = ""
    """The ruling that was just made."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """Every pair that the judges of some evidence were asked about, with what each said."""

    all: tuple[Item, ...]
    open: frozenset[int]
    """Which of them the judges left open or disagree about, by their number."""


def pairs(bundle: Bundle, asked: Sequence[Question]) -> Pairs:
    """The pairs of a run. They do not hang on what people decide.

    Args:
        bundle: The evidence.
        asked: Its trials as questions.
    """
    judges = [one for one in bundle.judgements if not by_people(one.judge)]
    found = tuple(adjudicating.items(asked, judges))
    return Pairs(found, frozenset(at for at, item in enumerate(found) if item.is_open))


def docket(bundle: Bundle, asked: Pairs, rulings: Sequence[Ruling], own: str) -> Docket:
    """The questions of a run, and how far people got.

    Args:
        bundle: The evidence.
        asked: Its pairs.
        rulings: The record.
        own: The run's own judge.

    Raises:
        NotThere: no judge has answered yet.
    """
    base = base_of(bundle, own)
    if base is None:
        raise NotThere("No judge has answered yet, so there is nothing to decide.")
    made: dict[tuple[str, str, str], list[Decision]] = {}
    for one in decided(bundle, rulings):
        made.setdefault((one.pull, one.reviewer, one.candidate), []).append(one)
    entries = tuple(
        Entry(item, _latest(item, made.get((item.pull, item.reviewer, item.candidate.id), ())) if made else None)
        for item in asked.all
    )
    queue = tuple(one for at, one in enumerate(entries) if at in asked.open)
    return Docket(bundle, base, entries, queue, tuple(rulings))


def _latest(item: Item, made: Sequence[Decision]) -> Decision | None:
    return next((one for one in reversed(made) if one.about(item.pair)), None)


def key_of(item: Item) -> str:
    """The name of a pair in addresses. It gives away no reviewer."""
    return hashlib.sha256("\n".join(item.pair).encode()).hexdigest()[:16]


# --- what a ruling changed


def effect(on: Docket, number: int) -> Effect:
    """The counts of a reviewer before and after a ruling.

    Raises:
        NotThere: there is no such ruling.
    """
    ruling = next((one for one in on.rulings if one.id == number), None)
    if ruling is None:
        raise NotThere("There is no such ruling in this run.")
    before, after = (_counted(on, ruling, last) for last in (ruling.id - 1, ruling.id))
    return Effect(
        ruling,
        (_claim(before[1], ruling), _claim(after[1], ruling)),
        (_golden(before[1], ruling), _golden(after[1], ruling)),
        tuple(_figures(before[0], after[0])),
        ruling in standing(on.rulings),
    )


def _counted(on: Docket, ruling: Ruling, last: int) -> tuple[ReviewerScore, TrialScore]:
    """One reviewer's figures with the rulings up to one. The others' do not hang on them."""
    name = ReviewerId(ruling.reviewer)
    _, over = applied(on.bundle, on.base, on.rulings, last)
    own = tuple(one for one in on.bundle.trials if one.reviewer == name)
    judged = replace(over, trials=tuple(one for one in over.trials if one.reviewer == name))
    report = under(replace(on.bundle, trials=own, judgements=(judged,)), "assay", judged.judge).report
    assert report is not None
    return report.reviewers[0], next(one for one in report.trials if one.trial.pull == ruling.pull)


def _claim(score: TrialScore, ruling: Ruling) -> str:
    found = next((one.kind.value for one in score.outcomes if one.candidate == ruling.candidate), "not scored")
    return found.upper() if found in ("tp", "fp") else found


def _golden(score: TrialScore, ruling: Ruling) -> str:
    words = {"found": "found", "fn": "missed", "unscored": "unscored"}
    return next((words[one.state.value] for one in score.goldens if one.golden == ruling.golden), "not scored")


def _figures(before: ReviewerScore, after: ReviewerScore) -> Iterator[Figure]:
    for name, title in (("tp", "TP"), ("fp", "FP"), ("fn", "FN"), ("valid", "valid"), ("unscored", "unscored")):
        yield Figure(title, str(getattr(before.counts, name)), str(getattr(after.counts, name)))
    for name, title in (("precision", "precision"), ("recall", "recall"), ("f1", "F1")):
        yield Figure(title, *(_figure(getattr(one, name).value) for one in (before, after)))


def _figure(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"


# --- blind


class Mask:
    """Hides who said something until it is decided."""

    def __init__(self, bundle: Bundle) -> None:
        """Everything that names a reviewer of the run."""
        words = sorted({word for word in _names(bundle) if len(word.strip()) > 2}, key=len, reverse=True)
        self._pattern = re.compile("|".join(rf"(?<!\w){re.escape(word)}(?!\w)" for word in words), re.IGNORECASE)
        self._any = bool(words)

    def hide(self, text: str) -> str:
        """The text without names."""
        return self._pattern.sub(HIDDEN, text) if self._any else text


def _names(bundle: Bundle) -> Iterator[str]:
    for trial in bundle.trials:
        yield trial.reviewer
        for comment in trial.comments:
            yield from (comment.author, comment.author.removesuffix("[bot]"))
    for reviewer in bundle.reviewers:
        yield from (reviewer.name, reviewer.vendor)
    for entry in json.loads(bundle.extra.get("evidence/registry.json", b"[]")):
        yield from (entry["name"], *entry["app_slugs"], *entry["check_names"])


# --- the page


@dataclass(frozen=True, slots=True)
class Put:
    """A pair as it is put to a person."""

    entry: Entry
    blind: bool
    claim: str
    place: str
    golden_place: str
    code: View | None
    number: int
    """From 1, in the queue; 0 where it is not in it."""
    before: str | None
    after: str | None
    """The keys of the pairs beside it."""


def adjudicate(library: Library, links: Links, name: str, on: Docket, asked: Asked, visitor: Visitor = NOBODY) -> str:
    """The page on which people decide.

    Raises:
        NotThere: there is no such run, question or ruling.
    """
    card = card_of(library, name)
    queue = _wanted(on, asked)
    current = _current(on, queue, asked)
    done = effect(on, int(asked.done)) if asked.done.isascii() and asked.done.isdigit() and asked.done else None
    left = sum(one.decision is None for one in on.queue)
    mask = Mask(on.bundle)
    return render(
        "adjudicate.html",
        links,
        visitor,
        area="runs",
        tab="adjudicate",
        card=card,
        asked=asked,
        queue=queue,
        left=left,
        total=len(on.queue),
        corrected=f"{on.base.judge}+{adjudicating.HUMAN}",
        there=any(one.judge == f"{on.base.judge}+{adjudicating.HUMAN}" for one in on.bundle.judgements),
        base=on.base.judge,
        question=None if current is None else _put(library, card, mask, queue, current, asked),
        mask=mask,
        done=done,
        trail=tuple(reversed(on.rulings))[:MOST],
        undone={one.undoes: one for one in on.rulings if one.undoes is not None},
        words=WORDS,
        most=MOST,
        keys=_keys(on),
    )


def _keys(on: Docket) -> Mapping[Pair, str]:
    """The pairs of the record, as addresses name them."""
    about = {(one.pull, one.reviewer, one.candidate, one.golden) for one in on.rulings}
    return {one.item.pair: one.key for one in on.entries if about and one.item.pair in about}


def _wanted(on: Docket, asked: Asked) -> tuple[Entry, ...]:
    if not asked.claim:
        return on.queue
    found = tuple(
        one
        for one in on.entries
        if slug(one.item.pull) == asked.pull and claim_key(one.item.reviewer, one.item.candidate) == asked.claim
    )
    if not found:
        raise NotThere("There is no such claim, or no golden to compare it with.")
    return found


def _current(on: Docket, queue: Sequence[Entry], asked: Asked) -> Entry | None:
    """The pair that is asked for, else the first that nobody decided."""
    if asked.item:
        return on.entry(asked.item)
    return next((one for one in queue if one.decision is None), queue[0] if asked.claim and queue else None)


def _put(library: Library, card: RunCard, mask: Mask, queue: Sequence[Entry], entry: Entry, asked: Asked) -> Put:
    item = entry.item
    blind = entry.decision is None and not asked.claim
    at = next((at for at, one in enumerate(queue) if one is entry), -1)
    text = library.diff(card.slug, PullId(item.pull))
    said = item.candidate.text or item.candidate.title
    return Put(
        entry,
        blind,
        visible(mask.hide(said) if blind else said),
        where(item.candidate.place),
        where(item.golden.place),
        None if text is None else diffing.excerpt(text, list(_marks(item)), AROUND),
        at + 1,
        queue[at - 1].key if at > 0 else None,
        queue[at + 1].key if 0 <= at < len(queue) - 1 else None,
    )


def _marks(item: Item) -> Iterator[Mark]:
    if item.golden.place is not None:
        yield Mark(golden_key(item.golden.id), item.golden.place, loud=True)
    if item.candidate.place is not None:
        yield Mark("claim", item.candidate.place)
