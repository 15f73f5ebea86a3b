"""Whether a bundle that somebody sends in is evidence a stranger can check, and what a reader should know of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pydantic import TypeAdapter, ValidationError

from bot import bundle as live
from bot.model import RunPlan, Snapshot
from bot.ports import ForkRow, TrialRow
from bot.registry import Registry, Reviewer
from goldens.load import load_suite, suite_names
from goldens.model import Suite
from scoring.bundle import Bundle, BundleReviewer
from scoring.model import ReviewerId

_FULL_SHA = re.compile(r"[0-9a-f]{40}\Z")
_LEAST_COVERAGE = 0.8
_PLAN = TypeAdapter(RunPlan)
_FORKS = TypeAdapter(tuple[ForkRow, ...])
_TRIALS = TypeAdapter(tuple[TrialRow, ...])
_REGISTRY = TypeAdapter(tuple[Reviewer, ...])
_LOGINS = TypeAdapter(tuple[str, ...])
_SNAPSHOT = TypeAdapter(Snapshot)
_SNAPSHOT_NAME = re.compile(r"evidence/snapshots/([^/]{1,200})/([0-9]{1,6})\.json\Z")
_WORD = re.compile(r"[a-z0-9]+")


class Weight(StrEnum):
    """How much a finding weighs."""

    ERROR = "error"
    """It cannot stand on a leaderboard so."""
    FLAG = "flag"
    """A reader of the leaderboard must be told."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, or that must be said."""

    weight: Weight
    rule: str
    message: str


def check(bundle: Bundle, submitter: str | None = None) -> tuple[Finding, ...]:
    """Everything that stands against a submission, or beside it.

    Args:
        bundle: The bundle, which agrees with its index.
        submitter: Who sent it in, if that is known.
    """
    found = [*_suite(bundle), *_manifest(bundle), *_judges(bundle), *_coverage(bundle), *_self(bundle, submitter)]
    return tuple(dict.fromkeys(found))


def _error(rule: str, message: str) -> Finding:
    return Finding(Weight.ERROR, rule, message)


def _flag(rule: str, message: str) -> Finding:
    return Finding(Weight.FLAG, rule, message)


def _shipped(bundle: Bundle) -> Suite | None:
    return load_suite(bundle.suite.id) if bundle.suite.id in suite_names() else None


def _suite(bundle: Bundle) -> Iterator[Finding]:
    suite = _shipped(bundle)
    if suite is None:
        yield _flag("suite", f"suite {bundle.suite.id} does not ship with Assay, so its goldens were not compared")
    elif suite.ref != bundle.suite:
        yield _error(
            "suite",
            f"suite {bundle.suite.id} {bundle.suite.version} has the hash {bundle.suite.hash[:12]}; the one that ships "
            f"is {suite.ref.version} with {suite.ref.hash[:12]}",
        )
    else:
        known = {pull.id: pull.goldens for pull in suite.pulls}
        for pull in bundle.pulls:
            if known.get(pull.id) != pull.goldens:
                yield _error("suite", f"pulls.json: the goldens of {pull.id} are not those of the suite it names")


# --- the raw evidence


def _manifest(bundle: Bundle) -> Iterator[Finding]:
    """The fork manifest, its commits, and whether what is scored is what the raw snapshots say."""
    missing = [
        name for name in ("plan", "forks", "trials", "registry", "identities") if _part(name) not in bundle.extra
    ]
    if missing:
        yield _error("manifest", f"no {_part(missing[0])}: without the raw evidence nobody can check what is scored")
        return
    try:
        forks = _FORKS.validate_json(bundle.extra[_part("forks")])
        evidence = _evidence(bundle, forks)
    except (ValidationError, LookupError) as error:
        yield _error("manifest", f"the raw evidence cannot be read: {' '.join(str(error).split())[:200]}")
        return
    yield from _forks(bundle, forks)
    if evidence is not None:
        yield from _same_as_raw(bundle, evidence)


def _part(name: str) -> str:
    return f"evidence/{name}.json"


def _forks(bundle: Bundle, forks: Sequence[ForkRow]) -> Iterator[Finding]:
    by_pull = {fork.pull_id: fork for fork in forks}
    for pull in bundle.pulls:
        fork = by_pull.get(pull.id)
        if fork is None:
            yield _error("manifest", f"{pull.id}: no fork of it is in the manifest")
        elif fork.commits is None:
            yield _flag("commits", f"{pull.id}: its fork was never made ({fork.problem or fork.state})")
        elif bad := [sha for sha in (fork.commits.base_sha, fork.commits.head_sha) if not _FULL_SHA.match(sha)]:
            yield _error("commits", f"{pull.id}: {bad[0]!r} is no full commit SHA")


def _evidence(bundle: Bundle, forks: tuple[ForkRow, ...]) -> live.Evidence | None:
    """The evidence of the live run again, where its suite is here to be compared with.

    Raises:
        ValidationError: a part does not fit its type.
        LookupError: a trial names a snapshot that is not there.
    """
    suite = _shipped(bundle)
    if suite is None:
        return None
    versions: dict[str, dict[int, Snapshot]] = {fork.id: {} for fork in forks}
    for name, data in bundle.extra.items():
        if match := _SNAPSHOT_NAME.match(name):
            versions.setdefault(match[1], {})[int(match[2])] = _SNAPSHOT.validate_json(data)
    return live.Evidence(
        suite=suite,
        plan=_PLAN.validate_json(bundle.extra[_part("plan")]),
        our_logins=_LOGINS.validate_json(bundle.extra[_part("identities")]),
        registry=Registry(_REGISTRY.validate_json(bundle.extra[_part("registry")])),
        forks=forks,
        trials=_TRIALS.validate_json(bundle.extra[_part("trials")]),
        snapshots={fork: tuple(own[number] for number in sorted(own)) for fork, own in versions.items()},
    )


def _same_as_raw(bundle: Bundle, evidence: live.Evidence) -> Iterator[Finding]:
    try:
        again = live.freeze(evidence)
    except LookupError as error:
        yield _error("evidence", f"the raw evidence does not fit together: {error} is missing")
        return
    known = {(trial.pull, trial.reviewer): trial for trial in again.trials}
    for trial in bundle.trials:
        if known.pop((trial.pull, trial.reviewer), None) != trial:
            yield _error("evidence", f"trials.json: {trial.pull} x {trial.reviewer} is not what the raw evidence gives")
    yield from (_error("evidence", f"trials.json: {pull} x {who} is left out") for pull, who in known)


# --- judges and coverage


def _judges(bundle: Bundle) -> Iterator[Finding]:
    if not bundle.judgements:
        yield _error("judge", "no judgements are stored, so the figures cannot be scored again by a stranger")
    asked = {(one.pull, one.reviewer) for one in bundle.trials if one.status.scored and one.complete}
    for judged in bundle.judgements:
        done = {(one.pull, one.reviewer) for one in judged.trials}
        failed = sum(bool(one.failed) for one in judged.trials)
        if open_ := sorted(asked - done):
            first = f"{open_[0][0]} x {open_[0][1]}"
            yield _error("judge", f"judge {judged.judge} left out {len(open_)} of {len(asked)} trials, first {first}")
        if failed:
            yield _flag("judge", f"judge {judged.judge} could not judge {failed} of {len(judged.trials)} trials")
        if not judged.details:
            yield _flag("judge", f"judge {judged.judge} does not say how it was asked (model, prompt, parameters)")


def _coverage(bundle: Bundle) -> Iterator[Finding]:
    if not bundle.trials:
        yield _error("coverage", "there is no trial")
    pulls = {pull.id for pull in bundle.pulls}
    for reviewer in sorted({trial.reviewer for trial in bundle.trials}):
        own = {trial.pull: trial for trial in bundle.trials if trial.reviewer == reviewer}
        scored = sum(trial.status.scored and trial.complete for trial in own.values())
        if missing := sorted(pulls - set(own)):
            yield _error("coverage", f"{reviewer} has no trial on {len(missing)} pull requests, first {missing[0]}")
        if scored < _LEAST_COVERAGE * len(pulls):
            yield _flag("coverage", f"{reviewer}: {scored} of {len(pulls)} pull requests are scored")


# --- who scores whom


def _self(bundle: Bundle, submitter: str | None) -> Iterator[Finding]:
    """A reviewer whose vendor labelled, judged, ran or sent in the test: it may be right, and must be said."""
    parties = list(_parties(bundle, submitter))
    known = {one.id: one for one in bundle.reviewers}
    for reviewer in sorted({trial.reviewer for trial in bundle.trials}):
        names = list(_names(reviewer, known.get(reviewer)))
        for role, party in parties:
            if any(_speaks_of(party, name) for name in names):
                yield _flag("vendor", f"{reviewer}: its vendor seems to score itself; {role} is {party!r}")


def _parties(bundle: Bundle, submitter: str | None) -> Iterator[tuple[str, str]]:
    if submitter:
        yield "the submitter", submitter
    yield "who labelled the goldens", bundle.card.labelled_by
    for judged in bundle.judgements:
        yield "the judge", judged.judge
    raw = bundle.extra.get(_part("forks"))
    if raw:
        try:
            forks = _FORKS.validate_json(raw)
        except ValidationError:
            return
        for owner in sorted({fork.repo.owner for fork in forks if fork.repo}):
            yield "the owner of the forks", owner


def _names(reviewer: ReviewerId, known: BundleReviewer | None) -> Iterator[str]:
    yield reviewer
    if known is not None:
        yield from filter(None, (known.name, known.vendor))


def _speaks_of(party: str, name: str) -> bool:
    """Whether a party's words hold a reviewer's name, however either is put together: `Acme Inc`, `acme-ai`, `AcmeAI`.

    Names of fewer than four letters say too little; so do words that half the field is called by.
    """
    words, wanted = _WORD.findall(party.lower()), _WORD.findall(name.lower())
    runs = {"".join(words[at : at + many]) for at in range(len(words)) for many in (1, 2, 3)}
    told = {"".join(wanted), *wanted[:1]} - _COMMON
    return any(len(one) >= 4 and one in runs for one in told)


_COMMON = frozenset({"code", "review", "reviewer", "agent", "github", "labs"})
"""Words that many names share and that say nothing of who somebody is."""
