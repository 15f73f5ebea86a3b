"""Whose answers count, and against which state of the goldens."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from bot.analysis.problems import one_of
from bot.judging.adjudicating import HUMAN
from bot.judging.rulings import by_people
from scoring.bundle import Bundle
from scoring.model import Golden, GoldenStatus, PullId

UNDISPUTED = "undisputed"
"""The goldens of the run without those that somebody disputes."""


def judge_of(bundle: Bundle, wanted: str, planned: str) -> str | None:
    """Whose answers count: the judge named, else the one the run asked for, else the first that answered.

    Raises:
        Unusable: the bundle holds no such judge.
    """
    stored = in_order(bundle, planned)
    if wanted and wanted not in stored:
        raise one_of("judge", wanted, stored)
    return wanted or (stored[0] if stored else None)


def in_order(bundle: Bundle, planned: str) -> tuple[str, ...]:
    """The judges whose answers a bundle holds, the run's own first, and those that people corrected behind it.

    What people decided is not among them by itself, for they are asked about few pairs: it counts over a judge's.
    """
    names = [one.judge for one in bundle.judgements]
    if any(by_people(name) and name != HUMAN for name in names):
        names.remove(HUMAN)
    own = {name: name == planned or name.startswith(f"{planned}/") for name in names}
    return tuple(sorted(names, key=lambda name: (not own[name], by_people(name))))


Versions = Mapping[PullId, Mapping[str, Golden]]
"""The goldens of another version, by pull request and id."""


def goldens_of(bundle: Bundle) -> Versions:
    """The goldens of a bundle by pull request and id."""
    return {pull.id: {golden.id: golden for golden in pull.goldens} for pull in bundle.pulls}


def disputed(bundle: Bundle) -> bool:
    """Whether somebody disputes a golden of it."""
    return any(golden.status is GoldenStatus.DISPUTED for pull in bundle.pulls for golden in pull.goldens)


def without_disputed(bundle: Bundle) -> Bundle:
    """The bundle with its disputed goldens out of the count."""

    def state(_pull: PullId, golden: Golden) -> GoldenStatus:
        return GoldenStatus.RETIRED if golden.status is GoldenStatus.DISPUTED else golden.status

    return _restated(bundle, state)


def as_in(bundle: Bundle, other: Versions, version: str) -> Bundle:
    """The bundle with its goldens in the state they have in another version of the suite.

    A golden that the other version does not have is out of the count. One that only the other version has was put to
    no judge in this run, so it cannot be counted, and the card says how many there are.
    """

    def state(pull: PullId, golden: Golden) -> GoldenStatus:
        found = other.get(pull, {}).get(golden.id)
        return GoldenStatus.RETIRED if found is None else found.status

    made = _restated(bundle, state)
    own = goldens_of(bundle)
    added = sum(
        golden.status.scored and name not in own[pull]
        for pull, goldens in other.items()
        if pull in own
        for name, golden in goldens.items()
    )
    if not added:
        return made
    note = f"Goldens of version {version} that nobody judged in this run, so they are not counted: {added}."
    return replace(made, card=replace(made.card, notes=(*made.card.notes, note)))


def _restated(bundle: Bundle, state: Callable[[PullId, Golden], GoldenStatus]) -> Bundle:
    pulls = tuple(
        replace(pull, goldens=tuple(replace(golden, status=state(pull.id, golden)) for golden in pull.goldens))
        for pull in bundle.pulls
    )
    return replace(bundle, pulls=pulls)
