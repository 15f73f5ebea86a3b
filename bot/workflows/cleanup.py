"""What becomes of forks once their run is over: archived, or deleted on command. Only what is proven ours is touched.

The proof has two halves: GitHub's number of the repository, which stands in our ledger because GitHub gave it when we
made it, and the root commit, whose hash derives from the run's secret. A name proves nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta

from bot.commands_arguments import Cleaning
from bot.model import ForkId, ForkPlan, RepoName, RunId
from bot.ports import GitFailure, GitHub, GitHubError, Json, RunRow
from bot.render import replies
from bot.render.issue import OVER
from bot.render.replies import Cleaned
from bot.workflows import engine
from bot.workflows.fork import built
from bot.workflows.once import Deferred, Refused, Write, retry_seconds, try_again_in, write_once
from bot.workflows.publish import result_surface
from bot.workflows.services import Services, current
from bot.workflows.start import say


@dataclass(frozen=True, slots=True)
class Made:
    """A repository that our ledger says we made."""

    run: RunId
    fork: ForkId
    repo: str
    number: int
    """GitHub's, which no other repository ever has."""


def _cleanup_later(
    error: Exception, installation: int, repo: str, issue: int, key: str, run: str, how: str, attempt: int = 1
) -> None:
    delay = try_again_in(error, attempt)
    if delay is not None:
        _again(installation, repo, issue, key, run, how, attempt + 1, delay)


def _again(installation: int, repo: str, issue: int, key: str, run: str, how: str, attempt: int, delay: float) -> None:
    args = [installation, repo, issue, key, run, how, attempt]
    engine.enqueue("publish", "cleanup", f"cleanup-{key}.{attempt}", *args, delay=delay)


@engine.workflow("cleanup", mend=_cleanup_later)
def cleanup(installation: int, repo: str, issue: int, key: str, run: str, how: str, attempt: int = 1) -> None:
    """Clean up after every run of an issue that is over, and say what became of each repository."""
    found = engine.step("runs", lambda: _runs_of(current(), RunId(run)))
    if attempt == 1:
        say(installation, repo, issue, replies.cleaning_reply(how, key=key), 1, "begun")
    done: list[Cleaned] = []
    try:
        for one in found["over"]:
            done += _clean(RunId(one), Cleaning(how), key)
    except Deferred as deferred:
        delay = (deferred.until - current().clock()).total_seconds()
        _again(installation, repo, issue, key, run, how, attempt + 1, delay)
        return
    running = len(found["running"])
    body = engine.step("report", lambda: _report(current(), RunId(run), done, running, key))
    say(installation, repo, issue, body, 1, "end")


def _runs_of(services: Services, run: RunId) -> engine.Json:
    runs = services.store.runs_of_issue(services.store.run(run).issue_id)
    return {
        "over": [one.id for one in runs if one.stage in OVER],
        "running": [one.id for one in runs if one.stage not in OVER],
    }


def _report(services: Services, run: RunId, done: Sequence[Cleaned], running: int, key: str) -> str:
    return replies.cleaned_reply(done, running, key=key, surface=result_surface(services, services.store.run(run)))


def _later_by_itself(error: Exception, run: str, attempt: int = 1) -> None:
    delay = try_again_in(error, attempt)
    if delay is not None:
        engine.enqueue("publish", "archive_run", f"archive-{run}.{attempt + 1}", run, attempt + 1, delay=delay)


@engine.workflow("archive_run", mend=_later_by_itself)
def archive_run(run: str, attempt: int = 1) -> None:
    """Archive the forks of a run whose time has come."""
    try:
        _clean(RunId(run), Cleaning.ARCHIVE, "in time")
    except Deferred as deferred:
        delay = (deferred.until - current().clock()).total_seconds()
        engine.enqueue("publish", "archive_run", f"archive-{run}.{attempt + 1}", run, attempt + 1, delay=delay)
        return
    engine.step("the rest", lambda: _settle_rest(current(), RunId(run)))


def archive_due() -> None:
    """Queue the archiving of every run that ended long enough ago."""
    for run in engine.step("due for archiving", lambda: _due(current())):
        engine.enqueue("publish", "archive_run", f"archive-{run}", run)


def _due(services: Services) -> list[str]:
    services.store.mark_ended(services.clock())
    days = services.timing.cleanup_days
    if days is None:
        return []
    return [run.id for run in services.store.ended_runs(services.clock() - timedelta(days=days))]


def _settle_rest(services: Services, run: RunId) -> None:
    """Forks for which nothing was ever made need not be looked at again."""
    for fork in services.store.forks(run):
        if not fork.retired:
            services.store.retire(run, fork.id, "none")


# --- one run ----------------------------------------------------------------------------------------------------


def _clean(run: RunId, how: Cleaning, key: str) -> list[Cleaned]:
    made = engine.step("made", lambda: [asdict(one) for one in _made(current(), run)])
    return [_clean_one(Made(**one), how, key) for one in made] + _not_ours(run)


def _made(services: Services, run_id: RunId) -> list[Made]:
    """Every repository that was made for a run, also where its fork then came to nothing."""
    run = services.store.run(run_id)
    found = []
    for plan in run.plan.forks:
        for number in range(1, len(plan.names) + 1):
            made = services.ledger.result(f"repository {run_id} {plan.id} {number}")
            if made is not None:
                found.append(Made(run_id, plan.id, made["full_name"], int(made["id"])))
    return found


def _not_ours(run: RunId) -> list[Cleaned]:
    """Repositories of forks that were put there for us, so that our ledger does not prove them ours."""
    rows = engine.step("forks", lambda: _unproven(current(), run))
    return [Cleaned(repo, "kept", "it was not made by us, says our ledger") for repo in rows]


def _unproven(services: Services, run: RunId) -> list[str]:
    proven = {one.fork for one in _made(services, run)}
    rows = [fork for fork in services.store.forks(run) if fork.repo is not None and fork.id not in proven]
    for fork in rows:
        services.store.retire(run, fork.id, "kept")
    return [str(fork.repo) for fork in rows]


def _clean_one(made: Made, how: Cleaning, key: str) -> Cleaned:
    proof = engine.step("prove", lambda: _prove(current(), made))
    done = Cleaned(made.repo, proof["outcome"], proof["why"]) if "outcome" in proof else _retire(made, how, key, proof)
    engine.step("retired", lambda: current().store.retire(made.run, made.fork, done.outcome))
    return done


def _prove(services: Services, made: Made) -> Json:
    """{name, archived, empty} of a repository that is proven ours, else {outcome, why}."""
    run = services.store.run(made.run)
    try:
        return _proof(services, services.github(run.installation), run, made)
    except GitHubError as error:
        if retry_seconds(services, error) is not None:
            raise
        return _kept(f"GitHub does not let us look: {error.message}")


def _proof(services: Services, github: GitHub, run: RunRow, made: Made) -> Json:
    raw = github.repository(RepoName.parse(made.repo))
    if raw is None:
        return {"outcome": "gone", "why": "somebody has removed it"}
    if int(raw["id"]) != made.number:
        return _kept("another repository stands under its name now")
    name = RepoName.parse(str(raw.get("full_name") or made.repo))
    seen = {"name": str(name), "archived": bool(raw.get("archived")), "empty": False}
    plan = next(plan for plan in run.plan.forks if plan.id == made.fork)
    pushed = services.ledger.result(f"push {run.id} {plan.id}")
    if pushed is None and not github.branches(name):
        return seen | {"empty": True}
    root = pushed[plan.base_branch] if pushed is not None else _root(run, plan)
    commit = github.commit(name, root) if root else None
    if commit is None or commit.get("sha") != root or commit.get("parents"):
        return _kept("the root commit that we made is not in it")
    return seen


def _kept(why: str) -> Json:
    return {"outcome": "kept", "why": why}


def _root(run: RunRow, plan: ForkPlan) -> str | None:
    """The root commit that a push of which nobody knows the end would have made: it derives from the run's secret."""
    try:
        return built(run, plan).base_sha
    except GitFailure as failure:
        if failure.retryable:
            raise
        return None


def _retire(made: Made, how: Cleaning, key: str, proof: Json) -> Cleaned:
    name = RepoName.parse(proof["name"])
    if how is Cleaning.DELETE and not proof["empty"]:
        return _written(made, name, "deleted", _deletion(made, name, key))
    why = "it holds no commit that proves it ours, so it was not deleted" if how is Cleaning.DELETE else ""
    if proof["archived"]:
        return Cleaned(str(name), "archived", why or "it was before")
    return _written(made, name, "archived", _archiving(made, name, key), why)


def _written(made: Made, name: RepoName, outcome: str, write: Write, why: str = "") -> Cleaned:
    try:
        write_once(write)
    except Refused as refused:
        return Cleaned(str(name), "kept", str(refused))
    return Cleaned(str(name), outcome, why)


def _github(made: Made) -> GitHub:
    return current().github(current().store.run(made.run).installation)


def _archiving(made: Made, name: RepoName, key: str) -> Write:
    github = _github(made)

    def find() -> Json | None:
        raw = github.repository(name)
        return {} if raw is not None and raw.get("archived") else None

    def make() -> Json:
        github.archive_repository(name)
        return {}

    return Write(f"archive {made.number} {key}", "archiving", github.account(), find=find, make=make)


def _deletion(made: Made, name: RepoName, key: str) -> Write:
    github = _github(made)

    def find() -> Json | None:
        raw = github.repository(name)
        # Somebody may have put another one in its place since: that one is not ours to remove.
        return {} if raw is None or int(raw["id"]) != made.number else None

    def make() -> Json:
        github.delete_repository(name)
        return {}

    return Write(f"delete {made.number} {key}", "deletion", github.account(), find=find, make=make)
