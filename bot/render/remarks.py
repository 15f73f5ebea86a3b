"""What a built-in reviewer says on a fork of its own, as the fork's author."""

from __future__ import annotations

from collections.abc import Sequence

from bot.render.surface import Surface
from bot.reviewers.protocol import Remark

LONGEST = 60_000
"""Characters; GitHub takes a few more."""
_LONGEST_REMARK = 2_000


def review_comment(reviewer: str, remarks: Sequence[Remark], surface: Surface) -> str:
    """Every remark with its place, in one comment, as far as it has room. The same remarks give the same bytes."""
    lines = [f"Review by {surface.code(reviewer)}: {len(remarks)} remarks." if remarks else "No remarks."]
    left = LONGEST - len(lines[0])
    for number, remark in enumerate(remarks):
        line = _line(remark, surface)
        if len(line) + 80 > left:
            lines.append(f"- {len(remarks) - number} more have no room here.")
            break
        lines.append(line)
        left -= len(line) + 1
    return "\n".join([lines[0], "", *lines[1:]]).strip()


def _line(remark: Remark, surface: Surface) -> str:
    place = "" if remark.path is None else f"{remark.path}:{remark.start_line}" if remark.start_line else remark.path
    level = f" ({remark.severity.value})" if remark.severity else ""
    said = surface.say(" ".join(remark.text.split()), _LONGEST_REMARK)
    return f"- {surface.code(place)}{level}: {said}" if place else f"-{level} {said}"
