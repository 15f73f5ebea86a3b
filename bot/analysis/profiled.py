"""A bundle under any profile, as a document: our own report, or the leaderboard and tables of a published system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bot.analysis.leaderboard import COUNT_COLUMNS, COUNTS
from bot.analysis.sheet import Cell, Column, Document, Kind, Sheet
from bot.render.figures import counted, judge_label, status_words
from scoring.model import Estimate
from scoring.profiles.base import ProfileResult
from scoring.profiles.records import to_record

Json = Any
_LONG = 60
"""Characters of a nested value that are shown in a cell."""


def document(result: ProfileResult) -> Document:
    """The result of a profile."""
    suite = result.suite
    return Document(
        title=f"{suite.id} {suite.version} ({suite.hash[:12]}), profile {result.profile}, "
        f"judge {judge_label(result.judge)}",
        sheets=(_reviewers(result), *(_table(name, rows) for name, rows in result.tables.items() if rows)),
        record=to_record(result),
        main="reviewers",
        lead=tuple(f"Gate not met: {failure}" for failure in result.failures),
        notes=(f"FP: {result.unit}.", *_options(result), *dict.fromkeys(result.notes)),
    )


def _options(result: ProfileResult) -> tuple[str, ...]:
    chosen = ", ".join(f"{name}={value}" for name, value in result.options.items() if value not in (None, {}, []))
    return (f"Options: {chosen}.",) if chosen else ()


def _reviewers(result: ProfileResult) -> Sheet:
    columns = (
        Column("reviewer", "reviewer"),
        Column("f1", "F1", Kind.ESTIMATE),
        Column("precision", "precision", Kind.ESTIMATE),
        Column("recall", "recall", Kind.ESTIMATE),
        *COUNT_COLUMNS,
        Column("coverage", "coverage"),
    )
    rows = []
    for row in result.reviewers:
        by_status = ", ".join(f"{count} {status_words(name)}" for name, count in counted(row.coverage.by_status))
        covered = f"{row.coverage.scored}/{row.coverage.trials}" + (f" ({by_status})" if by_status else "")
        counts = (getattr(row.counts, name) for name in COUNTS)
        rows.append((row.reviewer, row.f1, row.precision, row.recall, *counts, covered))
    return Sheet("reviewers", "Reviewers", columns, tuple(rows))


def _table(name: str, rows: Sequence[Mapping[str, Json]]) -> Sheet:
    """A profile's own table: columns are whatever its rows hold, in the order they come up."""
    keys = list(dict.fromkeys(key for row in rows for key in row))
    columns = tuple(Column(key, key.replace("_", " "), _kind([row.get(key) for row in rows])) for key in keys)
    cells = tuple(tuple(_cell(row.get(key)) for key in keys) for row in rows)
    return Sheet(name, name.replace("_", " ").capitalize(), columns, cells)


def _kind(values: Sequence[Json]) -> Kind:
    known = [value for value in values if value is not None]
    if known and all(isinstance(value, Estimate) for value in known):
        return Kind.ESTIMATE
    if known and all(isinstance(value, int | float) and not isinstance(value, bool) for value in known):
        return Kind.COUNT if all(isinstance(value, int) for value in known) else Kind.SMALL
    return Kind.TEXT


def _cell(value: Json) -> Cell:
    if value is None or isinstance(value, str | int | float | Estimate):
        return str(value) if isinstance(value, bool) else value
    if isinstance(value, Sequence) and all(isinstance(one, int | float) for one in value):
        return ", ".join(f"{one:.3g}" for one in value)
    shown = str(value)
    return shown if len(shown) <= _LONG else shown[: _LONG - 1] + "…"
