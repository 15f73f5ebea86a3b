"""Synthetic pull requests: known defects put into sound code by operators that know its syntax."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from goldens.model import Suite
from goldens.synth.generator import generate, golden_pull
from goldens.synth.mix import PUBLISHED, Mix
from goldens.synth.model import Churn, GeneratedPull, Kind, SynthError, Template, Variant
from goldens.synth.operators import OPERATORS
from goldens.synth.templates import packaged, read_template
from goldens.synth.usable import Unusable, unusable
from goldens.synth.write import write_suite

__all__ = [
    "OPERATORS",
    "PUBLISHED",
    "Churn",
    "GeneratedPull",
    "Kind",
    "Mix",
    "SynthError",
    "Template",
    "Unusable",
    "Variant",
    "generate",
    "golden_pull",
    "main",
    "packaged",
    "read_template",
    "unusable",
    "write_suite",
]


def main(
    seed: int,
    count: int,
    churn: Churn,
    out: Path,
    *,
    clean: int = 20,
    progress: Callable[[int, int], None] | None = None,
) -> Suite:
    """Generate a suite and write it to a directory that does not exist so far.

    Raises:
        SynthError: it cannot be made, or the directory exists.
    """
    pulls = generate(seed, count, clean=clean, churn=churn, progress=progress)
    return write_suite(pulls, out, "synthetic" if churn == "none" else f"synthetic-{churn}", f"1.0.0+seed{seed}")
