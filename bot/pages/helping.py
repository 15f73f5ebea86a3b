"""What templates call: words for values, and addresses that depend on whether there is a server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.pages.links import Links, anchor, slug
from bot.pages.markdown import visible
from bot.pages.matrix import Matrix
from bot.pages.pulls import golden_key
from bot.pages.standings import Asked
from bot.render.figures import counted

STAGES: Mapping[str, str] = {
    "forking": "opening pull requests",
    "waiting": "waiting for reviewers",
    "scoring": "judging",
    "publishing": "publishing",
    "done": "done",
    "cancelled": "cancelled",
    "failed": "failed",
    "stored": "stored evidence",
}
"""Every stage of a run, and how it is said."""
MINUTES_AN_HOUR = 60


def stage_words(stage: str) -> str:
    """A stage as people say it; one that is not known as it is called."""
    return STAGES.get(stage, stage)


def minutes(value: float) -> str:
    """`45 s`, `12 min`, `3 h 20 min`."""
    if value < 1:
        return f"{value * 60:.0f} s"
    hours, rest = divmod(round(value), MINUTES_AN_HOUR)
    return f"{hours} h {rest} min" if hours else f"{rest} min"


def anchors_of(matrix: Matrix) -> tuple[str, ...]:
    """Where the reviewers of the columns are on the page of a pull request."""
    return tuple(anchor(column.reviewer) for column in matrix.columns)


def sorted_by(asked: Asked, links: Links, key: str) -> dict[str, str]:
    """The query of a leaderboard sorted by a column; without a server nothing else can be asked at once."""
    sort = "" if key == "rank" else key
    return Asked(sort=sort).query if links.is_static else asked.but(sort=sort)


def by_property(asked: Asked, links: Links, key: str) -> dict[str, str]:
    """The query of a leaderboard with its figures by a property."""
    return Asked(judge=asked.judge, by=key).query if links.is_static else asked.but(by=key)


def kept(query: Mapping[str, str], links: Links) -> dict[str, str]:
    """What goes along to other pages of the run; without a server those are of the run's own judge."""
    return {} if links.is_static else dict(query)


def paged(links: Links, parts: Sequence[str], number: int) -> str:
    """A page of a list."""
    return links.page(*parts, **({"page": str(number)} if number > 1 else {}))


def ordered(by_status: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    """The statuses that occur, in reading order."""
    return counted(by_status)


HELPERS = {
    "ordered": ordered,
    "stage_words": stage_words,
    "minutes": minutes,
    "anchors_of": anchors_of,
    "sorted_by": sorted_by,
    "by": by_property,
    "kept": kept,
    "paged": paged,
    "slug": slug,
    "anchor": anchor,
    "golden_key": golden_key,
    "visible": visible,
}
