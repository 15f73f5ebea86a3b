"""JSON Schemas of what we write, generated from the types; the files beside this one are what is generated."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from pydantic import TypeAdapter

from scoring import records
from scoring.bundle import (
    INDEX,
    SCHEMA,
    BundlePull,
    BundleReviewer,
    BundleTrial,
    Card,
    JudgementSet,
)
from scoring.model import SuiteRef

Json = Any
DIALECT = "https://json-schema.org/draft/2020-12/schema"
_PARTS: Mapping[str, TypeAdapter[Any]] = MappingProxyType(
    {
        "suite.json": TypeAdapter(SuiteRef),
        "card.json": TypeAdapter(Card),
        "pulls.json": TypeAdapter(tuple[BundlePull, ...]),
        "trials.json": TypeAdapter(tuple[BundleTrial, ...]),
        "reviewers.json": TypeAdapter(tuple[BundleReviewer, ...]),
        "judgements/": TypeAdapter(JudgementSet),
    }
)
_INDEX: Json = {
    "type": "object",
    "description": "The SHA-256 of every part.",
    "properties": {
        "schema": {"const": SCHEMA},
        "parts": {"type": "object", "additionalProperties": {"type": "string", "pattern": "^[0-9a-f]{64}$"}},
    },
    "required": ["schema", "parts"],
    "additionalProperties": False,
}


def bundle() -> dict[str, Json]:
    """The schema of a bundle, taken as an object of its JSON parts by name; `evidence/` and `extra/` are not in it."""
    inputs = [(name, "serialization", adapter) for name, adapter in _PARTS.items()]
    found, defs = TypeAdapter.json_schemas(inputs)  # type: ignore[arg-type]
    schemas = {name: found[name, "serialization"] for name in _PARTS}
    whole = {name: schema for name, schema in schemas.items() if not name.endswith("/")}
    return {
        "$schema": DIALECT,
        "title": SCHEMA,
        "type": "object",
        "properties": {INDEX: _INDEX, **whole},
        "patternProperties": {"^judgements/.+\\.json$": schemas["judgements/"]},
        "required": [INDEX, *whole],
        "additionalProperties": False,
        "$defs": defs["$defs"],
    }


def report() -> dict[str, Json]:
    """The schema of a report."""
    return records.json_schema()


ALL: Mapping[str, Callable[[], dict[str, Json]]] = MappingProxyType({"bundle": bundle, "report": report})
"""Every schema by name, as it is generated now."""


def text(name: str) -> str:
    """A schema as its file holds it."""
    return json.dumps(ALL[name](), indent=1, sort_keys=True) + "\n"
