"""Reviews as trials: what a built-in reviewer said, as comments and claims that every judge and profile can read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from bot.reviewers.claims import comments_of
from bot.reviewers.protocol import Review, Round
from bot.reviewers.record import of_round
from bot.studies.record import Condition, Took
from scoring.bundle import BundleTrial
from scoring.model import PullId, TrialStatus


@dataclass(frozen=True, slots=True)
class Heard:
    """A trial and what it took."""

    trial: BundleTrial
    took: Took
    condition: Condition


def heard(
    pull: PullId, condition: Condition, review: Review, *, rounds: Sequence[str], seconds: bool
) -> Iterator[Heard]:
    """A review as a trial, and each earlier round of it as one of a condition of its own.

    Args:
        pull: What the pull request is called in the bundle.
        condition: Under which it was reviewed.
        review: What came of it.
        rounds: The rounds before the last that any review of this condition had. A review that ended sooner, since
            nothing changed any more, stands in later ones as it was.
        seconds: Whether measured time goes into the trial.
    """
    held = {one.name: one for one in review.rounds[:-1]}
    last: Round | None = None
    for name in rounds:
        last = held.get(name, last)
        early = replace(condition, id=of_round(condition.id, name), round=name)
        if last is None:
            yield _heard(
                pull, early, replace(review, remarks=(), failed=review.failed or "there was no such round"), seconds
            )
        else:
            yield _heard(pull, early, replace(review, remarks=last.remarks, usage=last.usage, invalid=()), seconds)
    yield _heard(pull, condition, review, seconds)


def rounds_of(reviews: Iterable[Review]) -> tuple[str, ...]:
    """The names of the rounds before the last, over several reviews, in order."""
    longest = max((one.rounds[:-1] for one in reviews), key=len, default=())
    return tuple(one.name for one in longest)


def _heard(pull: PullId, condition: Condition, review: Review, seconds: bool) -> Heard:
    status = TrialStatus.REVIEWED_FINDINGS if review.remarks else TrialStatus.REVIEWED_CLEAN
    if review.failed:
        status = TrialStatus.ERROR
    comments, candidates = comments_of(review.remarks, condition.id) if status.scored else ((), ())
    trial = BundleTrial(
        pull,
        condition.id,
        status,
        complete=not review.unread,
        reason=review.failed or "; ".join(review.unread[:3]),
        comments=comments,
        candidates=candidates,
        cost=review.usage.cost,
        seconds=review.usage.seconds if seconds else None,
    )
    return Heard(trial, _took(pull, condition, review), condition)


def _took(pull: PullId, condition: Condition, review: Review) -> Took:
    used = review.usage
    tokens = (used.prompt_tokens, used.completion_tokens)
    return Took(pull, condition.id, used.calls, *tokens, review.invalid, review.unread)
