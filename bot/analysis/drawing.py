"""Which picture goes with which result."""

from __future__ import annotations

from enum import StrEnum

from bot.analysis import about, sample
from bot.analysis.comparison import Versus
from bot.analysis.figures import Board
from bot.analysis.opening import under
from bot.analysis.pictures import forest, lines, matrix, points
from bot.analysis.pictures.forest import Line
from bot.analysis.problems import Unusable
from bot.analysis.together import Together
from scoring.profiles.base import ProfileResult


class Picture(StrEnum):
    """The pictures of a leaderboard."""

    FOREST = "forest"
    PRECISION_RECALL = "precision-recall"
    COST = "cost"
    SWEEP = "sweep"


def of_board(board: Board, picture: Picture) -> str:
    """A leaderboard's picture.

    Raises:
        Unusable: the evidence does not hold what it shows.
    """
    title = about.title(board.scored.report)
    if picture is Picture.PRECISION_RECALL:
        return _precision_recall(board, title)
    if picture is Picture.COST:
        return _cost(board, title)
    if picture is Picture.SWEEP:
        return _sweep(board)
    rows = [
        Line(
            one.reviewer,
            one.intervals.micro.f1,
            f"#{one.place.rank}  {one.row.coverage.scored}/{one.row.coverage.trials} scored" if one.place.rank else "",
        )
        for one in board.standings
    ]
    return forest.draw(title, "F1", rows)


def _sweep(board: Board) -> str:
    bundle = board.scored.bundle
    if not any(golden.place and golden.place.lines for pull in bundle.pulls for golden in pull.goldens):
        raise Unusable("no golden of the bundle has lines, so there is no tolerance to sweep")
    return of_profile(under(bundle, "swe", None))


def _precision_recall(board: Board, title: str) -> str:
    shown, missing = [], []
    for one in board.standings:
        precision, recall = one.intervals.micro.precision.value, one.intervals.micro.recall.value
        if precision is None or recall is None:
            missing.append(one.reviewer)
        else:
            shown.append(points.Point(one.reviewer, recall, precision))
    return points.precision_recall(title, shown, missing)


def _cost(board: Board, title: str) -> str:
    shown, missing = [], []
    for one in board.standings:
        price, f1 = one.price.per_review, one.intervals.micro.f1.value
        if price is None or f1 is None:
            missing.append(one.reviewer)
        else:
            shown.append(points.Point(one.reviewer, price, f1))
    if not shown:
        raise Unusable("the bundle says of no reviewer what a review cost, so there is no picture of cost")
    return points.cost(title, shown, missing)


def of_comparison(made: Versus) -> str:
    """The differences with their intervals."""
    first, second = made.result.first, made.result.second
    figures = made.result.differences
    rows = [Line("F1", figures.f1), Line("precision", figures.precision), Line("recall", figures.recall)]
    return forest.draw(
        f"{first} less {second}", f"difference on {made.result.shared} shared pull requests", rows, difference=True
    )


def of_overlap(made: Together) -> str:
    """The overlap matrix."""
    shares: dict[tuple[str, str], matrix.Share] = {
        (first, second): (one.jaccard, one.found.both) for (first, second), one in made.overlaps.items()
    }
    found: dict[str, int] = {name: sum(made.scored.trials.goldens(name).values()) for name in made.reviewers}
    return matrix.draw(about.title(made.scored.report), made.reviewers, shares, found)


def of_power(made: sample.Plans) -> str:
    """The chance to tell each difference, by pull requests.

    Raises:
        Unusable: no pilot says how often two reviewers differ.
    """
    wanted = [one.needed.pulls for plan in made.plans for one in plan.asked if one.needed.pulls]
    if not wanted:
        raise Unusable("no pilot says how often two reviewers differ, so there is no curve to draw")
    far = max(20, min(1000, 2 * max(wanted)))
    xs = tuple(range(2, far + 1, max(1, far // 100)))
    curves = []
    for plan in made.plans:
        for one in plan.asked:
            ys = sample.curve(plan.pilot, one.difference, xs)
            known = [(float(x), y) for x, y in zip(xs, ys, strict=True) if y is not None]
            if known:
                label = (
                    f"{plan.pair}, {one.difference:.0%}" if len(made.plans) > 1 else f"difference {one.difference:.0%}"
                )
                curves.append(lines.Curve(label, tuple(x for x, _ in known), tuple(y for _, y in known)))
    return lines.draw("The chance to tell a difference of recall", "pull requests", "chance", curves, goal=made.power)


def of_profile(result: ProfileResult) -> str:
    """A profile's picture: the tolerance sweep where it makes one, else F1 of every reviewer."""
    suite = f"{result.suite.id} {result.suite.version}, profile {result.profile}"
    if rows := result.tables.get("tolerance_sweep"):
        return lines.sweep(suite, rows)
    return forest.draw(f"{suite}, judge {result.judge}", "F1", [Line(row.reviewer, row.f1) for row in result.reviewers])
