"""Scoring stored judgements: the time and memory of every statistic, and whether both grow with the trials only."""

from __future__ import annotations

import gc
import resource
import sys
import time
import tracemalloc
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from scoring import metrics
from scoring.model import PullId, ReviewerId, TrialScore
from tests.bench.judged import Judged, second_opinion, trials
from tests.bench.table import Row

PULLS, REVIEWERS, DRAWS, SEED = 50, 12, 10_000, 1
LADDER = (500, 5_000, 50_000)
"""Trials, each step ten times the last."""
_T = TypeVar("_T")


def run() -> list[Row]:
    judged = trials(PULLS, REVIEWERS)
    other = second_opinion(judged)
    size = f"{PULLS} pull requests x {REVIEWERS} reviewers"
    loading, _ = seconds(libraries)
    first, _ = seconds(lambda: everything(judged, other))
    resident = peak_resident()
    again, _ = seconds(lambda: everything(judged, other), best_of=3)
    worked, _ = seconds(lambda: everything(judged, other), best_of=3, clock=time.process_time)
    allocated = peak_allocated(lambda: everything(judged, other))
    scored = [one.count() for one in judged]
    return [
        Row("importing numpy, scipy and krippendorff, once for a process", loading, "s"),
        Row(f"{size}, all metrics, {DRAWS:,} draws, first time", first, "s", limit=2.0),
        Row("- the same again, best of three", again, "s", first, 2.0),
        Row("- the same again, time of the processor on all cores", worked, "s", again),
        Row("- resident memory of the process after the first time", resident, "MB", limit=300),
        Row("- allocated at most", allocated, "MB", limit=300),
        *one_interval(scored),
        *ladder(),
    ]


def libraries() -> int:
    """Import what the statistics import when they are first asked."""
    import krippendorff
    import numpy
    import scipy.sparse.csgraph
    import scipy.stats

    return len([krippendorff, numpy, scipy.sparse.csgraph, scipy.stats])


def everything(judged: Sequence[Judged], other: Sequence[Judged]) -> int:
    """Count stored judgements of two judges and compute all that there is; how many values came out."""
    import numpy as np

    from scoring.statistics import agreement, bootstrap, bradley_terry, capture, noise, overlap, power, ranks, strata
    from scoring.statistics.clusters import partition

    scores, second = [one.count() for one in judged], [one.count() for one in other]
    parted, resampler = partition(scores), bootstrap.Resampler(np.random.default_rng(SEED), DRAWS)
    own = {name: list(parted.scored(name).values()) for name in parted.reviewers}
    rows = [metrics.reviewer_score(name, of) for name, of in own.items()]
    ranking = ranks.rank(parted, resampler)
    strengths = bradley_terry.bradley_terry(bradley_terry.duels(parted))
    found, best = overlap.finds(parted), ranking.places[0].reviewer
    overlaps, unique = overlap.overlaps(found), overlap.uniques(found)
    seconds_best = overlap.best_second(parted, best, resampler)
    noises = [noise.noise(parted.scored(name), resampler) for name in parted.reviewers]
    few = parted.reviewers[-3:]
    unseen = capture.chao2(capture.incidence(parted, few), len(few))
    tests = [one.found.p_value for one in ranking.comparisons.values()]
    pilots = [power.pilot_of(found[one], found[two]) for one, two in ranking.comparisons]
    samples = [power.pulls_needed(0.1, one) for one in pilots]
    lines = {PullId(pull): 7 * (at % 40) for at, pull in enumerate(parted.pulls)}
    keys = (strata.BY_LANGUAGE, strata.BY_CATEGORY, strata.BY_SEVERITY, strata.by_size(lines))
    parts = [strata.by(of, key, resampler) for of in own.values() for key in keys]
    judges = [
        agreement.agreement(labels(scores), labels(second), resampler)
        for labels in (agreement.golden_labels, agreement.candidate_labels)
    ]
    moves = agreement.rank_moves(board(scores), board(second))
    made: list[Sequence[object]] = [rows, ranking.places, strengths, list(overlaps), list(unique), seconds_best, noises]
    return sum(map(len, [*made, tests, samples, parts, judges])) + (unseen.observed > 0) + (moves.reviewers > 0)


def board(scores: Sequence[TrialScore]) -> dict[ReviewerId, float | None]:
    by: dict[ReviewerId, list[TrialScore]] = {}
    for score in scores:
        by.setdefault(score.trial.reviewer, []).append(score)
    return {name: metrics.f1(metrics.total(own)).value for name, own in by.items()}


def one_interval(scores: Sequence[TrialScore]) -> list[Row]:
    """The six figures of one reviewer against scipy's general bootstrap of one of them."""
    import numpy as np
    from scipy.stats import bootstrap

    from scoring.statistics.bootstrap import Resampler, count_rows, intervals
    from scoring.statistics.clusters import partition

    parted = partition(scores)
    table = parted.counts(parted.reviewers[0])
    columns = tuple(count_rows(list(table.values())).T)
    ours, _ = seconds(lambda: intervals(table, Resampler(np.random.default_rng(SEED), DRAWS)), best_of=5)
    theirs, _ = seconds(
        lambda: bootstrap(
            columns,
            lambda tp, fp, fn, axis: 2 * tp.sum(axis) / (2 * tp + fp + fn).sum(axis),
            paired=True,
            n_resamples=DRAWS,
            method="BCa",
            rng=np.random.default_rng(SEED),
        ),
        best_of=5,
    )
    return [Row("six BCa intervals of one reviewer; against: one of them by scipy.stats.bootstrap", ours, "s", theirs)]


def ladder() -> list[Row]:
    """Time per thousand trials at three sizes, each against the one before; linear is a ratio of about 1.

    Of the processor, not of the wall, so that what else the machine does in these minutes stays out.
    """
    rows: list[Row] = []
    before: float | None = None
    for count in LADDER:
        judged = trials(count // REVIEWERS, REVIEWERS)
        other = second_opinion(judged)
        took, _ = seconds(partial(everything, judged, other), clock=time.process_time)
        now = 1000 * took / len(judged)
        rows.append(Row(f"{len(judged):,} trials, all metrics, time of the processor", took, "s"))
        rows.append(Row("- per 1,000 trials; against: the size before", now, "s", before))
        before = now
    rows.append(Row("- resident memory of the process at most, the trials themselves included", peak_resident(), "MB"))
    return rows


def seconds(
    work: Callable[[], _T], best_of: int = 1, clock: Callable[[], float] = time.perf_counter
) -> tuple[float, _T]:
    times, result = [], None
    for _ in range(best_of):
        gc.collect()
        began = clock()
        result = work()
        times.append(clock() - began)
    assert result is not None
    return min(times), result


def peak_allocated(work: Callable[[], object]) -> float:
    """The most megabytes that Python and numpy held at once for this work alone."""
    gc.collect()
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


def peak_resident() -> float:
    """The most megabytes this process ever had in memory, libraries included."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6
