"""Running the actors: each a thread with its own App identity, its own session and its own queue of events."""

from __future__ import annotations

import heapq
import logging
import queue
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Protocol

import requests

from bot.model import Raw
from bot.sandbox.actors.api import Api, Refused, Unclear
from bot.sandbox.actors.jobs import Job

_log = logging.getLogger(__name__)


class Actor(Protocol):
    """What a reviewer's module offers. Every pause of a story is one gap between two of its posts."""

    SLUG: str

    def wants(self, event: str, payload: Raw) -> Job | None:
        """The job that an event means for this reviewer, if any."""

    def story(self, job: Job, api: Api, seat: AbstractContextManager[object]) -> Iterator[None]:
        """Do the job. `seat` is held while an analyser runs."""


class Worker(threading.Thread):
    """One actor at work. Jobs of different pull requests take turns at the pauses; one pull request, one at a time."""

    def __init__(self, actor: Actor, api: Api, seat: AbstractContextManager[object], gap: float) -> None:
        super().__init__(name=f"actor-{actor.SLUG}", daemon=True)
        self._actor = actor
        self._api = api
        self._seat = seat
        self._gap = gap
        self._inbox: queue.SimpleQueue[tuple[str, Raw] | None] = queue.SimpleQueue()
        self._due: list[tuple[float, int, Job, Iterator[None]]] = []
        self._behind: dict[tuple[str, int], list[Job]] = {}
        """Pull request in work -> the jobs on it that wait for their turn."""
        self._done: set[Job] = set()
        self._turn = 0
        self._received = self._taken = 0
        self._counting = threading.Lock()
        self.failures: list[str] = []
        """What could not be done, in order."""

    def receive(self, event: str, payload: Raw) -> None:
        """Take one webhook event; called from any thread."""
        with self._counting:
            self._received += 1
        self._inbox.put((event, payload))

    @property
    def idle(self) -> bool:
        """Whether every event so far was taken and every job is over."""
        with self._counting:
            return self._taken == self._received and not self._behind

    def stop(self) -> None:
        """End after the step that is being done."""
        self._inbox.put(None)

    def run(self) -> None:
        """Work until told to stop."""
        while True:
            try:
                item = self._inbox.get(timeout=self._idle())
            except queue.Empty:
                self._step()
                continue
            if item is None:
                break
            self._take(*item)
            with self._counting:
                self._taken += 1
        self._api.close()

    def _idle(self) -> float | None:
        return max(0.0, self._due[0][0] - time.monotonic()) if self._due else None

    def _take(self, event: str, payload: Raw) -> None:
        job = self._actor.wants(event, payload)
        if job is None or job in self._done:
            return
        self._done.add(job)
        waiting = self._behind.get((job.repo, job.pull))
        if waiting is None:
            self._behind[job.repo, job.pull] = []
            self._start(job)
        else:
            waiting.append(job)

    def _start(self, job: Job) -> None:
        self._schedule(job, iter(self._actor.story(job, self._api, self._seat)), 0.0)

    def _schedule(self, job: Job, story: Iterator[None], delay: float) -> None:
        self._turn += 1
        heapq.heappush(self._due, (time.monotonic() + delay, self._turn, job, story))

    def _step(self) -> None:
        if not self._due or self._due[0][0] > time.monotonic():
            return
        _, _, job, story = heapq.heappop(self._due)
        try:
            next(story)
        except StopIteration:
            self._finish(job)
        except (Refused, Unclear, requests.RequestException) as problem:
            _log.warning("%s gave up on %s#%d: %s", self._actor.SLUG, job.repo, job.pull, problem)
            self.failures.append(f"{job.repo}#{job.pull}: {problem}")
            # A redelivery may try again: everything is looked up before it is posted.
            self._done.discard(job)
            self._finish(job)
        else:
            self._schedule(job, story, self._gap)

    def _finish(self, job: Job) -> None:
        waiting = self._behind[job.repo, job.pull]
        if waiting:
            self._start(waiting.pop(0))
        else:
            del self._behind[job.repo, job.pull]


class Actors:
    """The actors that are at work."""

    def __init__(self, workers: tuple[Worker, ...]) -> None:
        self._workers = workers

    @property
    def failures(self) -> tuple[str, ...]:
        """What the actors could not do."""
        return tuple(failure for worker in self._workers for failure in worker.failures)

    def wait_idle(self, timeout: float = 30.0) -> bool:
        """Wait until all of them have done what was asked so far; whether they have."""
        ends = time.monotonic() + timeout
        while not all(worker.idle for worker in self._workers):
            if time.monotonic() > ends:
                return False
            time.sleep(0.02)
        return True

    def stop(self) -> None:
        """End them all, and wait until they have ended."""
        for worker in self._workers:
            worker.stop()
        for worker in self._workers:
            worker.join(timeout=60)

    def __enter__(self) -> Actors:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
