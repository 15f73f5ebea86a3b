"""What the generator makes, made once for all tests."""

from __future__ import annotations

from functools import cache

from goldens.synth import GeneratedPull, generate
from goldens.synth.model import Churn, Operator
from goldens.synth.operators import OPERATORS
from goldens.synth.syntax import Source, apply

BY_ID = {operator.id: operator for operator in OPERATORS}


@cache
def pulls(seed: int = 42, count: int = 100, clean: int = 20, churn: Churn = "none") -> tuple[GeneratedPull, ...]:
    return generate(seed, count, clean=clean, churn=churn)


def mutants(operator: Operator | str, text: str, language: str) -> list[str]:
    """Everything an operator makes of a file."""
    found = BY_ID[operator] if isinstance(operator, str) else operator
    data = text.encode()
    return [apply(data, mutation.edits).decode() for mutation in found.sites(Source(data, language))]
