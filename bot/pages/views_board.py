"""The pages that rank and compare: the leaderboard, two reviewers, all together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from bot.analysis import comparison
from bot.analysis.problems import Unusable, one_of
from bot.analysis.sheet import Document, Sheet
from bot.pages.analysis import AS_RUN, Analysis, Choice, Drawing, reviewers_of
from bot.pages.choosing import UNDISPUTED
from bot.pages.library import Library, RunCard
from bot.pages.links import Links
from bot.pages.paper import NOBODY, Visitor, render
from bot.pages.standings import OURS, PROFILES, RANKS, SORTS, STRATA, Asked, standings
from bot.pages.views import NotThere, analysis_of, card_of
from scoring.model import ReviewerId

MOST_PAIRS = 45
"""Pairs of reviewers that a place without a server holds pages of: those of the ten best."""
MOST_ROWS = 60
"""Rows of one table of a page about pairs."""
NOTHING = Asked()


@dataclass(frozen=True, slots=True)
class Option:
    """One thing to choose."""

    value: str
    words: str
    url: str
    """Where the page is with it chosen."""
    chosen: bool


@dataclass(frozen=True, slots=True)
class Switch:
    """One choice."""

    name: str
    words: str
    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """A picture on a page."""

    url: str
    drawing: Drawing


def leaderboard(library: Library, links: Links, name: str, asked: Asked = NOTHING, visitor: Visitor = NOBODY) -> str:
    """The leaderboard of a run.

    Raises:
        NotThere: there is no such run, or what is asked for is none of what there is.
    """
    card = card_of(library, name)
    _check(asked)
    analysis = analysis_of(library, name, asked.choice)
    switches = _switches(library, links, card, asked)
    page = {"area": "runs", "tab": "leaderboard", "card": card, "asked": asked, "switches": switches}
    if asked.profile not in ("", OURS):
        return render("profile.html", links, visitor, **page, **_of_profile(analysis, links, card, asked))
    document = analysis.document
    return render(
        "leaderboard.html",
        links,
        visitor,
        **page,
        board=standings(analysis.board, asked),
        price=document.sheets[1],
        strata=analysis.strata(asked.by).sheet if asked.by else None,
        keys=STRATA,
        document=document,
        ranks=(RANKS, *document.sheets[0].notes[1:]),
        pictures=_pictures(analysis, links, card, asked.choice),
    )


def _check(asked: Asked) -> None:
    for value, known, what in (
        (asked.sort, SORTS, "column"),
        (asked.by, STRATA, "property"),
        (asked.profile, PROFILES, "profile"),
    ):
        if value and value not in known:
            raise NotThere(str(one_of(what, value, known)))


def _of_profile(analysis: Analysis, links: Links, card: RunCard, asked: Asked) -> dict[str, object]:
    """The tables of a published system; why there are none where the evidence does not hold what it needs."""
    try:
        document = analysis.profile(asked.profile)
        drawing = analysis.picture_of_profile(asked.profile)
    except Unusable as error:
        return {"document": None, "problem": str(error), "picture": None}
    # A published system's own tables may go down to single trials, which name an anonymous reviewer.
    main, *own = document.sheets
    kept = () if card.anonymous and links.is_static else own
    more = (_cut(sheet, f"assay rescore --profile {asked.profile} --json") for sheet in kept)
    shown = replace(document, sheets=(main, *more))
    url = links.picture("runs", card.slug, "profile", **asked.but(by="", sort="", named=""))
    return {"document": shown, "problem": "", "picture": Shown(url, drawing)}


def _pictures(analysis: Analysis, links: Links, card: RunCard, choice: Choice) -> dict[str, Shown]:
    return {
        name: Shown(links.picture("runs", card.slug, name, **chosen(choice)), drawing)
        for name, drawing in analysis.pictures.items()
    }


def chosen(choice: Choice) -> dict[str, str]:
    """A choice for an address."""
    return {name: value for name, value in (("judge", choice.judge), ("goldens", choice.goldens)) if value}


def _switches(library: Library, links: Links, card: RunCard, asked: Asked) -> tuple[Switch, ...]:
    """What can be switched. Without a server only what lies there as a file: one thing at a time, and the judge."""
    own = asked if not links.is_static else Asked(judge=asked.judge)
    return tuple(
        switch
        for switch in (
            _judges(library, links, card, own),
            _switch(
                links,
                card,
                Asked() if links.is_static else own,
                "goldens",
                asked.goldens,
                "goldens",
                _versions(library, card),
            ),
            _switch(
                links, card, own, "profile", asked.profile or OURS, "rules of", _profiles(library, links, card, own)
            ),
        )
        if len(switch.options) > 1
    )


def _judges(library: Library, links: Links, card: RunCard, own: Asked) -> Switch:
    names = library.judges(card.slug)
    first = names[0] if names else ""
    return _switch(links, card, own, "judge", own.judge or first, "judge", {name: name for name in names}, first)


def _versions(library: Library, card: RunCard) -> dict[str, str]:
    others = library.goldens(card.slug)
    words = {name: "without disputed ones" if name == UNDISPUTED else f"as in version {name}" for name in others}
    return {"": f"as in this run ({card.version})" if card.version else "as in this run"} | words


def _profiles(library: Library, links: Links, card: RunCard, own: Asked) -> dict[str, str]:
    known = PROFILES if not links.is_static else (OURS, *usable_profiles(library, card, own.choice))
    return {name: "Assay" if name == OURS else name for name in known}


def usable_profiles(library: Library, card: RunCard, choice: Choice) -> tuple[str, ...]:
    """The published systems whose rules the evidence can be put under."""
    found = []
    made = analysis_of(library, card.slug, choice)
    for name in PROFILES[1:]:
        try:
            made.profile(name)
        except Unusable:
            continue
        found.append(name)
    return tuple(found)


def _switch(
    links: Links,
    card: RunCard,
    asked: Asked,
    name: str,
    now: str,
    words: str,
    values: Mapping[str, str],
    default: str | None = None,
) -> Switch:
    usual = default if default is not None else OURS if name == "profile" else ""
    options = tuple(
        Option(
            value,
            said,
            links.page("runs", card.slug, "leaderboard", **asked.but(**{name: "" if value == usual else value})),
            value == now,
        )
        for value, said in values.items()
    )
    return Switch(name, words, options)


# --- A or B -----------------------------------------------------------------------------------------------------------


def compare(
    library: Library,
    links: Links,
    name: str,
    first: str = "",
    second: str = "",
    choice: Choice = AS_RUN,
    visitor: Visitor = NOBODY,
) -> str:
    """Two reviewers of a run: the two best where none are named.

    Raises:
        NotThere: there is no such run or reviewer, or they are one and the same.
    """
    card = card_of(library, name)
    analysis = analysis_of(library, name, choice)
    names = ranked(analysis)
    pair = _pair(names, first, second)
    page = {"area": "runs", "tab": "compare", "card": card, "choice": choice, "names": names}
    if pair is None:
        return render("compare.html", links, visitor, **page, pair=None)
    try:
        document = comparison.document(analysis.versus(*pair))
        drawing = analysis.picture_of(*pair)
    except Unusable as error:
        raise NotThere(str(error)) from None
    query = {"first": pair[0], "second": pair[1], **chosen(choice)}
    return render(
        "compare.html",
        links,
        visitor,
        **page,
        pair=pair,
        document=document,
        picture=Shown(links.picture("runs", card.slug, "compare", **query), drawing),
        others=_others(links, card, analysis, pair, choice),
    )


def _pair(names: Sequence[str], first: str, second: str) -> tuple[str, str] | None:
    """Who is compared; the best of the others stands in for who is not named."""
    if len(names) < 2 and not (first and second):
        return None
    one = first or next(name for name in names if name != second)
    return one, second or next(name for name in names if name != one)


def ranked(analysis: Analysis) -> tuple[ReviewerId, ...]:
    """The reviewers that were scored on something, best first."""
    there = set(reviewers_of(analysis.scored.trials))
    return tuple(one.reviewer for one in analysis.board.standings if one.reviewer in there)


def pairs(analysis: Analysis) -> tuple[tuple[ReviewerId, ReviewerId], ...]:
    """The pairs that a place without a server holds pages of, the better one first."""
    return (
        tuple(combinations(ranked(analysis), 2))[:MOST_PAIRS]
        if len(ranked(analysis)) <= 10
        else tuple(combinations(ranked(analysis)[:10], 2))
    )


def _others(
    links: Links, card: RunCard, analysis: Analysis, pair: tuple[str, str], choice: Choice
) -> list[tuple[str, str, bool]]:
    """(words, address, whether it is this one) of further pairs."""
    there = pairs(analysis)
    if not links.is_static:
        there = tuple(one for one in there if set(pair) & set(one))
    return [
        (
            f"{first} or {second}?",
            links.page("runs", card.slug, "compare", first=first, second=second, **chosen(choice)),
            (first, second) == pair,
        )
        for first, second in there
    ]


# --- together ---------------------------------------------------------------------------------------------------------


def overlap(
    library: Library, links: Links, name: str, choice: Choice = AS_RUN, first: str = "", visitor: Visitor = NOBODY
) -> str:
    """Who finds what with whom, and which second reviewer adds most.

    Raises:
        NotThere: there is no such run, or no such reviewer.
    """
    card = card_of(library, name)
    analysis = analysis_of(library, name, choice)
    names = ranked(analysis)
    if first and first not in names:
        raise NotThere(str(one_of("reviewer", first, names)))
    page = {"area": "runs", "tab": "overlap", "card": card, "choice": choice, "names": names, "first": first}
    try:
        document = analysis.together_document(first)
        drawing = analysis.picture("overlap")
    except Unusable as error:
        return render("overlap.html", links, visitor, **page, document=None, problem=str(error))
    return render(
        "overlap.html",
        links,
        visitor,
        **page,
        problem="",
        document=_bounded(document, first),
        picture=Shown(links.picture("runs", card.slug, "overlap", **chosen(choice)), drawing),
    )


def _bounded(document: Document, first: str) -> Document:
    """Tables about pairs grow with the square of the reviewers: those of one, and so many rows, are enough to read."""
    return replace(document, sheets=tuple(_cut(_of(sheet, first), "assay overlap --json") for sheet in document.sheets))


def _of(sheet: Sheet, first: str) -> Sheet:
    if not first or sheet.key != "overlap":
        return sheet
    return replace(sheet, rows=tuple(row for row in sheet.rows if first in row[:2]))


def _cut(sheet: Sheet, command: str) -> Sheet:
    if len(sheet.rows) <= MOST_ROWS:
        return sheet
    note = f"The first {MOST_ROWS} of {len(sheet.rows)} rows; `{command}` gives all."
    return replace(sheet, rows=sheet.rows[:MOST_ROWS], notes=(*sheet.notes, note))


# --- pictures ---------------------------------------------------------------------------------------------------------


def picture(library: Library, name: str, kind: str, asked: Asked = NOTHING, first: str = "", second: str = "") -> str:
    """A picture of a run as an SVG document.

    Args:
        library: Where the run is.
        name: The run.
        kind: One of `bot.pages.analysis.PICTURES`, `profile` or `compare`.
        asked: Judge, goldens and profile.
        first: For `compare`, the first reviewer.
        second: And the second.

    Raises:
        NotThere: there is no such run or picture, or the evidence does not hold what it shows.
    """
    _check(asked)
    analysis = analysis_of(library, name, asked.choice)
    try:
        if kind == "compare":
            return analysis.picture_of(first, second).svg
        if kind == "profile":
            return analysis.picture_of_profile(asked.profile or OURS).svg
        return analysis.picture(kind).svg
    except Unusable as error:
        raise NotThere(str(error)) from None
