"""One golden pull request of a run as values: its goldens, every claim, and what became of each."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from bot.analysis.opening import Scored
from bot.pages.links import anchor, slug
from bot.pages.markdown import inert, visible
from bot.render.text import web_address
from scoring.bundle import Bundle, BundlePull, BundleTrial
from scoring.model import (
    Candidate,
    CandidateOutcome,
    Comment,
    Counts,
    Golden,
    GoldenId,
    GoldenState,
    Judgement,
    OutcomeKind,
    Place,
    PullId,
    ReviewerId,
    TrialScore,
)

OUTCOME_WORDS: Mapping[OutcomeKind, str] = {
    OutcomeKind.TP: "True positive: it finds a golden",
    OutcomeKind.FP: "False positive",
    OutcomeKind.VALID: "Valid: sound, though no golden covers it",
    OutcomeKind.DUPLICATE: "Duplicate: it says the same again",
    OutcomeKind.UNSCORED: "Unscored: it counts neither for nor against",
}
"""What came of a claim, as people read it."""
SIDES = {"LEFT": "before", "RIGHT": "after"}


@dataclass(frozen=True, slots=True)
class GoldenCard:
    """One golden, and who found it."""

    key: str
    golden: Golden
    where: str
    found: tuple[ReviewerId, ...]
    missed: tuple[ReviewerId, ...]
    undecided: tuple[ReviewerId, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """What one judge said of a claim and a golden."""

    judge: str
    golden: GoldenId
    verdict: str
    reason: str
    confidence: float | None


@dataclass(frozen=True, slots=True)
class Said:
    """One comment as it was made."""

    id: str
    permalink: str | None
    revision: str
    author: str
    flags: tuple[str, ...]
    body: Markup | None
    """None where the evidence does not hold it."""


@dataclass(frozen=True, slots=True)
class ClaimCard:
    """One claim, and what came of it."""

    key: str
    reviewer: ReviewerId
    candidate: Candidate
    title: str
    where: str
    said: Said
    outcome: CandidateOutcome
    words: str
    answers: tuple[Answer, ...]
    """Of the judge that counts."""
    others: tuple[Answer, ...]
    """Of the other judges of the evidence."""
    same_as: str = ""
    """For a duplicate: the key of the claim that said it first."""


@dataclass(frozen=True, slots=True)
class Silent:
    """A comment without a claim, and why it has none."""

    said: Said
    reason: str


@dataclass(frozen=True, slots=True)
class ReviewerCard:
    """One reviewer on this pull request."""

    reviewer: ReviewerId
    anchor: str
    status: str
    reason: str
    complete: bool
    counts: Counts | None
    """None where it is not scored."""
    could_see: int | None
    """Comments by other reviewers that stood there before its first; None where it said nothing or nobody noted it."""
    seconds: float | None
    claims: tuple[ClaimCard, ...]
    missed: tuple[Golden, ...]
    silent: tuple[Silent, ...]


@dataclass(frozen=True, slots=True)
class Pull:
    """Everything there is to say of it."""

    pull: BundlePull
    goldens: tuple[GoldenCard, ...]
    reviewers: tuple[ReviewerCard, ...]
    everyone: tuple[ReviewerId, ...]
    """All that have a trial here, whoever is shown."""
    notes_foreign: bool
    """Whether it was noted what each could see before it spoke."""

    @property
    def claims(self) -> tuple[ClaimCard, ...]:
        """Of all reviewers that are shown."""
        return tuple(claim for one in self.reviewers for claim in one.claims)


def where(place: Place | None) -> str:
    """A place as people read it."""
    if place is None:
        return "no place"
    path = visible(place.path)
    if place.lines is None:
        return f"{path} (the file as a whole)"
    first, last = place.lines
    lines = f"{path}:{first}" if first == last else f"{path}:{first}-{last}"
    return lines if place.side.value == "RIGHT" else f"{lines} ({SIDES[place.side.value]})"


def find(bundle: Bundle, name: str) -> BundlePull | None:
    """The golden pull request with that slug."""
    return next((pull for pull in bundle.pulls if slug(pull.id) == name), None)


def gathered(shown: Scored, judge: str, pull: BundlePull, wanted: str = "") -> Pull:
    """What a run says of a golden pull request.

    Args:
        shown: The evidence, with what may be shown of single trials.
        judge: Whose answers count.
        pull: Which.
        wanted: The only reviewer to show; empty for all.
    """
    scores = [one for one in shown.report.trials if one.trial.pull == pull.id]
    everyone = tuple(one.trial.reviewer for one in scores)
    kept = [one for one in scores if wanted in ("", one.trial.reviewer)]
    foreign = foreign_before(shown.bundle, pull.id)
    others = _other_answers(shown.bundle, judge, pull.id)
    trials = {one.reviewer: one for one in shown.bundle.trials if one.pull == pull.id}
    cards = tuple(
        _reviewer(one, trials.get(one.trial.reviewer), judge, others, foreign or {}, pull.goldens) for one in kept
    )
    goldens = tuple(_golden(golden, kept) for golden in pull.goldens if golden.status.scored)
    return Pull(pull, goldens, cards, everyone, foreign is not None)


def foreign_before(bundle: Bundle, pull: PullId) -> Mapping[str, int] | None:
    """Reviewer -> comments by others that stood on the fork before its first; None where the evidence has no note."""
    raw, forks = bundle.extra.get("evidence/foreign_before_first.json"), bundle.extra.get("evidence/forks.json")
    if raw is None or forks is None:
        return None
    noted = json.loads(raw)
    found: dict[str, int] = {}
    for fork in json.loads(forks):
        if fork["pull_id"] == pull:
            found |= noted.get(fork["id"], {})
    return found


def golden_key(golden: GoldenId) -> str:
    """The id of a golden on the page."""
    return f"golden-{slug(golden)}"


def claim_key(reviewer: ReviewerId, candidate: Candidate) -> str:
    """The id of a claim on the page."""
    return f"claim-{slug(f'{reviewer}/{candidate.id}')}"


def _golden(golden: Golden, scores: Sequence[TrialScore]) -> GoldenCard:
    by_state: dict[GoldenState, list[ReviewerId]] = {state: [] for state in GoldenState}
    for score in scores:
        for one in score.goldens:
            if one.golden == golden.id:
                by_state[one.state].append(score.trial.reviewer)
    return GoldenCard(
        golden_key(golden.id),
        golden,
        where(golden.place),
        tuple(by_state[GoldenState.FOUND]),
        tuple(by_state[GoldenState.MISSED]),
        tuple(by_state[GoldenState.UNSCORED]),
    )


_Answers = Mapping[tuple[ReviewerId, str], Sequence[Answer]]


def _other_answers(bundle: Bundle, judge: str, pull: PullId) -> _Answers:
    found: dict[tuple[ReviewerId, str], list[Answer]] = {}
    for judged in bundle.judgements:
        if judged.judge != judge:
            for trial in (one for one in judged.trials if one.pull == pull):
                for one in trial.judgements:
                    found.setdefault((trial.reviewer, one.candidate), []).append(_answer(one, judged.judge))
    return found


def _answer(one: Judgement, judge: str) -> Answer:
    told = one.judge if one.judge.startswith("human:") else judge
    return Answer(visible(told), one.golden, one.verdict.value, visible(one.reason), one.confidence)


def _reviewer(
    score: TrialScore,
    trial: BundleTrial | None,
    judge: str,
    others: _Answers,
    foreign: Mapping[str, int],
    goldens: Sequence[Golden],
) -> ReviewerCard:
    name = score.trial.reviewer
    comments = {one.id: one for one in score.trial.comments}
    missed = {one.golden for one in score.goldens if one.state is GoldenState.MISSED}
    return ReviewerCard(
        name,
        anchor(name),
        score.trial.status.value,
        visible(score.trial.reason),
        score.trial.complete,
        score.counts if score.scored else None,
        foreign.get(name),
        None if trial is None else trial.seconds,
        tuple(_claims(score, judge, others, comments)),
        tuple(one for one in goldens if one.id in missed),
        tuple(Silent(_said(comments[one.comment_id]), visible(one.reason)) for one in score.no_claims),
    )


def _claims(score: TrialScore, judge: str, others: _Answers, comments: Mapping[str, Comment]) -> Iterator[ClaimCard]:
    name, by_id = score.trial.reviewer, {one.id: one for one in score.candidates}
    answers: dict[str, list[Answer]] = {}
    for one in score.judgements:
        answers.setdefault(one.candidate, []).append(_answer(one, judge))
    for outcome in score.outcomes:
        candidate = by_id[outcome.candidate]
        comment = comments.get(candidate.comment_id)
        yield ClaimCard(
            claim_key(name, candidate),
            name,
            candidate,
            visible(" ".join((candidate.title or candidate.text).split()))[:200],
            where(candidate.place),
            _unknown(candidate) if comment is None else _said(comment),
            outcome,
            OUTCOME_WORDS[outcome.kind],
            tuple(answers.get(candidate.id, ())),
            tuple(others.get((name, candidate.id), ())),
            "" if outcome.same_as is None else claim_key(name, by_id[outcome.same_as]),
        )


def _said(comment: Comment) -> Said:
    flags = tuple(map(visible, comment.flags)) + (("outdated",) if comment.outdated else ())
    link = web_address(comment.permalink)
    return Said(visible(comment.id), link, comment.revision, visible(comment.author), flags, inert(comment.body))


def _unknown(candidate: Candidate) -> Said:
    """Evidence may hold claims without the comments they came from."""
    link = web_address(candidate.permalink)
    return Said(visible(candidate.comment_id), link, candidate.revision, "", tuple(map(visible, candidate.flags)), None)
