"""The pages about goldens: suites, their pull requests, one of them with its diff, and the drafts that wait."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Protocol

from bot.analysis.problems import one_of
from bot.disputes import LONGEST, Doubt
from bot.pages import diffing
from bot.pages.diffing import Mark, View
from bot.pages.links import Links, slug
from bot.pages.markdown import inert
from bot.pages.paper import NOBODY, Visitor, render
from bot.pages.pulls import golden_key, where
from bot.pages.shipped import diff_of
from bot.pages.views import NotThere, part
from bot.pages.views_pull import EVERYTHING, VIEWS
from goldens.model import GitPin, GoldenPull, Suite
from scoring.model import Golden, GoldenStatus

PAGE = 50
"""Pull requests on one page."""
PROPERTIES = ("language", "category", "severity", "status", "origin")
"""What pull requests can be filtered by."""
MOST_DRAFTS = 100


@dataclass(frozen=True, slots=True)
class DraftFile:
    """A file of drafts."""

    name: str
    title: str
    waiting: tuple[tuple[GoldenPull, Golden], ...]
    problem: str = ""
    """Why it cannot be read."""


class Goldens(Protocol):
    """The suites there are, and what people noted about them."""

    def suites(self) -> tuple[Suite, ...]:
        """Those that ship."""
        ...

    def doubts(self, suite: str) -> tuple[Doubt, ...]:
        """What people doubt, oldest first."""
        ...

    def drafts(self) -> tuple[DraftFile, ...]:
        """What waits for somebody to confirm it."""
        ...


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which pull requests of a suite are shown; empty values filter nothing."""

    language: str = ""
    category: str = ""
    severity: str = ""
    status: str = ""
    origin: str = ""

    @property
    def query(self) -> dict[str, str]:
        """The same for an address."""
        return {one.name: value for one in fields(self) if (value := getattr(self, one.name))}


EVERY = Wanted()


@dataclass(frozen=True, slots=True)
class SuiteCard:
    """A suite in a list."""

    suite: Suite
    goldens: int
    clean: int
    languages: tuple[tuple[str, int], ...]
    severities: tuple[tuple[str, int], ...]
    doubts: int


def suites(shelf: Goldens, links: Links, visitor: Visitor = NOBODY) -> str:
    """All suites."""
    cards = tuple(_card(one, len(shelf.doubts(one.ref.id))) for one in shelf.suites())
    waiting = sum(len(one.waiting) for one in shelf.drafts())
    return render("goldens.html", links, visitor, area="goldens", cards=cards, waiting=waiting)


def _card(suite: Suite, doubts: int) -> SuiteCard:
    goldens = [golden for pull in suite.pulls for golden in pull.goldens]
    return SuiteCard(
        suite,
        len(goldens),
        sum(pull.clean for pull in suite.pulls),
        tuple(Counter(pull.language for pull in suite.pulls).most_common()),
        _in_order(golden.severity.value for golden in goldens),
        doubts,
    )


def _in_order(severities: Iterable[str]) -> tuple[tuple[str, int], ...]:
    found = Counter(severities)
    return tuple((name, found[name]) for name in ("critical", "high", "medium", "low") if found[name])


def suite(
    shelf: Goldens, links: Links, name: str, wanted: Wanted = EVERY, page: int = 1, visitor: Visitor = NOBODY
) -> str:
    """One suite.

    Raises:
        NotThere: there is no such suite or page, or nothing of what is filtered by.
    """
    found = _suite(shelf, name)
    choices = {key: _values(found.pulls, key) for key in PROPERTIES}
    for key, value in wanted.query.items():
        if value not in choices[key]:
            raise NotThere(str(one_of(key, value, list(choices[key]))))
    kept = [pull for pull in found.pulls if all(value in _of(pull, key) for key, value in wanted.query.items())]
    return render(
        "golden_suite.html",
        links,
        visitor,
        area="goldens",
        card=_card(found, len(shelf.doubts(found.ref.id))),
        part=part(kept, page, PAGE),
        wanted=wanted,
        choices=choices,
    )


def _suite(shelf: Goldens, name: str) -> Suite:
    found = next((one for one in shelf.suites() if slug(one.ref.id) == name), None)
    if found is None:
        raise NotThere("There is no such suite among those that ship with Assay.")
    return found


def _values(pulls: Sequence[GoldenPull], key: str) -> dict[str, int]:
    return dict(sorted(Counter(value for pull in pulls for value in _of(pull, key)).items()))


def _of(pull: GoldenPull, key: str) -> set[str]:
    """The values of a property that a pull request has."""
    if key == "language":
        return {pull.language}
    if key == "origin":
        return {pull.origin.value} if pull.origin else set()
    return {getattr(golden, key).value for golden in (*pull.goldens, *pull.retired)}


@dataclass(frozen=True, slots=True)
class Note:
    """A golden at its place."""

    key: str
    golden: Golden
    where: str
    audit: str
    doubts: tuple[Doubt, ...]


def pull(
    shelf: Goldens,
    links: Links,
    name: str,
    wanted: str,
    view: str = "",
    lines: str = "",
    visitor: Visitor = NOBODY,
    said: str = "",
) -> str:
    """One golden pull request.

    Args:
        shelf: The suites.
        links: Where pages are.
        name: The suite's slug.
        wanted: The pull request's slug.
        view: `split` for two columns of code.
        lines: `all` for a long diff as a whole.
        visitor: Who looks.
        said: What was just done, in words.

    Raises:
        NotThere: there is no such suite or pull request, or what is asked for is none of what there is.
    """
    if view not in ("", *VIEWS) or lines not in ("", EVERYTHING):
        raise NotThere(str(one_of("view", view or lines, VIEWS)))
    found = _suite(shelf, name)
    made = pull_of(found, wanted)
    notes = {one.key: one for one in _notes(made, shelf.doubts(found.ref.id))}
    text = diff_of(made)
    marks = [Mark(one.key, one.golden.place, loud=True) for one in notes.values() if one.golden.place is not None]
    diff = None if text is None else diffing.view(text, marks, split=view == "split", everything=lines == EVERYTHING)
    return render(
        "golden_pull.html",
        links,
        visitor,
        area="goldens",
        suite=found,
        pull=made,
        body=inert(made.body),
        pin=made.source if isinstance(made.source, GitPin) else None,
        view=view,
        lines=lines,
        diff=diff,
        notes=notes,
        unplaced=_unplaced(notes, diff),
        longest=LONGEST,
        said=said,
    )


def pull_of(found: Suite, wanted: str) -> GoldenPull:
    """The pull request with that slug.

    Raises:
        NotThere: there is none.
    """
    made = next((one for one in found.pulls if slug(one.id) == wanted), None)
    if made is None:
        raise NotThere("This suite has no such pull request.")
    return made


def golden_of(shelf: Goldens, name: str, wanted: str, golden: str) -> tuple[Suite, GoldenPull, Golden]:
    """A golden that can be doubted.

    Raises:
        NotThere: there is none of that name, or it is not live.
    """
    found = _suite(shelf, name)
    made = pull_of(found, wanted)
    one = next((one for one in made.goldens if one.id == golden), None)
    if one is None or one.status is not GoldenStatus.LIVE:
        raise NotThere("This pull request has no live golden of that name.")
    return found, made, one


def _notes(made: GoldenPull, doubts: Sequence[Doubt]) -> list[Note]:
    return [
        Note(
            golden_key(one.id),
            one,
            where(one.place),
            made.audits[one.id].verdict.value if one.id in made.audits else "",
            tuple(doubt for doubt in doubts if doubt.golden == one.id),
        )
        for one in (*made.goldens, *made.retired)
    ]


def _unplaced(notes: Mapping[str, Note], diff: View | None) -> tuple[str, ...]:
    if diff is None:
        return tuple(notes)
    return tuple(key for key, one in notes.items() if one.golden.place is None or key in diff.elsewhere)


def drafts(shelf: Goldens, links: Links, visitor: Visitor = NOBODY, said: str = "") -> str:
    """The drafts that wait, file by file."""
    return render(
        "golden_drafts.html",
        links,
        visitor,
        area="goldens",
        files=shelf.drafts(),
        most=MOST_DRAFTS,
        said=said,
        where=where,
    )
