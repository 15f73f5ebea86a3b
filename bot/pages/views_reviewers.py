"""The pages about one bot across runs."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from bot.analysis.figures import Standing
from bot.analysis.pictures.forest import Line
from bot.analysis.problems import Unusable
from bot.analysis.sheet import Column, Kind, Sheet
from bot.pages.analysis import Analysis, Drawing, history
from bot.pages.library import Library, RunCard
from bot.pages.links import Links, slug
from bot.pages.paper import NOBODY, Visitor, render
from bot.pages.standings import rank
from bot.pages.views import NotThere, Part, part
from bot.pages.views_board import Shown
from bot.render.figures import judge_label
from scoring.bundle import BundleError
from scoring.model import ReviewerId

PAGE = 20
"""Runs of one history: each of them has to be counted."""


@dataclass(frozen=True, slots=True)
class Known:
    """A reviewer that took part in runs."""

    reviewer: ReviewerId
    runs: tuple[RunCard, ...]
    """The newest first."""

    @property
    def slug(self) -> str:
        """Its part of an address."""
        return slug(self.reviewer)

    @property
    def last(self) -> datetime | None:
        """When it was last asked."""
        return next((card.started for card in self.runs if card.started), None)


@dataclass(frozen=True, slots=True)
class Past:
    """How it did in one run."""

    card: RunCard
    standing: Standing | None
    judge: str
    problem: str = ""


def known(library: Library) -> tuple[Known, ...]:
    """Every reviewer of every run, by name."""
    found: dict[ReviewerId, list[RunCard]] = {}
    for card in library.runs():
        for reviewer in card.reviewers:
            found.setdefault(reviewer, []).append(card)
    return tuple(Known(name, tuple(found[name])) for name in sorted(found))


def reviewers(library: Library, links: Links, visitor: Visitor = NOBODY) -> str:
    """The list of reviewers. Counts nothing."""
    return render("reviewers.html", links, visitor, area="reviewers", known=known(library))


def reviewer(library: Library, links: Links, name: str, visitor: Visitor = NOBODY, page: int = 1) -> str:
    """One reviewer across runs, the newest first, a page at a time.

    Raises:
        NotThere: there is no such reviewer or page.
    """
    one, shown, past = _past(library, name, page)
    picture = None
    if any(run.standing for run in past):
        query = {"page": str(page)} if page > 1 else {}
        picture = Shown(links.picture("reviewers", one.slug, "history", **query), _drawn(one, past))
    return render(
        "reviewer.html",
        links,
        visitor,
        area="reviewers",
        reviewer=one,
        part=shown,
        past=past,
        sheet=_sheet(past),
        picture=picture,
    )


def counted(library: Library, name: str, page: int = 1) -> bool:
    """Whether there is a figure to draw on a page of a history."""
    return any(run.standing for run in _past(library, name, page)[2])


def analyses(library: Library, name: str, page: int = 1) -> Iterator[Analysis]:
    """What has to be counted for a page of a history.

    Raises:
        NotThere: there is no such reviewer or page.
    """
    for card in part(_known(library, name).runs, page, PAGE).items:
        with contextlib.suppress(Unusable, BundleError):
            made = library.analysis(card.slug) if card.counted else None
            if made is not None:
                yield made


def counting(links: Links, visitor: Visitor = NOBODY) -> str:
    """A history whose figures are still being worked out; the page comes back by itself."""
    return render("counting.html", links, visitor, area="reviewers", card=None)


def history_picture(library: Library, name: str, page: int = 1) -> str:
    """F1 run by run as an SVG document.

    Raises:
        NotThere: there is no such reviewer or page.
    """
    one, _, past = _past(library, name, page)
    return _drawn(one, past).svg


def _past(library: Library, name: str, page: int) -> tuple[Known, Part[RunCard], tuple[Past, ...]]:
    one = _known(library, name)
    shown = part(one.runs, page, PAGE)
    return one, shown, tuple(_in_run(library, card, one.reviewer) for card in shown.items)


def _known(library: Library, name: str) -> Known:
    one = next((found for found in known(library) if found.slug == name), None)
    if one is None:
        raise NotThere("No run that you may see has such a reviewer.")
    return one


def _in_run(library: Library, card: RunCard, reviewer: ReviewerId) -> Past:
    try:
        made = library.analysis(card.slug) if card.counted else None
        if made is None:
            return Past(card, None, "", "nothing counted yet")
        standing = next((one for one in made.board.standings if one.reviewer == reviewer), None)
        return Past(card, standing, made.scored.report.judge, "" if standing else "no trial in the evidence")
    except (Unusable, BundleError) as error:
        return Past(card, None, "", str(error))


def _drawn(one: Known, past: tuple[Past, ...]) -> Drawing:
    return history(f"{one.reviewer} from run to run, the newest on top", list(_lines(past)))


def _lines(past: tuple[Past, ...]) -> Iterator[Line]:
    for run in past:
        if run.standing is not None:
            suite = f"{run.card.suite} {run.card.version}".strip()
            yield Line(run.card.id, run.standing.intervals.micro.f1, suite)


def _sheet(past: tuple[Past, ...]) -> Sheet:
    columns = (
        Column("run", "run"),
        Column("suite", "suite and version"),
        Column("judge", "judge"),
        Column("rank", "rank"),
        Column("f1", "F1", Kind.ESTIMATE),
        Column("precision", "precision", Kind.ESTIMATE),
        Column("recall", "recall", Kind.ESTIMATE),
        Column("coverage", "trials scored"),
    )
    rows = tuple(
        (
            run.card.id,
            f"{run.card.suite} {run.card.version}".strip(),
            judge_label(run.judge),
            f"{rank(run.standing)} of {len(run.card.reviewers)}",
            run.standing.intervals.micro.f1,
            run.standing.intervals.micro.precision,
            run.standing.intervals.micro.recall,
            f"{run.standing.row.coverage.scored} of {run.standing.row.coverage.trials}",
        )
        for run in past
        if run.standing is not None
    )
    note = "Figures of different suites, versions or judges are not one measurement: compare within one of each."
    return Sheet("history", "Run by run, the newest first", columns, rows, (note,))
