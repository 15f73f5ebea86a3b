"""A study's bundle as one document: every table, the same for people and for machines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median, quantiles
from typing import Any

from bot.analysis import about
from bot.analysis.sheet import Cell, Column, Document, Kind, Sheet, as_json
from bot.studies.material import Material, material
from bot.studies.running import Outcome
from bot.studies.tables import sheets
from scoring.bundle import Bundle
from scoring.model import Estimate, ReviewerId

Json = Any
SCHEMA = "assay.study/1"


def document(bundle: Bundle, wanted: tuple[str, ...] = ()) -> Document:
    """The report of a study.

    Args:
        bundle: The study's.
        wanted: The keys of the tables; all if none.

    Raises:
        BundleError: it is no bundle of a study.
        Unusable: its parts do not fit together.
    """
    found = material(bundle)
    made = sheets(found, wanted)
    return Document(
        title=f"{found.record.study}: {found.record.title}",
        sheets=made,
        record=_record(found, made),
        main=made[0].key,
        lead=_lead(found),
        notes=_notes(found),
    )


def _lead(found: Material) -> tuple[str, ...]:
    bundle, record = found.bundle, found.record
    goldens = sum(len(pull.goldens) for pull in bundle.pulls)
    clean = sum(not pull.goldens for pull in bundle.pulls)
    return (
        f"{len(bundle.pulls)} pull requests ({clean} clean) with {goldens} goldens from {', '.join(record.suites)}; "
        f"{len(record.conditions)} conditions, {len(bundle.trials)} trials; judged by {', '.join(record.judges)}.",
    )


def _notes(found: Material) -> tuple[str, ...]:
    drawn = about.intervals_note(found.record.seed, found.resampler)
    return (*found.record.notes, drawn, *about.caveats(found.scored))


def _record(found: Material, made: tuple[Sheet, ...]) -> dict[str, Json]:
    record = found.record
    return {
        "schema": SCHEMA,
        "study": record.study,
        "title": record.title,
        "hash": record.hash,
        **about.provenance(found.scored),
        "intervals": about.drawn(record.seed, found.resampler),
        "suites": list(record.suites),
        "judges": list(record.judges),
        "conditions": as_json(record.conditions),
        "tables": {sheet.key: _table(sheet) for sheet in made},
        "notes": list(_notes(found)),
    }


def _table(sheet: Sheet) -> Json:
    rows = [{column.key: _cell(cell) for column, cell in zip(sheet.columns, row, strict=True)} for row in sheet.rows]
    return {"title": sheet.title, "rows": rows, "notes": list(sheet.notes)}


def _cell(cell: Cell) -> Json:
    return as_json(cell) if isinstance(cell, Estimate) else cell


def timing(outcomes: Iterable[Outcome]) -> Document:
    """How long reviews took, as measured: what no two runs have in common."""
    taken: dict[ReviewerId, list[float]] = {}
    each = []
    for one in outcomes:
        if not one.review.failed:
            planned, seconds = one.planned, one.review.usage.seconds
            taken.setdefault(planned.condition.id, []).append(seconds)
            place = {"suite": planned.suite, "pull": planned.pull.id, "reviewer": planned.condition.id}
            each.append({**place, "seconds": round(seconds, 3)})
    columns = (
        Column("reviewer", "reviewer"),
        Column("reviews", "reviews", Kind.COUNT),
        Column("median", "median seconds", Kind.NUMBER),
        Column("p90", "90% within", Kind.NUMBER),
        Column("longest", "longest", Kind.NUMBER),
    )
    rows = tuple((name, len(own), median(own), _ninth(own), max(own)) for name, own in taken.items())
    note = "Of waiting for answers and tools. What the cache answers counts with the time it took at first."
    sheet = Sheet("latency", "Seconds of a review", columns, rows, (note,))
    return Document("Latency, as measured", (sheet,), {"schema": f"{SCHEMA}/timing", "reviews": each}, sheet.key)


def _ninth(taken: Sequence[float]) -> float:
    return quantiles(taken, n=10, method="inclusive")[8] if len(taken) > 1 else taken[0]
