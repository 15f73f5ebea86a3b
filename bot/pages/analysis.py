"""Everything that is counted of one run: each thing worked out when it is first asked for, and then kept."""

from __future__ import annotations

import contextlib
import html
import re
import threading
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from bot.analysis import comparison, drawing, leaderboard, profiled, strata, together
from bot.analysis.comparison import Versus
from bot.analysis.figures import Board, board
from bot.analysis.opening import Scored, reviewer, under
from bot.analysis.pictures import forest, points
from bot.analysis.pictures.forest import Line
from bot.analysis.problems import Unusable, one_of
from bot.analysis.sheet import Document, Sheet
from bot.analysis.together import Together
from scoring.bundle import Bundle
from scoring.model import ReviewerId
from scoring.profiles.base import ProfileResult
from scoring.statistics.clusters import Partition, partition

SEED = 20260101
"""Of the resamples behind every interval on a page, so that a page says the same each time."""
MOST_DRAWN = 16
"""Reviewers in a picture of overlap; more cannot be read."""
PICTURES = ("forest", "precision-recall", "cost", "latency", "overlap")
"""The pictures of a run by name; `sweep` and the one of a comparison come beside them."""
_TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.DOTALL)
_DESCRIPTION = re.compile(r"<desc[^>]*>(.*?)</desc>", re.DOTALL)
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Choice:
    """Whose judgement is counted, against which goldens."""

    judge: str = ""
    """Empty: the one the run asked for."""
    goldens: str = ""
    """Empty: those the run was made with."""


AS_RUN = Choice()
"""As the run asked for it."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture, and what it shows in words."""

    svg: str
    title: str
    description: str

    @property
    def alt(self) -> str:
        """What stands for it where it cannot be seen."""
        return f"{self.title.rstrip('.')}. {self.description}".strip()


@dataclass(frozen=True, slots=True)
class Strata:
    """The figures by a property, as a table."""

    by: str
    sheet: Sheet


class Analysis:
    """What is counted of one bundle as one judge has it. Safe between threads."""

    def __init__(
        self, bundle: Bundle, judge: str | None, *, shown: Callable[[Scored], Scored] = lambda scored: scored
    ) -> None:
        """An analysis of nothing yet.

        Args:
            bundle: The evidence, with the goldens that are to count.
            judge: Whose answers count; None where the bundle holds none and its plan says whom to ask.
            shown: What may be shown of the single trials.
        """
        self.bundle = bundle
        self.judge = judge
        self._shown = shown
        self._made: dict[Hashable, Any] = {}
        self._turn = threading.Lock()
        self._turns: dict[Hashable, threading.RLock] = {}

    def _once(self, key: Hashable, make: Callable[[], _T]) -> _T:
        # Several people ask for one page: who comes second waits and takes the same. One thing has one lock, so that
        # the matrix does not wait for the intervals.
        with self._turn:
            turn = self._turns.setdefault(key, threading.RLock())
        with turn:
            if key not in self._made:
                try:
                    self._made[key] = make()
                except Unusable as error:
                    self._made[key] = error
            found = self._made[key]
        if isinstance(found, Unusable):
            raise Unusable(str(found))
        return found  # type: ignore[no-any-return]

    @property
    def counted(self) -> bool:
        """Whether what takes long has been worked out; only then does a page come at once."""
        return "counted" in self._made

    def count(self) -> None:
        """Work out what takes long."""

        def make() -> bool:
            for work in (lambda: self.document, lambda: self.pictures, lambda: self.together_document("")):
                with contextlib.suppress(Unusable):
                    work()
            return True

        self._once("counted", make)

    # --- figures ------------------------------------------------------------------------------------------------

    @property
    def scored(self) -> Scored:
        """The trials, counted under our own rules."""

        def make() -> Scored:
            report = under(self.bundle, "assay", self.judge).report
            assert report is not None
            return Scored(self.bundle, report, partition(report.trials))

        return self._once("scored", make)

    @property
    def trials(self) -> Scored:
        """What may be shown of the single trials: for matrices and pull requests."""
        return self._once("trials", lambda: self._shown(self.scored))

    @property
    def board(self) -> Board:
        """The figures of every reviewer."""
        return self._once("board", lambda: board(self.scored, SEED))

    @property
    def shown_board(self) -> Board:
        """The same with what may be shown of the single trials."""
        return self._once("shown", lambda: replace(self.board, scored=self.trials))

    @property
    def document(self) -> Document:
        """The leaderboard as tables."""
        return self._once("document", lambda: leaderboard.document(self.board))

    def strata(self, by: str) -> Strata:
        """The figures of every reviewer by a property.

        Raises:
            Unusable: there is no such property.
        """

        def make() -> Strata:
            return Strata(by, strata.sheet(strata.of(self.scored, by, self.board.resampler), by))

        return self._once(("strata", by), make)

    def profile(self, name: str) -> Document:
        """The leaderboard under the rules of a published system.

        Raises:
            Unusable: the bundle does not hold what those rules need.
        """
        return self._once(("profile", name), lambda: profiled.document(self._result(name)))

    def _result(self, name: str) -> ProfileResult:
        return self._once(("result", name), lambda: under(self.bundle, name, self.judge))

    def versus(self, first: str, second: str) -> Versus:
        """Two reviewers compared.

        Raises:
            Unusable: one of them has no trial, or they are the same.
        """
        reviewer(self.scored, first), reviewer(self.scored, second)
        return self._once(("versus", first, second), lambda: comparison.versus(self.scored, first, second, SEED))

    @property
    def together(self) -> Together:
        """Who finds what with whom.

        Raises:
            Unusable: there are not two reviewers with scored trials.
        """
        return self._once("together", lambda: together.together(self.scored, SEED))

    def together_document(self, first: str) -> Document:
        """The same as tables; `first` is whose best second is asked for, everybody's if it is empty.

        Raises:
            Unusable: there are not two reviewers with scored trials, or `first` is none of them.
        """

        def make() -> Document:
            made = self.together
            if first and first not in made.reviewers:
                raise one_of("reviewer with scored trials", first, made.reviewers)
            only = {ReviewerId(first): made.additions[ReviewerId(first)]} if first else made.additions
            return together.document(replace(made, additions=only))

        return self._once(("together", first), make)

    # --- pictures -----------------------------------------------------------------------------------------------

    def picture(self, name: str) -> Drawing:
        """One of `PICTURES`.

        Raises:
            Unusable: there is no such picture, or the evidence does not hold what it shows.
        """
        if name not in PICTURES:
            raise one_of("picture", name, PICTURES)
        return self._once(("picture", name), lambda: described(self._draw(name)))

    def _draw(self, name: str) -> str:
        if name == "overlap":
            return drawing.of_overlap(narrowed(self.together))
        if name == "latency":
            return _latency(self.board)
        return drawing.of_board(self.board, drawing.Picture(name))

    def picture_of_profile(self, name: str) -> Drawing:
        """F1 under the rules of a published system.

        Raises:
            Unusable: see `profile`.
        """
        return self._once(("profiled", name), lambda: described(drawing.of_profile(self._result(name))))

    def picture_of(self, first: str, second: str) -> Drawing:
        """Two reviewers compared, drawn.

        Raises:
            Unusable: see `versus`.
        """
        made = self.versus(first, second)
        return self._once(("pair", first, second), lambda: described(drawing.of_comparison(made)))

    @property
    def pictures(self) -> Mapping[str, Drawing]:
        """Those that this evidence can fill, by name."""

        def make() -> dict[str, Drawing]:
            found = {}
            for name in PICTURES:
                try:
                    found[name] = self.picture(name)
                except Unusable:
                    continue
            return found

        return self._once("pictures", make)


def _latency(made: Board) -> str:
    from bot.analysis import about

    shown, missing = [], []
    for one in made.standings:
        seconds, f1 = one.price.seconds, one.intervals.micro.f1.value
        if seconds is None or f1 is None:
            missing.append(one.reviewer)
        else:
            shown.append(points.Point(one.reviewer, seconds, f1))
    if not shown:
        raise Unusable("the bundle says of no reviewer how long it took, so there is no picture of time")
    return points.latency(about.title(made.scored.report), shown, missing)


def narrowed(made: Together) -> Together:
    """The reviewers that found most, as many as a picture can hold."""
    if len(made.reviewers) <= MOST_DRAWN:
        return made
    found = {name: sum(made.scored.trials.goldens(name).values()) for name in made.reviewers}
    kept = set(sorted(made.reviewers, key=lambda name: (-found[name], name))[:MOST_DRAWN])
    pairs = {pair: one for pair, one in made.overlaps.items() if set(pair) <= kept}
    return replace(made, reviewers=tuple(name for name in made.reviewers if name in kept), overlaps=pairs)


def described(svg: str) -> Drawing:
    """A picture with the words it carries."""
    said = [found.group(1) if found else "" for found in (_TITLE.search(svg), _DESCRIPTION.search(svg))]
    return Drawing(svg, *(" ".join(html.unescape(one).split()) for one in said))


def history(title: str, lines: list[Line]) -> Drawing:
    """F1 of one reviewer, run by run."""
    return described(forest.draw(title, "F1", lines))


def reviewers_of(trials: Partition) -> tuple[ReviewerId, ...]:
    """Those that were scored on something."""
    return tuple(name for name in trials.reviewers if trials.scored(name))
