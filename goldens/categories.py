"""What other systems call our categories, and back, by the one table in `categories.yaml`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from pydantic import BaseModel, ConfigDict

from goldens.located import did_you_mean, read_document
from scoring.model import Category

OURS = "assay"
"""The name of our own vocabulary; it maps to itself."""
TABLE = "categories.yaml"

Unknown = Counter[tuple[str, str]]
"""(system, label) that had no counterpart -> how often it was asked for."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What one system calls things."""

    takes: Mapping[str, Category]
    """Its labels, normalised -> our category."""
    gives: Mapping[Category, str]
    """Our category -> the label it is told by. A category without one has no counterpart there."""


class _Cell(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    takes: tuple[str, ...] = ()
    gives: str | None = None


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    systems: dict[str, str]
    categories: dict[Category, dict[str, _Cell]]


def systems() -> tuple[str, ...]:
    """Every system the table knows, ours included."""
    return tuple(sorted(_vocabularies()))


def vocabulary(system: str) -> Vocabulary:
    """What a system calls things.

    Raises:
        ValueError: the table does not know the system.
    """
    known = _vocabularies()
    if system not in known:
        meant = did_you_mean(system, known)
        hint = f"; did you mean {meant!r}?" if meant else ""
        raise ValueError(f"no system {system[:80]!r}; known: {', '.join(sorted(known))}{hint}")
    return known[system]


def to_ours(system: str, label: str, unknown: Unknown | None = None) -> Category | None:
    """Our category for a label of another system, whatever its case, spaces or dashes.

    Args:
        system: whose label it is.
        label: as written there.
        unknown: where a label without a counterpart is counted.

    Returns:
        None for a label the table does not know: it is not forced into a category.

    Raises:
        ValueError: the table does not know the system.
    """
    found = vocabulary(system).takes.get(normal(label))
    if found is None and unknown is not None:
        unknown[system, label] += 1
    return found


def from_ours(system: str, category: Category, unknown: Unknown | None = None) -> str | None:
    """What a system calls one of our categories; None, and counted, where it has no word for it.

    Raises:
        ValueError: the table does not know the system.
    """
    found = vocabulary(system).gives.get(category)
    if found is None and unknown is not None:
        unknown[system, category.value] += 1
    return found


def normal(label: str) -> str:
    """A label in the form of the table: small, with single underscores."""
    return re.sub(r"[\s_/-]+", "_", label.strip().lower())


@cache
def _vocabularies() -> Mapping[str, Vocabulary]:
    return MappingProxyType(read_table(files("goldens").joinpath(TABLE).read_bytes(), TABLE))


def read_table(data: bytes, name: str) -> dict[str, Vocabulary]:
    """The table, read and checked.

    Raises:
        SuiteError: not YAML of our dialect.
        ValueError: a category is missing, a system is not listed, or a label stands twice.
    """
    table = _Table.model_validate(read_document(data, name).value)
    if missing := sorted(set(Category) - set(table.categories)):
        raise ValueError(f"{name}: no row for {', '.join(missing)}")
    named = {system for row in table.categories.values() for system in row}
    if stray := sorted(named ^ set(table.systems)):
        raise ValueError(f"{name}: listed or used, but not both: {', '.join(stray)}")
    found = {system: _vocabulary(table, system, name) for system in table.systems}
    itself = {category.value: category for category in Category}
    return found | {OURS: Vocabulary(itself, {category: label for label, category in itself.items()})}


def _vocabulary(table: _Table, system: str, name: str) -> Vocabulary:
    takes: dict[str, Category] = {}
    gives: dict[Category, str] = {}
    for category, row in table.categories.items():
        cell = row.get(system, _Cell())
        for label in cell.takes:
            if label != normal(label):
                raise ValueError(f"{name}: {system}: write {label!r} as {normal(label)!r}")
            if label in takes:
                raise ValueError(f"{name}: {system}: {label!r} is both {takes[label]} and {category}")
            takes[label] = category
        if told := cell.gives or next(iter(cell.takes), None):
            gives[category] = told
    if strange := sorted(set(gives.values()) - set(takes)):
        raise ValueError(f"{name}: {system}: gives {', '.join(strange)}, which it does not take")
    return Vocabulary(takes, gives)
