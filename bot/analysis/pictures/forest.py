"""Figures with their intervals, one above the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.analysis.pictures import canvas
from bot.render.figures import UNDEFINED
from bot.render.text import clean
from scoring.model import Estimate


@dataclass(frozen=True, slots=True)
class Line:
    """One figure."""

    label: str
    estimate: Estimate
    note: str = ""
    """What stands beside it, for example what is behind it."""


def draw(title: str, axis: str, lines: Sequence[Line], *, difference: bool = False) -> str:
    """A forest plot, the first line on top.

    Args:
        title: What is shown.
        axis: What the figure is.
        lines: The figures.
        difference: Whether the figures are differences: then the axis runs from -1 to 1 and 0 is marked.
    """
    with canvas.look():
        figure, axes = canvas.paper(9, 1.4 + 0.42 * max(1, len(lines)))
        axes.set_xlim(*_limits(lines) if difference else (0, 1))
        axes.set_ylim(len(lines) - 0.4, -0.6)
        axes.set_yticks(range(len(lines)), [canvas.name(line.label) for line in lines])
        axes.tick_params(axis="y", length=0)
        axes.grid(visible=False, axis="y")
        axes.set_xlabel(axis)
        axes.set_title(canvas.heading(title))
        if difference:
            axes.axvline(0, color=canvas.INK, linewidth=1)
        for at, line in enumerate(lines):
            one = line.estimate
            if one.low is not None and one.high is not None:
                axes.plot([one.low, one.high], [at, at], color=canvas.FIRST, linewidth=2.5, solid_capstyle="butt")
                axes.plot([one.low, one.high], [at, at], "|", color=canvas.FIRST, markersize=9, markeredgewidth=2)
            if one.value is not None:
                axes.plot([one.value], [at], "D", color=canvas.FIRST, markersize=7)
            beside = _beside(line, difference)
            axes.annotate(
                beside,
                (1, at),
                xycoords=("axes fraction", "data"),
                xytext=(8, 0),
                textcoords="offset points",
                va="center",
            )
        return canvas.finish(
            figure, f"{axis}: {title}", [f"{line.label}: {_beside(line, difference)}." for line in lines]
        )


def _limits(lines: Sequence[Line]) -> tuple[float, float]:
    reach = [
        abs(edge)
        for line in lines
        for edge in (line.estimate.low, line.estimate.high, line.estimate.value)
        if edge is not None
    ]
    far = min(1.0, max([0.1, *reach]) * 1.1)
    return -far, far


def _beside(line: Line, difference: bool) -> str:
    one = line.estimate
    form = "+.2f" if difference else ".2f"
    if one.value is None:
        said = f"{UNDEFINED} {one.reason or 'undefined'}"
    elif one.low is None or one.high is None:
        said = f"{one.value:{form}}, no interval"
    else:
        said = f"{one.value:{form}} [{one.low:{form}} to {one.high:{form}}]"
    return clean(f"{said}  {line.note}".strip(), 90)
