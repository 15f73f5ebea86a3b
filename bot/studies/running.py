"""A study carried out: every review that is missing, then every judge, and at the end one bundle.

Killed at any moment and started again it goes on: answers of models are on disk before anybody reads them, and reviews
of tools are kept whole. What is done does not depend on the order in which reviews end.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from bot.judging.asking import Means
from bot.judging.budget import Forecast
from bot.reviewers import protocol
from bot.reviewers.barrier import barrier_of
from bot.reviewers.changes import change_of
from bot.reviewers.choose import choose, models_of
from bot.reviewers.means import ReviewMeans
from bot.reviewers.offline import forecast_of, plus, reviewed
from bot.reviewers.protocol import Change, Review, Reviewer
from bot.studies.plan import Planned, Study
from bot.versions import versions
from goldens.importers.landing import land
from goldens.verify import Trees
from scoring.model import PullId, ReviewerId

Json = Any
BUDGET = "budget: "
"""What the reason holds where a call was not made for want of money."""
Progress = Callable[[int, int], None]
_REVIEW = TypeAdapter(Review)


@dataclass(frozen=True, slots=True)
class Room:
    """Where a study keeps what is done."""

    folder: Path

    @property
    def replies(self) -> Path:
        """The answers of models."""
        return self.folder / "replies.db"

    def kept(self, key: str) -> Review | None:
        """A review that was finished at an earlier time. One that cannot be read is done again."""
        try:
            return _REVIEW.validate_json(self._path(key).read_bytes())
        except (OSError, ValidationError):
            return None

    def keep(self, key: str, review: Review) -> None:
        """Keep a finished review: all of it or nothing."""
        land(self._path(key), _REVIEW.dump_json(review, indent=1), overwrite=True)

    def _path(self, key: str) -> Path:
        return self.folder / "reviews" / f"{key}.json"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One review that the study wanted, and what came of it."""

    planned: Planned
    review: Review
    fresh: bool
    """Whether it was worked on just now."""


@dataclass(slots=True)
class Workshop:
    """Everything that reviewing takes, made once: the changes, and a reviewer for each suite and condition."""

    study: Study
    room: Room
    means: ReviewMeans
    trees: Mapping[PullId, Trees]
    changes: dict[str, dict[PullId, Change]] = field(init=False)
    reviewers: dict[tuple[str, ReviewerId], Reviewer] = field(init=False)
    _stopped: str = field(init=False, default="")

    def __post_init__(self) -> None:
        """Make them.

        Raises:
            StudyError: a reviewer cannot be had.
            ValueError: the files of a pull request are not here.
        """
        self.changes = {
            part.suite.ref.id: {pull.id: change_of(pull, self.trees) for pull in part.pulls}
            for part in self.study.parts
        }
        self.reviewers = {}
        for part in self.study.parts:
            suite = part.suite.ref.id
            admit = barrier_of(part.suite, self.changes[suite])
            for one in self.study.conditions:
                means = replace(self.means, admit=admit, repeat=one.repeat - 1)
                try:
                    self.reviewers[suite, one.id] = choose(one.spec, means)
                except ValueError as error:
                    raise self.study.wrong(self.study.reviewer_at(one), error) from None

    @property
    def stopped(self) -> str:
        """Why reviewing ended before its end; empty if it did not."""
        return self._stopped

    def key(self, planned: Planned) -> str:
        """A hash over everything that decides a review of a tool; empty where nothing is to be kept.

        What a model answered is kept answer by answer, which is finer; a SARIF file is read anew, for it may change.
        """
        spec = planned.condition.spec
        if models_of(spec) or "sarif:" in spec:
            return ""
        change = self.changes[planned.suite][planned.pull.id]
        texts = [
            spec,
            str(planned.condition.repeat),
            change.title,
            change.body,
            change.diff,
            json.dumps(dict(_tools(spec))),
        ]
        trees = [
            (path, hashlib.sha256(data).hexdigest())
            for tree in (change.base, change.head)
            for path, data in sorted(tree.items())
        ]
        return hashlib.sha256(json.dumps([texts, trees]).encode("utf-8", "surrogatepass")).hexdigest()

    def review(self, planned: Planned) -> Outcome:
        """Do one review, or find it done.

        Raises:
            Leak: a reviewer would have been shown what it must find; the study is void.
        """
        key = self.key(planned)
        if key and (kept := self.room.kept(key)) is not None:
            return Outcome(planned, kept, fresh=False)
        if self._stopped and models_of(planned.condition.spec):
            return Outcome(planned, Review((), failed=self._stopped), fresh=False)
        change = self.changes[planned.suite][planned.pull.id]
        review = reviewed(self.reviewers[planned.suite, planned.condition.id], str(planned.pull.id), change)
        if BUDGET in review.failed:
            self._stopped = review.failed
        if key and not review.failed:
            self.room.keep(key, review)
        return Outcome(planned, review, fresh=True)

    def forecast(self, wanted: Sequence[Planned]) -> tuple[Forecast, int]:
        """What the reviews that are still missing will take, and how many of tools are missing. Asks nobody."""
        total, missing = Forecast(0, 0, 0.0, 0.0), 0
        for planned in wanted:
            key = self.key(planned)
            if key:
                missing += self.room.kept(key) is None
                continue
            change = self.changes[planned.suite][planned.pull.id]
            reviewer = self.reviewers[planned.suite, planned.condition.id]
            total = plus(total, forecast_of(reviewer, str(planned.pull.id), change))
        return total, missing


@cache
def _tools(spec: str) -> Mapping[str, str]:
    """What decides a tool's review besides the change: versions, and the rules and code of ours."""
    from importlib import metadata

    found = dict(versions())
    if "static" in spec:
        found["rules"] = _own_rules()
        for name in ("ruff", "pylint", "bandit", "ast-grep-cli"):
            try:
                found[name] = metadata.version(name)
            except metadata.PackageNotFoundError:
                found[name] = ""
    return found


def _own_rules() -> str:
    """A hash over the reviewers' code and rules: a rule that was changed reviews anew."""
    home = Path(protocol.__file__).parent
    files = sorted(path for path in home.rglob("*") if path.suffix in (".py", ".yaml", ".yml"))
    digests = [(path.relative_to(home).as_posix(), hashlib.sha256(path.read_bytes()).hexdigest()) for path in files]
    return hashlib.sha256(json.dumps(digests).encode()).hexdigest()


def review_all(shop: Workshop, wanted: Sequence[Planned], means: Means, progress: Progress) -> tuple[Outcome, ...]:
    """Every review, in the order wanted, several at a time.

    On an interruption nothing new is begun; what is under way ends and is kept.

    Raises:
        Leak: see `Workshop.review`.
    """
    over = threading.Event()
    with ThreadPoolExecutor(max_workers=max(1, means.concurrency), thread_name_prefix="review") as pool:
        futures = [pool.submit(_unless, over, shop, planned) for planned in wanted]
        try:
            return tuple(_collected(futures, progress))
        finally:
            over.set()
            if shop.means.caller is not None and any(not future.done() for future in futures):
                shop.means.caller.stop()
            pool.shutdown(wait=True, cancel_futures=True)


def _unless(over: threading.Event, shop: Workshop, planned: Planned) -> Outcome:
    if over.is_set():
        return Outcome(planned, Review((), failed="interrupted"), fresh=False)
    return shop.review(planned)


def _collected(futures: Sequence[Future[Outcome]], progress: Progress) -> Iterator[Outcome]:
    for done, future in enumerate(futures, start=1):
        yield future.result()
        progress(done, len(futures))
