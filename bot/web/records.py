"""The runs of a data directory as a library: our database, and the bundles beside it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path

from bot.analysis.figures import Board, board
from bot.analysis.opening import open_bundle, open_scored
from bot.model import Publish
from bot.pages.library import RunCard
from bot.pages.shelf import SEED, diff_in
from bot.ports import RunRow, Store
from scoring.bundle import INDEX
from scoring.model import PullId


class Records:
    """`bot.pages.library.Library` over a store. `may_see` says whose runs are shown."""

    def __init__(self, store: Store, bundles: Path, web_url: str, may_see: Callable[[RunRow], bool]) -> None:
        self._store = store
        self._bundles = bundles
        self._web_url = web_url
        self._may_see = may_see

    def runs(self) -> tuple[RunCard, ...]:
        """Those that may be seen, the newest first."""
        return tuple(self._card(row) for row in reversed(self._store.all_runs()) if self._may_see(row))

    def card(self, run: str) -> RunCard | None:
        """The run with that slug, if it may be seen."""
        return next((card for card in self.runs() if card.slug == run), None)

    def board(self, run: str, judge: str = "") -> Board | None:
        """Its figures, once its bundle lies there."""
        bundle = self._bundle(run)
        return None if bundle is None else _board(bundle, _stamp(bundle), judge)

    def judges(self, run: str) -> tuple[str, ...]:
        """Those whose answers its bundle holds."""
        bundle = self._bundle(run)
        return () if bundle is None else tuple(one.judge for one in open_bundle(bundle).judgements)

    def diff(self, run: str, pull: PullId) -> str | None:
        """What its evidence holds."""
        bundle = self._bundle(run)
        return None if bundle is None else diff_in(open_bundle(bundle), pull)

    def _bundle(self, run: str) -> Path | None:
        card = self.card(run)
        if card is None:
            return None
        folder = self._bundles / card.id
        return folder if (folder / INDEX).exists() else None

    def _card(self, row: RunRow) -> RunCard:
        request, progress = row.plan.request, self._store.progress(row.id)
        return RunCard(
            id=row.id,
            suite=request.suite,
            stage=row.stage,
            reviewers=request.reviewers,
            pulls=tuple(dict.fromkeys(fork.pull for fork in row.plan.forks)),
            trials_by_status=progress.trials_by_status,
            started=row.created_at,
            minutes=row.plan.minutes,
            note=row.note,
            warnings=row.plan.warnings,
            control=str(row.control_repo),
            issue_url=f"{self._web_url}/{row.control_repo}/issues/{row.issue}",
            anonymous=request.publish is Publish.ANONYMOUS,
            private=request.publish is Publish.PRIVATE,
        )


def _stamp(bundle: Path) -> int:
    """Changes with the bundle: its index holds the hash of every part."""
    return (bundle / INDEX).stat().st_mtime_ns


@functools.lru_cache(maxsize=32)
def _board(bundle: Path, _stamp: int, judge: str) -> Board:
    return board(open_scored([bundle], judge or None), SEED)
