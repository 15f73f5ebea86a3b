"""Ask every reviewer once, on the smallest pull request there is, and tell who answered how and how fast.

It is a run like any other: asked for in an issue of the control repository, carried out by a worker on the same data
directory. So what it finds is what a large run would meet.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from bot import scrape, settle
from bot.forking.asking import title_of
from bot.model import Raw, RepoName, RunId, RunPlan, Snapshot
from bot.ports import ForkRow, GitHub, GitHubError, RunRow, Store, TrialRow
from bot.registry import Registry
from bot.render.issue import OVER
from scoring.model import ReviewerId

LOOK_SECONDS = 1.0
SLACK_MINUTES = 15.0
"""For what a plan's estimate leaves out: queues, retries, and scoring."""
_CLOCK_SLACK = timedelta(minutes=5)


class PreflightError(Exception):
    """It could not be carried out; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of one reviewer's pull request."""

    reviewer: str
    name: str
    status: str
    answered: bool
    seconds: float | None
    """From the ask to the last thing it said."""
    comments: int
    """Texts of it that may be scored."""
    others: tuple[str, ...]
    """Reviewers that answered here without being asked."""
    pull_request: str
    reason: str
    advice: str

    def record(self) -> dict[str, Any]:
        """For machines."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def ask(github: GitHub, control: RepoName, nonce: str, body: str, now: Callable[[], Any]) -> Raw:
    """Open the issue, or find it where GitHub did it and did not say so.

    Raises:
        PreflightError: GitHub says no.
    """
    title, since = title_of(nonce), now() - _CLOCK_SLACK
    try:
        return github.open_issue(control, title, body)
    except GitHubError as error:
        if not error.outcome_unknown:
            raise PreflightError(f"the issue in {control} could not be opened: {error}") from None
    found = next((raw for raw in github.issues_since(control, since) if raw["title"] == title), None)
    if found is None:
        raise PreflightError(f"GitHub did not answer when an issue in {control} was opened; try again")
    return found


@contextmanager
def working_beside(log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A worker on the same settings for as long as this lasts. Where another one holds the slot, that one works."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as sink:
        worker = subprocess.Popen(  # nosec B603 # ourselves, with words of ours
            [sys.executable, "-m", "bot", "worker"], stdin=subprocess.DEVNULL, stdout=sink, stderr=sink, env=os.environ
        )
    try:
        yield worker
    finally:
        worker.terminate()
        try:
            worker.wait(10)
        except subprocess.TimeoutExpired:
            worker.kill()
            worker.wait()


@dataclass(frozen=True, slots=True)
class Watch:
    """Following one preflight from the issue to its end."""

    store: Store
    github: GitHub
    control: RepoName
    issue: Raw
    stage: Callable[[str], None]
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic

    def begun(self, seconds: float) -> RunRow:
        """The run, once it is planned.

        Raises:
            PreflightError: the request was refused, or nobody works on it.
        """
        give_up, looks = self.clock() + seconds, 0
        while True:
            runs = self.store.runs_of_issue(int(self.issue["id"]))
            if runs:
                return runs[0]
            looks += 1
            if looks % 5 == 0 and (said := self._refusal()):
                raise PreflightError(f"it was refused in {self.control}#{self.issue['number']}: {said}")
            if self.clock() > give_up:
                raise PreflightError(
                    f"nobody took up {self.control}#{self.issue['number']} within {seconds:.0f} s; see the worker's log"
                )
            self.sleep(LOOK_SECONDS)

    def _refusal(self) -> str:
        ours = self.github.identity().login.lower()
        comments = self.github.issue_comments(self.control, int(self.issue["number"]))
        said = [raw["body"] for raw in comments if raw["user"] and raw["user"]["login"].lower() == ours]
        text = " ".join(line for line in said[0].splitlines() if line and not line.startswith("<!--")) if said else ""
        return text[:500]

    def ended(self, run: RunRow, seconds: float) -> RunRow:
        """The run, once it is over.

        Raises:
            PreflightError: it takes longer than it should.
        """
        give_up = self.clock() + seconds
        while True:
            row = self.store.run(run.id)
            if row.stage in OVER:
                return row
            counts = self.store.progress(run.id).trials_by_status
            told = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()) if count)
            self.stage(f"{row.stage}: {told}" if told else row.stage)
            if self.clock() > give_up:
                raise PreflightError(f"it is not over after {seconds / 60:.0f} minutes; see assay status {run.id}")
            self.sleep(LOOK_SECONDS)

    def archived(self, run: RunId, seconds: float) -> bool:
        """Wait until every fork is archived; whether that came to be."""
        give_up = self.clock() + seconds
        while any(not fork.retired for fork in self.store.forks(run)):
            if self.clock() > give_up:
                return False
            self.sleep(LOOK_SECONDS)
        return True


def longest(plan: RunPlan) -> float:
    """Seconds after which a run of this plan should be over."""
    return 60 * (plan.minutes + SLACK_MINUTES)


# --- what came of it --------------------------------------------------------------------------------------------


def answers(store: Store, run: RunRow, registry: Registry, web: str, ours: frozenset[str], bot: bool) -> list[Answer]:
    """A row for each reviewer. `bot` tells that no person opened the pull requests."""
    forks = {fork.id: fork for fork in store.forks(run.id)}
    return [_answer(store, trial, forks[trial.fork], registry, web, ours, bot) for trial in store.trials(run.id)]


def _answer(
    store: Store, trial: TrialRow, fork: ForkRow, registry: Registry, web: str, ours: frozenset[str], bot: bool
) -> Answer:
    entry = registry.get(trial.reviewer)
    if entry is None or trial.status is None:
        raise PreflightError(f"the run ended and {trial.reviewer} has no status")
    snapshots = store.snapshots(fork.run, fork.id)
    seen = snapshots[trial.snapshot - 1] if trial.snapshot else None
    read = None if seen is None else scrape.read(seen, registry, our_logins=ours)
    others = () if read is None else tuple(sorted(one for one in read.spoke if one != trial.reviewer))
    return Answer(
        reviewer=trial.reviewer,
        name=entry.name,
        status=trial.status.value,
        answered=trial.status.scored,
        seconds=_seconds(seen, trial, registry),
        comments=0 if read is None else len(read.by_reviewer.get(trial.reviewer, ())),
        others=others,
        pull_request=f"{web}/{fork.repo}/pull/{fork.pull}" if fork.repo and fork.pull else "",
        reason=trial.reason or fork.problem,
        advice=_advice(trial, registry, others, bot),
    )


def _seconds(seen: Snapshot | None, trial: TrialRow, registry: Registry) -> float | None:
    entry = registry.get(trial.reviewer)
    if seen is None or trial.asks is None or entry is None:
        return None
    latency = settle.latency(seen, entry, trial.asks)
    return None if latency is None else latency.total_seconds()


def _advice(trial: TrialRow, registry: Registry, others: tuple[ReviewerId, ...], bot: bool) -> str:
    """What to do before a large run."""
    entry = registry.get(trial.reviewer)
    lines = []
    if others:
        lines.append(f"{', '.join(others)} also answered here: install each reviewer on its own repositories only")
    if trial.status is None or trial.status.scored or entry is None:
        return "; ".join(lines)
    if bot and entry.reviews_bot_authors is not True:
        lines.append("a bot opened the pull request: set ASSAY_AUTHOR_TOKEN so that a person is the author")
    if trial.status.value == "timeout":
        lines.append("check that it is installed on new repositories and that its plan covers private ones")
    return "; ".join(lines)
