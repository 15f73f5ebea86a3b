"""A request becomes a plan: which forks for which reviewers, how long it takes, and what is likely to go wrong.

The plan is made before anything is done or paid for, and is the same on every retry: all that varies between runs comes
from the run's secret through `Namer`. Warnings are shown while bots can still read, so they hold no login and no
command of a bot.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from bot import builtin_runs, pacing
from bot.model import (
    ForkId,
    ForkPlan,
    Isolation,
    Publish,
    ReviewerBudget,
    RunId,
    RunPlan,
    RunRequest,
    TriggerKind,
    Visibility,
    WriteLimits,
)
from bot.neutral import neutral_text
from bot.neutral_reviewers import action_problem
from bot.plan_leaks import check_leaks
from bot.registry import Reviewer
from bot.registry_entry import FactName
from goldens.model import GitPin, GoldenPull, Suite
from scoring.judges.vendors import models_in, same_vendor
from scoring.model import ReviewerId


class Namer(Protocol):
    """What forks are called: derived from the run's secret, telling nothing to who does not hold it."""

    def repository_names(self, secret: bytes, fork_id: ForkId, *, forbidden: Sequence[str] = ()) -> tuple[str, ...]:
        """The names to try for the fork's repository, in order, none with a part of a forbidden text. Never empty."""
        ...

    def branches(self, secret: bytes, fork_id: ForkId) -> tuple[str, str]:
        """The fork's base and head branch."""
        ...


def make_plan(
    run: RunId,
    org: str,
    request: RunRequest,
    suite: Suite,
    reviewers: Sequence[Reviewer],
    *,
    secret: bytes,
    author_is_user: bool,
    write_limits: WriteLimits,
    names: Namer,
    keeps_quotas: bool = True,
    workflows_granted: bool = False,
) -> RunPlan:
    """Plan a run.

    Raises:
        ValueError: the request names a reviewer or pull request that is not among those given, or nothing at all;
            or the namer gives two forks the same names.
    """
    chosen = _chosen_reviewers(request, reviewers)
    forks = fork_plans(request, suite, reviewers, secret=secret, names=names)
    check_leaks(run, suite, forks, secret)
    load = _load(forks, chosen, author_is_user)
    wait = max(_wait_minutes(request, reviewer) for reviewer in chosen)
    budgets = tuple(_budget(reviewer, forks, keeps_quotas) for reviewer in chosen)
    pace = 60 * max(budget.hours for budget in budgets)
    made = 60.0 * ((len(forks) - 1) // write_limits.repositories_per_hour)
    return RunPlan(
        run=run,
        org=org,
        request=request,
        suite_hash=suite.ref.hash,
        forks=forks,
        warnings=(
            *_warnings(request, chosen, load, author_is_user, write_limits),
            *_action_warnings(chosen, workflows_granted),
            *_pace_notes(chosen, budgets, made, write_limits),
        ),
        minutes=_minutes(load, wait, max(pace, made), write_limits),
        writes=load.total,
        budgets=budgets,
    )


def fork_plans(
    request: RunRequest, suite: Suite, reviewers: Sequence[Reviewer], *, secret: bytes, names: Namer
) -> tuple[ForkPlan, ...]:
    """The forks that a request asks for, with everything we author of them.

    Raises:
        ValueError: as `make_plan`.
    """
    chosen, pulls = _chosen_reviewers(request, reviewers), _chosen_pulls(request, suite)
    return _forks(_fork_members(pulls, chosen, request.isolation), secret, names)


# --- forks ------------------------------------------------------------------------------------------------------


def _chosen_reviewers(request: RunRequest, reviewers: Sequence[Reviewer]) -> tuple[Reviewer, ...]:
    known = {reviewer.id: reviewer for reviewer in reviewers}
    unknown = [reviewer for reviewer in request.reviewers if reviewer not in known]
    if unknown:
        raise ValueError(f"the request names reviewers nobody knows: {', '.join(unknown)}")
    if not request.reviewers:
        raise ValueError("the request names no reviewer")
    return tuple(known[reviewer] for reviewer in dict.fromkeys(request.reviewers))


def _chosen_pulls(request: RunRequest, suite: Suite) -> tuple[GoldenPull, ...]:
    if request.suite != suite.ref.id:
        raise ValueError(f"the request is for suite {request.suite}, but the suite given is {suite.ref.id}")
    wanted = None if request.pulls is None else set(request.pulls)
    unknown = sorted((wanted or set()) - {pull.id for pull in suite.pulls})
    if unknown:
        raise ValueError(f"suite {suite.ref.id} has no pull request {', '.join(unknown)}")
    chosen = tuple(pull for pull in suite.pulls if wanted is None or pull.id in wanted)
    if not chosen:
        raise ValueError(f"the request leaves no pull request of suite {suite.ref.id}")
    return chosen


_Member = tuple[ForkId, GoldenPull, tuple[ReviewerId, ...]]


def _fork_members(pulls: Sequence[GoldenPull], chosen: Sequence[Reviewer], isolation: Isolation) -> Iterator[_Member]:
    """Who says nothing where others could read it needs no fork of its own."""
    everybody = tuple(ReviewerId(reviewer.id) for reviewer in chosen)
    apart = tuple(ReviewerId(reviewer.id) for reviewer in builtin_runs.on_github(chosen))
    beside = tuple(one for one in everybody if one not in apart)
    for pull in pulls:
        if isolation is Isolation.SHARED or not apart:
            yield ForkId(pull.id), pull, everybody
            continue
        for one in apart:
            name = ForkId(f"{pull.id}~{builtin_runs.fork_part(one)}")
            yield name, pull, (one, *beside) if one == apart[0] else (one,)


def _forks(members: Iterator[_Member], secret: bytes, names: Namer) -> tuple[ForkPlan, ...]:
    forks: dict[ForkId, ForkPlan] = {}
    taken: set[str] = set()
    for fork, pull, reviewers in members:
        if fork in forks:
            raise ValueError(f"two forks would have the id {fork}; a pull request id may not hold ~")
        base, head = names.branches(secret, fork)
        wanted = names.repository_names(secret, fork, forbidden=_telling(pull, reviewers))
        free = tuple(name for name in wanted if name not in taken)
        if not free or base == head:
            raise ValueError(f"fork {fork} has no repository name of its own, or its two branches are the same")
        taken.update(free)
        title, body = neutral_text(pull.title), neutral_text(pull.body)
        forks[fork] = ForkPlan(fork, pull.id, free, base, head, title, body, reviewers)
    return tuple(forks.values())


def _telling(pull: GoldenPull, reviewers: Sequence[ReviewerId]) -> tuple[str, ...]:
    """Texts that would give away where a fork comes from or whom it is for."""
    origin = (pull.source.upstream, str(pull.source.number)) if isinstance(pull.source, GitPin) else ()
    return (*origin, *reviewers)


# --- time and writes --------------------------------------------------------------------------------------------

_RUN_COMMENTS = 2
"""The progress comment and the leaderboard; edits are no new content."""


@dataclass(frozen=True, slots=True)
class _Load:
    """Content writes by identity and phase. Without a user token the App is the author and `author_opens` is 0."""

    app_opens: int
    author_opens: int
    app_publishes: int

    @property
    def total(self) -> int:
        return self.app_opens + self.author_opens + self.app_publishes

    @property
    def busiest(self) -> int:
        """The writes of the identity that makes the most."""
        return max(self.app_opens + self.app_publishes, self.author_opens)


def _load(forks: Sequence[ForkPlan], chosen: Sequence[Reviewer], author_is_user: bool) -> _Load:
    """Per fork a repository and a pull request; per trial an ask, where one is needed, and a check run."""
    asked = {reviewer.id for reviewer in chosen if reviewer.trigger.kind is not TriggerKind.AUTO}
    asked |= {one.id for one in builtin_runs.on_github(chosen) if isinstance(one, builtin_runs.BuiltIn)}
    asks = sum(reviewer in asked for fork in forks for reviewer in fork.reviewers)
    trials = sum(len(fork.reviewers) for fork in forks)
    by_author = len(forks) + asks
    return _Load(
        app_opens=len(forks) + (0 if author_is_user else by_author),
        author_opens=by_author if author_is_user else 0,
        app_publishes=trials + _RUN_COMMENTS,
    )


def _wait_minutes(request: RunRequest, reviewer: Reviewer) -> float:
    return reviewer.wait.deadline / 60 if request.wait_minutes is None else request.wait_minutes


def least_minutes(limits: WriteLimits, writes: int) -> float:
    """The least time after which the last of so many writes of one identity can be made."""
    if writes <= 0:
        return 0.0
    hours, rest = divmod(writes - 1, limits.per_hour)
    return max(60.0 * hours + _paced(limits, rest), _paced(limits, writes - 1))


def _paced(limits: WriteLimits, gaps: int) -> float:
    return max(gaps * limits.spacing_seconds / 60, float(gaps // limits.per_minute))


def _minutes(load: _Load, wait: float, pace: float, limits: WriteLimits) -> float:
    """The longest it should take: open everything, wait for the slowest reviewer, publish.

    Phases share an hour's budget, so the whole is never shorter than the busiest identity's writes in one go.
    """
    opening = max(least_minutes(limits, load.app_opens), least_minutes(limits, load.author_opens), pace)
    return max(opening + wait + least_minutes(limits, load.app_publishes), least_minutes(limits, load.busiest))


def _budget(reviewer: Reviewer, forks: Sequence[ForkPlan], keeps_quotas: bool) -> ReviewerBudget:
    trials = sum(reviewer.id in fork.reviewers for fork in forks)
    hours = pacing.hours(reviewer, trials) if keeps_quotas else 0.0
    cost = reviewer.cost
    return ReviewerBudget(
        ReviewerId(reviewer.id),
        trials,
        hours,
        None if cost is None else cost.least * trials,
        None if cost is None else cost.most * trials,
    )


# --- warnings ---------------------------------------------------------------------------------------------------


def _warnings(
    request: RunRequest, chosen: Sequence[Reviewer], load: _Load, author_is_user: bool, limits: WriteLimits
) -> Iterator[str]:
    for reviewer in chosen:
        if not author_is_user:
            yield from _author_warnings(reviewer)
        yield from _reviewer_warnings(request, reviewer)
        yield from _basis_warnings(reviewer)
    yield from _run_warnings(request, len(builtin_runs.on_github(chosen)))
    yield from _budget_warnings(load, limits)


def _action_warnings(chosen: Sequence[Reviewer], granted: bool) -> Iterator[str]:
    for reviewer in chosen:
        problem = action_problem(reviewer, granted=granted)
        if problem is not None:
            yield f"{reviewer.name} will be unable to review: {problem}."


def _author_warnings(reviewer: Reviewer) -> Iterator[str]:
    remedy = "set ASSAY_AUTHOR_TOKEN to a user's token so that a person is the author"
    if reviewer.reviews_bot_authors is False:
        yield f"{reviewer.name} does not review pull requests that a bot opened and will likely skip all: {remedy}."
    elif reviewer.reviews_bot_authors is None:
        yield f"Whether {reviewer.name} reviews pull requests that a bot opened is unconfirmed; to be safe, {remedy}."
    how = _ASKED_BY.get(reviewer.trigger.kind)
    if how is not None:
        yield f"{reviewer.name} is asked by {how}, which many bots heed only from a person: {remedy}."


_ASKED_BY: Mapping[TriggerKind, str] = {
    TriggerKind.COMMENT: "a comment",
    TriggerKind.REVIEW_REQUEST: "a review request",
}


def _reviewer_warnings(request: RunRequest, reviewer: Reviewer) -> Iterator[str]:
    if reviewer.retired:
        yield f"{reviewer.name} is no longer offered by its vendor and will likely not answer."
    for model in models_in(request.judge):
        if warning := same_vendor(model, reviewer.vendor):
            yield f"{reviewer.name}: {warning}."
    floor, known = reviewer.wait.floor / 60, reviewer.wait.deadline / 60
    if request.wait_minutes is not None and floor <= request.wait_minutes < known:
        yield (
            f"The wait limit of {request.wait_minutes:g} minutes is used instead of the {known:g} minutes that suit "
            f"{reviewer.name}; what it says later is kept, and not scored."
        )
    if request.wait_minutes is not None and request.wait_minutes < floor:
        yield (
            f"The wait limit of {request.wait_minutes:g} minutes is shorter than the {floor:g} minutes "
            f"{reviewer.name} is known to need, so its trials will be cut off at the limit."
        )
    mode = request.modes.get(ReviewerId(reviewer.id), request.publish)
    if reviewer.publish_terms and mode is not Publish.PRIVATE:
        yield (
            f"The terms of {reviewer.name} are reported to speak of publishing comparisons, and this run publishes "
            f"{mode.value} results: {' '.join(reviewer.publish_terms.split())}"
        )


def _basis_warnings(reviewer: Reviewer) -> Iterator[str]:
    doubtful = [words for fact, words in _TOLD_BY if reviewer.is_unconfirmed(fact)]
    if doubtful:
        yield (
            f"{' and '.join(doubtful).capitalize()} is unconfirmed for {reviewer.name}: if it stays silent, that "
            "may be ours. `assay preflight` tries it out on one small pull request."
        )


_TOLD_BY: tuple[tuple[FactName, str], ...] = (
    ("trigger", "how to ask"),
    ("signals", "how to tell that a review is over"),
)


def _run_warnings(request: RunRequest, reviewers: int) -> Iterator[str]:
    if request.visibility is Visibility.PUBLIC:
        yield (
            "Forks are public: anybody can read and index them while they exist, so the suite's pull requests may "
            "become known to the models behind the reviewers."
        )
    if request.isolation is Isolation.SHARED and reviewers > 1:
        yield (
            "All reviewers share a fork, so each can read what the others wrote before it; how much there was to read "
            "is recorded."
        )
    if request.isolation is Isolation.PER_REVIEWER and reviewers > 1:
        yield (
            "Isolation per reviewer holds only if each reviewer is installed on selected repositories; one that is "
            "installed on all repositories answers on the other reviewers' forks as well."
        )
    if models_in(request.judge) and request.max_cost is None:
        yield "No maximum LLM cost is set; judging will cost what it costs."


def _pace_notes(
    chosen: Sequence[Reviewer], budgets: Sequence[ReviewerBudget], made: float, limits: WriteLimits
) -> Iterator[str]:
    for reviewer, budget in zip(chosen, budgets, strict=True):
        yield from _quota_notes(reviewer, budget)
        if budget.least_cost is not None and budget.most_cost is not None:
            note = f" ({' '.join(reviewer.cost.note.split())})" if reviewer.cost and reviewer.cost.note else ""
            yield (
                f"{reviewer.name} charges for each review: about {budget.least_cost:.2f} to {budget.most_cost:.2f} US "
                f"dollars for {budget.trials} trials{note}."
            )
    if made:
        yield (
            f"Repositories are made at {limits.repositories_per_hour} an hour at most, so the last one is made after "
            f"{made / 60:g} hours; an interruption costs nothing, whatever is made already stays."
        )


def _quota_notes(reviewer: Reviewer, budget: ReviewerBudget) -> Iterator[str]:
    if not reviewer.quotas:
        return
    quota = reviewer.quotas[0]
    plan = f" ({' '.join(quota.plan.split())})" if quota.plan else ""
    time = "an hour" if quota.hours == 1 else f"in {quota.hours:g} hours"
    given = f"{reviewer.name} gives {quota.reviews} reviews {time}{plan}"
    if budget.hours:
        yield f"{given}: its {budget.trials} trials are spread over {budget.hours:g} hours."
    elif budget.trials > quota.reviews:
        yield f"{given}, and this run asks for {budget.trials}: the rest will likely be refused."


def _budget_warnings(load: _Load, limits: WriteLimits) -> Iterator[str]:
    if load.busiest > limits.per_hour:
        least = least_minutes(limits, load.busiest)
        yield (
            f"The run needs {load.busiest} content writes by one account, and GitHub allows about {limits.per_hour} an "
            f"hour: it cannot end in less than {least:.0f} minutes, whatever the reviewers do."
        )
