"""The page of one golden pull request: the diff with everything that was said at its lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

from bot.analysis.problems import one_of
from bot.pages import diffing
from bot.pages.analysis import Analysis, Choice
from bot.pages.diffing import Mark, View
from bot.pages.library import Library, RunCard
from bot.pages.links import Links, slug
from bot.pages.paper import NOBODY, Visitor, render
from bot.pages.pulls import ClaimCard, GoldenCard, Pull, find, gathered
from bot.pages.views import NotThere, analysis_of, card_of
from scoring.bundle import Bundle

VIEWS = ("unified", "split")
"""How a diff is shown; the first without being asked."""
EVERYTHING = "all"


@dataclass(frozen=True, slots=True)
class Look:
    """What is asked of the page."""

    view: str = ""
    reviewer: str = ""
    judge: str = ""
    goldens: str = ""
    lines: str = ""
    """`all` for a long diff as a whole."""

    @property
    def query(self) -> dict[str, str]:
        """The same for an address."""
        return {one.name: value for one in fields(self) if (value := getattr(self, one.name))}

    def but(self, **changed: str) -> dict[str, str]:
        """The same with something else, for an address."""
        return {name: value for name, value in (self.query | changed).items() if value}


PLAIN = Look()


def pull(library: Library, links: Links, name: str, wanted: str, look: Look = PLAIN, visitor: Visitor = NOBODY) -> str:
    """One golden pull request of a run.

    Raises:
        NotThere: there is no such run or pull request, or what is asked for is none of what there is.
    """
    _check(look)
    card = card_of(library, name)
    analysis = analysis_of(library, name, Choice(look.judge, look.goldens))
    shown = analysis.trials
    found = find(shown.bundle, wanted)
    if found is None:
        raise NotThere("This run has no such pull request.")
    judge = analysis.judge or shown.report.judge
    made = gathered(shown, judge, found, look.reviewer)
    if look.reviewer and look.reviewer not in made.everyone:
        raise NotThere(str(one_of("reviewer", look.reviewer, made.everyone)))
    text = library.diff(card.slug, found.id)
    diff = None if text is None else _diff(text, made, look)
    return render(
        "pull.html",
        links,
        visitor,
        area="runs",
        tab="pull",
        card=card,
        look=look,
        judge=judge,
        judges=library.judges(card.slug),
        made=made,
        diff=diff,
        notes=_notes(made),
        unplaced=_unplaced(made, diff),
        **_neighbours(links, card, shown.bundle, found.id, look),
    )


def _check(look: Look) -> None:
    if look.view not in ("", *VIEWS):
        raise NotThere(str(one_of("view", look.view, VIEWS)))
    if look.lines not in ("", EVERYTHING):
        raise NotThere(str(one_of("way to show lines", look.lines, (EVERYTHING,))))


def _diff(text: str, made: Pull, look: Look) -> View:
    return diffing.view(text, list(_marks(made)), split=look.view == "split", everything=look.lines == EVERYTHING)


def _marks(made: Pull) -> Iterator[Mark]:
    """Goldens first, so that they stand above the claims at their line."""
    for card in made.goldens:
        if card.golden.place is not None:
            yield Mark(card.key, card.golden.place, loud=True)
    for claim in made.claims:
        if claim.candidate.place is not None:
            yield Mark(claim.key, claim.candidate.place)


def _notes(made: Pull) -> Mapping[str, GoldenCard | ClaimCard]:
    """Everything that can stand at a line, by its key."""
    found: dict[str, GoldenCard | ClaimCard] = {card.key: card for card in made.goldens}
    return found | {claim.key: claim for claim in made.claims}


def _unplaced(made: Pull, diff: View | None) -> tuple[str, ...]:
    """What stands at no line and no file of the diff; without a diff that is all."""
    keys = _notes(made)
    if diff is None:
        return tuple(keys)
    without = {card.key for card in made.goldens if card.golden.place is None}
    without |= {claim.key for claim in made.claims if claim.candidate.place is None}
    without |= set(diff.elsewhere)
    return tuple(key for key in keys if key in without)


def _neighbours(links: Links, card: RunCard, bundle: Bundle, here: str, look: Look) -> dict[str, Any]:
    """The pull requests before and after this one."""
    ids = [one.id for one in bundle.pulls]
    at = ids.index(next(one for one in ids if one == here))
    query = {} if links.is_static else Look(view=look.view, reviewer=look.reviewer, judge=look.judge).query
    near = {"before": at - 1, "after": at + 1}
    return {
        name: (ids[one], links.page("runs", card.slug, "pulls", slug(ids[one]), **query))
        if 0 <= one < len(ids)
        else None
        for name, one in near.items()
    }


def variants(analysis: Analysis) -> Iterator[tuple[str, Look]]:
    """The pages that a place without a server holds: each pull request, both ways."""
    for one in analysis.trials.bundle.pulls:
        yield slug(one.id), PLAIN
        yield slug(one.id), Look(view="split")
