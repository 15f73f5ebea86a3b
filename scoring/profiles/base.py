"""What a profile gives back, and what all profiles ask of a bundle.

A profile is a pure function of a bundle. Those of published systems keep that system's rules to the digit, where we
would do otherwise too; what a rule does with an undefined figure stands in the estimate's `reason`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from typing import Any, Protocol, TypeVar

from pydantic import TypeAdapter, ValidationError

from scoring.bundle import Bundle, BundlePull, BundleTrial, Card, JudgementSet, TrialJudgements
from scoring.candidates import extract
from scoring.judges.base import Judge, Recorded
from scoring.model import (
    Candidate,
    CandidateId,
    CandidateOutcome,
    Counts,
    Coverage,
    Estimate,
    GoldenOutcome,
    PullId,
    Report,
    ReviewerId,
    SuiteRef,
    TrialStatus,
)

SCHEMA = "assay.profile/1"
NOT_JUDGED = "none"
"""The judge's name in a result that needed none."""
NEVER_ASKED = frozenset({TrialStatus.NOT_INSTALLED, TrialStatus.NOT_FORKED, TrialStatus.CANCELLED})
"""What published systems would have no record of at all: the reviewer was never asked."""

Json = Any
Options = Mapping[str, Json]
Rows = tuple[Mapping[str, Json], ...]
Judging = str | Judge | None
_T = TypeVar("_T")


class ProfileError(ValueError):
    """A bundle cannot be scored under a profile as asked; the message says what is missing and what is there."""


@dataclass(frozen=True, slots=True)
class ProfileTrial:
    """One trial under a profile: what was counted, and why."""

    pull: PullId
    reviewer: ReviewerId
    status: TrialStatus
    complete: bool
    reason: str
    scored: bool
    """Whether the profile counts this trial. Published systems count refusals too."""
    counts: Counts = field(default_factory=Counts)
    figures: Mapping[str, Json] = field(default_factory=dict)
    outcomes: tuple[CandidateOutcome, ...] = ()
    goldens: tuple[GoldenOutcome, ...] = ()


@dataclass(frozen=True, slots=True)
class ProfileRow:
    """One row of a profile's leaderboard."""

    reviewer: ReviewerId
    counts: Counts
    precision: Estimate
    recall: Estimate
    f1: Estimate
    coverage: Coverage
    figures: Mapping[str, Json] = field(default_factory=dict)
    """What this system reports besides, by name."""


@dataclass(frozen=True, slots=True)
class ProfileResult:
    """Everything a profile says of a bundle, as one immutable tree."""

    profile: str
    suite: SuiteRef
    judge: str
    unit: str
    """What one false positive is. Figures of different units never belong in one table."""
    dedup: str
    """What is done with what a reviewer says twice."""
    reviewers: tuple[ProfileRow, ...]
    """In the order of the system's leaderboard."""
    trials: tuple[ProfileTrial, ...]
    card: Card | None = None
    """What the bundle says the result can and cannot prove."""
    options: Mapping[str, Json] = field(default_factory=dict)
    """What was asked for, defaults filled in."""
    tables: Mapping[str, Rows] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    """The gates that are not met."""
    exit_code: int = 0
    """What a command should end with: not 0 where a gate is not met."""
    report: Report | None = None
    """The full report, where the profile is our own."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """What counted, by name."""
    schema: str = SCHEMA


class ProfileFn(Protocol):
    """Scores a bundle under one set of rules."""

    def __call__(self, bundle: Bundle, *, judge: Judging = None, options: Options | None = None) -> ProfileResult:
        """The result.

        Args:
            bundle: The evidence.
            judge: The name of a judge whose judgements the bundle holds, or a judge to ask now; None if the bundle
                holds one judge only or the profile needs none.
            options: The profile's own options, by name.

        Raises:
            ProfileError: the judge is not in the bundle or not named among several, or an option is wrong.
        """
        ...


@dataclass(frozen=True, slots=True)
class Case:
    """One trial as a profile takes it: what is there, what was claimed, and what a judge said of it."""

    pull: BundlePull
    trial: BundleTrial
    candidates: tuple[Candidate, ...]
    judged: TrialJudgements | None
    """None where the judge said nothing of this trial."""
    published: Mapping[str, Json] | None = None
    """The counts that the source published for this trial, where it holds nothing to count them from."""
    stored: Mapping[str, Json] | None = None
    """What the source stored beside its judgements of this trial: nothing, if it never judged it; None: it says no
    such thing of any trial."""
    goldens_asked: frozenset[str] | None = None
    """The goldens that the judge was asked about, where the bundle says so: some may have come later."""

    @property
    def asked(self) -> bool:
        """Whether a published system would have a record of this trial."""
        return self.trial.status not in NEVER_ASKED


@dataclass(frozen=True, slots=True)
class Judged:
    """A bundle with one judge's answers."""

    judge: str
    cases: tuple[Case, ...]
    details: Mapping[str, Json]

    def by_reviewer(self) -> dict[ReviewerId, list[Case]]:
        """The cases of each reviewer, reviewers by id, cases in the order of the bundle."""
        found: dict[ReviewerId, list[Case]] = {}
        for case in self.cases:
            found.setdefault(case.trial.reviewer, []).append(case)
        return dict(sorted(found.items()))


def judged(bundle: Bundle, judge: Judging, *, needed: bool = True) -> Judged:
    """A bundle's trials with the answers of one judge.

    Raises:
        ProfileError: the judge is not in the bundle, or none is named and there are several, or none and one is needed.
    """
    if judge is not None and not isinstance(judge, str):
        cases = tuple(_asked_now(case, judge) for case in _cases(bundle, None))
        return Judged(judge.name, cases, {})
    chosen = choose(bundle, judge, needed=needed)
    if chosen is None:
        return Judged(NOT_JUDGED, tuple(_cases(bundle, None)), {})
    return Judged(chosen.judge, tuple(_cases(bundle, chosen)), chosen.details)


def choose(bundle: Bundle, judge: str | None, *, needed: bool = True) -> JudgementSet | None:
    """The judgements of one judge. There is no default among several: the judge moves the figures.

    Raises:
        ProfileError: see `judged`.
    """
    names = [found.judge for found in bundle.judgements]
    if judge is not None:
        for found in bundle.judgements:
            if found.judge == judge:
                return found
        raise ProfileError(_unknown("judge", judge, names))
    if len(names) == 1:
        return bundle.judgements[0]
    if names:
        raise ProfileError(f"the bundle holds {len(names)} judges; name one of {', '.join(sorted(names))}")
    if needed:
        raise ProfileError("the bundle holds no judgements, and this profile counts judgements; judge it first")
    return None


def recorded(bundle: Bundle, name: str | None) -> Recorded:
    """One judge of a bundle as a judge that answers from its record.

    Raises:
        ProfileError: see `judged`.
    """
    chosen = choose(bundle, name)
    assert chosen is not None
    return Recorded(chosen.judge, [one for trial in chosen.trials for one in trial.judgements])


def live(bundle: Bundle) -> Bundle:
    """A bundle with the goldens that count: those retired, and drafts that nobody confirmed, are on record only."""
    if all(golden.status.scored for pull in bundle.pulls for golden in pull.goldens):
        return bundle
    kept = [tuple(golden for golden in pull.goldens if golden.status.scored) for pull in bundle.pulls]
    pulls = tuple(replace(pull, goldens=goldens) for pull, goldens in zip(bundle.pulls, kept, strict=True))
    return replace(bundle, pulls=pulls)


def claims(bundle: Bundle) -> Iterator[tuple[BundlePull, BundleTrial, tuple[Candidate, ...]]]:
    """Each trial with its golden pull request and its claims: the source's own, or taken from the comments.

    Raises:
        ProfileError: a trial is about a golden pull request that the bundle does not hold.
    """
    pulls = {pull.id: pull for pull in live(bundle).pulls}
    chatter = {reviewer.id: reviewer.not_findings for reviewer in bundle.reviewers}
    for trial in bundle.trials:
        if trial.pull not in pulls:
            raise ProfileError(_unknown("golden pull request", trial.pull, list(pulls)))
        own = trial.candidates
        taken = extract(trial.comments, not_findings=chatter.get(trial.reviewer, ())) if own is None else own
        yield pulls[trial.pull], trial, taken


def _cases(bundle: Bundle, chosen: JudgementSet | None) -> Iterator[Case]:
    answers = {(one.pull, one.reviewer): one for one in chosen.trials} if chosen else {}
    details = chosen.details if chosen else {}
    published, lists, goldens = (details.get(name, {}) for name in ("published", "candidates", "goldens"))
    bare = frozenset(details.get("counts_only", ()))
    for pull, trial, taken in claims(bundle):
        key = f"{trial.pull}|{trial.reviewer}"
        own = _listed(taken, lists[key]) if key in lists else taken
        counts = published.get(key) if key in bare else None
        stored = published.get(key, {}) if published else None
        asked = frozenset(goldens[key]) if key in goldens else None
        yield Case(pull, trial, own, answers.get((trial.pull, trial.reviewer)), counts, stored, asked)


def _listed(candidates: Sequence[Candidate], ids: Sequence[str]) -> tuple[Candidate, ...]:
    """The candidates that one of several judges was given, in its own order."""
    by_id = {candidate.id: candidate for candidate in candidates}
    return tuple(by_id[CandidateId(identity)] for identity in ids)


def _asked_now(case: Case, judge: Judge) -> Case:
    said = tuple(judge.judge(case.candidates, case.pull.goldens)) if case.asked else ()
    answers = TrialJudgements(case.trial.pull, case.trial.reviewer, said)
    return Case(case.pull, case.trial, case.candidates, answers if case.asked else None)


def read_options(kind: type[_T], options: Options | None) -> _T:
    """A profile's options from plain values; text is read as numbers and switches where the option is one.

    Raises:
        ProfileError: an option is unknown or has a wrong value; the message names the ones there are.
    """
    given = dict(options or {})
    known = [one.name for one in fields(kind)]  # type: ignore[arg-type]
    if unknown := sorted(set(given) - set(known)):
        raise ProfileError(_unknown("option", unknown[0], known))
    try:
        return TypeAdapter(kind).validate_python(given)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in problem["loc"])
        raise ProfileError(f"option {where}: {problem['msg']}") from error


def plain(options: Any) -> dict[str, Json]:
    """Options as plain JSON values, for the record."""
    shown: dict[str, Json] = TypeAdapter(type(options)).dump_python(options, mode="json")
    return shown


def not_scored(case: Case, reason: str) -> ProfileTrial:
    """A trial that the profile does not count, and why."""
    trial = case.trial
    return ProfileTrial(trial.pull, trial.reviewer, trial.status, trial.complete, reason, scored=False)


def counts_of(published: Mapping[str, Json], names: Sequence[str]) -> dict[str, int] | None:
    """Published counts under a profile's names; None where they are those of another system or not complete."""
    found = {name: published[name] for name in names if type(published.get(name)) is int and published[name] >= 0}
    return found if len(found) == len(names) else None


def totals_of(details: Mapping[str, Json], names: Sequence[str]) -> dict[str, dict[str, int]]:
    """The sums that a source publishes by reviewer, as far as they are a profile's."""
    found = {name: counts_of(sums, names) for name, sums in details.get("published_totals", {}).items()}
    return {name: sums for name, sums in found.items() if sums is not None}


def coverage(trials: Sequence[ProfileTrial]) -> Coverage:
    """How much of what was asked of a reviewer is behind its row."""
    by_status: dict[str, int] = {}
    for trial in trials:
        by_status[trial.status.value] = by_status.get(trial.status.value, 0) + 1
    return Coverage(len(trials), sum(trial.scored for trial in trials), dict(sorted(by_status.items())))


def total(trials: Sequence[ProfileTrial]) -> Counts:
    """The sum of the counts of the trials that the profile counts."""
    return sum((trial.counts for trial in trials if trial.scored), Counts())


def _unknown(what: str, name: str, known: Sequence[str]) -> str:
    near = get_close_matches(name, known, n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    return f"no {what} {name!r}{hint} There is: {', '.join(sorted(known)) or 'none'}"
