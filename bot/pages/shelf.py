"""Bundles that lie on a disk, as a library."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from bot.analysis.figures import Board, board
from bot.analysis.opening import open_bundle, open_scored
from bot.pages.library import RunCard
from scoring.bundle import Bundle
from scoring.model import PullId

SEED = 20260101
"""Of the resamples behind every interval on a page, so that a page says the same each time."""


class Shelf:
    """`bot.pages.library.Library` over bundles given by their paths."""

    def __init__(self, bundles: Sequence[Path]) -> None:
        """Open them.

        Raises:
            BundleError: one is no bundle, or was changed.
            Unusable: its parts do not fit together, or two have the same name.
        """
        self._paths: Mapping[str, Path] = {_name(path): path for path in bundles}
        self._cards = {
            card.slug: card for card in (card_of(name, open_bundle(path)) for name, path in self._paths.items())
        }

    def runs(self) -> tuple[RunCard, ...]:
        """One for each bundle, in the order given."""
        return tuple(self._cards.values())

    def card(self, run: str) -> RunCard | None:
        """The bundle with that slug."""
        return self._cards.get(run)

    def board(self, run: str, judge: str = "") -> Board | None:
        """Its figures."""
        return _board(self._paths[self._cards[run].id], judge)

    def judges(self, run: str) -> tuple[str, ...]:
        """Those whose answers it holds."""
        return tuple(one.judge for one in open_bundle(self._paths[self._cards[run].id]).judgements)

    def diff(self, run: str, pull: PullId) -> str | None:
        """What its evidence holds."""
        return diff_in(open_bundle(self._paths[self._cards[run].id]), pull)


@functools.lru_cache(maxsize=32)
def _board(path: Path, judge: str) -> Board:
    return board(open_scored([path], judge or None), SEED)


def _name(path: Path) -> str:
    return path.name.removesuffix(".zip")


def diff_in(bundle: Bundle, pull: PullId) -> str | None:
    """The diff that a live run froze."""
    raw = bundle.extra.get(f"evidence/diffs/{pull}.diff")
    return None if raw is None else raw.decode("utf-8", "replace")


def card_of(name: str, bundle: Bundle) -> RunCard:
    """What a list says of a bundle."""
    return RunCard(
        id=name,
        suite=f"{bundle.suite.id} {bundle.suite.version}",
        stage="stored",
        reviewers=tuple(dict.fromkeys(trial.reviewer for trial in bundle.trials)),
        pulls=tuple(pull.id for pull in bundle.pulls),
        trials_by_status=dict(Counter(trial.status.value for trial in bundle.trials)),
    )
