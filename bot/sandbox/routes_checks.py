"""Routes of check runs, check suites and commit statuses."""

from __future__ import annotations

from bot.sandbox import checking, gitstore, shapes_account
from bot.sandbox import shapes_checks as shapes
from bot.sandbox.errors import ApiError, forbidden, not_found, unreadable
from bot.sandbox.routes_git import resolve
from bot.sandbox.routing import Answer, Call, created, only_apps, page, route
from bot.sandbox.state import CheckRun, CheckSuite, Status

_COMMIT = "/repos/<owner>/<repo>/commits/<path:ref>"


def _run(call: Call) -> CheckRun:
    return checking.find_run(call.repo, call.params["run_id"])


@route("POST", "/repos/<owner>/<repo>/check-runs", "checks:write")
def create_run(call: Call) -> Answer:
    """A new check run; only Apps write them."""
    run = checking.create_run(call.world, call.repo, only_apps(call), call.body)
    return created(shapes.check_run(call.links, run))


@route("PATCH", "/repos/<owner>/<repo>/check-runs/<int:run_id>", "checks:write")
def update_run(call: Call) -> Answer:
    """Change one; only the App that made it may."""
    run, app = _run(call), only_apps(call)
    if run.suite.app is not app:
        raise forbidden(
            f"Invalid app_id `{app.id}` - check run can only be modified by the GitHub App that created it."
        )
    checking.update_run(call.world, run, call.body)
    return Answer(shapes.check_run(call.links, run))


@route("GET", "/repos/<owner>/<repo>/check-runs/<int:run_id>", "checks:read")
def get_run(call: Call) -> Answer:
    """One check run."""
    return Answer(shapes.check_run(call.links, _run(call)))


@route("GET", "/repos/<owner>/<repo>/check-runs/<int:run_id>/annotations", "checks:read")
def list_annotations(call: Call) -> Answer:
    """Its annotations."""
    run = _run(call)
    return page(call, run.annotations, lambda one: shapes.annotation(call.links, run, one))


@route("POST", "/repos/<owner>/<repo>/check-runs/<int:run_id>/rerequest", "checks:write", role="write")
def rerequest(call: Call) -> Answer:
    """Ask its App to run it again."""
    checking.emit_run(call.world, "rerequested", _run(call), call.actor)
    return Answer({}, 201)


def _app_id(call: Call) -> int | None:
    text = call.query.get("app_id")
    if text is None:
        return None
    if not (text.isascii() and text.isdigit()):
        raise unreadable(f"app_id: {text[:40]} is not an integer.")
    return int(text)


@route("GET", f"{_COMMIT}/check-runs", "checks:read")
def runs_at_commit(call: Call) -> Answer:
    """The check runs on a commit."""
    runs = checking.runs_at(
        call.repo,
        resolve(call, call.params["ref"]),
        name=call.query.get("check_name"),
        app_id=_app_id(call),
        status=call.query.get("status"),
        latest=call.choice("filter", "latest", "all") == "latest",
    )
    return page(call, runs, lambda run: shapes.check_run(call.links, run), under="check_runs")


def _suite(call: Call, suite: CheckSuite) -> dict[str, object]:
    head = gitstore.log(call.repo.path, suite.head_sha, limit=1)[0]
    return shapes.check_suite(call.links, suite, head)


@route("GET", f"{_COMMIT}/check-suites", "checks:read")
def suites_at_commit(call: Call) -> Answer:
    """The check suites on a commit."""
    sha, app_id = resolve(call, call.params["ref"]), _app_id(call)
    suites = [suite for suite in call.repo.check_suites.values() if suite.head_sha == sha]
    wanted = [suite for suite in suites if app_id in {None, suite.app.id}]
    return page(call, wanted, lambda suite: _suite(call, suite), under="check_suites")


@route("GET", "/repos/<owner>/<repo>/check-suites/<int:suite_id>", "checks:read")
def get_suite(call: Call) -> Answer:
    """One check suite."""
    found = call.repo.check_suites.get(call.params["suite_id"])
    if found is None:
        raise not_found()
    return Answer(_suite(call, found))


@route("GET", "/repos/<owner>/<repo>/check-suites/<int:suite_id>/check-runs", "checks:read")
def runs_of_suite(call: Call) -> Answer:
    """Its check runs."""
    found = call.repo.check_suites.get(call.params["suite_id"])
    if found is None:
        raise not_found()
    return page(call, found.runs, lambda run: shapes.check_run(call.links, run), under="check_runs")


# --- commit statuses --------------------------------------------------------------------------------------------


@route("POST", "/repos/<owner>/<repo>/statuses/<sha>", "statuses:write", role="write")
def create_status(call: Call) -> Answer:
    """Report a state."""
    sha = call.params["sha"]
    if not gitstore.SHA.fullmatch(sha) or gitstore.resolve(call.repo.path, sha) is None:
        raise ApiError(422, f"No commit found for SHA: {sha}")
    made = checking.add_status(call.world, call.repo, sha, call.actor, call.body)
    return created(shapes.status(call.links, call.repo, made))


def _statuses(call: Call) -> tuple[str, list[Status]]:
    sha = resolve(call, call.params["ref"])
    return sha, [status for status in call.repo.statuses if status.sha == sha]


@route("GET", f"{_COMMIT}/statuses", "statuses:read")
def list_statuses(call: Call) -> Answer:
    """All statuses of a commit, newest first."""
    _, found = _statuses(call)
    return page(call, found[::-1], lambda one: shapes.status(call.links, call.repo, one))


@route("GET", f"{_COMMIT}/status", "statuses:read")
def combined_status(call: Call) -> Answer:
    """The newest status of each context, and what they come to."""
    sha, found = _statuses(call)
    state, newest = checking.combined(found)
    extra = {
        "state": state,
        "sha": sha,
        "repository": shapes_account.minimal_repo(call.links, call.repo),
        "commit_url": call.links.repo(call.repo, f"/commits/{sha}"),
        "url": call.links.repo(call.repo, f"/commits/{sha}/status"),
    }

    def shape(status: Status) -> dict[str, object]:
        return shapes.status(call.links, call.repo, status, with_creator=False)

    return page(call, newest, shape, under="statuses", extra=extra)
