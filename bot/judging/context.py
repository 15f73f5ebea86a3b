"""The diff around the lines in question, for judges that are shown the code."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping

from bot.judging.trials import Contexts
from goldens.model import GitPin, Suite
from goldens.trees import changes as changes_between
from goldens.trees import is_binary, resolve, split_lines
from goldens.verify import Trees
from scoring.bundle import Bundle
from scoring.model import Candidate, Golden, Place, PullId
from scoring.profiles.base import claims

AROUND = 12
"""So many lines on either side of the lines in question are shown."""
_HEADER = 3


def contexts(bundle: Bundle, suite: Suite, trees: Mapping[PullId, Trees]) -> Contexts:
    """For each golden pull request of the bundle, the diff around what candidates and goldens point at.

    Args:
        bundle: Whose candidates are judged.
        suite: Its suite.
        trees: Base and head of pull requests whose trees do not ship with the suite.
    """
    places: dict[PullId, list[Place]] = {}
    for held, _, taken in claims(bundle):
        places.setdefault(held.id, []).extend(_places([*taken, *held.goldens]))
    found: dict[PullId, Mapping[str, str]] = {}
    for pull in suite.pulls:
        pair = trees.get(pull.id) if isinstance(pull.source, GitPin) else pull.source
        if pair is not None and pull.id in places:
            found[pull.id] = around(pair[0].files, pair[1].files, places[pull.id])
    return found


def _places(items: Iterable[Candidate | Golden]) -> list[Place]:
    return [item.place for item in items if item.place is not None]


def around(base: Mapping[str, bytes], head: Mapping[str, bytes], places: Iterable[Place]) -> dict[str, str]:
    """Path -> the parts of its diff near the places; where the file did not change there, the lines themselves."""
    diff = changes_between(base, head)
    wanted: dict[str, list[tuple[int, int] | None]] = {}
    for place in (resolve(place, diff) for place in places):
        wanted.setdefault(place.path, []).append(place.lines)
    old_name = {change.new: change.old for change in diff if change.new}
    shown = {}
    for path, spans in sorted(wanted.items()):
        before, after = base.get(old_name.get(path) or path, b""), head.get(path, b"")
        if (before or after) and not is_binary(before + after):
            shown[path] = _shown(split_lines(before), split_lines(after), spans)
    return {path: text for path, text in shown.items() if text}


def _shown(before: list[str], after: list[str], spans: list[tuple[int, int] | None]) -> str:
    """One diff with so much context that all of the file is in it, cut to the lines near the spans."""
    whole = list(difflib.unified_diff(before, after, lineterm="", n=len(before) + len(after)))[_HEADER:]
    rows = whole or [f" {line}" for line in after]
    near = [_near(span, rows) for span in spans]
    kept = sorted({at for found in near for at in found})
    lines: list[str] = []
    for at, row in enumerate(kept):
        if at == 0 or row != kept[at - 1] + 1:
            lines.append(f"@@ line {_number(rows, row)} @@")
        lines.append(rows[row])
    return "\n".join(lines)


def _near(span: tuple[int, int] | None, rows: list[str]) -> list[int]:
    """The rows of a diff around lines of the new file; for a file-level place those that changed."""
    if span is None:
        hot = [at for at, row in enumerate(rows) if row[:1] in "+-"]
    else:
        numbers = _numbers(rows)
        hot = [at for at, number in enumerate(numbers) if span[0] <= number <= span[1]]
    return [at for one in hot for at in range(max(0, one - AROUND), min(len(rows), one + AROUND + 1))]


def _numbers(rows: list[str]) -> list[int]:
    """For each row the line of the new file it stands at; a removed line stands where the next one does."""
    numbers, line = [], 1
    for row in rows:
        numbers.append(line)
        line += not row.startswith("-")
    return numbers


def _number(rows: list[str], at: int) -> int:
    return _numbers(rows[: at + 1])[-1]
