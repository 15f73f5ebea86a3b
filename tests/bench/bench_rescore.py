"""Scoring published judgements again, with all intervals, against a plain loop in Python over the same files.

The loop is what a study's notebook does: read the JSON, count, and draw pull requests again with `random`, here for the
same draws and for the three shares of each tool. Ours draws for those and their means over pull requests, as BCa
intervals, and takes the claims and goldens apart first. Both totals are checked to be equal, and the loop's counting
alone, without any interval, is shown beside it.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from goldens.importers import FORMATS
from scoring.model import Counts, PullId, ReviewerId
from scoring.profiles import named
from tests.bench.table import Row
from tests.shared import SHARED

DRAWS, SEED = 10_000, 1
_T = TypeVar("_T")
Tally = Mapping[str, list[tuple[int, int, int]]]
"""Tool -> (found, wrong, missed) of each pull request."""
Totals = dict[str, tuple[int, int, int]]


def run() -> list[Row]:
    folder = SHARED / "data" / "martian"
    files = sorted(folder.glob("*/evaluations.json"))
    if not files:
        sys.stderr.write(f"nothing is measured: {folder} is not here\n")
        return []
    ours, counted = _timed(lambda: _ours(folder, [path.parent.name for path in files]))
    again, _ = _timed(lambda: _ours(folder, [path.parent.name for path in files]))
    theirs, looped = _timed(lambda: {path.parent.name: _loop(path) for path in files})
    alone, totals = _timed(lambda: {path.parent.name: _totals(_read(path)) for path in files})
    if not counted == looped == totals:
        raise RuntimeError("the two do not count the same")
    trials = sum(map(len, counted.values()))
    what = f"{len(files)} published judges x {trials // len(files)} tools, re-scored, all intervals, {DRAWS:,} draws"
    return [
        Row(f"{what}; against: a plain loop with intervals", ours, "s", theirs, theirs),
        Row("- the same again, with everything imported", again, "s", theirs, theirs),
        Row("- the same; against: the loop's counting alone, no interval", again, "s", alone),
    ]


def _timed(what: Callable[[], _T]) -> tuple[float, _T]:
    """Seconds of processor time: the machine may have other work."""
    began = time.process_time()
    made = what()
    return time.process_time() - began, made


def _ours(folder: Path, judges: Sequence[str]) -> dict[str, Totals]:
    import numpy as np

    from scoring.statistics.bootstrap import Resampler, all_intervals

    bundle, found = FORMATS["martian"].read(folder), {}
    for judge in judges:
        scored = named("martian")(bundle, judge=judge)
        tables: dict[ReviewerId, dict[PullId, Counts]] = defaultdict(dict)
        for trial in scored.trials:
            if trial.scored:
                tables[trial.reviewer][trial.pull] = trial.counts
        intervals = all_intervals(tables, Resampler(np.random.default_rng(SEED), DRAWS))
        assert len(intervals) == len(tables)
        sums = {name: list(table.values()) for name, table in tables.items()}
        found[judge] = {
            str(name): (sum(one.tp for one in own), sum(one.fp for one in own), sum(one.fn for one in own))
            for name, own in sums.items()
        }
    return found


def _read(path: Path) -> Tally:
    tally: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
    for tools in json.loads(path.read_text(encoding="utf-8")).values():
        for tool, one in tools.items():
            if not one.get("skipped"):
                tally[tool].append((one["tp"], one["fp"], one["fn"]))
    return tally


def _totals(tally: Tally) -> Totals:
    return {tool: _sum(rows) for tool, rows in tally.items()}


def _loop(path: Path) -> Totals:
    tally, rng = _read(path), random.Random(SEED)  # nosec B311 # draws of a bootstrap
    for rows in tally.values():
        drawn = [_shares(*_sum(rng.choices(rows, k=len(rows)))) for _ in range(DRAWS)]
        bounds = [(sorted(one)[DRAWS // 40], sorted(one)[-DRAWS // 40]) for one in zip(*drawn, strict=True)]
        assert len(bounds) == 3
    return _totals(tally)


def _sum(rows: Sequence[tuple[int, int, int]]) -> tuple[int, int, int]:
    tp = fp = fn = 0
    for one in rows:
        tp, fp, fn = tp + one[0], fp + one[1], fn + one[2]
    return tp, fp, fn


def _shares(tp: int, fp: int, fn: int) -> tuple[float, float, float]:
    precision = tp / (tp + fp) if tp + fp else 0.0
    recall = tp / (tp + fn) if tp + fn else 0.0
    return precision, recall, 2 * tp / (2 * tp + fp + fn) if tp + fp + fn else 0.0
