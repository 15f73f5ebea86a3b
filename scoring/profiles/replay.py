"""Our own profile among the others: a bundle judged by its record or by a judge asked now.

Two things a live run has no need of happen here: a bundle may hold claims without the comments they came from, and one
judge's record is looked up trial by trial, for ids are unique inside a trial only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from scoring import dedup
from scoring.bundle import Bundle, BundleTrial, JudgementSet, TrialJudgements
from scoring.candidates import Extraction, examine
from scoring.judges.base import Recorded
from scoring.model import Candidate, CandidateId, Report, ReviewerScore, Trial, TrialScore
from scoring.profiles import assay
from scoring.profiles.base import (
    Judging,
    Options,
    ProfileResult,
    ProfileRow,
    ProfileTrial,
    choose,
    read_options,
)

COUNTS_ONLY = "the source published counts only, and no claim to count them from"


@dataclass(frozen=True, slots=True)
class AssayOptions:
    """There is nothing to choose."""


def score(bundle: Bundle, *, judge: Judging = None, options: Options | None = None) -> ProfileResult:
    """Score a bundle under our own rules.

    Raises:
        ProfileError: see `scoring.profiles.base.ProfileFn`.
    """
    read_options(AssayOptions, options)
    found = report(bundle, judge)
    return ProfileResult(
        profile=assay.NAME,
        suite=bundle.suite,
        card=bundle.card,
        judge=found.judge,
        unit=found.unit,
        dedup=found.dedup,
        reviewers=tuple(_row(row) for row in found.reviewers),
        trials=tuple(_trial(one) for one in found.trials),
        notes=found.notes,
        report=found,
    )


def report(bundle: Bundle, judge: Judging = None) -> Report:
    """The full report of a bundle under our own rules.

    Raises:
        ProfileError: see `scoring.profiles.base.ProfileFn`.
        ValueError: a trial is about a golden pull request that the bundle does not hold, or is there twice.
    """
    said = JudgementSet(judge.name, ()) if judge is not None and not isinstance(judge, str) else choose(bundle, judge)
    assert said is not None
    answers = {(one.pull, one.reviewer): one for one in said.trials}
    lists, bare = said.details.get("candidates", {}), frozenset(said.details.get("counts_only", ()))
    chatter = {reviewer.id: reviewer.not_findings for reviewer in bundle.reviewers}
    scores = []
    for held, trial in zip(bundle.trials, trials_of(bundle), strict=True):
        own = answers.get((trial.pull, trial.reviewer))
        asked = (
            Recorded(said.judge, own.judgements if own else ()) if judge is None or isinstance(judge, str) else judge
        )
        key = f"{trial.pull}|{trial.reviewer}"
        if key in bare:
            scores.append(TrialScore(replace(trial, reason=COUNTS_ONLY)))
            continue
        claims = partial(_claims, held, chatter.get(trial.reviewer, ()), lists.get(key))
        valid = tuple(map(CandidateId, own.valid)) if own and own.valid is not None else None
        scores.append(assay.score_claims(trial, asked, claims, partial(_groups, own), valid))
    grouped = any(one.groups for one in said.trials)
    return replace(
        assay.report_of(scores, said.judge, bundle.suite, (*bundle.card.notes, *_doubts(said))),
        card=bundle.card,
        unit=assay.UNIT,
        dedup=assay.SOURCES_GROUPS if grouped else assay.DEDUP,
    )


def _doubts(said: JudgementSet) -> Iterator[str]:
    """What there is to say against a judge's verdicts: they may be partial, untrusted, or not whole."""
    yield from (f"Judge: {line}." for line in said.details.get("warnings", ()))
    if unscored := said.details.get("unscored", ()):
        yield f"{len(unscored)} trials could not be judged, or not whole; first: {unscored[0]}."


def trials_of(bundle: Bundle) -> tuple[Trial, ...]:
    """The trials of a bundle as our profile takes them.

    Raises:
        ValueError: a trial is about a golden pull request that the bundle does not hold.
    """
    pulls = {pull.id: pull for pull in bundle.pulls}
    if missing := sorted({trial.pull for trial in bundle.trials} - set(pulls)):
        raise ValueError(f"trials about golden pull requests that are not in the bundle: {', '.join(missing)}")
    return tuple(
        Trial(
            pull=trial.pull,
            reviewer=trial.reviewer,
            status=trial.status,
            complete=trial.complete,
            reason=trial.reason,
            goldens=pulls[trial.pull].goldens,
            comments=trial.comments,
            language=pulls[trial.pull].language,
        )
        for trial in bundle.trials
    )


def _claims(held: BundleTrial, chatter: Sequence[str], ids: Sequence[str] | None) -> Extraction:
    """The source's claims or those of the comments. `ids`: those that one of several judges was given, for what it
    never saw is no failure of its own.
    """
    own = held.candidates
    taken = examine(held.comments, not_findings=chatter) if own is None else Extraction(own, ())
    if ids is None:
        return taken
    wanted = frozenset(ids)
    return Extraction(tuple(one for one in taken.candidates if one.id in wanted), taken.no_claims)


def _groups(said: TrialJudgements | None, candidates: Sequence[Candidate]) -> Sequence[Sequence[CandidateId]]:
    """The groups of the source are its own way to tell duplicates; ours are used without them."""
    if said is None or not said.groups:
        return dedup.groups(candidates)
    known = {candidate.id for candidate in candidates}
    return [tuple(CandidateId(one) for one in group if one in known) for group in said.groups]


def _row(row: ReviewerScore) -> ProfileRow:
    figures = {
        "recall_bound": row.recall_bound,
        "valid_judged": row.valid_judged,
        "usefulness": row.usefulness,
        "clean_pulls": row.clean_pulls,
        "clean_quiet": row.clean_quiet,
    }
    return ProfileRow(row.reviewer, row.counts, row.precision, row.recall, row.f1, row.coverage, figures)


def _trial(one: TrialScore) -> ProfileTrial:
    trial = one.trial
    return ProfileTrial(
        trial.pull,
        trial.reviewer,
        trial.status,
        trial.complete,
        trial.reason,
        one.scored,
        one.counts,
        outcomes=one.outcomes,
        goldens=one.goldens,
    )
