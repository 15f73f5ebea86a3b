"""Adjudicating over HTTP: the record is kept first, then the run's bundle says the same, and every page with it."""

from __future__ import annotations

import functools
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from flask import Blueprint, redirect, request
from werkzeug.exceptions import BadRequest, Conflict
from werkzeug.wrappers import Response

from bot.analysis.opening import open_bundle
from bot.judging import keeping
from bot.judging import rulings as rules
from bot.judging.rulings import ELSEWHERE, VERDICTS
from bot.judging.trials import questions
from bot.model import RunId
from bot.pages import rulings as pages
from bot.pages.library import Library
from bot.pages.links import ServedLinks
from bot.pages.paper import Visitor
from bot.pages.rulings import Asked, Docket, Pairs
from bot.pages.shelf import planned_judge
from bot.pages.views import NotThere, card_of
from bot.ports import Clock
from bot.render.text import clean
from bot.rulings import AlreadyUndone, Ruling, standing, taking_back
from scoring.bundle import INDEX, Bundle

LONGEST_NOTE = 1500
LONGEST = 200
"""Characters of a name in an address."""


class Evidence(Library, Protocol):
    """A library whose bundles can be added to."""

    def bundle(self, run: str) -> tuple[Path, Bundle] | None:
        """Where the evidence of a run lies, and what is in it."""
        ...


class Record(Protocol):
    """Where rulings are kept."""

    def add_ruling(self, run: RunId, ruling: Ruling) -> Ruling:
        """Keep one.

        Raises:
            AlreadyUndone: it takes back what was taken back before.
        """
        ...

    def rulings(self, run: RunId) -> tuple[Ruling, ...]:
        """All of a run, oldest first."""
        ...


@dataclass(frozen=True, slots=True)
class Desk:
    """Where people decide."""

    record: Record
    clock: Clock
    turn: threading.Lock
    """Two that decide at once must not write over each other's result."""

    def docket(self, library: Evidence, name: str) -> Docket:
        """What there is to decide of a run.

        Raises:
            NotThere: there is no such run, or no evidence yet.
        """
        card = card_of(library, name)
        found = library.bundle(card.slug)
        if found is None:
            raise NotThere("There is nothing to decide before the run is judged.")
        folder, bundle = found
        own = next(iter(library.judges(card.slug)), planned_judge(bundle))
        return pages.docket(bundle, _pairs(folder, _stamp(folder)), self.record.rulings(RunId(card.id)), own)

    def rule(self, library: Evidence, name: str, key: str, verdict: str, note: str, by: str) -> Ruling:
        """Decide a pair.

        Raises:
            NotThere: there is no such pair.
        """
        with self.turn:
            on = self.docket(library, name)
            item = on.entry(key).item
            told = "; ".join(f"{one.judge}: {one.verdict.value}" for one in item.said)
            made = Ruling(
                0, item.pull, item.reviewer, item.candidate.id, item.golden.id, verdict, note, by, self._now(), told
            )
            return self._keep(library, name, made)

    def undo(self, library: Evidence, name: str, number: int, by: str) -> Ruling:
        """Take a ruling back.

        Raises:
            NotThere: it does not stand.
            AlreadyUndone: somebody was quicker.
        """
        with self.turn:
            there = standing(self.record.rulings(RunId(card_of(library, name).id)))
            found = next((one for one in there if one.id == number), None)
            if found is None:
                raise AlreadyUndone(number)
            return self._keep(library, name, taking_back(found, by, self._now()))

    def _keep(self, library: Evidence, name: str, made: Ruling) -> Ruling:
        run = RunId(card_of(library, name).id)
        on = self.docket(library, name)
        for gone in rules.missing(on.bundle, on.rulings):
            if gone.id != made.undoes:
                self.record.add_ruling(run, taking_back(gone, ELSEWHERE, self._now()))
        kept = self.record.add_ruling(run, made)
        found = library.bundle(name)
        assert found is not None
        people, over = rules.applied(on.bundle, on.base, self.record.rulings(run))
        keeping.keep(found[0], [people, over], replace=True)
        return kept

    def _now(self) -> str:
        return self.clock().isoformat(timespec="seconds")


def desk(record: Record, clock: Callable[[], datetime]) -> Desk:
    """A desk of one process."""
    return Desk(record, clock, threading.Lock())


def _stamp(folder: Path) -> tuple[str, ...]:
    """What the pairs hang on: trials, goldens, and what judges said of them."""
    parts = json.loads((folder / INDEX).read_bytes())["parts"]
    return tuple(digest for name, digest in sorted(parts.items()) if not name.startswith(("evidence/", "extra/")))


@functools.lru_cache(maxsize=8)
def _pairs(folder: Path, _stamp: tuple[str, ...]) -> Pairs:
    bundle = open_bundle(folder)
    return pages.pairs(bundle, questions(bundle))


def deciding(
    made: Blueprint,
    library: Callable[[], Evidence],
    links: ServedLinks,
    visitor: Callable[[], Visitor],
    at: Desk,
) -> None:
    """Add the pages on which people decide to a blueprint that lets nobody change anything who may not.

    Args:
        made: The blueprint; it checks rights and forms.
        library: What the visitor of the present request may see.
        links: Where pages are.
        visitor: Who asks.
        at: Where they decide.
    """

    @made.get("/runs/<name>/adjudicate")
    def adjudicate(name: str) -> str:
        seen = library()
        asked = Asked(*(_short(request.args.get(one, "")) for one in ("item", "claim", "pull", "done")))
        return pages.adjudicate(seen, links, name, at.docket(seen, name), asked, visitor())

    @made.post("/runs/<name>/adjudicate")
    def rule(name: str) -> Response:
        verdict = request.form.get("verdict", "")
        if verdict not in VERDICTS:
            raise BadRequest(f"A verdict is one of {', '.join(VERDICTS)}.")
        note = clean(request.form.get("note", ""), LONGEST_NOTE)
        kept = at.rule(library(), name, _short(request.form.get("item", "")), verdict, note, visitor().login)
        return _told(links, name, kept)

    @made.post("/runs/<name>/adjudicate/undo")
    def undo(name: str) -> Response:
        number = request.form.get("ruling", "")
        if not number.isascii() or not number.isdigit() or len(number) > 12:
            raise BadRequest("Which ruling is to be taken back?")
        try:
            kept = at.undo(library(), name, int(number), visitor().login)
        except AlreadyUndone:
            raise Conflict("That ruling does not stand any more; somebody took it back.") from None
        return _told(links, name, kept)


def _told(links: ServedLinks, name: str, kept: Ruling) -> Response:
    # Asked for anew, so that loading the page once more decides nothing twice.
    return redirect(links.page("runs", name, "adjudicate", done=str(kept.id)), 303)


def _short(value: str) -> str:
    if len(value) > LONGEST:
        raise NotThere(f"Nothing here has a name of more than {LONGEST} characters.")
    return value
