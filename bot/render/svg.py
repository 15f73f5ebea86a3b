"""The leaderboard as a picture: F1 with its interval beside the counts behind it. Text stays text, nothing runs."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from bot.render.figures import (
    UNDEFINED,
    Footnotes,
    Ranked,
    coverage,
    figure,
    headline,
    judge_label,
    left_out,
    ranked,
    suite_line,
)
from bot.render.surface import Surface
from scoring.model import Report, ReviewerScore

WIDTH = 1080
_TOP, _ROW, _BOTTOM = 74, 34, 58
_LEFT, _RIGHT = 190, 520
"""Where 0 and 1 of the F1 axis are."""
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)

_STYLE = """<style>
text { font: 14px system-ui, sans-serif; fill: #1f2328; }
.small { font-size: 12px; fill: #59636e; }
.head { font-size: 16px; font-weight: 600; }
.grid { stroke: #d1d9e0; }
.bar { stroke: #0969da; stroke-width: 3; stroke-linecap: round; }
.dot { fill: #0969da; }
.back { fill: #ffffff; }
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc; } .small { fill: #9198a1; } .grid { stroke: #3d444d; }
.bar { stroke: #4493f8; } .dot { fill: #4493f8; } .back { fill: #0d1117; }
}
</style>"""


def leaderboard_svg(report: Report, surface: Surface) -> str:
    """A forest plot of the rows this surface may show, best first."""
    rows = ranked([row for row in report.reviewers if surface.shown(row.reviewer)])
    height = _TOP + _ROW * len(rows) + _BOTTOM
    head = f"Suite {suite_line(report)}, judge {judge_label(report.judge)}"
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
            'role="img" aria-labelledby="title desc">',
            f'<title id="title">{_safe(f"F1 by reviewer, suite {report.suite.id}", surface)}</title>',
            f'<desc id="desc">{_safe(_described(rows, surface), surface)}</desc>',
            _STYLE,
            f'<rect class="back" width="{WIDTH}" height="{height}"/>',
            _text(16, 26, surface.plain(head, 110), surface, "head"),
            *_axis(_TOP + _ROW * len(rows), surface),
            *(part for index, entry in enumerate(rows) for part in _row(report, index, entry, surface)),
            *_foot(report, len(rows), height, surface),
            "</svg>\n",
        )
    )


def _safe(text: str, surface: Surface) -> str:
    return escape(surface.plain(text))


def _text(x: float, y: float, text: str, surface: Surface, kind: str = "", anchor: str = "start") -> str:
    look = f' class="{kind}"' if kind else ""
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}"{look}>{_safe(text, surface)}</text>'


def _x(value: float) -> float:
    """Where a share in [0, 1] is on the axis; an interval that leaves it is drawn to its end."""
    return round(_LEFT + min(1.0, max(0.0, value)) * (_RIGHT - _LEFT), 1)


def _axis(bottom: float, surface: Surface) -> Iterator[str]:
    yield _text(16, 54, "reviewer", surface, "small")
    yield _text(_RIGHT + 24, 54, "F1 [interval]", surface, "small")
    yield _text(_RIGHT + 176, 54, "claims and coverage", surface, "small")
    for tick in _TICKS:
        yield f'<line class="grid" x1="{_x(tick):g}" x2="{_x(tick):g}" y1="{_TOP - 12}" y2="{bottom:g}"/>'
        yield _text(_x(tick), bottom + 18, f"{tick:.2f}", surface, "small", "middle")


def _row(report: Report, index: int, entry: Ranked, surface: Surface) -> Iterator[str]:
    row = entry.row
    y = _TOP + _ROW * index + _ROW / 2
    yield _text(16, y + 1, surface.plain(surface.name(row.reviewer), 22), surface)
    if row.f1.low is not None and row.f1.high is not None:
        yield f'<line class="bar" x1="{_x(row.f1.low):g}" x2="{_x(row.f1.high):g}" y1="{y - 4:g}" y2="{y - 4:g}"/>'
    if row.f1.value is not None:
        yield f'<circle class="dot" cx="{_x(row.f1.value):g}" cy="{y - 4:g}" r="6"/>'
    yield _text(_RIGHT + 24, y + 1, figure(row.f1, Footnotes())[0], surface)
    yield _text(_RIGHT + 176, y - 5, _claims(row), surface)
    cover = coverage(row.coverage, left_out(report.trials, row.reviewer))
    yield _text(_RIGHT + 176, y + 10, f"trials scored: {cover}", surface, "small")


def _claims(row: ReviewerScore) -> str:
    return headline(row.counts) if row.coverage.scored else "not scored"


def _foot(report: Report, shown: int, height: int, surface: Surface) -> Iterator[str]:
    parts = ["FP: matches no known defect; it may still be right."]
    if len(report.reviewers) > shown:
        parts.append(f"Private and not shown: {len(report.reviewers) - shown}.")
    missing = dict.fromkeys(row.f1.reason for row in report.reviewers if row.f1.value is None and row.f1.reason)
    parts += [f"{UNDEFINED}: {reason}." for reason in missing if shown]
    yield _text(16, height - 14, surface.plain(" ".join(parts), 170), surface, "small")


def _described(rows: tuple[Ranked, ...], surface: Surface) -> str:
    return " ".join(_sentence(entry.row, surface) for entry in rows) or "No reviewer may be shown."


def _sentence(row: ReviewerScore, surface: Surface) -> str:
    return f"{surface.name(row.reviewer)}: F1 {figure(row.f1, Footnotes())[0]}, {_claims(row)}."
