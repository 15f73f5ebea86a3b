"""Between a suite's truth and its cold reviewers: what is to be shown passes here first, or the run ends."""

from __future__ import annotations

from collections.abc import Mapping

from bot.reviewers.means import Admit
from bot.reviewers.protocol import Change
from goldens.cold import withheld_of
from goldens.leakage import Withheld, guard
from goldens.model import Suite
from scoring.model import PullId


def barrier_of(suite: Suite, changes: Mapping[PullId, Change]) -> Admit:
    """A guard over a suite.

    It knows pull requests by the file that is shown, so that one in parts is guarded like a whole one.

    Args:
        suite: Whose places, fixes and reports are withheld.
        changes: Its pull requests as reviewers see them.

    Raises:
        ValueError: what is to be withheld cannot be read.
    """
    told = withheld_of(suite)
    by_path: dict[str, list[tuple[PullId, bytes, Withheld]]] = {}
    for pull, change in changes.items():
        for path, content in change.head.items():
            by_path.setdefault(path, []).append((pull, content, told[pull]))

    def admit(change: Change, path: str, shown: str, source: str) -> None:
        own = change.head.get(path)
        for pull, content, withheld in by_path.get(path, ()):
            if content == own:
                guard(f"{pull}, {path}", shown, source, withheld)

    return admit
