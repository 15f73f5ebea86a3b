"""Who finds what with whom, as a table of squares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.analysis.pictures import canvas

Share = tuple[float | None, int]
"""A Jaccard index, and how many goldens both found."""


def draw(title: str, names: Sequence[str], shares: Mapping[tuple[str, str], Share], found: Mapping[str, int]) -> str:
    """The overlap matrix: the darker and the larger the number, the more alike two reviewers are.

    Args:
        title: What is shown.
        names: The reviewers, in order.
        shares: Of two reviewers, in either order.
        found: How many goldens each found, on the diagonal.
    """
    from matplotlib.patches import Rectangle

    size = len(names)
    said = []
    with canvas.look():
        figure, axes = canvas.paper(max(9, 3 + 0.75 * size), 1.6 + 0.6 * size)
        axes.set_xlim(-0.5, size - 0.5)
        axes.set_ylim(size - 0.5, -0.5)
        axes.grid(visible=False)
        labels = [f"{at + 1}  {canvas.name(name)}" for at, name in enumerate(names)]
        axes.set_yticks(range(size), labels)
        axes.set_xticks(range(size), [str(at + 1) for at in range(size)])
        axes.tick_params(length=0)
        axes.xaxis.tick_top()
        axes.set_title(canvas.heading(title))
        for row, one in enumerate(names):
            for column, other in enumerate(names):
                share, both = (None, found[one]) if row == column else _share(shares, one, other)
                strength = 0.0 if share is None else share
                axes.add_patch(
                    Rectangle(
                        (column - 0.5, row - 0.5),
                        1,
                        1,
                        facecolor=canvas.FIRST,
                        alpha=round(0.45 * strength, 3),
                        edgecolor="none",
                    )
                )
                axes.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, edgecolor=canvas.GRID))
                text = f"{both}" if share is None else f"{share:.2f}\n{both}"
                axes.text(
                    column,
                    row,
                    text,
                    ha="center",
                    va="center",
                    fontsize=9,
                    fontweight="bold" if row == column else "normal",
                )
                if row < column:
                    alike = "undefined" if share is None else f"{share:.2f}"
                    said.append(f"{one} and {other}: Jaccard {alike}, {both} found by both.")
        axes.set_xlabel("Jaccard index and goldens found by both; on the diagonal goldens found")
        return canvas.finish(figure, f"Overlap: {title}", said)


def _share(shares: Mapping[tuple[str, str], Share], one: str, other: str) -> Share:
    return shares[one, other] if (one, other) in shares else shares[other, one]
