"""From an issue to a run: read, check, plan, record, and say so. Nothing is forked before the plan stands."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, replace

from bot import builtin_runs, commands, neutral, org_suites, plan, render
from bot.forking.asking import is_preflight
from bot.frozen import Frozen
from bot.issue_form import Label, NotAForm
from bot.judging.budget import BudgetError
from bot.judging.choosing import models_of
from bot.model import Problem, Problems, Raw, RepoName, RunId, RunPlan, RunRequest
from bot.org_suites import OwnFiles
from bot.plan_leaks import LeakError
from bot.ports import GitHub, GitHubError, RunRow
from bot.registry import Registry
from bot.workflows import builtin, engine, raws, suites
from bot.workflows.census import homeless, with_notes
from bot.workflows.comments import say_latest, say_once
from bot.workflows.ids import text_key
from bot.workflows.once import Deferred, Refused, try_again_in
from bot.workflows.progress import refresh
from bot.workflows.services import Services, current


def _consider_later(error: Exception, installation: int, repo: str, issue: int, attempt: int = 1) -> None:
    delay = try_again_in(error, attempt)
    if delay is not None:
        at = engine.step("now", lambda: current().clock().timestamp())
        key, again = f"issue-{repo}-{issue}-{at:.0f}", attempt + 1
        engine.enqueue("start", "consider_issue", key, installation, repo, issue, again, delay=delay)
    elif not isinstance(error, GitHubError):
        reason = f"It could not be read ({type(error).__name__}); the App's log says more."
        say(installation, repo, issue, render.refusal_comment(reason, issue=issue, surface=current().surface()))


@engine.workflow("consider_issue", mend=_consider_later)
def consider_issue(installation: int, repo: str, issue: int, attempt: int = 1) -> None:
    """Start the run that an issue asks for, or answer once what is wrong with it.

    Steps: 1. read the issue and decide; 2. answer, or 3. show the progress comment and queue the forks.
    """
    found = engine.step("consider", lambda: _consider(current(), installation, RepoName.parse(repo), issue))
    if "answer" in found:
        say(installation, repo, issue, found["answer"], 1, found.get("version", ""))
    if "run" in found:
        begin(found["run"])


def begin(run: str) -> None:
    """Show that a recorded run is there, and queue what it makes."""
    engine.wake(refresh, "progress", run, 0, run)
    for fork in engine.step("forks", lambda: [row.id for row in current().store.forks(RunId(run))]):
        engine.enqueue("forks", "open_fork", f"open-{run}-{fork}", run, fork, 1)


def _say_later(
    error: Exception, installation: int, repo: str, issue: int, body: str, attempt: int = 1, version: str = ""
) -> None:
    delay = try_again_in(error, attempt)
    if delay is not None:
        _enqueue_say(installation, repo, issue, body, attempt + 1, version, delay)


def _enqueue_say(installation: int, repo: str, issue: int, body: str, attempt: int, version: str, delay: float) -> None:
    at = engine.step("now", lambda: current().clock().timestamp())
    key = hashlib.sha256(f"{repo} {issue} {body} {at}".encode()).hexdigest()[:24]
    engine.enqueue("events", "say", f"say-{key}", installation, repo, issue, body, attempt, version, delay=delay)


@engine.workflow("say", mend=_say_later)
def say(installation: int, repo: str, issue: int, body: str, attempt: int = 1, version: str = "") -> None:
    """Say something on an issue once, now or when the content limits let us.

    With a version, a comment of ours that has the same marker is brought up to date.
    """
    try:
        if version:
            say_latest(installation, RepoName.parse(repo), issue, body, version)
        else:
            say_once(installation, RepoName.parse(repo), issue, body)
    except Deferred as deferred:
        delay = (deferred.until - current().clock()).total_seconds()
        _enqueue_say(installation, repo, issue, body, attempt, version, delay)
    except Refused:
        # The issue is locked or gone: there is nobody left to tell.
        return


def _consider(services: Services, installation: int, repo: RepoName, number: int) -> engine.Json:
    if not services.control(repo.owner).same_as(repo):
        return {"ignored": "not the control repository"}
    github = services.github(installation)
    issue = github.issue(repo, number)
    if not is_of(issue, repo):
        return {"ignored": "it was transferred to another repository, whose people this one's permissions do not bind"}
    ours = github.identity()
    author = raws.author(issue)
    by_us = author is not None and author.login.lower() == ours.login.lower()
    if author is None or (by_us and not is_preflight(str(issue.get("title")))):
        return {"ignored": "opened by us, or by an account that is gone"}
    earlier = services.store.runs_of_issue(int(issue["id"]))
    if earlier:
        return _known(services, github, earlier[0], issue)
    # We ask ourselves on the word of whoever holds our settings.
    refusal = None if by_us else commands.may_start(github.permission(repo, author.login), author, ours.slug)
    if refusal is not None:
        return {"answer": render.refusal_comment(refusal, issue=number, surface=services.surface())}
    asked = _asked(services, github, repo, issue.get("body"))
    if not isinstance(asked, Asked):
        return _unusable(services, repo, number, asked, text_key(issue.get("body")))
    origin = Origin(int(issue["id"]), number, installation, repo, text_key(issue.get("body")))
    try:
        run = _record(services, github, origin, RunId(f"{issue['id']}-1"), asked.request, asked.frozen)
    except LeakError as leak:
        return {"answer": render.refusal_comment(str(leak), issue=number, surface=services.surface())}
    return {"run": run, **_mended(services, repo, number, origin.asked_by)}


def _known(services: Services, github: GitHub, run: RunRow, issue: Raw) -> engine.Json:
    """An issue whose run has begun: the run goes on, and an edit that asks for something else is refused."""
    found: engine.Json = {"run": run.id}
    if run.plan.asked_by in ("", text_key(issue.get("body"))):
        return found
    asked = _asked(services, github, run.control_repo, issue.get("body"), starting=False)
    if isinstance(asked, Asked) and asked.request == run.plan.request:
        return found
    said = render.edited_comment(run.stage, issue=run.issue, surface=services.surface(run))
    return found | {"answer": said}


def _unusable(services: Services, repo: RepoName, issue: int, asked: Problems | NotAForm, version: str) -> engine.Json:
    url, surface = form_url(services, repo), services.surface()
    if isinstance(asked, NotAForm):
        said = render.not_a_form_comment(asked.reason, url, issue=issue, surface=surface)
    else:
        said = render.problems_comment(asked, url, issue=issue, surface=surface)
    return {"answer": said, "version": version}


def _mended(services: Services, repo: RepoName, issue: int, version: str) -> engine.Json:
    """What stands in the issue because its text could not be used is put right once it can."""
    for kind in ("problems", "not-a-form"):
        if services.ledger.result(f"comment {repo}#{issue} {render.marker(kind, issue)}") is not None:
            return {"answer": render.mended_comment(kind, issue=issue), "version": version}
    return {}


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that can be carried out, with what of the organisation's own it needs."""

    request: RunRequest
    frozen: Frozen


def _asked(
    services: Services, github: GitHub, repo: RepoName, body: str | None, *, starting: bool = True
) -> Asked | Problems | NotAForm:
    """What an issue's text asks for; if it is about to start, also whether it can be paid and nobody is in the way."""
    own = suites.own_files(github, repo)
    registry = suites.registry_with(services, github, own)
    usable = services.registry if isinstance(registry, Problems) else registry
    request = _read(services, body, own, usable)
    if isinstance(request, NotAForm):
        return request
    if isinstance(registry, Problems):
        return registry
    if isinstance(request, RunRequest) and starting:
        public = not (github.repository(repo) or {}).get("private", False)
        leaving = org_suites.would_leave(request, public_control=public)
        unfit = leaving or homeless(github, repo) or _unpriced(services, request) or clash(services, repo, request)
        request = unfit or request
    return request if isinstance(request, Problems) else Asked(request, org_suites.freeze(own, usable, request))


def is_of(issue: Raw, repo: RepoName) -> bool:
    """Whether an issue is still where it was looked for: GitHub leads from a transferred one to its new place."""
    address = issue.get("repository_url")
    return not address or str(address).lower().endswith(f"/repos/{repo}".lower())


def form_url(services: Services, repo: RepoName) -> str:
    """Where the issue form is filled in."""
    return f"{services.web_url}/{repo}/issues/new?template=benchmark.yml"


def _read(services: Services, body: str | None, own: OwnFiles, registry: Registry) -> RunRequest | Problems | NotAForm:
    packaged = {name: [pull.id for pull in services.load_suite(name).pulls] for name in services.suite_names()}
    return suites.request_of(
        body,
        own,
        packaged,
        reviewers=registry.reviewers,
        judges=lambda name: judge_problem(services, name),
        default_judge=services.default_judge,
        default_publish=services.publish,
        built_in=lambda spec: builtin.problem(services, spec),
    )


def judge_problem(services: Services, name: str) -> str | None:
    """Why a judge cannot judge; None if it can."""
    try:
        services.judge(name)
    except ValueError as error:
        return str(error)
    return None


def _unpriced(services: Services, request: RunRequest) -> Problems | None:
    problem = unpriced(services, request.max_cost, request.judge)
    told = None if problem is None else Problems((Problem(Label.COST.value, problem),))
    return told or builtin.no_price(services, request) or builtin.no_posting(request)


def unpriced(services: Services, max_cost: float | None, judge: str) -> str | None:
    """Why nobody can keep a judge to a cost limit; it must be known before anybody is set to work."""
    models = models_of(services.judge(judge))
    if not models:
        return None
    try:
        services.judging(max_cost, "").budget.check(models)
    except BudgetError as error:
        return str(error)
    return None


def clash(services: Services, repo: RepoName, request: RunRequest) -> Problems | None:
    """Two active runs of one suite would show bots the same pull request twice, and each other's comments."""
    for run in services.store.active_runs():
        if run.plan.org.lower() == repo.owner.lower() and run.plan.request.suite == request.suite:
            message = f"the run in issue {run.issue} uses this suite and is not over; wait for it, or cancel it there"
            return Problems((Problem("Suite", message),))
    return None


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a run was asked for."""

    issue_id: int
    issue: int
    installation: int
    repo: RepoName
    asked_by: str = ""
    """A hash of the text that asked."""
    follows: str = ""
    """The run that is repeated in part."""


def record(services: Services, of: RunRow, run: RunId, request: RunRequest) -> RunId:
    """Write down a run that repeats a part of another one.

    Raises:
        ValueError: what it asks for is no longer there.
    """
    origin = Origin(of.issue_id, of.issue, of.installation, of.control_repo, follows=of.id)
    return _record(services, services.github(of.installation), origin, run, request, of.plan.frozen)


def _record(
    services: Services, github: GitHub, origin: Origin, run: RunId, request: RunRequest, frozen: Frozen
) -> RunId:
    control = github.repository(origin.repo) or {}
    made = _plan(services, github, origin.repo, run, request, frozen)
    row = RunRow(
        id=run,
        issue_id=origin.issue_id,
        installation=origin.installation,
        control_repo=origin.repo,
        issue=origin.issue,
        plan=replace(made, asked_by=origin.asked_by, follows=origin.follows),
        secret=_secret(services, run),
        stage="forking",
        created_at=services.clock(),
        public=not control.get("private", False),
    )
    services.store.create_run(row, request.reviewers)
    return run


def _secret(services: Services, run: RunId) -> bytes:
    """Names, branches and commits of a run derive from this: the same on a retry, unguessable, never the same twice."""
    return hmac.new(services.run_key, f"run {run}".encode(), hashlib.sha256).digest()


def _plan(
    services: Services, github: GitHub, repo: RepoName, run: RunId, request: RunRequest, frozen: Frozen
) -> RunPlan:
    registry = org_suites.frozen_registry(frozen, services.registry)
    known = builtin_runs.with_built_in(registry, request.built_in)
    suite = org_suites.frozen_suite(frozen) or services.load_suite(request.suite)
    made = plan.make_plan(
        run,
        repo.owner,
        request,
        suite,
        [entry for name in request.reviewers if (entry := known.get(name)) is not None],
        secret=_secret(services, run),
        author_is_user=github.author().is_user,
        write_limits=services.limits,
        names=neutral,
        keeps_quotas=services.keeps_quotas,
        workflows_granted=services.workflows_granted,
    )
    made = builtin.estimated(services, made, suite)
    return replace(with_notes(made, github, registry.reviewers), frozen=frozen)
