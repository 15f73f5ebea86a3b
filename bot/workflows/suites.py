"""The organisation's own files: read at one commit for a plan, and checked on every push with a check run.

A broken file is told where it was pushed; a run that needs it is told in its issue. What is not broken can be used.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from bot import commands, org_suites, render
from bot.issue_form import FORM_PATH, Label, NotAForm, parse_form
from bot.model import Annotation, CheckRun, Problems, RepoName, RunRequest, Sha
from bot.org_suites import OwnFiles
from bot.ports import GitHub, GitHubError, Json, RunRow
from bot.registry import OWN_FILE, Registry, RegistryError
from bot.workflows import engine
from bot.workflows.once import Deferred, Refused, Write, try_again_in, write_once
from bot.workflows.services import Services, current
from goldens.model import GitPin, GoldenPull
from scoring.model import PullId

CHECK = "Assay suites"
"""What the check run on a push is called."""
MOST_SHOWN = 500
"""Problems annotated; the summary says how many more there are."""


# --- for a plan -------------------------------------------------------------------------------------------------


def own_files(github: GitHub, repo: RepoName, sha: str | None = None) -> OwnFiles:
    """What stands under `.assay/` at a commit, or at the head of the default branch."""
    if sha is None:
        branch = (github.repository(repo) or {}).get("default_branch")
        head = github.commit(repo, str(branch)) if branch else None
        if head is None:
            return OwnFiles()
        sha = str(head["sha"])
    names = github.content_names(repo, org_suites.ROOT, sha)
    paths = [OWN_FILE] if OWN_FILE.rpartition("/")[2] in names else []
    if f"{org_suites.FOLDER.rpartition('/')[2]}/" in names:
        inside = org_suites.wanted(github.content_names(repo, org_suites.FOLDER, sha))
        paths += [f"{org_suites.FOLDER}/{name}" for name in inside]
    return OwnFiles(sha, {path: _content(github, repo, path, sha) for path in paths})


def _content(github: GitHub, repo: RepoName, path: str, sha: str) -> bytes | None:
    """A file; None if it is larger than can be read, which is said as a problem of the file."""
    try:
        return github.content(repo, path, sha)
    except GitHubError as error:
        if error.status != 413:
            raise
        return None


def registry_with(services: Services, github: GitHub, own: OwnFiles) -> Registry | Problems:
    """The registry with the organisation's own entries over it, or what is wrong with those."""
    try:
        return org_suites.own_registry(own, services.registry, _reserved(github))
    except RegistryError as error:
        return org_suites.as_problems(Label.REVIEWERS, error.problems)


def _reserved(github: GitHub) -> tuple[str, ...]:
    author = github.author()
    return (github.identity().login, author.login) if author.is_user else (github.identity().login,)


def request_of(
    body: str | None, own: OwnFiles, packaged: Mapping[str, Sequence[PullId]], **known: Any
) -> RunRequest | Problems | NotAForm:
    """Read an issue's body as a request; the organisation's suites go by `org/<name>`, or the name alone if it is free.

    Args:
        body: the issue's text.
        own: the organisation's files.
        packaged: the suites that ship, with their pull requests.
        known: what else `commands.read_request` takes.
    """
    found = org_suites.read_suites(own)
    ids = {name: [pull.id for pull in suite.pulls] for name, (_, suite) in found.suites.items()}
    form = parse_form(body)
    asked = None if isinstance(form, NotAForm) else (form.answers.get(Label.SUITE) or "").strip()
    if asked and asked not in packaged and (broken := found.broken(asked)):
        return org_suites.as_problems(Label.SUITE, broken)
    name = found.named(asked, packaged)
    alias = {asked: ids[name]} if asked and name else {}
    request = commands.read_request(body, suites={**packaged, **ids, **alias}, **known)
    return replace(request, suite=name) if isinstance(request, RunRequest) and name else request


def upstream_token(services: Services, run: RunRow, pull: GoldenPull) -> str | None:
    """What the upstream of an own suite is read with; None where it is read like anybody's.

    Only the organisation's own repositories: another one's installation is not this one's to use.
    """
    source = pull.source
    if not org_suites.is_own(run.plan.request.suite) or not isinstance(source, GitPin):
        return None
    upstream = RepoName.parse(source.upstream)
    if upstream.owner.lower() != run.plan.org.lower():
        return None
    return services.github(run.installation).read_token(upstream)


# --- on a push --------------------------------------------------------------------------------------------------


def _check_later(error: Exception, installation: int, repo: str, sha: str, attempt: int) -> None:
    delay = try_again_in(error, attempt)
    if delay is not None:
        _check_again(installation, repo, sha, attempt + 1, delay)


def _check_again(installation: int, repo: str, sha: str, attempt: int, delay: float) -> None:
    key = f"own-{repo}-{sha}.{attempt}"
    engine.enqueue("events", "check_own", key, installation, repo, sha, attempt, delay=delay)


@engine.workflow("check_own", mend=_check_later)
def check_own(installation: int, repo: str, sha: str, attempt: int) -> None:
    """Check the organisation's own files as they were pushed.

    Steps: 1. read and check them; 2. post what is wrong as a check run on the commit, each problem at its line.
    """
    name = RepoName.parse(repo)
    told = engine.step("check", lambda: _check(current(), installation, name, sha))
    if told is None:
        return
    try:
        _post(installation, name, _check_run(sha, told))
    except Deferred as deferred:
        _check_again(installation, repo, sha, attempt + 1, (deferred.until - current().clock()).total_seconds())
    except Refused:
        # The commit or the repository is gone, or check runs may not be written: there is no place to say it.
        return


def _check(services: Services, installation: int, repo: RepoName, sha: str) -> Json | None:
    """What is there and what is wrong with it; None if the push is nobody's business."""
    if not services.control(repo.owner).same_as(repo):
        return None
    github = services.github(installation)
    own = own_files(github, repo, sha)
    if not own.files:
        return None
    problems = org_suites.check(own, services.registry, _reserved(github))
    suites = org_suites.read_suites(own)
    return {
        "files": len(own.files),
        "suites": {name: len(suite.pulls) for name, (_, suite) in suites.suites.items()},
        "problems": [[one.file, one.line, one.field, str(one)] for one in problems],
    }


def _check_run(sha: str, told: Json) -> CheckRun:
    """The check run: everything wrong at its line, and how what is right is asked for."""
    problems = told["problems"]
    surface = current().surface()
    count = len(problems)
    title = f"{count} problem{'s' if count != 1 else ''}" if count else f"{told['files']} files can be used"
    usable = [f"- {surface.code(name)}: {pulls} pull requests" for name, pulls in sorted(told["suites"].items())]
    lines = [
        "Suites that can be asked for:" if usable else "No suite can be asked for.",
        "",
        *usable,
        "",
        f"To offer them in the form, put them among the options of *Suite* in {surface.code(FORM_PATH)}.",
    ]
    if count > MOST_SHOWN:
        lines += ["", f"The first {MOST_SHOWN} of {count} problems are shown at their lines."]
    digest = hashlib.sha256(repr(problems).encode()).hexdigest()[:16]
    return CheckRun(
        CHECK,
        sha,
        f"own:{digest}",
        title,
        "\n".join(lines),
        "action_required" if count else "success",
        tuple(_annotation(one) for one in problems[:MOST_SHOWN]),
    )


def _annotation(problem: Sequence[Any]) -> Annotation:
    path, line, field, text = problem
    surface = current().surface()
    message = text.removeprefix(f"{path}:{line}: ")
    return Annotation(path, line, line, "failure", surface.plain(field or "file", 200), surface.plain(message, 4000))


def _post(installation: int, repo: RepoName, check: CheckRun) -> None:
    github = current().github(installation)
    first, *rest = render.batches(check.annotations) or ((),)
    key = f"check {repo} {check.head_sha} {check.external_id}"

    def standing(landed: int) -> Json | None:
        for raw in github.check_runs(repo, Sha(check.head_sha), check.name):
            if raw["external_id"] == check.external_id and raw["output"]["annotations_count"] >= landed:
                return {"id": raw["id"]}
        return None

    def write(batch: Sequence[Annotation], number: int, landed: int, made: Json | None) -> Json:
        def send() -> Json:
            if made is None:
                return {"id": github.create_check(repo, check, batch)["id"]}
            return {"id": github.add_annotations(repo, made["id"], check, batch)["id"]}

        name = key if made is None else f"{key} batch {number}"
        return write_once(Write(name, "check run", github.account(), find=lambda: standing(landed), make=send))

    made = write(first, 1, 0, None)
    landed = len(first)
    for number, batch in enumerate(rest, start=2):
        landed += len(batch)
        write(batch, number, landed, made)
