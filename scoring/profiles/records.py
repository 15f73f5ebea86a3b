"""A profile's result as versioned JSON. The same result always gives the same bytes; no value is NaN or infinite."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, is_dataclass
from enum import Enum
from math import isfinite
from typing import Any

from scoring import records
from scoring.profiles.base import ProfileResult, ProfileRow, ProfileTrial
from scoring.profiles.shapes import ProfileRecord

Json = Any


def to_record(result: ProfileResult) -> dict[str, Json]:
    """The result as plain JSON values, in a fixed order of keys.

    Our own profile gives the report's own record, for its schema holds more.
    """
    if result.report is not None:
        return records.to_record(result.report)
    record = {
        "schema": result.schema,
        "profile": result.profile,
        "suite": asdict(result.suite),
        "judge": result.judge,
        "unit": result.unit,
        "dedup": result.dedup,
        "card": _plain(result.card),
        "options": _plain(result.options),
        "reviewers": [_row(row) for row in result.reviewers],
        "trials": [_trial(one) for one in result.trials],
        "tables": {name: [_plain(row) for row in rows] for name, rows in result.tables.items()},
        "notes": list(result.notes),
        "failures": list(result.failures),
        "versions": dict(sorted(result.versions.items())),
    }
    return ProfileRecord.model_validate(record).model_dump(mode="json", by_alias=True)


def json_schema() -> dict[str, Json]:
    """The JSON Schema of a profile's result; that of our own profile is `scoring.records.json_schema`."""
    schema = ProfileRecord.model_json_schema(by_alias=True, mode="serialization")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def dumps(result: ProfileResult) -> str:
    """The result as canonical JSON."""
    return json.dumps(to_record(result), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _row(row: ProfileRow) -> dict[str, Json]:
    return {
        "reviewer": row.reviewer,
        **asdict(row.counts),
        "precision": _plain(row.precision),
        "recall": _plain(row.recall),
        "f1": _plain(row.f1),
        "coverage": _plain(row.coverage),
        "figures": _plain(row.figures),
    }


def _trial(one: ProfileTrial) -> dict[str, Json]:
    return {
        "pull": one.pull,
        "reviewer": one.reviewer,
        "status": one.status.value,
        "complete": one.complete,
        "reason": one.reason,
        "scored": one.scored,
        "counts": asdict(one.counts),
        "figures": _plain(one.figures),
        "candidates": [_plain(outcome) for outcome in one.outcomes],
        "goldens": [_plain(outcome) for outcome in one.goldens],
    }


def _plain(value: Json) -> Json:
    """A value of a figure or table as JSON has it.

    Raises:
        ValueError: a number is not finite. Who makes the figure must say what that means.
    """
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: _plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        return {str(_plain(key)): _plain(one) for key, one in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(one) for one in value]
    if isinstance(value, float) and not isfinite(value):
        raise ValueError(f"a figure is {value}, which JSON cannot hold")
    return value
