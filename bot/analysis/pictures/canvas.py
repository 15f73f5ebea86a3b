"""What every picture shares: its colours, its words for screen readers, and that the same values give the same bytes.

The library is loaded when the first picture is drawn, for it takes its time.
"""

from __future__ import annotations

import io
import re
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from html import escape
from typing import TYPE_CHECKING, Any

from bot.render.text import clean

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, QUIET, GRID, BACK, FIRST, SECOND, SHADE = (
    "#1f2328",
    "#59636e",
    "#d1d9e0",
    "#ffffff",
    "#0969da",
    "#bc4c00",
    "#ddf4ff",
)
_DARK = {
    INK: "#f0f6fc",
    QUIET: "#9198a1",
    GRID: "#3d444d",
    BACK: "#0d1117",
    FIRST: "#4493f8",
    SECOND: "#f0883e",
    SHADE: "#121d2f",
}
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "h", "*")
LINES = ("-", "--", "-.", ":")
LONGEST = 32
"""Characters of a name."""
_LOOK: dict[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "assay",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 11,
    "text.parse_math": False,
    "text.color": INK,
    "axes.edgecolor": QUIET,
    "axes.labelcolor": INK,
    "axes.facecolor": BACK,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 12,
    "axes.unicode_minus": False,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "figure.facecolor": BACK,
    "xtick.color": QUIET,
    "ytick.color": QUIET,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "path.simplify": False,
}
_ONE_AT_A_TIME = threading.Lock()
"""The library's settings are the process's."""
_SVG = re.compile(r"<svg\b[^>]*>")
_PROLOGUE = re.compile(r"\A.*?(?=<svg\b)", re.DOTALL)


@contextmanager
def look() -> Iterator[None]:
    """Draw in our colours, whatever the user's settings of the library are."""
    import matplotlib

    with _ONE_AT_A_TIME, matplotlib.rc_context(), warnings.catch_warnings():
        # A script the layout font lacks is measured wrongly by a little; the browser has a font for it.
        warnings.filterwarnings("ignore", message=r"Glyph .* missing from", category=UserWarning)
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_LOOK)  # type: ignore[arg-type]
        yield


def paper(width: float, height: float) -> tuple[Figure, Axes]:
    """A figure of a size in inches with one pair of axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.add_subplot()


def heading(text: str) -> str:
    """A title as it stands in a picture."""
    return clean(text, 100)


def name(text: str) -> str:
    """A name as it stands in a picture."""
    return clean(text, LONGEST)


def finish(figure: Figure, title: str, description: Sequence[str]) -> str:
    """The picture as SVG, described.

    Args:
        figure: What was drawn.
        title: What it shows, in a few words.
        description: What it says, a sentence for each thing drawn.
    """
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    held = io.StringIO()
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    FigureCanvasSVG(figure).print_svg(held, metadata=nothing)  # type: ignore[no-untyped-call]
    drawn = _PROLOGUE.sub("", held.getvalue(), count=1)
    return _SVG.sub(lambda found: _described(found.group(), title, description), drawn, count=1)


def _described(opening: str, title: str, description: Sequence[str]) -> str:
    said = " ".join(clean(line) for line in description)
    return (
        f'{opening[:-1]} role="img" aria-labelledby="title desc">\n'
        f'<title id="title">{escape(clean(title))}</title>\n<desc id="desc">{escape(said)}</desc>\n{_style()}'
    )


def _style() -> str:
    """What a dark page changes. Inline colours are told by their value, for the library knows no classes."""
    rules = "\n".join(
        f'[style*="{what}: {light}"] {{ {what}: {dark} !important }}'
        for light, dark in _DARK.items()
        for what in ("fill", "stroke")
    )
    return f"<style>\n@media (prefers-color-scheme: dark) {{\n{rules}\n}}\n</style>"
