"""Reviews as a bundle: each remark a comment and a claim, each review a trial with its status, cost and time."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pydantic import TypeAdapter

from bot.reviewers.choose import prompts_of
from bot.reviewers.claims import comments_of
from bot.reviewers.protocol import Change, Review
from goldens.model import GoldenPull, Suite
from scoring.bundle import Bundle, BundlePull, BundleReviewer, BundleTrial
from scoring.card import Card
from scoring.model import PullId, ReviewerId, SuiteRef, TrialStatus

FOLDER = "extra/reviews/"
ROUND = "~"
"""Between a reviewer's name and that of a round."""
_NOT_ABLE = ("budget: ", "unable: ")
"""What the reason holds where a reviewer was not asked, or could not have answered."""
_NOT_PROVEN = (
    "one run: models answer differently from day to day",
    "other code has other defects",
    "a review off GitHub: what an installed bot sees and says there may differ",
)


@dataclass(frozen=True, slots=True)
class Reviewed:
    """What one reviewer said of one pull request."""

    pull: PullId
    reviewer: str
    review: Review
    prompts: Mapping[str, str] = field(default_factory=dict)
    """The prompts it was asked with: name -> hash of the text."""


def of_round(reviewer: str, name: str) -> ReviewerId:
    """What a reviewer is called as it was after one of its rounds."""
    return ReviewerId(f"{reviewer}{ROUND}{name}")


def status_of(review: Review) -> TrialStatus:
    """What became of a trial."""
    if any(mark in f"{review.failed} " for mark in _NOT_ABLE):
        return TrialStatus.UNABLE
    if review.failed:
        return TrialStatus.ERROR
    return TrialStatus.REVIEWED_FINDINGS if review.remarks else TrialStatus.REVIEWED_CLEAN


def trials_of(one: Reviewed) -> Iterator[BundleTrial]:
    """The trial of a review; before it one for each earlier round, under the reviewer's name and the round's.

    Rounds that were done count, even where a later one failed.
    """
    final = not one.review.failed
    for early in one.review.rounds[: len(one.review.rounds) - final]:
        state = replace(one.review, remarks=early.remarks, usage=early.usage, failed="")
        yield trial_of(one.pull, of_round(one.reviewer, early.name), state)
    yield trial_of(one.pull, one.reviewer, one.review)


def trial_of(pull: PullId, reviewer: str, review: Review) -> BundleTrial:
    """A review as a trial, without its earlier rounds."""
    status = status_of(review)
    comments, claims = comments_of(review.remarks, reviewer) if status.scored else ((), ())
    return BundleTrial(
        pull,
        ReviewerId(reviewer),
        status,
        complete=not review.unread,
        reason=review.failed or "; ".join(review.unread)[:500],
        comments=comments,
        candidates=claims if status.scored else None,
        cost=review.usage.cost,
        seconds=round(review.usage.seconds, 3),
    )


def bundle_of(suite: Suite, reviews: Sequence[Reviewed]) -> Bundle:
    """The reviews of a suite's pull requests as a bundle."""
    wanted = {one.pull for one in reviews}
    pulls = tuple(_pull(pull) for pull in suite.pulls if pull.id in wanted)
    return _bundle(suite.ref, suite.title, suite.provenance or "the suite's authors", pulls, reviews)


def bundle_of_change(change: Change, pull: PullId, reviews: Sequence[Reviewed]) -> Bundle:
    """The reviews of a change of which nobody knows the defects."""
    ref = SuiteRef("change", "1", hashlib.sha256(change.diff.encode("utf-8", "surrogatepass")).hexdigest())
    nobody = "nobody: there are no goldens here, and a pull request without goldens is not known to be clean"
    return _bundle(ref, "one change", nobody, (BundlePull(pull, (), title=change.title),), reviews)


def _bundle(
    ref: SuiteRef, corpus: str, labelled_by: str, pulls: tuple[BundlePull, ...], reviews: Sequence[Reviewed]
) -> Bundle:
    invalid = sum(len(one.review.invalid) for one in reviews)
    notes = (f"{invalid} items of answers could not be used; {FOLDER} names each with the reason",) if invalid else ()
    trials = tuple(trial for one in reviews for trial in trials_of(one))
    names = tuple(dict.fromkeys(trial.reviewer for trial in trials))
    card = Card(corpus, labelled_by, "one claim of a reviewer x one golden", _NOT_PROVEN, notes)
    return Bundle(
        ref,
        card,
        pulls,
        trials,
        reviewers=tuple(BundleReviewer(name, str(name)) for name in names),
        extra=raw(reviews),
    )


def _pull(pull: GoldenPull) -> BundlePull:
    return BundlePull(
        pull.id,
        pull.goldens,
        pull.language,
        pull.title,
        changed_lines=pull.size.lines if pull.size else None,
        origin=pull.origin.value if pull.origin else "",
        tags=pull.tags,
    )


def raw(reviews: Iterable[Reviewed]) -> dict[str, bytes]:
    """Each review whole, with its rounds and what of it could not be used, as parts of a bundle."""
    return {f"{FOLDER}{file_name(one.pull, one.reviewer)}": _RAW.dump_json(told(one), indent=1) for one in reviews}


def told(one: Reviewed) -> Reviewed:
    """A review with the prompts that its reviewer asks with, where it does not say them."""
    return one if one.prompts else replace(one, prompts=prompts_of(one.reviewer))


def file_name(pull: PullId, reviewer: str) -> str:
    """The name of a review's file."""
    return f"{hashlib.sha256(f'{pull}{chr(10)}{reviewer}'.encode()).hexdigest()[:16]}.json"


_RAW = TypeAdapter(Reviewed)


def as_json(one: Reviewed) -> Mapping[str, object]:
    """A review for a program to read."""
    found: dict[str, object] = _RAW.dump_python(told(one), mode="json")
    return {**found, "status": status_of(one.review).value, "complete": not one.review.unread}
