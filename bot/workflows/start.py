"""From an issue to a run: read, check, plan, record, and say so. Nothing is forked before the plan stands."""

from __future__ import annotations

import hashlib
import hmac

from bot import commands, neutral, plan, render
from bot.issue_form import Label, NotAForm
from bot.judging.budget import BudgetError
from bot.judging.choosing import models_of
from bot.model import Actor, Problem, Problems, Raw, RepoName, RunId, RunPlan, RunRequest
from bot.ports import GitHub, GitHubError, RunRow
from bot.workflows import engine
from bot.workflows.comments import say_once
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
        say(installation, repo, issue, found["answer"])
    elif "run" in found:
        run = found["run"]
        engine.wake(refresh, "progress", run, 0, run)
        for fork in engine.step("forks", lambda: [row.id for row in current().store.forks(RunId(run))]):
            engine.enqueue("forks", "open_fork", f"open-{run}-{fork}", run, fork, 1)


def _say_later(error: Exception, installation: int, repo: str, issue: int, body: str, attempt: int = 1) -> None:
    delay = try_again_in(error, attempt)
    if delay is not None:
        _enqueue_say(installation, repo, issue, body, attempt + 1, delay)


def _enqueue_say(installation: int, repo: str, issue: int, body: str, attempt: int, delay: float) -> None:
    at = engine.step("now", lambda: current().clock().timestamp())
    key = hashlib.sha256(f"{repo} {issue} {body} {at}".encode()).hexdigest()[:24]
    engine.enqueue("events", "say", f"say-{key}", installation, repo, issue, body, attempt, delay=delay)


@engine.workflow("say", mend=_say_later)
def say(installation: int, repo: str, issue: int, body: str, attempt: int = 1) -> None:
    """Say something on an issue once, now or when the content limits let us."""
    try:
        say_once(installation, RepoName.parse(repo), issue, body)
    except Deferred as deferred:
        delay = (deferred.until - current().clock()).total_seconds()
        _enqueue_say(installation, repo, issue, body, attempt, delay)
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
    if issue["user"] is None or issue["user"]["login"].lower() == ours.login.lower():
        return {"ignored": "opened by us, or by an account that is gone"}
    earlier = services.store.runs_of_issue(int(issue["id"]))
    if earlier:
        return {"run": earlier[0].id}
    author = Actor(issue["user"]["login"], issue["user"]["type"])
    refusal = commands.may_start(github.permission(repo, author.login), author, ours.slug)
    if refusal is not None:
        return {"answer": render.refusal_comment(refusal, issue=number, surface=services.surface())}
    request = _read(services, issue.get("body"))
    if isinstance(request, NotAForm):
        return {
            "answer": render.not_a_form_comment(
                request.reason, form_url(services, repo), issue=number, surface=services.surface()
            )
        }
    if isinstance(request, RunRequest):
        request = _unpriced(services, request) or _clash(services, repo, request) or request
    if isinstance(request, Problems):
        url = form_url(services, repo)
        return {"answer": render.problems_comment(request, url, issue=number, surface=services.surface())}
    return {"run": _record(services, github, installation, repo, issue, request)}


def is_of(issue: Raw, repo: RepoName) -> bool:
    """Whether an issue is still where it was looked for: GitHub leads from a transferred one to its new place."""
    return str(issue["repository_url"]).lower().endswith(f"/repos/{repo}".lower())


def form_url(services: Services, repo: RepoName) -> str:
    """Where the issue form is filled in."""
    return f"{services.web_url}/{repo}/issues/new?template=benchmark.yml"


def _read(services: Services, body: str | None) -> RunRequest | Problems | NotAForm:
    suites = {name: [pull.id for pull in services.load_suite(name).pulls] for name in services.suite_names()}

    def judge_problem(name: str) -> str | None:
        try:
            services.judge(name)
        except ValueError as error:
            return str(error)
        return None

    return commands.read_request(
        body,
        suites=suites,
        reviewers=services.registry.reviewers,
        judges=judge_problem,
        default_judge=services.default_judge,
        default_publish=services.publish,
    )


def _unpriced(services: Services, request: RunRequest) -> Problems | None:
    """A cost limit that nobody can keep must be known before reviewers are set to work."""
    models = models_of(services.judge(request.judge))
    if not models:
        return None
    try:
        services.judging(request.max_cost, "").budget.check(models)
    except BudgetError as error:
        return Problems((Problem(Label.COST.value, str(error)),))
    return None


def _clash(services: Services, repo: RepoName, request: RunRequest) -> Problems | None:
    """Two active runs of one suite would show bots the same pull request twice, and each other's comments."""
    for run in services.store.active_runs():
        if run.plan.org.lower() == repo.owner.lower() and run.plan.request.suite == request.suite:
            message = f"the run in issue {run.issue} uses this suite and is not over; wait for it, or cancel it there"
            return Problems((Problem("Suite", message),))
    return None


def _record(
    services: Services, github: GitHub, installation: int, repo: RepoName, issue: Raw, request: RunRequest
) -> RunId:
    run = RunId(f"{issue['id']}-1")
    control = github.repository(repo) or {}
    row = RunRow(
        id=run,
        issue_id=int(issue["id"]),
        installation=installation,
        control_repo=repo,
        issue=int(issue["number"]),
        plan=_plan(services, github, repo, run, request),
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


def _plan(services: Services, github: GitHub, repo: RepoName, run: RunId, request: RunRequest) -> RunPlan:
    return plan.make_plan(
        run,
        repo.owner,
        request,
        services.load_suite(request.suite),
        [services.reviewer(reviewer) for reviewer in request.reviewers],
        secret=_secret(services, run),
        author_is_user=github.author().is_user,
        write_limits=services.limits,
        names=neutral,
    )
