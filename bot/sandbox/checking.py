"""Rules of check runs, check suites and commit statuses."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from bot.sandbox import gitstore, shapes_checks
from bot.sandbox.errors import ApiError, invalid, not_found, unreadable
from bot.sandbox.state import Account, App, CheckRun, CheckSuite, Repo, Status
from bot.sandbox.world import World

Json = dict[str, Any]
BYTES = 65535
PER_REQUEST = 50
STATUSES = ("queued", "in_progress", "completed")
CONCLUSIONS = ("action_required", "cancelled", "failure", "neutral", "success", "skipped", "timed_out")
STATES = ("error", "failure", "pending", "success")
_ANNOTATION = ("path", "start_line", "end_line", "annotation_level", "message")


def find_run(repo: Repo, number: int) -> CheckRun:
    """A check run by id."""
    found = next((run for suite in repo.check_suites.values() for run in suite.runs if run.id == number), None)
    if found is None:
        raise not_found()
    return found


def suite_for(world: World, repo: Repo, sha: str, app: App, *, before: str | None = None) -> CheckSuite:
    """The check suite of an App on a commit, made where it is missing."""
    for suite in repo.check_suites.values():
        if suite.app is app and suite.head_sha == sha:
            return suite
    branches = gitstore.refs(repo.path, "refs/heads/")
    branch = next((ref.removeprefix("refs/heads/") for ref, at in branches.items() if at == sha), None)
    number = world.ids.next("check suite", repo.full_name, sha, app.slug)
    now = world.now()
    made = CheckSuite(number, app, repo, sha, branch, now, now, before)
    repo.check_suites[number] = made
    return made


def request_suites(world: World, repo: Repo, sha: str, before: str | None, sender: Account) -> None:
    """After a push: every App that writes checks gets a suite."""
    for installation in list(world.installations.values()):
        if installation.covers(repo) and installation.app.permissions.get("checks") == "write":
            suite = suite_for(world, repo, sha, installation.app, before=before)
            emit_suite(world, "requested", suite, sender)


def emit_suite(world: World, action: str, suite: CheckSuite, sender: Account) -> None:
    """Tell an App about its suite; that one is complete, all that listen."""
    head = gitstore.log(suite.repo.path, suite.head_sha, limit=1)[0]
    told = shapes_checks.check_suite(world.links, suite, head)
    del told["repository"]
    only = None if action == "completed" else suite.app
    world.emit("check_suite", action, suite.repo, sender, {"check_suite": told}, only=only)


# --- writing check runs -----------------------------------------------------------------------------------------


def create_run(world: World, repo: Repo, app: App, spec: Mapping[str, Any]) -> CheckRun:
    """Create a check run."""
    for name in ("name", "head_sha"):
        if not isinstance(spec.get(name), str) or not spec[name]:
            raise unreadable(f'"{name}" wasn\'t supplied.')
    _check(spec, creating=True)
    sha = gitstore.resolve(repo.path, spec["head_sha"]) if gitstore.SHA.fullmatch(spec["head_sha"]) else None
    if sha is None:
        raise ApiError(422, f"No commit found for SHA: {spec['head_sha']}")
    suite = suite_for(world, repo, sha, app)
    number = world.ids.next("check run", repo.full_name, sha, app.slug)
    details = spec.get("details_url") or world.links.web
    run = CheckRun(number, suite, spec["name"], "queued", spec.get("external_id") or "", details, world.now())
    suite.runs.append(run)
    _apply(world, run, spec)
    emit_run(world, "created", run, app.bot)
    _emit_completed(world, run, before="queued")
    return run


def update_run(world: World, run: CheckRun, spec: Mapping[str, Any]) -> None:
    """Change a check run."""
    _check(spec, creating=False)
    before = run.status
    _apply(world, run, spec)
    _emit_completed(world, run, before=before)


def _emit_completed(world: World, run: CheckRun, *, before: str) -> None:
    if run.status != "completed" or before == "completed":
        return
    emit_run(world, "completed", run, run.suite.app.bot)
    if run.suite.status == "completed":
        emit_suite(world, "completed", run.suite, run.suite.app.bot)


def emit_run(world: World, action: str, run: CheckRun, sender: Account, **extra: Any) -> None:
    """Tell the Apps about a check run; that it shall run again, only its own."""
    told = shapes_checks.check_run(world.links, run)
    told["check_suite"] = shapes_checks.suite_core(world.links, run.suite)
    only = None if action in {"created", "completed"} else run.suite.app
    world.emit("check_run", action, run.suite.repo, sender, {"check_run": told, **extra}, only=only)


def _check(spec: Mapping[str, Any], *, creating: bool) -> None:
    status, conclusion = spec.get("status"), spec.get("conclusion")
    if status is not None and status not in STATUSES:
        raise unreadable(f"{status} is not included in the list: {', '.join(STATUSES)}")
    if conclusion is not None and conclusion not in CONCLUSIONS:
        raise unreadable(f"{conclusion} is not included in the list: {', '.join(CONCLUSIONS)}")
    if status == "completed" and conclusion is None:
        raise invalid("CheckRun", "conclusion", "missing_field")
    for name in ("started_at", "completed_at"):
        if spec.get(name):
            moment(spec[name])
    if len(spec.get("actions") or ()) > 3:
        raise unreadable("No more than 3 items are allowed.")
    if spec.get("output") is not None:
        _check_output(spec["output"], creating=creating)


def _check_output(output: Any, *, creating: bool) -> None:
    if not isinstance(output, Mapping):
        raise unreadable("For 'properties/output', a value that is not an object was supplied.")
    for name in ("title", "summary") if creating else ("summary",):
        if not isinstance(output.get(name), str):
            raise unreadable(f'"{name}" wasn\'t supplied.')
    if len(output["summary"].encode()) > BYTES:
        message = f"summary exceeds a maximum bytesize of {BYTES}"
        raise ApiError(
            422, "Validation Failed", errors=[{"resource": "CheckRun", "code": "custom", "message": message}]
        )
    annotations = output.get("annotations") or []
    if not isinstance(annotations, list) or not all(isinstance(one, Mapping) for one in annotations):
        raise unreadable("For 'properties/annotations', a value that is not an array of objects was supplied.")
    if len(annotations) > PER_REQUEST:
        raise unreadable(f"No more than {PER_REQUEST} items are allowed; {len(annotations)} were supplied.")
    for one in annotations:
        lacking = [name for name in _ANNOTATION if one.get(name) is None]
        if lacking:
            raise unreadable(f'"{lacking[0]}" wasn\'t supplied.')


def _apply(world: World, run: CheckRun, spec: Mapping[str, Any]) -> None:
    for name in ("name", "details_url", "external_id", "status", "actions"):
        if spec.get(name) is not None:
            setattr(run, name, spec[name])
    if spec.get("started_at"):
        run.started_at = moment(spec["started_at"])
    if spec.get("conclusion"):
        run.status, run.conclusion = "completed", spec["conclusion"]
        run.completed_at = moment(spec["completed_at"]) if spec.get("completed_at") else world.now()
    elif spec.get("status") in {"queued", "in_progress"}:
        run.conclusion = run.completed_at = None
    if spec.get("output") is not None:
        _apply_output(run, spec["output"])
    run.suite.updated_at = world.now()


def _apply_output(run: CheckRun, output: Mapping[str, Any]) -> None:
    """The texts are replaced as a whole, annotations are appended; a text that is too long is cut in silence."""
    run.title, run.summary = output.get("title"), output["summary"]
    text = output.get("text")
    run.text = None if text is None else text.encode()[:BYTES].decode("utf-8", "ignore")
    run.annotations += [dict(one) for one in output.get("annotations") or []]


def moment(text: Any) -> datetime:
    """Read a timestamp of a request.

    Raises:
        ApiError: 422.
    """
    try:
        found = datetime.fromisoformat(str(text))
    except ValueError:
        raise unreadable(f"{text} is not a valid date-time.") from None
    if found.tzinfo is None:
        raise unreadable(f"{text} has no time zone.")
    return found


def runs_at(
    repo: Repo,
    sha: str,
    *,
    name: str | None = None,
    app_id: int | None = None,
    status: str | None = None,
    latest: bool = True,
) -> list[CheckRun]:
    """The check runs on a commit, newest first; `latest`: only the newest of each App and name."""
    suites = [suite for suite in repo.check_suites.values() if suite.head_sha == sha]
    runs = [run for suite in suites for run in suite.runs if app_id is None or suite.app.id == app_id]
    if latest:
        runs = list({(run.suite.app.id, run.name): run for run in runs}.values())
    wanted = [run for run in runs if name in {None, run.name} and status in {None, run.status}]
    return sorted(wanted, key=lambda run: (run.started_at, run.id), reverse=True)


# --- commit statuses --------------------------------------------------------------------------------------------


def add_status(world: World, repo: Repo, sha: str, creator: Account, spec: Mapping[str, Any]) -> Status:
    """Report a state for a commit."""
    if spec.get("state") not in STATES:
        raise invalid("Status", "state", "custom", f"state is not included in the list: {', '.join(STATES)}")
    number = world.ids.next("status", repo.full_name, sha, creator.login)
    context = spec.get("context") or "default"
    description, target = spec.get("description"), spec.get("target_url")
    made = Status(number, sha, spec["state"], context, description, target, creator, world.now())
    repo.statuses.append(made)
    _emit_status(world, repo, made)
    return made


def _emit_status(world: World, repo: Repo, status: Status) -> None:
    head = shapes_checks.commit(world.links, repo, gitstore.log(repo.path, status.sha, limit=1)[0])
    told = shapes_checks.status(world.links, repo, status, with_creator=False)
    kept = ("id", "avatar_url", "state", "context", "description", "target_url", "created_at", "updated_at")
    body = {name: told[name] for name in kept}
    body |= {"sha": status.sha, "name": repo.full_name, "commit": head, "branches": _branches(world, repo, status.sha)}
    world.emit("status", None, repo, status.creator, body)


def _branches(world: World, repo: Repo, sha: str) -> list[Json]:
    commit = {"sha": sha, "url": world.links.repo(repo, f"/commits/{sha}")}
    names = [
        ref.removeprefix("refs/heads/") for ref, at in gitstore.refs(repo.path, "refs/heads/").items() if at == sha
    ]
    return [{"name": name, "commit": commit, "protected": False} for name in names]


def combined(statuses: list[Status]) -> tuple[str, list[Status]]:
    """The newest status of each context, and the state they make together."""
    newest = list({status.context: status for status in statuses}.values())
    states = {status.state for status in newest}
    if states & {"error", "failure"}:
        return "failure", newest
    return ("success" if states == {"success"} else "pending"), newest
