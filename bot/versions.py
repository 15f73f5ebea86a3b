"""Which versions of ours make a report."""

from __future__ import annotations

from importlib import metadata


def versions() -> dict[str, str]:
    """By name. Only what changes the figures: the same evidence under the same versions gives the same report."""
    return {"assay": metadata.version("assay")}
