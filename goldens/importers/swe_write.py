"""A bundle as SWE-Review-Bench's tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from goldens.importers import claims, tables
from goldens.importers.form import Documents
from goldens.importers.martian_write import live
from scoring.bundle import Bundle
from scoring.model import Place, Severity

SITES = ("instance_id", "site_id", "file", "line_start", "line_end")
COMMENTS = ("reviewer", "instance_id", "comment_idx", "file", "line_start", "line_end", "severity", "message")
_LEVELS = {level: "high" if level is Severity.CRITICAL else level.value for level in Severity}

Row = dict[str, object]


def generate(bundle: Bundle, kept: Documents) -> Documents:
    """Sites and comments. What has no lines has no row: this format knows positions only."""
    sites = _merged(kept, SITES, list(_sites(bundle)), ("instance_id", "site_id"), "sites.csv")
    if not sites:
        return {}
    comments = _merged(kept, COMMENTS, list(_comments(bundle)), _COMMENT_KEY, "comments.csv")
    rest = {name: data for name, data in kept.items() if name not in {*sites, *comments} and b"verdict" in _head(data)}
    return {**sites, **comments, **rest}


_COMMENT_KEY = ("reviewer", "instance_id", "comment_idx")


def _head(data: bytes) -> bytes:
    return data.partition(b"\n")[0]


def _sites(bundle: Bundle) -> Iterator[Row]:
    for pull in bundle.pulls:
        for number, golden in enumerate(live(pull), start=1):
            name = golden.id.removeprefix(f"{pull.id}.")
            site = f"site-{number:04}" if name == golden.id else name
            if spot := _lines(golden.place):
                yield {"instance_id": pull.id, "site_id": site, **spot, **_tags(pull.tags)}


def _tags(tags: Mapping[str, str]) -> Row:
    return {key: tags[key].capitalize() for key in ("in_pilot20",) if key in tags}


def _comments(bundle: Bundle) -> Iterator[Row]:
    taken = claims.of(bundle)
    for trial in bundle.trials:
        for number, one in enumerate(taken(trial), start=1):
            if spot := _lines(one.place):
                level = _LEVELS[one.severity] if one.severity else "medium"
                row = {"reviewer": trial.reviewer, "instance_id": trial.pull, "comment_idx": number}
                yield {**row, **spot, "severity": level, "message": one.text}


def _lines(place: Place | None) -> Row:
    if place is None or place.lines is None:
        return {}
    return {"file": place.path, "line_start": place.lines[0], "line_end": place.lines[1]}


def _merged(
    kept: Documents, columns: Sequence[str], rows: list[Row], key: Sequence[str], fresh: str
) -> dict[str, bytes]:
    """A table over its original: columns we do not know stay, for the rows that are still there."""
    if not rows:
        return {}
    needed = {name for name in columns if name not in ("comment_idx", "message")}
    for name, data in kept.items():
        head = _head(data).decode("utf-8-sig").strip().split(",")
        if needed <= set(head) and "verdict" not in head:
            known, old = tables.read(data, name, ())
            before = {tuple(str(one.value.get(part, "")) for part in key): one.value for one in old}
            over = [before.get(tuple(str(row[part]) for part in key), {}) | row for row in rows]
            more = [column for column in columns if column not in known and column == "message" and _own_words(rows)]
            return {name: tables.write([*known, *more], over)}
    extra = [column for column in rows[0] if column not in columns]
    return {fresh: tables.write([*columns, *extra], rows)}


def _own_words(rows: Sequence[Row]) -> bool:
    return any("its words are not published" not in str(row.get("message", "")) for row in rows)
