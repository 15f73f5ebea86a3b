"""Curves: what a tolerance does to a hit rate, what more pull requests do to the chance to tell two apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.analysis.pictures import canvas


@dataclass(frozen=True, slots=True)
class Curve:
    """One line."""

    label: str
    xs: tuple[float, ...]
    ys: tuple[float, ...]


def sweep(title: str, rows: Sequence[Mapping[str, object]]) -> str:
    """Hit rate by tolerance, a line for each reviewer, from the tolerance sweep of the profile `swe`."""
    found: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        point = (float(str(row["tolerance"])), float(str(row["instance_hit_rate"])))
        found.setdefault(str(row["reviewer"]), []).append(point)
    curves = [Curve(name, *map(tuple, zip(*sorted(own), strict=True))) for name, own in found.items()]
    return draw(f"Tolerance sweep: {title}", "tolerance in lines", "share of pull requests hit", curves, ticks=True)


def draw(title: str, x: str, y: str, curves: Sequence[Curve], *, ticks: bool = False, goal: float | None = None) -> str:
    """Curves over a share from 0 to 1, told apart by marker, dash and label.

    Args:
        title: What is shown.
        x: What runs to the right.
        y: The share.
        curves: The lines.
        ticks: Whether the values of x are few, and each is marked.
        goal: A share to reach, marked by a line.
    """
    with canvas.look():
        figure, axes = canvas.paper(9, 5)
        axes.set_ylim(0, 1.05)
        axes.set_xlabel(x)
        axes.set_ylabel(y)
        axes.set_title(canvas.heading(title))
        if goal is not None:
            axes.axhline(goal, color=canvas.INK, linewidth=1, linestyle=":")
        if ticks:
            axes.set_xticks(sorted({at for curve in curves for at in curve.xs}))
        for number, curve in enumerate(curves):
            axes.plot(
                curve.xs,
                curve.ys,
                color=(canvas.FIRST, canvas.SECOND)[number % 2],
                linewidth=1.8,
                linestyle=canvas.LINES[number // 2 % len(canvas.LINES)],
                markersize=7,
                marker=canvas.MARKERS[number % len(canvas.MARKERS)],
                markevery=1 if ticks else max(1, len(curve.xs) // 8),
                label=f"{number + 1}  {canvas.name(curve.label)}",
            )
        for members in _ends(curves):
            curve = curves[members[0]]
            axes.annotate(
                ", ".join(str(at + 1) for at in members),
                (curve.xs[-1], curve.ys[-1]),
                xytext=(6, 0),
                textcoords="offset points",
                va="center",
                fontweight="bold",
            )
        if curves:
            axes.legend(loc="upper left", bbox_to_anchor=(1.04, 1), frameon=False, fontsize=9)
        return canvas.finish(figure, title, [_said(curve, x) for curve in curves])


def _ends(curves: Sequence[Curve]) -> list[list[int]]:
    """Curves that end in one place share a number tag."""
    places: dict[tuple[float, float], list[int]] = {}
    for at, curve in enumerate(curves):
        places.setdefault((curve.xs[-1], round(curve.ys[-1], 2)), []).append(at)
    return list(places.values())


def _said(curve: Curve, x: str) -> str:
    ends = [(curve.xs[at], curve.ys[at]) for at in sorted({0, len(curve.xs) - 1})]
    return f"{curve.label}: " + ", ".join(f"{value:.2f} at {at:g} ({x})" for at, value in ends) + "."
