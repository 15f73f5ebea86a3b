"""The tables of a study, in the order they are read. Each is a pure function of the evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.analysis.problems import one_of
from bot.analysis.sheet import Sheet
from bot.studies.material import Material
from bot.studies.tables import costs, ensembles, judged, pairs, parts, sites, standing, variance
from bot.studies.tables.common import Table, made

TABLES: Mapping[str, Table] = {
    table.key: table
    for module in (standing, pairs, parts, ensembles, costs, judged, sites, variance)
    for table in module.TABLES
}
"""Every table by its key."""


def sheets(material: Material, wanted: Sequence[str] = ()) -> tuple[Sheet, ...]:
    """The tables that are wanted, or all. One that cannot be made says why in its own place."""
    keys = wanted or tuple(TABLES)
    return tuple(made(TABLES[key], material) for key in keys)


def checked(keys: tuple[str, ...]) -> tuple[str, ...]:
    """Keys of tables, as they are.

    Raises:
        Unusable: there is no such table.
    """
    for key in keys:
        if key not in TABLES:
            raise one_of("table", key, TABLES)
    return keys
