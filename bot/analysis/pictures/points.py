"""Reviewers as numbered points on a plane: precision against recall, cost against F1."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.analysis.pictures import canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LEVELS = (0.2, 0.4, 0.6, 0.8)
_STEPS = 200


@dataclass(frozen=True, slots=True)
class Point:
    """One reviewer."""

    label: str
    x: float
    y: float


def precision_recall(title: str, points: Sequence[Point], left_out: Sequence[str] = ()) -> str:
    """Recall to the right, precision upwards, and the lines on which F1 is the same.

    Args:
        title: What is shown.
        points: x is recall, y is precision.
        left_out: Reviewers for which one of them is undefined.
    """
    with canvas.look():
        figure, axes = canvas.paper(9, 6)
        axes.set_xlim(0, 1.02)
        axes.set_ylim(0, 1.05)
        axes.set_xlabel("recall")
        axes.set_ylabel("precision")
        axes.set_title(canvas.heading(title))
        for level in _LEVELS:
            _iso(axes, level)
        _numbered(axes, points, [f"precision {point.y:.2f}, recall {point.x:.2f}" for point in points])
        said = [f"{point.label}: precision {point.y:.2f}, recall {point.x:.2f}." for point in points]
        return canvas.finish(figure, f"Precision and recall: {title}", [*said, *_missing(left_out)])


def _iso(axes: Axes, level: float) -> None:
    """Where F1 is `level`: precision = F1 · recall / (2 · recall - F1)."""
    start = level / (2 - level)
    recalls = [start + (1 - start) * step / _STEPS for step in range(_STEPS + 1)]
    precisions = [level * recall / (2 * recall - level) for recall in recalls]
    axes.plot(recalls, precisions, color=canvas.QUIET, linewidth=0.9, linestyle=(0, (4, 3)))
    axes.annotate(
        f"F1 {level:.1f}",
        (1, precisions[-1]),
        xytext=(-4, 3),
        textcoords="offset points",
        ha="right",
        color=canvas.QUIET,
        fontsize=9,
    )


def cost(title: str, points: Sequence[Point], left_out: Sequence[str] = ()) -> str:
    """Cost per review to the right, F1 upwards; who is on the Pareto front is joined, filled and said.

    Args:
        title: What is shown.
        points: x is US dollars per review, y is F1.
        left_out: Reviewers whose cost or F1 is unknown.
    """
    return _frontier(f"Cost and F1: {title}", title, points, left_out, "US dollars per review", "${:.3f}")


def latency(title: str, points: Sequence[Point], left_out: Sequence[str] = ()) -> str:
    """As `cost`, with x the median seconds from the first ask to the last thing said."""
    return _frontier(f"Time and F1: {title}", title, points, left_out, "seconds to the last thing said", "{:.0f} s")


def _frontier(told: str, title: str, points: Sequence[Point], left_out: Sequence[str], axis: str, written: str) -> str:
    best = front(points)
    with canvas.look():
        figure, axes = canvas.paper(9, 6)
        far = max((point.x for point in points), default=1.0) or 1.0
        axes.set_xlim(0, far * 1.1)
        axes.set_ylim(0, 1.05)
        axes.set_xlabel(axis)
        axes.set_ylabel("F1")
        axes.set_title(canvas.heading(title))
        steps = [points[at] for at in best]
        axes.step(
            [one.x for one in steps] + [far * 1.1],
            [one.y for one in steps] + [steps[-1].y] if steps else [0],
            where="post",
            color=canvas.SECOND,
            linewidth=1.5,
        ) if steps else None
        notes = [
            f"{written.format(one.x)}, F1 {one.y:.2f}{', on the front' if at in best else ''}"
            for at, one in enumerate(points)
        ]
        _numbered(axes, points, notes, filled=frozenset(best))
        said = [f"{one.label}: {note}." for one, note in zip(points, notes, strict=True)]
        return canvas.finish(figure, told, [*said, *_missing(left_out)])


def front(points: Sequence[Point]) -> list[int]:
    """Which points no other one beats on both x and F1, the smallest x first."""
    best = [
        at
        for at, one in enumerate(points)
        if not any((other.x <= one.x and other.y >= one.y) and (other.x, other.y) != (one.x, one.y) for other in points)
    ]
    return sorted(best, key=lambda at: (points[at].x, at))


def _missing(left_out: Sequence[str]) -> Iterator[str]:
    if left_out:
        yield f"Not shown, because a value is unknown: {', '.join(left_out)}."


def _numbered(axes: Axes, points: Sequence[Point], notes: Sequence[str], filled: frozenset[int] | None = None) -> None:
    """The points with their numbers, those in one place together, and the key beside them."""
    places: dict[tuple[float, float], list[int]] = {}
    for at, point in enumerate(points):
        places.setdefault((point.x, point.y), []).append(at)
    for (x, y), members in places.items():
        full = filled is None or bool(filled & set(members))
        axes.plot(
            [x],
            [y],
            canvas.MARKERS[members[0] % len(canvas.MARKERS)],
            markersize=9,
            markerfacecolor=canvas.FIRST if full else canvas.BACK,
            markeredgecolor=canvas.FIRST,
            markeredgewidth=1.6,
        )
        axes.annotate(
            ", ".join(str(at + 1) for at in members),
            (x, y),
            xytext=(7, 5),
            textcoords="offset points",
            fontweight="bold",
        )
    lines = [
        f"{at + 1}  {canvas.name(one.label)}: {note}" for at, (one, note) in enumerate(zip(points, notes, strict=True))
    ]
    axes.annotate(
        "\n".join(lines) or "no reviewer has both values",
        (1, 1),
        xycoords="axes fraction",
        xytext=(10, 0),
        textcoords="offset points",
        va="top",
        fontsize=9,
        linespacing=1.5,
    )
