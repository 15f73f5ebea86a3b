"""How many pull requests it takes to tell two reviewers apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from bot.analysis import about
from bot.analysis.opening import Scored, reviewer
from bot.analysis.problems import Unusable
from bot.analysis.sheet import Cell, Column, Document, Kind, Sheet, as_json
from scoring.statistics.power import Pilot, Power, Sample, achieved_power, pilot, pulls_needed

Json = Any
SCHEMA = "assay.power/1"
_PULLS = 10_000
"""Pull requests of a made-up pilot, so that goldens per pull request are as exact as they were given."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One difference to tell, and what that takes."""

    difference: float
    needed: Sample
    now: Power
    """The chance to tell it on the pilot's own pull requests."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What telling two reviewers apart takes."""

    pair: str
    pilot: Pilot
    asked: tuple[Asked, ...]


@dataclass(frozen=True, slots=True)
class Plans:
    """The plans of every pair asked about."""

    scored: Scored | None
    plans: tuple[Plan, ...]
    power: float


def from_bundle(scored: Scored, names: Sequence[str], differences: Sequence[float], power: float) -> Plans:
    """Plans with a bundle as pilot, for two reviewers or for every two.

    Raises:
        Unusable: a reviewer has no trial, one is named alone, or a difference or power is none.
    """
    if len(names) not in (0, 2):
        raise Unusable(f"name two reviewers, or none for every two; not {len(names)}")
    chosen = [reviewer(scored, name) for name in names]
    known = [name for name in scored.trials.reviewers if scored.trials.scored(name)]
    pairs = [(chosen[0], chosen[1])] if chosen else list(combinations(known, 2))
    if not pairs:
        raise Unusable(f"a pilot needs two reviewers with scored trials; there is: {', '.join(known) or 'none'}")
    plans = tuple(
        _plan(f"{one} / {other}", pilot(scored.trials, one, other), differences, power) for one, other in pairs
    )
    return Plans(scored, plans, power)


def supposed(
    discordance: float, per_pull: float, correlation: float, differences: Sequence[float], power: float
) -> Plans:
    """A plan with a pilot that nobody ran.

    Args:
        discordance: The share of goldens that exactly one of the two finds.
        per_pull: Goldens on a pull request.
        correlation: How alike the goldens of one pull request are in who finds them, in [0, 1].
        differences: Of recall.
        power: The chance to tell them.

    Raises:
        Unusable: a number is out of its range.
    """
    if not (0 < discordance <= 1 and 0 <= correlation <= 1 and 1 <= per_pull <= 1000):
        raise Unusable(
            "suppose a discordance in (0, 1], a correlation in [0, 1], and 1 to 1000 goldens per pull request"
        )
    goldens = round(_PULLS * per_pull)
    known = Pilot(_PULLS, goldens, None, discordance, correlation, per_pull)
    return Plans(None, (_plan("supposed", known, differences, power),), power)


def _plan(pair: str, known: Pilot, differences: Sequence[float], power: float) -> Plan:
    try:
        asked = tuple(
            Asked(one, pulls_needed(one, known, power), achieved_power(known.pulls, one, known)) for one in differences
        )
    except ValueError as error:
        raise Unusable(str(error)) from None
    return Plan(pair, known, asked)


def document(made: Plans) -> Document:
    """The plans."""
    scored = made.scored
    title = "Supposed pilot" if scored is None else about.title(scored.report)
    sheets = (_needed(made),) if scored is None else (_needed(made), _pilots(made))
    return Document(
        title=title,
        sheets=sheets,
        record=_record(made),
        main="power",
        notes=() if scored is None else about.caveats(scored),
    )


def _needed(made: Plans) -> Sheet:
    columns = [
        Column("pair", "reviewers"),
        Column("difference", "difference of recall", Kind.NUMBER),
        Column("pulls", "pull requests needed", Kind.COUNT),
        Column("goldens", "goldens needed", Kind.COUNT),
    ]
    if made.scored is not None:
        columns.append(Column("power_now", "chance with this bundle", Kind.NUMBER))
    columns.append(Column("reason", "why not"))
    rows: list[tuple[Cell, ...]] = []
    for plan in made.plans:
        for one in plan.asked:
            now = () if made.scored is None else (one.now.value,)
            rows.append(
                (plan.pair, one.difference, one.needed.pulls, one.needed.goldens, *now, one.needed.reason or "")
            )
    note = (
        f"To tell the difference with a chance of {made.power:.0%}, two-sided at 95%: McNemar's test on shared goldens."
    )
    return Sheet("power", "Pull requests it takes", tuple(columns), tuple(rows), (note,))


def _pilots(made: Plans) -> Sheet:
    columns = (
        Column("pair", "reviewers"),
        Column("pulls", "pull requests", Kind.COUNT),
        Column("goldens", "goldens", Kind.COUNT),
        Column("difference", "difference of recall", Kind.NUMBER),
        Column("discordance", "found by exactly one", Kind.NUMBER),
        Column("correlation", "likeness inside a pull request", Kind.NUMBER),
        Column("design_effect", "design effect", Kind.NUMBER),
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            plan.pair,
            plan.pilot.pulls,
            plan.pilot.goldens,
            plan.pilot.difference,
            plan.pilot.discordance,
            plan.pilot.correlation,
            plan.pilot.design_effect,
        )
        for plan in made.plans
    )
    return Sheet("pilots", "The pilot", columns, rows)


def _record(made: Plans) -> dict[str, Json]:
    return {
        "schema": SCHEMA,
        **({} if made.scored is None else about.provenance(made.scored)),
        "power": made.power,
        "pairs": [
            {
                "pair": plan.pair,
                "pilot": {**as_json(plan.pilot), "design_effect": plan.pilot.design_effect},
                "asked": as_json(plan.asked),
            }
            for plan in made.plans
        ],
    }


def curve(known: Pilot, difference: float, pulls: Sequence[int]) -> list[float | None]:
    """The chance to tell a difference on so many pull requests."""
    return [achieved_power(one, difference, known).value for one in pulls]
