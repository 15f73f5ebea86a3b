"""Built-in reviewers in a run: they review what a fork holds, here and off GitHub, and end their trials themselves.

What they say is kept in a file before the trial is settled, and nobody else sees it before every trial is over, unless
it is to be posted on a fork that is the reviewer's own. A review that is killed is made again; what a model had
answered by then is not asked again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from pydantic import TypeAdapter

from bot import builtin_runs
from bot.issue_form import Label
from bot.judging.asking import Call, Caller, Means
from bot.judging.budget import BudgetError, Forecast
from bot.model import ForkId, ForkPlan, Problem, Problems, ReviewerBudget, RunId, RunPlan, RunRequest, Settled
from bot.ports import ForkCommits, ForkRow, GitFailure, Json, RunRow, TwoTrees
from bot.render.remarks import review_comment
from bot.reviewers.changes import change_of
from bot.reviewers.choose import choose
from bot.reviewers.diffs import between, written
from bot.reviewers.means import ReviewMeans
from bot.reviewers.offline import forecast_of, plus, reviewed
from bot.reviewers.protocol import Change, Review
from bot.reviewers.record import Reviewed, file_name, status_of, told
from bot.workflows import builtin_asks, engine, raws
from bot.workflows.collect import settle_fork_if_done
from bot.workflows.fork import built
from bot.workflows.once import Deferred, Refused, Write, mend_seconds, write_once
from bot.workflows.progress import refresh_soon
from bot.workflows.services import Services, current
from goldens.model import GitPin, Suite
from scoring.judges.asks import Ask, Unscored
from scoring.model import PullId, ReviewerId

MOST_TRIES = 5
"""How often a review is begun that fails for reasons of ours: git, the disk, the database."""
UNDER_WAY = ("forking", "waiting")
_LONGEST_REASON = 500
_REVIEWED = TypeAdapter(Reviewed)


# --- before a run -----------------------------------------------------------------------------------------------


def problem(services: Services, spec: str) -> str | None:
    """Why a request may not have a built-in reviewer; None if it may."""
    refused = builtin_runs.refusal(spec, services.review_models)
    if refused is not None:
        return refused
    try:
        choose(builtin_runs.reviewing(spec), ReviewMeans(services.judging(None, "")))
    except ValueError as error:
        return str(error)
    return None


def unpriced(services: Services, request: RunRequest) -> str | None:
    """Why nobody can keep the built-in reviewers to the request's cost limit; None if it can be kept."""
    models = {model for spec in request.built_in if (model := builtin_runs.model_of(spec)) is not None}
    try:
        services.judging(request.max_cost, "").budget.check(sorted(models))
    except BudgetError as error:
        return str(error)
    return None


def no_price(services: Services, request: RunRequest) -> Problems | None:
    """The same as a problem of the request."""
    told = unpriced(services, request)
    return None if told is None else Problems((Problem(Label.COST.value, told),))


def no_posting(request: RunRequest) -> Problems | None:
    """Why remarks may not be posted as the request wants it."""
    told = builtin_runs.cannot_post(request)
    return None if told is None else Problems((told,))


def estimated(services: Services, plan: RunPlan, suite: Suite) -> RunPlan:
    """The plan with what its built-in reviewers will ask of models, as far as that can be told before."""
    asking = [spec for spec in plan.request.built_in if builtin_runs.model_of(spec) is not None]
    if not asking:
        return plan
    wanted = {fork.pull for fork in plan.forks}
    changes = {
        pull.id: change_of(pull) for pull in suite.pulls if pull.id in wanted and not isinstance(pull.source, GitPin)
    }
    means = ReviewMeans(services.judging(None, ""))
    known = {spec: _forecast(spec, means, changes) for spec in asking} if len(changes) == len(wanted) else {}
    notes = [_note(spec, known.get(spec), len(wanted)) for spec in asking]
    if plan.request.max_cost is None:
        notes.append("No maximum LLM cost is set; reviewing with models will cost what it costs.")
    budgets = tuple(_priced(budget, known.get(budget.reviewer)) for budget in plan.budgets)
    return replace(plan, warnings=(*plan.warnings, *notes), budgets=budgets)


def _forecast(spec: str, means: ReviewMeans, changes: Mapping[PullId, Change]) -> Forecast:
    reviewer, total = choose(builtin_runs.reviewing(spec), means), Forecast(0, 0, 0.0, 0.0)
    for pull, change in changes.items():
        total = plus(total, forecast_of(reviewer, pull, change))
    return total


def _note(spec: str, told: Forecast | None, pulls: int) -> str:
    if told is None:
        return f"What {spec} will ask of a model is known only once its files are fetched; the cost limit holds for it."
    price = "at a price that is not known"
    if told.likely_cost is not None and told.most_cost is not None:
        price = f"about {told.likely_cost:.2f}, at most {told.most_cost:.2f} US dollars"
    return f"{spec} asks a model: {told.calls} calls are still to be made for {pulls} pull requests, {price}."


def _priced(budget: ReviewerBudget, told: Forecast | None) -> ReviewerBudget:
    return budget if told is None else replace(budget, least_cost=told.likely_cost, most_cost=told.most_cost)


# --- a review ---------------------------------------------------------------------------------------------------


def _review_later(error: Exception, run: str, fork: str, reviewer: str, attempt: int) -> None:
    if attempt < MOST_TRIES:
        again = attempt + 1
        seconds = mend_seconds(error)
        builtin_asks.queue(RunId(run), ForkId(fork), reviewer, again, again=f".{again}", delay=seconds)
        return
    reason = f"it failed {attempt} times, at last with {type(error).__name__}: {error}"[:_LONGEST_REASON]
    engine.step("give up", lambda: _settle(current(), RunId(run), ForkId(fork), reviewer, Review((), failed=reason)))
    settle_fork_if_done(RunId(run), ForkId(fork))


@engine.workflow(builtin_asks.WORKFLOW, mend=_review_later)
def review_built_in(run: str, fork: str, reviewer: str, attempt: int) -> None:
    """Review one fork.

    Steps: 1. review and keep what was said; 2. post it, where that is wanted; 3. settle the trial; 4. end the fork if
    all its trials are over.
    """
    key, place, who = RunId(run), ForkId(fork), ReviewerId(reviewer)
    if engine.step("review", lambda: _review(current(), key, place, who)):
        try:
            note = _posted(key, place, who) if builtin_runs.posts(who) else ""
        except Deferred as deferred:
            delay = (deferred.until - current().clock()).total_seconds()
            builtin_asks.queue(key, place, who, attempt, again=f".{engine.unique()}", delay=delay)
            return
        if engine.step("settle", lambda: _end(current(), key, place, who, note)):
            refresh_soon(key)
    settle_fork_if_done(key, place)


def _review(services: Services, run_id: RunId, fork_id: ForkId, reviewer: ReviewerId) -> bool:
    """Whether there is a review, and a trial that waits for it."""
    run, fork = services.store.run(run_id), services.store.fork(run_id, fork_id)
    if not _wanted(services, run_id, fork_id, reviewer):
        return False
    path = _path(services, run_id, fork.pull_id, reviewer)
    if path.exists():
        return True
    said = _said(services, run, fork, reviewer)
    if not _wanted(services, run_id, fork_id, reviewer):
        # Cancelled while it was under way: what was cut short is nobody's review.
        return False
    _keep(path, told(Reviewed(fork.pull_id, reviewer, said)))
    return True


def _posted(run_id: RunId, fork_id: ForkId, reviewer: ReviewerId) -> str:
    """Say on the fork what was found, once; empty, or why it could not be said.

    Raises:
        Deferred: see `write_once`.
    """
    services = current()
    run, fork = services.store.run(run_id), services.store.fork(run_id, fork_id)
    said = _read(_path(services, run_id, fork.pull_id, reviewer)).review
    if said.failed or fork.repo is None or fork.pull is None:
        return ""
    github, repo, pull = services.github(run.installation), fork.repo, fork.pull
    body = review_comment(reviewer, said.remarks, services.surface(run))

    def find() -> Json | None:
        author = github.author().login
        ours = (one for one in github.issue_comments(repo, pull) if raws.written_by(one, author))
        return next(({"id": one["id"]} for one in ours if one.get("body") == body), None)

    def make() -> Json:
        return {"id": github.comment(repo, pull, body, as_author=True)["id"]}

    key = f"remarks {run_id} {fork_id} {reviewer}"
    try:
        write_once(Write(key, "remarks", github.account(author=True), find=find, make=make, fresh=True))
    except Refused as refused:
        return f"what it said could not be posted: {refused}"
    return ""


def _end(services: Services, run: RunId, fork: ForkId, reviewer: ReviewerId, note: str) -> bool:
    said = _read(_path(services, run, services.store.fork(run, fork).pull_id, reviewer)).review
    return _settle(services, run, fork, reviewer, said, note)


def _wanted(services: Services, run: RunId, fork: ForkId, reviewer: ReviewerId) -> bool:
    if services.store.run(run).stage not in UNDER_WAY:
        return False
    return any(one.reviewer == reviewer and one.status is None for one in services.store.trials(run, fork))


def _settle(services: Services, run: RunId, fork: ForkId, reviewer: str, said: Review, note: str = "") -> bool:
    status = status_of(said)
    reason = "; ".join(filter(None, [note, said.failed or "; ".join(said.unread)]))[:_LONGEST_REASON]
    over = Settled(status, status.scored and not said.unread, reason)
    return services.store.settle(run, fork, ReviewerId(reviewer), over, services.clock(), None)


def _said(services: Services, run: RunRow, fork: ForkRow, reviewer: ReviewerId) -> Review:
    refused = builtin_runs.refusal(reviewer, services.review_models)
    if refused is not None:
        # The operator has thought otherwise since the run was planned.
        return Review((), failed=f"unable: {refused}")
    asking = services.judging(run.plan.request.max_cost, run.id)
    caller = _WhileUnderWay(asking, lambda: services.store.run(run.id).stage in UNDER_WAY)
    try:
        chosen = choose(builtin_runs.reviewing(reviewer), ReviewMeans(asking, caller=caller))
    except ValueError as error:
        return Review((), failed=f"unable: {error}")
    plan = next(one for one in run.plan.forks if one.id == fork.id)
    assert fork.commits is not None, "a review is queued once its fork stands"
    return reviewed(chosen, fork.pull_id, _change(services, run, plan, fork.commits))


class _WhileUnderWay(Caller):
    """Sends nothing more once the run has been ended."""

    def __init__(self, means: Means, under_way: Callable[[], bool]) -> None:
        super().__init__(means)
        self._under_way = under_way

    def call(self, ask: Ask) -> Call | Unscored:
        """The answer to an ask."""
        if not self._under_way():
            self.stop()
        return super().call(ask)


def _change(services: Services, run: RunRow, plan: ForkPlan, commits: ForkCommits) -> Change:
    """What the fork shows to everybody: its texts, and its two trees as they were pushed."""
    trees = _trees(services, run, plan, commits)
    diff = written(between(trees.base, trees.head))
    return Change(plan.title, plan.body, diff, trees.base, trees.head, whole=trees.whole)


def _trees(services: Services, run: RunRow, plan: ForkPlan, commits: ForkCommits) -> TwoTrees:
    try:
        return services.builder.trees(run.id, plan.id, commits)
    except GitFailure:
        # The scratch repository may be another machine's, or lost; built again it gives the same commits.
        built(run, plan)
        return services.builder.trees(run.id, plan.id, commits)


# --- what was said ----------------------------------------------------------------------------------------------


def kept(services: Services, run: RunId) -> Mapping[tuple[PullId, ReviewerId], Reviewed]:
    """What the built-in reviewers of a run said, of every trial that is scored.

    Raises:
        OSError: what one said is not there any more.
    """
    built_in = services.store.run(run).plan.request.built_in
    pull_of = {fork.id: fork.pull_id for fork in services.store.forks(run)}
    found: dict[tuple[PullId, ReviewerId], Reviewed] = {}
    for trial in services.store.trials(run):
        path = _path(services, run, pull_of[trial.fork], trial.reviewer)
        scored = trial.status is not None and trial.status.scored
        if trial.reviewer in built_in and (scored or path.exists()):
            found[pull_of[trial.fork], trial.reviewer] = _read(path)
    return found


def _path(services: Services, run: RunId, pull: PullId, reviewer: ReviewerId) -> Path:
    return services.reviews / run / file_name(pull, reviewer)


def _read(path: Path) -> Reviewed:
    return _REVIEWED.validate_json(path.read_bytes())


def _keep(path: Path, said: Reviewed) -> None:
    """Whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_suffix(f".{os.getpid()}")
    scratch.write_bytes(_REVIEWED.dump_json(said, indent=1))
    scratch.replace(path)
