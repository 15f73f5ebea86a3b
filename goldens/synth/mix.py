"""How many of what: the shares of kinds and languages, and which operator fills which place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from goldens.synth.model import Kind, Operator, SynthError
from goldens.synth.operators import OPERATORS

Key = TypeVar("Key")
Slot = tuple[Operator, str]
"""An operator and the language it is to be used in."""


@dataclass(frozen=True, slots=True)
class Mix:
    """Weights of kinds and languages; only their proportions count."""

    kinds: Mapping[Kind, int]
    languages: Mapping[str, int]


PUBLISHED = Mix(
    {Kind.LOGIC: 81, Kind.SECURITY: 34, Kind.PERFORMANCE: 16, Kind.ARCHITECTURE: 14, Kind.BEST_PRACTICE: 5},
    {"typescript": 70, "python": 43, "go": 37},
)
"""The counts of arXiv 2606.15689, section 3.4."""


def shares(total: int, weights: Mapping[Key, int]) -> dict[Key, int]:
    """Split a number in proportion to weights, by largest remainder; the first of equals gets it."""
    whole = sum(weights.values())
    if total < 0 or whole <= 0 or min(weights.values()) < 0:
        raise SynthError("counts and weights must not be negative, and one weight must be above zero")
    exact = {key: Fraction(total * weight, whole) for key, weight in weights.items()}
    found = {key: int(share) for key, share in exact.items()}
    order = sorted(exact, key=lambda key: found[key] - exact[key])
    for key in order[: total - sum(found.values())]:
        found[key] += 1
    return found


def slots(count: int, mix: Mix, room: Callable[[Slot], int], operators: Sequence[Operator] = OPERATORS) -> list[Slot]:
    """Which operators to use in which languages, so that both shares hold.

    Args:
        count: how many.
        mix: the shares.
        room: how many different places an operator has in a language; none means that it cannot be used there.
        operators: what can be used.

    Raises:
        SynthError: the shares cannot be met.
    """
    left = shares(count, mix.languages)
    quotas = _quotas(count, mix, operators)
    taken: dict[tuple[str, str], int] = {}
    filled: list[Slot] = []

    def take(operator: Operator, language: str) -> None:
        left[language] -= 1
        quotas[operator.id] -= 1
        taken[operator.id, language] = taken.get((operator.id, language), 0) + 1
        filled.append((operator, language))

    # Those that fit fewer languages first, or the languages they need would be gone.
    order = sorted(operators, key=lambda operator: len(operator.languages))
    for operator in order:
        for language in operator.languages:
            if quotas[operator.id] and left.get(language, 0) and room((operator, language)):
                take(operator, language)
    for operator in order:
        while quotas[operator.id]:
            take(operator, _emptiest(operator, left, mix, taken, room))
    return filled


def _quotas(count: int, mix: Mix, operators: Sequence[Operator]) -> dict[str, int]:
    quotas: dict[str, int] = {operator.id: 0 for operator in operators}
    for kind, share in shares(count, mix.kinds).items():
        members = {operator.id: 1 for operator in operators if operator.kind is kind}
        if share and not members:
            raise SynthError(f"no operator makes defects of kind {kind}")
        quotas.update(shares(share, members) if members else {})
    return quotas


def _emptiest(
    operator: Operator,
    left: Mapping[str, int],
    mix: Mix,
    taken: Mapping[tuple[str, str], int],
    room: Callable[[Slot], int],
) -> str:
    """The language furthest from its share, of those where the operator still has a place nobody used."""
    able = [name for name in operator.languages if left.get(name, 0) and room((operator, name))]
    if not able:
        raise SynthError(f"the mix leaves no language for {operator.id}; give one of its languages a larger share")
    fresh = [name for name in able if taken.get((operator.id, name), 0) < room((operator, name))]
    return max(fresh or able, key=lambda name: (Fraction(left[name], mix.languages[name]), -able.index(name)))
