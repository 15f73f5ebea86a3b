"""The runs of a data directory as a library: our database, and the bundles beside it."""

from __future__ import annotations

import functools
import json
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bot.analysis.figures import Board
from bot.analysis.opening import open_bundle
from bot.model import Publish, RepoName, RunId
from bot.pages.analysis import AS_RUN, Analysis, Choice
from bot.pages.choosing import UNDISPUTED, disputed, in_order
from bot.pages.library import RunCard
from bot.pages.links import slug
from bot.pages.shelf import analysis_of, diff_in, planned_judge, recounted
from bot.ports import RunRow, Store
from scoring.bundle import INDEX, Bundle
from scoring.model import PullId

_ONE_AT_A_TIME = threading.Lock()
"""Two requests for one analysis must get the same one, or each would work it out."""


class Records:
    """`bot.pages.library.Library` over a store. `may_see` says whose runs are shown."""

    def __init__(self, store: Store, bundles: Path, web_url: str, may_see: Callable[[RunRow], bool]) -> None:
        self._store = store
        self._bundles = bundles
        self._web_url = web_url
        self._may_see = may_see
        self._read: dict[str, RunRow] = {}
        """What was read before, by slug: a page asks for one run again and again, and its plan never changes."""

    def runs(self) -> tuple[RunCard, ...]:
        """Those that may be seen, the newest first: two questions to the database, however many there are."""
        return self._cards([row for row in reversed(self._store.all_runs()) if self._may_see(row)])

    def card(self, run: str) -> RunCard | None:
        """The run with that slug, if it may be seen."""
        row = self._find(run)
        return None if row is None else self._cards([row])[0]

    def board(self, run: str, judge: str = "") -> Board | None:
        """Its figures, once its bundle lies there."""
        made = self.analysis(run, Choice(judge))
        return None if made is None else made.shown_board

    def analysis(self, run: str, choice: Choice = AS_RUN) -> Analysis | None:
        """Everything that is counted of it, once its bundle lies there."""
        found = self._bundle(run)
        if found is None:
            return None
        others = self._versions(run) if choice.goldens not in ("", UNDISPUTED) else {}
        with _ONE_AT_A_TIME:
            return _analysis(found, choice, tuple(sorted(others.items())))

    def goldens(self, run: str) -> tuple[str, ...]:
        """Without what is disputed, and as in other versions of the same suite that runs were made with."""
        found = self._bundle(run)
        if found is None:
            return ()
        own = _facts(found).version
        return ((UNDISPUTED,) if disputed(_opened(found)) else ()) + tuple(sorted(self._versions(run).keys() - {own}))

    def judges(self, run: str) -> tuple[str, ...]:
        """Those whose answers its bundle holds, the run's own first."""
        found = self._bundle(run)
        if found is None:
            return ()
        bundle = _opened(found)
        return in_order(bundle, planned_judge(bundle))

    def bundle(self, run: str) -> tuple[Path, Bundle] | None:
        """Where the evidence of a run lies, and what is in it."""
        found = self._bundle(run)
        return None if found is None else (found.folder, _opened(found))

    def diff(self, run: str, pull: PullId) -> str | None:
        """What its evidence holds."""
        found = self._bundle(run)
        return None if found is None else diff_in(_opened(found), pull)

    def control(self, run: str) -> RepoName | None:
        """The control repository of a run, if it may be seen; what is read for that is not read again."""
        row = self._row(run)
        if row is not None:
            self._read[run] = row
        return None if row is None else row.control_repo

    def _find(self, run: str) -> RunRow | None:
        found = self._store.find_run(RunId(run))
        if found is None:
            found = next((row for row in self._store.all_runs() if slug(row.id) == run), None)
        return found if found is not None and self._may_see(found) else None

    def _row(self, run: str) -> RunRow | None:
        known = self._read.get(run)
        return self._find(run) if known is None or not self._may_see(known) else known

    def _bundle(self, run: str) -> Held | None:
        row = self._row(run)
        return None if row is None else _held(self._bundles / row.id)

    def _versions(self, run: str) -> dict[str, Held]:
        """The newest evidence of each version of a run's suite."""
        own = self._row(run)
        rows = [row for row in self._store.all_runs() if self._may_see(row)]
        same = [row for row in rows if own is not None and row.plan.request.suite == own.plan.request.suite]
        held = [found for row in same if (found := _held(self._bundles / row.id)) is not None]
        return {_facts(found).version: found for found in held}

    def _cards(self, rows: Iterable[RunRow]) -> tuple[RunCard, ...]:
        listed = list(rows)
        self._read |= {slug(row.id): row for row in listed}
        over = self._store.settled([row.id for row in listed])
        return tuple(self._card(row, over.get(row.id, {})) for row in listed)

    def _card(self, row: RunRow, over: Mapping[str, int]) -> RunCard:
        request, held = row.plan.request, _held(self._bundles / row.id)
        facts = None if held is None else _facts(held)
        return RunCard(
            id=row.id,
            suite=request.suite,
            stage=row.stage,
            reviewers=request.reviewers,
            pulls=tuple(dict.fromkeys(fork.pull for fork in row.plan.forks)),
            trials_by_status=over,
            started=row.created_at,
            ended=row.ended_at,
            minutes=row.plan.minutes,
            cost=facts.cost if facts else None,
            note=row.note,
            warnings=row.plan.warnings,
            control=str(row.control_repo),
            issue_url=f"{self._web_url}/{row.control_repo}/issues/{row.issue}",
            anonymous=request.publish is Publish.ANONYMOUS,
            private=request.publish is Publish.PRIVATE,
            planned=row.plan.trials,
            version=facts.version if facts else "",
            counted=held is not None,
        )


@dataclass(frozen=True, slots=True)
class Held:
    """A bundle's folder as it is now: the stamp changes with its index, which holds the hash of every part."""

    folder: Path
    stamp: int


@dataclass(frozen=True, slots=True)
class Facts:
    """What a list says of a bundle without opening it."""

    version: str
    cost: float | None


def _held(folder: Path) -> Held | None:
    try:
        return Held(folder, (folder / INDEX).stat().st_mtime_ns)
    except FileNotFoundError:
        return None


@functools.lru_cache(maxsize=4096)
def _facts(held: Held) -> Facts:
    version = str(json.loads((held.folder / "suite.json").read_bytes())["version"])
    details = [json.loads(path.read_bytes())["details"] for path in sorted(held.folder.glob("judgements/*.json"))]
    costs = [float(one["cost"]) for one in details if isinstance(one.get("cost"), int | float)]
    return Facts(version, sum(costs) if costs else None)


@functools.lru_cache(maxsize=8)
def _opened(held: Held) -> Bundle:
    return open_bundle(held.folder)


@functools.lru_cache(maxsize=32)
def _analysis(held: Held, choice: Choice, others: tuple[tuple[str, Held], ...]) -> Analysis:
    bundle = _opened(held)
    planned = planned_judge(bundle)
    counted = recounted(bundle, choice.goldens, {version: _opened(other) for version, other in others})
    return analysis_of(counted, choice.judge, planned)
