"""Bundles that lie on a disk, as a library; released to the public as far as their runs allow."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from bot.analysis.figures import Board
from bot.analysis.opening import open_bundle
from bot.analysis.pooling import LIVE
from bot.analysis.problems import Unusable, one_of
from bot.model import Publish
from bot.pages import public
from bot.pages.analysis import AS_RUN, Analysis, Choice
from bot.pages.choosing import (
    UNDISPUTED,
    as_in,
    disputed,
    goldens_of,
    in_order,
    judge_of,
    without_disputed,
)
from bot.pages.library import RunCard
from bot.pages.public import Released
from bot.pages.shipped import shipped
from scoring.bundle import Bundle
from scoring.model import Counts, PullId


@dataclass(slots=True)
class _Held:
    """One bundle of a shelf."""

    card: RunCard
    released: Released
    planned: str
    made: dict[Choice, Analysis] = field(default_factory=dict)


class Shelf:
    """`bot.pages.library.Library` over bundles given by their paths."""

    def __init__(self, bundles: Sequence[Path], publish: Publish | None = None) -> None:
        """Open them.

        Args:
            bundles: Where they lie.
            publish: How all reviewers are published; None: as each run's plan has it, and imported evidence by name.

        Raises:
            BundleError: one is no bundle, or was changed.
            Unusable: its parts do not fit together, or two have the same name.
        """
        opened = [(_name(path), open_bundle(path)) for path in bundles]
        if twice := [name for name, count in Counter(name for name, _ in opened).items() if count > 1]:
            raise Unusable(f"two bundles are called {twice[0]}; rename one, for its name is its address")
        modes = [
            public.planned_modes(one) if publish is None else dict.fromkeys(public.reviewers_of(one), publish)
            for _, one in opened
        ]
        called = public.labels([(one, mode) for (_, one), mode in zip(opened, modes, strict=True)])
        self._held: dict[str, _Held] = {}
        for number, ((name, bundle), mode) in enumerate(zip(opened, modes, strict=True), start=1):
            released = public.release(bundle, mode, called)
            card = _public_card(f"bundle-{number}" if released.secret.held(name) else name, bundle, released)
            self._held[card.slug] = _Held(card, released, planned_judge(bundle))

    def runs(self) -> tuple[RunCard, ...]:
        """One for each bundle, in the order given."""
        return tuple(one.card for one in self._held.values())

    def card(self, run: str) -> RunCard | None:
        """The bundle with that slug."""
        found = self._held.get(run)
        return None if found is None else found.card

    def board(self, run: str, judge: str = "") -> Board | None:
        """Its figures, with what may be shown of single trials."""
        made = self.analysis(run, Choice(judge))
        return None if made is None else made.shown_board

    def analysis(self, run: str, choice: Choice = AS_RUN) -> Analysis | None:
        """Everything that is counted of it."""
        held = self._held[run]
        if held.card.private or not held.card.trials:
            return None
        if choice not in held.made:
            bundle = self._counted(held, choice.goldens)
            held.made[choice] = analysis_of(bundle, choice.judge, held.planned, held.released)
        return held.made[choice]

    def terms(self) -> tuple[tuple[str, str], ...]:
        """Reviewers that are named here although their vendors have terms about that, and the terms."""
        found: dict[str, str] = {}
        for one in self._held.values():
            named = set(one.card.reviewers)
            entries = json.loads(one.released.bundle.extra.get("evidence/registry.json", b"[]"))
            found |= {e["id"]: str(e["publish_terms"]) for e in entries if e["publish_terms"] and e["id"] in named}
        return tuple(sorted(found.items()))

    def _counted(self, held: _Held, goldens: str) -> Bundle:
        bundle = held.released.bundle
        others = {
            one.released.bundle.suite.version: one.released.bundle
            for one in self._held.values()
            if one.released.bundle.suite.id == bundle.suite.id
        }
        return recounted(bundle, goldens, others)

    def goldens(self, run: str) -> tuple[str, ...]:
        """Without what is disputed, and as in other versions of the same suite on the shelf."""
        own = self._held[run].released.bundle
        others = [one.released.bundle.suite for one in self._held.values() if not one.card.private]
        versions = {one.version for one in others if one.id == own.suite.id} - {own.suite.version}
        return ((UNDISPUTED,) if disputed(own) else ()) + tuple(sorted(versions))

    def judges(self, run: str) -> tuple[str, ...]:
        """Those whose answers it holds, the run's own first."""
        held = self._held[run]
        return in_order(held.released.bundle, held.planned)

    def diff(self, run: str, pull: PullId) -> str | None:
        """What its evidence holds."""
        return diff_in(self._held[run].released.bundle, pull)


def analysis_of(bundle: Bundle, judge: str, planned: str, released: Released | None = None) -> Analysis:
    """The analysis of a bundle by a judge, the one that was planned if none is named.

    Raises:
        Unusable: it holds no such judge.
    """
    chosen = judge_of(bundle, judge, planned)
    if chosen is None and planned == LIVE:
        chosen = LIVE
    return Analysis(bundle, chosen) if released is None else Analysis(bundle, chosen, shown=released.shown)


def recounted(bundle: Bundle, goldens: str, others: Mapping[str, Bundle]) -> Bundle:
    """A bundle with its goldens in another state.

    Args:
        bundle: The evidence.
        goldens: Empty for its own, `UNDISPUTED`, or another version of its suite.
        others: Evidence of the same suite by its version.

    Raises:
        Unusable: there is no such state.
    """
    if not goldens:
        return bundle
    if goldens == UNDISPUTED:
        return without_disputed(bundle)
    if goldens not in others:
        raise one_of("version of the goldens", goldens, {UNDISPUTED, *others})
    return as_in(bundle, goldens_of(others[goldens]), goldens)


def planned_judge(bundle: Bundle) -> str:
    """Whom the run asked for; empty where the bundle is of no live run."""
    raw = bundle.extra.get("evidence/plan.json")
    return str(json.loads(raw)["request"]["judge"]) if raw else ""


def _name(path: Path) -> str:
    return path.resolve().name.removesuffix(".zip")


def diff_in(bundle: Bundle, pull: PullId) -> str | None:
    """The diff that a live run froze, or that of the installed suite if it is the one the evidence is of."""
    raw = bundle.extra.get(f"evidence/diffs/{pull}.diff")
    return shipped(bundle.suite, pull) if raw is None else raw.decode("utf-8", "replace")


def judging_cost(bundle: Bundle) -> float | None:
    """US dollars that all judges took, as far as their records say; None where none says."""
    known = [one.details.get("cost") for one in bundle.judgements]
    told = [float(cost) for cost in known if isinstance(cost, int | float)]
    return sum(told) if told else None


def card_of(name: str, bundle: Bundle) -> RunCard:
    """What a list says of a bundle."""
    return RunCard(
        id=name,
        suite=bundle.suite.id,
        version=bundle.suite.version,
        stage="stored",
        reviewers=public.reviewers_of(bundle),
        pulls=tuple(pull.id for pull in bundle.pulls),
        trials_by_status=public.by_status(bundle),
        planned=len(bundle.trials),
        cost=judging_cost(bundle),
        counted=bool(bundle.trials),
    )


def _public_card(name: str, bundle: Bundle, released: Released) -> RunCard:
    if not released.private:
        anonymous = released.discreet
        return replace(card_of(name, released.bundle), anonymous=anonymous, hidden=released.hidden)
    sums = sum((row.counts for row in analysis_of(bundle, "", planned_judge(bundle)).scored.report.reviewers), Counts())
    private = replace(card_of(name, bundle), reviewers=(), pulls=(), private=True, hidden=released.hidden, sums=sums)
    private = replace(private, pulls_count=len(bundle.pulls))
    return replace(private, suite=released.bundle.suite.id, version=released.bundle.suite.version, counted=False)
