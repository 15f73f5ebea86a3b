"""A live run's evidence as a bundle: plan, forks, registry, snapshots and statuses, and what scoring reads of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from pydantic import TypeAdapter

from bot import contamination, org_suites, scrape, settle
from bot.builtin_runs import installed_only, posts
from bot.model import ForkPlan, RunPlan, Snapshot
from bot.neutral_residual import residual_note
from bot.ports import ForkRow, TrialRow
from bot.registry import Registry, Reviewer
from bot.reviewers import record
from goldens.model import Suite
from scoring.bundle import Bundle, BundlePull, BundleReviewer, BundleTrial, Card
from scoring.model import Comment, PullId, ReviewerId

_PLAN = TypeAdapter(RunPlan)
_FORKS = TypeAdapter(tuple[ForkRow, ...])
_TRIALS = TypeAdapter(tuple[TrialRow, ...])
_SNAPSHOT = TypeAdapter(Snapshot)
_REVIEWERS = TypeAdapter(tuple[Reviewer, ...])
_FORKS_SEEN = TypeAdapter(tuple[contamination.ForkSeen, ...])


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything that is stored of a run whose trials are over."""

    suite: Suite
    plan: RunPlan
    our_logins: tuple[str, ...]
    """The accounts that the App and its author token act as."""
    registry: Registry
    """The run's reviewers."""
    forks: tuple[ForkRow, ...]
    trials: tuple[TrialRow, ...]
    snapshots: Mapping[str, tuple[Snapshot, ...]]
    """Fork id -> every version, oldest first."""
    extra_seconds: float = 0.0
    """By how much every deadline was moved while the run was under way."""
    reviews: Mapping[tuple[PullId, ReviewerId], record.Reviewed] = field(default_factory=dict)
    """What built-in reviewers said."""
    diffs: Mapping[PullId, str] = field(default_factory=dict)
    """Golden pull request -> what its fork shows reviewers, as far as git still had it. Nothing is counted of it."""


def freeze(evidence: Evidence) -> Bundle:
    """The bundle of a run."""
    readings = _Readings(evidence)
    wanted = {fork.pull for fork in evidence.plan.forks}
    return Bundle(
        suite=evidence.suite.ref,
        card=_card(evidence.suite, (*_stays(evidence.suite), *readings.notes())),
        pulls=tuple(_pull(evidence.suite, pull) for pull in wanted_order(evidence.suite, wanted)),
        trials=tuple(_trial(evidence, readings, row) for row in evidence.trials if row.status is not None),
        reviewers=tuple(
            BundleReviewer(ReviewerId(entry.id), entry.name, entry.vendor, entry.signals.not_findings)
            for entry in evidence.registry.reviewers
        ),
        extra=_raw_parts(evidence, readings),
    )


def wanted_order(suite: Suite, wanted: set[PullId]) -> Sequence[PullId]:
    """The wanted golden pull requests in the suite's order."""
    return [pull.id for pull in suite.pulls if pull.id in wanted]


def _card(suite: Suite, notes: tuple[str, ...]) -> Card:
    return Card(
        corpus=suite.title,
        labelled_by=suite.provenance or "the suite's authors",
        unit="one claim of a reviewer x one golden",
        not_proven=("one run: reviewers answer differently from day to day", "other code has other defects"),
        notes=notes,
    )


def _pull(suite: Suite, wanted: PullId) -> BundlePull:
    pull = next(pull for pull in suite.pulls if pull.id == wanted)
    return BundlePull(
        pull.id,
        pull.goldens,
        pull.language,
        pull.title,
        changed_lines=pull.size.lines if pull.size else None,
        origin=pull.origin.value if pull.origin else "",
        tags=pull.tags,
    )


def _trial(evidence: Evidence, readings: _Readings, row: TrialRow) -> BundleTrial:
    assert row.status is not None
    pull = readings.pull_of[row.fork]
    said = evidence.reviews.get((pull, row.reviewer))
    if said is not None:
        # What became of it was settled when it was kept; a trial that was cancelled meanwhile stays so.
        made = record.trial_of(pull, row.reviewer, said.review)
        return replace(made, status=row.status, complete=row.complete, reason=row.reason)
    return BundleTrial(
        pull=pull,
        reviewer=row.reviewer,
        status=row.status,
        complete=row.complete,
        reason=row.reason,
        comments=readings.of(row),
        seconds=_latency(evidence, row),
    )


def _latency(evidence: Evidence, row: TrialRow) -> float | None:
    """Seconds from the first ask to the last thing the reviewer said that counts."""
    reviewer = evidence.registry.get(row.reviewer)
    if row.snapshot is None or row.asks is None or reviewer is None:
        return None
    snapshot = evidence.snapshots[row.fork][row.snapshot - 1]
    minutes = evidence.plan.request.wait_minutes
    limit = (reviewer.wait.deadline if minutes is None else minutes * 60) + evidence.extra_seconds
    latency = settle.latency(snapshot, reviewer, row.asks, deadline_override_seconds=limit)
    return None if latency is None else latency.total_seconds()


def _raw_parts(evidence: Evidence, readings: _Readings) -> dict[str, bytes]:
    found = {
        "evidence/plan.json": _PLAN.dump_json(evidence.plan, indent=1),
        "evidence/identities.json": json.dumps(sorted(evidence.our_logins)).encode(),
        "evidence/registry.json": _REVIEWERS.dump_json(installed_only(evidence.registry.reviewers), indent=1),
        "evidence/forks.json": _FORKS.dump_json(evidence.forks, indent=1),
        "evidence/trials.json": _TRIALS.dump_json(evidence.trials, indent=1),
        "evidence/revisions.json": json.dumps(_revisions(evidence), indent=1, sort_keys=True).encode(),
        "evidence/foreign_before_first.json": json.dumps(readings.foreign(), indent=1, sort_keys=True).encode(),
        "evidence/contamination.json": _FORKS_SEEN.dump_json(readings.forks_seen(), indent=1),
        "evidence/gone.json": json.dumps(_gone(evidence), indent=1, sort_keys=True).encode(),
    }
    for fork, versions in sorted(evidence.snapshots.items()):
        for number, snapshot in enumerate(versions, start=1):
            found[f"evidence/snapshots/{fork}/{number}.json"] = _SNAPSHOT.dump_json(snapshot, indent=1)
    found |= record.raw(said for _, said in sorted(evidence.reviews.items()))
    for pull, diff in sorted(evidence.diffs.items()):
        found[f"evidence/diffs/{pull}.diff"] = diff.encode("utf-8", "surrogateescape")
    return found


def _revisions(evidence: Evidence) -> dict[str, dict[str, int]]:
    """Fork -> comment -> how many bodies of it we saw."""
    counted: dict[str, dict[str, int]] = {}
    for fork, versions in evidence.snapshots.items():
        seen: dict[str, scrape.Revision] = {}
        for snapshot in versions:
            seen = scrape.revisions(seen, snapshot)
        counted[fork] = {comment: revision.number for comment, revision in seen.items()}
    return counted


def _gone(evidence: Evidence) -> dict[str, list[str]]:
    """Fork -> what we saw there once and was deleted since."""
    found: dict[str, list[str]] = {}
    for fork, versions in evidence.snapshots.items():
        if gone := scrape.gone(versions):
            found[fork] = list(gone)
    return found


def _stays(suite: Suite) -> tuple[str, ...]:
    """What everybody who handles the bundle has to know first."""
    if not org_suites.is_own(suite.ref.id):
        return ()
    return ("Private: the suite is an organisation's own. This bundle and its reports may not leave the organisation.",)


class _Readings:
    """What each snapshot version says, read once."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._read: dict[tuple[str, int], scrape.Scraped] = {}
        self.pull_of = {fork.id: fork.pull_id for fork in evidence.forks}

    def of(self, row: TrialRow) -> tuple[Comment, ...]:
        """The comments of a trial as they stood when it settled."""
        if row.snapshot is None:
            return ()
        return self._scraped(row.fork, row.snapshot).by_reviewer.get(row.reviewer, ())

    def _scraped(self, fork: str, version: int) -> scrape.Scraped:
        key = (fork, version)
        if key not in self._read:
            snapshot = self._evidence.snapshots[fork][version - 1]
            logins = frozenset(self._evidence.our_logins)
            self._read[key] = scrape.read(snapshot, self._evidence.registry, our_logins=logins)
        return self._read[key]

    def foreign(self) -> dict[str, dict[str, int]]:
        """Fork -> reviewer -> comments of other reviewers that stood there before its first: what it could have read.

        It depends on who was quicker on that day, so it stands beside the report and not in it: the same findings
        give the same report.
        """
        found: dict[str, dict[str, int]] = {}
        for row in self._evidence.trials:
            if row.snapshot is not None:
                count = self._scraped(row.fork, row.snapshot).foreign_before_first.get(row.reviewer)
                if count is not None:
                    found.setdefault(row.fork, {})[row.reviewer] = count
        return found

    def forks_seen(self) -> tuple[contamination.ForkSeen, ...]:
        """What each fork's conversation, as it was seen last, says of who could read whom."""
        return tuple(
            contamination.of_fork(plan.id, self._bots(plan), self._scraped(plan.id, len(versions)))
            for plan in self._evidence.plan.forks
            if (versions := self._evidence.snapshots.get(plan.id))
        )

    def _bots(self, plan: ForkPlan) -> tuple[ReviewerId, ...]:
        built_in = self._evidence.plan.request.built_in
        return tuple(one for one in plan.reviewers if one not in built_in or posts(one))

    def notes(self) -> tuple[str, ...]:
        """What stood on the forks at the end and is no reviewer's, and what came too late."""
        kept = sorted((fork, len(versions)) for fork, versions in self._evidence.snapshots.items() if versions)
        last = [self._scraped(fork, version) for fork, version in kept]
        unknown = sorted({bot for scraped in last for bot in scraped.unknown_bots})
        ghosts = sum(scraped.ghosts for scraped in last)
        late = self._late()
        return (
            *([f"Bots that are none of this run's reviewers commented: {', '.join(unknown)}."] if unknown else []),
            *contamination.broken(self.forks_seen()),
            *residual_note(fork.commits.residual for fork in self._evidence.forks if fork.commits is not None),
            *([f"{ghosts} items without an author are nobody's."] if ghosts else []),
            *([f"{late} comments came or changed after their trial was settled: kept, not scored."] if late else []),
        )

    def _late(self) -> int:
        late = 0
        for row in self._evidence.trials:
            if row.snapshot is not None:
                final = self._scraped(row.fork, len(self._evidence.snapshots[row.fork])).by_reviewer[row.reviewer]
                settled = {(comment.id, comment.body) for comment in self.of(row)}
                late += sum((comment.id, comment.body) not in settled for comment in final)
        return late
