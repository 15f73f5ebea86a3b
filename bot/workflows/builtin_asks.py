"""Setting built-in reviewers to work. Kept apart from what they do, so that opening a fork can queue them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from bot.model import ForkId, RunId
from bot.ports import ForkRow, RunRow, TrialRow
from bot.workflows import engine

QUEUE = "reviews"
WORKFLOW = "review_built_in"


def prefix(run: RunId) -> str:
    """What the ids of a run's reviews begin with."""
    return f"review-{run}-"


def review_id(run: RunId, fork: ForkId, reviewer: str) -> str:
    """The id of a review's workflow; what is tried again has a part behind it."""
    return f"{prefix(run)}{fork}-{hashlib.sha256(reviewer.encode()).hexdigest()[:12]}"


def queue(run: RunId, fork: ForkId, reviewer: str, attempt: int = 1, *, again: str = "", delay: float = 0) -> None:
    """Queue a review; one that is queued under this id already is joined."""
    engine.enqueue(QUEUE, WORKFLOW, review_id(run, fork, reviewer) + again, run, fork, reviewer, attempt, delay=delay)


def queue_all(run: RunRow, fork: ForkId, reviewers: Iterable[str]) -> None:
    """Queue what the built-in reviewers among these have to do on a fork that stands."""
    for reviewer in reviewers:
        if reviewer in run.plan.request.built_in:
            queue(run.id, fork, reviewer)


def lost(run: RunRow, forks: Sequence[ForkRow], trials: Sequence[TrialRow], stamp: str) -> list[engine.Json]:
    """The reviews of a run that nothing will make any more, as entries of queues."""
    standing = {fork.id for fork in forks if fork.state == "open"}
    open_yet = [one for one in trials if _waits(run, one) and one.fork in standing]
    if not open_yet or engine.alive(prefix(run.id)):
        return []
    return [
        {
            "queue": QUEUE,
            "workflow": WORKFLOW,
            "id": f"{review_id(run.id, one.fork, one.reviewer)}.revived-{stamp}",
            "args": [run.id, one.fork, one.reviewer, 1],
        }
        for one in open_yet
    ]


def _waits(run: RunRow, trial: TrialRow) -> bool:
    return trial.status is None and trial.reviewer in run.plan.request.built_in
